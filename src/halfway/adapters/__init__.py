"""Adapters: how applications speak to a system, its options and sizing; the registry of systems."""
