"""An extension of the reference's generator: examples in docstrings become blocks of code.

The generator reads `>>>` outside a section of examples as text. This project's docstrings have no
sections.
"""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^(?:>>> .*\n?)(?:.+\n?)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence the examples of one module, class or function."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Return a docstring with its examples as blocks of code."""
    return _EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)
