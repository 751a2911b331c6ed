"""The protocol of a user: a system in one Python file, which defines the same names as a built-in
protocol.

A run carries the text of the file, and the text is part of the run's key. The folder of the machine
code is named by the text alone. So an edited file is a different system, and a copy is the same
system.
"""

import importlib.util
import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from halfway.adapters.interface import STATE_PARAMETERS, Adapter, System, UnsizedAdapter
from halfway.adapters.registry import TABLE, unknown
from halfway.adapters.user_errors import USER_FILE, file_of, line_in
from halfway.core.compiler.cache import CACHE_FOLDER
from halfway.core.handler import is_claimed
from halfway.core.kinds import Kinds
from halfway.core.options import Option
from halfway.core.values.digest import short_digest
from halfway.files import read_limited, write_whole
from halfway.problem import Problem

FACE = ("State", "Rules", "state", "handle", "most_emissions", "KINDS")
_MODEL = "halfway/protocols/flooding.py"
_MOST_BYTES = 1_000_000  # of a user's protocol
_LOW, _HIGH = -1e9, 1e9  # of an option without a range


class UserSource(NamedTuple):
    """The source of a user's protocol: a system's name and the whole text of its file."""

    name: str  # "my-protocol" for my_protocol.py
    text: str


def read_user_system(system: str) -> UserSource:
    """Read a user's protocol from the Python file at a path, or from the importable module of that
    name.

    Raises Problem for anything else, for the name of a built-in system, and for a file with such a
    name.
    """
    where = f"system {system}"
    path = Path(system)
    if path.suffix != ".py" and not path.exists():
        path = _module_file(system, where)
    try:
        text = read_limited(path, _MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = str(getattr(error, "strerror", None) or "expected text in UTF-8").lower()
        raise Problem(what, where=where) from None
    name = path.stem.replace("_", "-")
    if not re.fullmatch("[A-Za-z][A-Za-z0-9-]{0,39}", name):
        what = "expected a file name of up to 40 letters, digits and _"
        raise Problem(what, where=where, remedy="rename the file")
    if name in TABLE:
        raise Problem(f"'{name}' is a built-in system", where=where, remedy="rename the file")
    return UserSource(name, text)


def _module_file(module: str, where: str) -> Path:
    if module in TABLE:
        what, remedy = "expected a file or module with your own protocol", f"--systems {module}"
        raise Problem(what, where=where, remedy=f"name built-in systems in {remedy}")
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise unknown(module, ["an importable module", "a file that ends in .py"], where)
    return Path(spec.origin)


def user_system(source: UserSource) -> System:
    """Return the imported system of a user's protocol. Raises Problem in one line if the file is
    incomplete.
    """
    module = _imported(source)
    if missing := [name for name in FACE if not hasattr(module, name)]:
        raise Problem(
            f"expected {', '.join(missing)} in the file",
            where=source.name,
            remedy=f"define what {_MODEL} defines",
        )
    adapter = getattr(module, "ADAPTER", UnsizedAdapter)
    _check_kinds(module.KINDS, adapter, source.name)
    _check_state(module.state, adapter, source.name)
    if not is_claimed(module.State):
        what = "State: expected a registered handler"
        raise Problem(what, where=source.name, remedy="put @handles(State) above `def handle(…)`")
    return System(source.name, module.__name__, adapter, _options(module, adapter, source.name))


def _check_kinds(kinds: Any, adapter: type[Adapter], where: str) -> None:
    if not isinstance(kinds, Kinds):
        remedy = f"declare them with halfway.core.kinds.Kinds, as {_MODEL} does"
        raise Problem("KINDS: expected a table of record kinds", where=where, remedy=remedy)
    needed = ("publish", "subscribe", "delivered") if adapter is UnsizedAdapter else ("delivered",)
    if missing := [name for name in needed if name not in kinds.names.values()]:
        names = " and ".join(part for part in (", ".join(missing[:-1]), missing[-1]) if part)
        raise Problem(
            f"KINDS: expected {'kinds' if len(missing) > 1 else 'a kind'} named {names}",
            where=where,
            remedy="KINDS.include(halfway.protocols.parts.application.KINDS) declares all three",
        )


def _check_state(state: Any, adapter: type[Adapter], where: str) -> None:
    """Raise Problem if `state` of a user's protocol has a parameter that the adapter cannot
    give.
    """
    needed = [
        name
        for name, parameter in inspect.signature(state).parameters.items()
        if parameter.default is parameter.empty and name not in STATE_PARAMETERS
    ]
    if needed and adapter is UnsizedAdapter:
        raise Problem(
            f"state({needed[0]}): expected parameters among {', '.join(STATE_PARAMETERS)}",
            where=where,
            remedy="rename the parameter, or give it a default value",
        )


def _options(module: ModuleType, adapter: type[Adapter], where: str) -> Mapping[str, Option]:
    """Return the options of a user's protocol: the entries of OPTIONS, or the fields of Rules with
    a default.
    """
    declared: Mapping[str, Any] = getattr(module, "OPTIONS", None) or {
        field: value
        for field, value in module.Rules._field_defaults.items()
        if isinstance(value, bool | int | float) and field != "until_s"
    }
    options = {field: _option(field, value, where) for field, value in declared.items()}
    known = {*options, "until_s", *module.Rules._field_defaults}
    unset = [field for field in module.Rules._fields if field not in known]
    if unset and adapter is UnsizedAdapter:
        remedy = "give the field a default, or an entry in OPTIONS"
        raise Problem(f"Rules.{unset[0]}: expected a default value", where=where, remedy=remedy)
    return options


_OPTION_PARTS = 4  # default, low, high, meaning


def _option(field: str, value: Any, where: str) -> Option:
    if isinstance(value, bool):
        return Option(value, False, True, field)
    if isinstance(value, int | float):
        return Option(value, _LOW, _HIGH, field)
    if isinstance(value, Option):
        return value
    if not isinstance(value, tuple) or len(value) != _OPTION_PARTS:
        what = f"OPTIONS['{field}']: expected a number or (default, low, high, meaning)"
        raise Problem(
            what, where=where, remedy="the functions in halfway.core.options make entries"
        )
    return Option(*value)


def _imported(source: UserSource) -> ModuleType:
    """Return the module of a user's protocol, imported once per process.

    The name of the module follows from the text alone, so a copy or a renamed file uses the same
    machine code.
    """
    digest = short_digest(source.text)
    name = f"halfway_user_protocol_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    folder = CACHE_FOLDER / f"own-{digest}"
    path = folder / USER_FILE
    if not path.exists():  # the compiler needs a source file
        write_whole(path, source.text)
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
        what = what.replace(USER_FILE, file_of(source.name))
        where = f"{file_of(source.name)}:{line_in(error) or 1}"
        raise Problem(what, where=where, remedy="correct the file at this line") from None
    return module
