"""Statistics: intervals, tests and exponents, for comparisons and for papers."""
