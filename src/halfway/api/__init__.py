"""The Python interface: `halfway.simulate` and `halfway.compare`, for programs and notebooks.

`docs/decisions/0032` has the reasons for a room of its own.
"""
