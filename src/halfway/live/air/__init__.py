"""The air: a network of Linux namespaces for real nodes and packets, with links that a test can
break.

The kernel removes everything here when its process ends, however it ends.
"""
