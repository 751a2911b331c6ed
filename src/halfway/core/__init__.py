"""What a protocol may import: records, outbox, neighbourhood, random numbers, compile cache."""
