"""Failure detectors: what each promises, and the figures that were published of them."""
