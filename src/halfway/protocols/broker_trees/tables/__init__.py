"""The tables of brokers: subscriptions, their repair, children, and replicas."""
