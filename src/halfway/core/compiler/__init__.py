"""The compiler below the decorators of `core.compiled`: callees as IR, cache keys, lent tuples."""
