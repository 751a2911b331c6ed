"""A thread that works beside a block of code, and ends with this block."""

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run a function in a thread during the block. The block's end sets the event that the function
    receives, and waits until the function returns.
    """
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
