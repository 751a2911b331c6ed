"""Halfway: publish/subscribe for networks in which nobody is the broker.

Published designs, each implemented once, measured beside their printed numbers.
Importing this package costs nothing: the compiled rooms load when they are first used.
"""

__version__ = "0.1.0"
