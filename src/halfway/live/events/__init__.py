"""Events at a live node: topics, filters, subscriptions, bodies and retained values."""
