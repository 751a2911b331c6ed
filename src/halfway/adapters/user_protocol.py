"""A system from a file of the user's own: one module with the face of `protocols/flooding.py`.

Its text is all that there is of it: it goes wherever a run goes, is part of what names a run, and
names the folder of its machine code, so that an edited handler is another system.
"""

import hashlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from halfway.adapters.interface import BroadcastAdapter, System
from halfway.adapters.registry import TABLE
from halfway.core.compiled import CACHE_FOLDER, keep_apart
from halfway.core.handler import is_claimed
from halfway.core.kinds import Kinds
from halfway.core.options import Option
from halfway.files import write_whole
from halfway.problem import Problem

FACE = ("State", "Rules", "state", "handle", "most_emissions", "KINDS")
_SPOKEN = ("SUBSCRIBE", "PUBLISH", "DELIVERED")  # kinds of a system that `Spreading` speaks to
_MOST_TEXT = 1 << 20
_LOW, _HIGH = -1e9, 1e9  # of an option that says no range


class UserSource(NamedTuple):
    """A system's name and its whole text."""

    name: str  # "my-protocol", of my_protocol.py
    text: str


def read_user_system(named: str) -> UserSource:
    """The text behind a path of a Python file or the name of an importable module.

    Raises Problem for what is neither, and for a name that a system of ours has.
    """
    path = Path(named)
    if path.suffix != ".py" and not path.exists():
        path = _module_file(named)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = str(getattr(error, "strerror", None) or "this is no text in UTF-8").lower()
        raise Problem(what, where=f"--system {named}") from None
    name = path.stem.replace("_", "-")
    if not re.fullmatch("[A-Za-z][A-Za-z0-9-]{0,39}", name) or len(text) > _MOST_TEXT:
        what = "a system's file has a name of up to 40 letters, digits and _, and below 1 MB"
        raise Problem(what, where=f"--system {named}")
    if name in TABLE:
        raise Problem(
            f"'{name}' is a system already", where=f"--system {named}", remedy="rename the file"
        )
    return UserSource(name, text)


def _module_file(named: str) -> Path:
    try:
        found = importlib.util.find_spec(named)
    except (ImportError, ValueError, AttributeError):
        found = None
    if found is None or not found.origin or not found.origin.endswith(".py"):
        remedy = f"a file that ends in .py, an importable module, or one of {', '.join(TABLE)}"
        raise Problem("there is no such module or file", where=f"--system {named}", remedy=remedy)
    return Path(found.origin)


def user_system(source: UserSource) -> System:
    """The system that a text describes, imported. Raises Problem in one line if it is none."""
    module = _imported(source)
    missing = [name for name in FACE if not hasattr(module, name)]
    adapter = getattr(module, "ADAPTER", BroadcastAdapter)
    if adapter is BroadcastAdapter:
        missing += [name for name in _SPOKEN if not hasattr(module, name)]
    if missing:
        raise Problem(
            f"the system has no {', '.join(missing)}", where=source.name,
            remedy="halfway/protocols/flooding.py shows the face of a system",
        )  # fmt: skip
    if not isinstance(module.KINDS, Kinds):
        remedy = "declare them with halfway.core.kinds.Kinds, as halfway/protocols/flooding.py does"
        raise Problem("KINDS is not a table of message kinds", where=source.name, remedy=remedy)
    if not is_claimed(module.State):
        remedy = "put @handles(State) above `def handle(…)`"
        raise Problem("nobody handles its State", where=source.name, remedy=remedy)
    return System(source.name, module.__name__, adapter, _options(module, source.name))


def _options(module: ModuleType, name: str) -> Mapping[str, Option]:
    """What may be set: its OPTIONS, or the fields of its Rules that have a default."""
    given: dict[str, Any] = getattr(module, "OPTIONS", None) or {
        field: value
        for field, value in module.Rules._field_defaults.items()
        if isinstance(value, bool | int | float) and field != "until_s"
    }
    options = {field: _option(field, value, name) for field, value in given.items()}
    known = {*options, "until_s", *module.Rules._field_defaults}
    loose = [field for field in module.Rules._fields if field not in known]
    if loose and getattr(module, "ADAPTER", BroadcastAdapter) is BroadcastAdapter:
        remedy = "give Rules defaults, or name them in OPTIONS"
        raise Problem(f"nobody says what Rules.{loose[0]} is", where=name, remedy=remedy)
    return options


def _option(field: str, value: Any, where: str) -> Option:
    if isinstance(value, bool):
        return Option(value, False, True, field)
    if isinstance(value, int | float):
        return Option(value, _LOW, _HIGH, field)
    if not isinstance(value, tuple) or len(value) != len(Option._fields):
        what = f"OPTIONS['{field}'] is neither a number nor (default, low, high, what it is)"
        raise Problem(what, where=where)
    return Option(*value)


def _imported(source: UserSource) -> ModuleType:
    """The module of that very text; imported once a process."""
    digest = hashlib.sha256(source.text.encode()).hexdigest()[:16]
    name = f"{source.name.replace('-', '_')}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    folder = Path(CACHE_FOLDER) / f"own-{digest}"
    path = folder / f"{source.name.replace('-', '_')}.py"
    if not path.exists():  # a file of its own, as the compiler wants to know where code is from
        write_whole(path, source.text)
    keep_apart(name, folder)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, Exception | SystemExit):
            raise
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise Problem(what, where=f"{path.name}:{_line(error, path)}") from None
    return module


def _line(error: BaseException, path: Path) -> int:
    """The line of the user's file at which an error came up."""
    if isinstance(error, SyntaxError):
        return error.lineno or 1
    lines = [
        at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == str(path)
    ]
    return (lines or [1])[-1] or 1
