"""The core that a protocol may import: records, outbox, neighbourhood, PRNG, compile cache."""
