"""The tables of brokers: subscriptions, and their repair."""
