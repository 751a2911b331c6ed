"""Broker trees: SIENA's hierarchy of brokers, and the underlay-aware tree of paper 5 (`uas`)."""
