"""SIENA's broker tree and the underlay-aware tree built on it (paper 5)."""
