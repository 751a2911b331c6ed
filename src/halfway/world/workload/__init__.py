"""Workloads: publications and subscriptions, by topic, content or number interval."""
