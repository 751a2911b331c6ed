"""The Python interface: `halfway.simulate` and `halfway.compare`, for programs and notebooks."""
