"""How applications speak to a system, its options and its sizing; the registry of all systems."""
