"""What a protocol may touch: records, the outbox, what a node knows, dice, the compile cache."""
