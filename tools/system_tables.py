"""Write the tables of the systems in docs/: messages, options, and the systems with their ideas.

The tables come from `protocols.SYSTEMS`, and from `KINDS` and `OPTIONS` of each system's module.
`docs/map.md` gets a row for each system of one module. `docs/models/nodes.md` gets two rows for
each system under an `UnsizedAdapter`, from `NEIGHBOUR_HOPS` and the parameters of `state`, and a
third one for a new system: it heals within a second after nodes lose their memory, as a
test checks.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools import message_tables, module_list

from halfway.adapters.interface import UnsizedAdapter
from halfway.adapters.registry import TABLE
from halfway.core.options import Option
from halfway.protocols import SYSTEMS

DOCS = Path(__file__).parents[1] / "docs"
_FIRST_OPTIONS = "\n## `[options."
_MAP_INTRO = "The room `protocols` has these folders and modules:\n"
_MODULE = "halfway.protocols."
_GIVEN_HEAD = "| system | position | broker | neighbours | given beyond that |\n"
_SIZES_HEAD = "| system | sizes follow from |\n"
_HEALED_HEAD = "| system | healed after, s | options |\n"
_HEALED = "1 | –"  # as `HEALED_AFTER` of tests/sim/environment/test_lost_memory.py has it
_READS = ("no", "its list", "its list and those of neighbours")  # by `NEIGHBOUR_HOPS`
# Parameters of `state` -> the facts of the run that they follow from, as nodes.md names them.
_FACTS = {
    "topics": ("topics",),
    "publishers": ("publishers",),
    "in_flight": ("events", "window"),
    "window": ("window",),
}
_HEAD = "| field | default | allowed | meaning and unit |\n|---|---|---|---|\n"


def main() -> int:
    """Write all pages that have a table of the systems, and the list of modules."""
    for page, text in pages().items():
        page.write_text(text, "utf-8")
    return module_list.main()


def pages() -> dict[Path, str]:
    """Return the text of each page that has a table of the systems, with the present tables."""
    scenarios, comparing = DOCS / "scenarios.md", DOCS / "comparing.md"
    overview, rooms = DOCS / "systems" / "README.md", DOCS / "map.md"
    nodes = DOCS / "models" / "nodes.md"
    detectors = [name for name, system in TABLE.items() if system.adapter.detects_failures]
    others = [name for name in SYSTEMS if name not in detectors]
    above = scenarios.read_text("utf-8").partition(_FIRST_OPTIONS)[0]
    compared = _with_table(comparing.read_text("utf-8"), "systems", _ideas(others))
    return {
        message_tables.PAGE: message_tables.page(),
        scenarios: above + "".join(_options(name) for name in SYSTEMS),
        comparing: _with_table(compared, "failure detectors", _ideas(detectors)),
        overview: _with_table(overview.read_text("utf-8"), "systems", _with_papers(others)),
        rooms: _with_module_rows(rooms.read_text("utf-8")),
        nodes: _with_facts(nodes.read_text("utf-8")),
    }


def _with_module_rows(page: str) -> str:
    """Return the map with the systems of one module as the last rows of the table of protocols."""
    above, intro, below = page.partition(_MAP_INTRO)
    table, _, rest = below.lstrip("\n").partition("\n\n")
    assert rest, f"expected a table after {_MAP_INTRO!r}"
    rows = {
        f"| `{file}` | The system in which {idea[0].lower()}{idea[1:]} |"
        for file, idea in _single_modules().items()
    }
    others = [
        row for row in table.splitlines()
        if not row.startswith(tuple(f"| `{file}` " for file in _single_modules()))
    ]  # fmt: skip
    return f"{above}{intro}\n" + "\n".join([*others, *sorted(rows)]) + f"\n\n{rest}"


def _with_facts(page: str) -> str:
    """Return the page of nodes with the rows of the systems under an `UnsizedAdapter` without sizes
    of their own.
    """
    given, sizes, healed = {}, {}, {}
    for name, system in TABLE.items():
        if getattr(system.adapter, "more_sizes", None) is UnsizedAdapter.more_sizes:
            module = importlib.import_module(system.module)
            parameters = inspect.signature(module.state).parameters
            given[name] = f"no | no | {_READS[module.NEIGHBOUR_HOPS]} | –"
            facts = [fact for one, some in _FACTS.items() if one in parameters for fact in some]
            sizes[name] = ", ".join(dict.fromkeys(facts)) or "–"
            if f"`{name}`" not in page.partition(_HEALED_HEAD)[2].partition("\n\n")[0]:
                healed[name] = _HEALED
    page = _with_rows(_with_rows(page, _GIVEN_HEAD, given), _SIZES_HEAD, sizes)
    return _with_rows(page, _HEALED_HEAD, healed)


def _with_rows(page: str, head: str, cells: Mapping[str, str]) -> str:
    """Return a page in whose table the systems have these cells, in the order of `SYSTEMS`.

    The rows of other systems stay.
    """
    above, found, below = page.partition(head)
    assert found, f"expected a table with the heading {head!r}"
    table, _, rest = below.partition("\n\n")
    line, *present = table.splitlines()
    rows = {row.split("`")[1]: row for row in present}
    rows |= {name: f"| `{name}` | {its} |" for name, its in cells.items()}
    ordered = [rows[name] for name in SYSTEMS if name in rows]
    return above + head + "\n".join([line, *ordered]) + f"\n\n{rest}"


def _single_modules() -> dict[str, str]:
    """Return the idea of each system of one module, by its file in `protocols`."""
    modules = {about.module.removeprefix(_MODULE): about.idea for about in SYSTEMS.values()}
    return {f"{name}.py": idea for name, idea in modules.items() if "." not in name}


def _with_table(page: str, name: str, table: str) -> str:
    """Return a page with a table between the two comments that have the table's name."""
    begin, end = f"<!-- table: {name} -->\n", "<!-- end -->\n"
    pattern = re.compile(f"({re.escape(begin)}).*?({re.escape(end)})", re.DOTALL)
    text, count = pattern.subn(lambda found: f"{found[1]}\n{table}\n{found[2]}", page)
    assert count == 1, f"expected one place for the table {name}"
    return text


def _ideas(names: Iterable[str]) -> str:
    rows = "".join(f"| `{name}` | {_idea(name)} | {SYSTEMS[name].paper} |\n" for name in names)
    return "| system | idea | source |\n|---|---|---|\n" + rows


def _with_papers(names: Iterable[str]) -> str:
    """Return the table of the overview. A system without a page has a link to its options."""
    rows = []
    for name in names:
        own = f"{name}.md" if (DOCS / "systems" / f"{name}.md").exists() else ""
        link = own or f"../scenarios.md#options{name}"
        rows.append(f"| [{name}]({link}) | {_idea(name)} | {SYSTEMS[name].paper} |\n")
    return "| system | idea | source |\n|---|---|---|\n" + "".join(rows)


def _idea(name: str) -> str:
    """Return the idea of a system, without the words that the table's heading has."""
    text = SYSTEMS[name].idea.removeprefix("A failure detector: ")
    return text[0].upper() + text[1:]


def _options(name: str) -> str:
    rows = "".join(_row(option, about) for option, about in TABLE[name].options.items())
    return f"{_FIRST_OPTIONS}{name}]`\n\n{_HEAD}{rows}"


def _row(name: str, option: Option) -> str:
    default, allowed = f"{option.default:g}", f"from {_bound(option.low)} to {_bound(option.high)}"
    if isinstance(option.default, bool):
        default, allowed = str(option.default).lower(), "true, false"
    elif isinstance(option.default, int):
        default = str(option.default)
    return f"| `{name}` | {'auto' if option.auto else default} | {allowed} | {option.meaning} |\n"


def _bound(number: float) -> str:
    if number in (2**31 - 1, 2**31 - 2):
        return f"2^31 - {2**31 - int(number)}"
    return f"{number:g}" if number < 1e-3 or number > 1e7 else f"{number:,.10g}"


if __name__ == "__main__":
    sys.exit(main())
