"""The tables of brokers: subscriptions, their repair, and children."""
