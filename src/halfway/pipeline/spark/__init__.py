"""Everything that starts or runs inside Spark."""
