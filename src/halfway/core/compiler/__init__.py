"""The compiler behind the decorators of `core.compiled`: callees as IR, cache keys, lent tuples."""
