"""The house: arrows between rooms, sizes and style, read from the sources and held by tests."""
