"""The parts that protocols share: the border to applications, reliable hops, filters, tables."""
