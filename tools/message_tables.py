"""The text of docs/messages.md: a table of the record kinds of each system, as declared."""

import importlib
from pathlib import Path

from halfway.core.hello.messages import KINDS as HELLO_KINDS
from halfway.core.kinds import Channel, Kind, Kinds
from halfway.core.records.wire import wire_bytes
from halfway.protocols import SYSTEMS

PAGE = Path(__file__).parents[1] / "docs" / "messages.md"
_HEAD = """# Messages

`tools/system_tables.py` writes this page from the `KINDS` of the protocols. Do not edit this page.

A record has the same layout in every system (`halfway.core.message.RECORD`). Each table lists the
fields that a kind of record fills. In all other fields, a record has a blank value. The blank value
of `topic`, `event`, `target` and `publisher` is -1, and the blank value of every other field is 0.
The driver runs the nodes, in the simulator or live. It fills `at`, `hops`, `source`, `next` and
`incarnation`. If a command carries an event, the driver also fills `publisher` and `epoch`.

In some kinds, a field holds another value than its name states. Then the table gives the meaning of
this value after a colon, for example "`topic`: the sender's parent"
([decision 0090](decisions/0090-a-reused-header-field-has-a-name-of-its-own.md)).
A record has eight integers `args`, and six floating-point numbers `reals`. The notation
`args[3]…[5]` means that one field has three places.

The column *channel* states where a record comes from and where it goes. A *command* comes from the
application or from the driver. A *network* record goes to neighbours, and is called a message. A
*timer* goes from a node to itself. A *report* goes from a node to its application. Some kinds have
two channels. If the fields of the two channels differ, each channel has its own row. A node refuses
a record from the network that has the form of a command.

The column *bytes* gives the length of a network record on the wire, without a payload and without
the headers of the radio. A record has 12 bytes of header: kind, flags, hops, `source` and
`incarnation`. The fields of the kind follow the header. A vector is a field with several places. A
record does not contain the free places at the end of some vectors, so its length varies.
"""


def page() -> str:
    """Return docs/messages.md. Systems with equal tables of kinds share a section."""
    sections: dict[str, list[str]] = {}
    for name, about in SYSTEMS.items():
        kinds = importlib.import_module(about.module).KINDS
        sections.setdefault(_table(kinds), []).append(name)
    sections[_table(HELLO_KINDS)] = ["Hellos, beside the messages of a system"]
    return _HEAD + "".join(
        f"\n## {', '.join(names)}\n\n{table}" for table, names in sections.items()
    )


def _table(kinds: Kinds) -> str:
    rows = ["| number | name | channel | bytes | meaning | fields |", "|---|---|---|---|---|---|"]
    for kind in sorted(kinds, key=lambda kind: kind.number):
        rows += _rows(kind)
    return "\n".join(rows) + "\n"


def _rows(kind: Kind) -> list[str]:
    same = [form for form in kind.forms if form.parts() == kind.parts()]
    channels = ", ".join(form.channel.value for form in same)
    return [_row(kind, channels), *(_row(form) for form in kind.forms if form not in same)]


def _row(kind: Kind, channels: str = "") -> str:
    fields = [_field(field, kind.reused.get(field, "")) for field in kind.fields]
    for array in ("args", "reals"):
        for name, indices in kind.places(array).items():
            last = f"…[{indices[-1]}]" if len(indices) > 1 else ""
            fields.append(_field(f"{array}[{indices[0]}]{last}", name))
    channels = channels or kind.channel.value
    cells = str(kind.number), f"`{kind.name}`", channels, _bytes(kind), kind.meaning
    return f"| {' | '.join(cells)} | {'; '.join(fields) or '–'} |"


def _field(name: str, content: str) -> str:
    """Return a field of a record kind, with what it holds if its name does not say this."""
    return f"`{name}`: {content}" if content else f"`{name}`"


def _bytes(kind: Kind) -> str:
    if kind.channel is not Channel.NETWORK:
        return "–"
    least, most = wire_bytes(kind)
    return str(least) if least == most else f"{least} to {most}"
