"""docs/scenarios.md has every field and option with its default and range."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import NODEFAULT, UNSET, inspect

from halfway.adapters.registry import TABLE
from halfway.scenario.schema import Scenario, converted

PAGE = (Path(__file__).parents[2] / "docs" / "scenarios.md").read_text("utf-8")
TABLES = {
    "network", "radio", "workload", "faults", "options", "power", "clock", "sweep", "decision",
}  # fmt: skip


def parts() -> dict[str, Any]:
    """Every table by its heading on the page."""
    found: dict[str, Any] = {"Top": inspect.type_info(Scenario)}
    for field in found["Top"].fields:
        inner = field.type.item_type if isinstance(field.type, inspect.ListType) else field.type
        for part in getattr(inner, "types", (inner,)):
            if isinstance(part, inspect.StructType):
                kind = f' {part.tag_field} = "{part.tag}"' if part.tag else ""
                brackets = "[[{}]]" if field.name == "faults" else "[{}]"
                found[f"`{brackets.format(field.name)}`{kind}"] = part
                found |= parts_below(field.name, part)
    return found


def parts_below(table: str, part: inspect.StructType) -> dict[str, Any]:
    """The tables inside a table, by their headings on the page."""
    return {
        f"`[{table}.{field.name}]`": inner
        for field in part.fields
        for inner in getattr(field.type, "types", ())
        if isinstance(inner, inspect.StructType)
    }


def default(field: Any) -> str:
    if field.required:
        return "required"
    if field.default is None or field.default in ((), ""):
        return "none"
    assert field.default not in (NODEFAULT, UNSET)
    return shown(field.default)


def shown(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return f"[{', '.join(map(shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def allowed(declared: Any) -> str | None:
    """A range as on the page; None where the schema has none."""
    if isinstance(declared, inspect.LiteralType):
        return ", ".join(f'"{value}"' for value in declared.values)
    if isinstance(declared, inspect.BoolType):
        return "true, false"
    for inner in getattr(declared, "types", getattr(declared, "item_types", (declared,))):
        bounds = [(word, getattr(inner, name, None)) for name, word in
                  (("gt", "over"), ("ge", "from"), ("le", "to"))]  # fmt: skip
        span = " ".join(f"{word} {number(bound)}" for word, bound in bounds if bound is not None)
        if span:
            return span
    return None


def number(bound: float) -> str:
    if bound in (2**31 - 1, 2**31 - 2, 2**63 - 1):
        power = int(bound).bit_length()
        return f"2^{power} - {2**power - int(bound)}"
    return f"{bound:g}" if bound < 1e-3 or bound > 1e7 else f"{bound:,.10g}"


def section(heading: str) -> list[list[str]]:
    """The rows of a table on the page, cell by cell."""
    _, found, rest = PAGE.partition(f"\n## {heading}\n")
    assert found, f"docs/scenarios.md has no section `## {heading}`"
    lines = [line for line in rest.split("\n## ")[0].splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("heading", parts())
def test_every_field_is_on_the_page_as_the_schema_has_it(heading: str) -> None:
    fields = [
        field for field in parts()[heading].fields if heading != "Top" or field.name not in TABLES
    ]
    rows = section(heading)
    assert [row[0] for row in rows] == [f"`{field.encode_name}`" for field in fields]
    for field, (_, given, span, what) in zip(fields, rows, strict=True):
        assert given == default(field), field.name
        assert span == (allowed(field.type) or span), field.name
        assert span
        assert what


@pytest.mark.parametrize("name", TABLE)
def test_every_option_of_a_system_is_on_the_page(name: str) -> None:
    rows = section(f"`[options.{name}]`")
    expected = []
    for option, about in TABLE[name].options.items():
        flag = isinstance(about.default, bool)
        span = "true, false" if flag else f"from {number(about.low)} to {number(about.high)}"
        default = "auto" if about.auto else shown(about.default)
        expected.append([f"`{option}`", default, span, about.meaning])
    assert rows == expected


def test_every_section_is_a_table_or_a_system() -> None:
    heads = {line.removeprefix("## ") for line in PAGE.splitlines() if line.startswith("## ")}
    assert heads == {*parts(), "`[sweep]`", *(f"`[options.{name}]`" for name in TABLE)}


def test_the_example_on_the_page_is_a_scenario() -> None:
    import tomllib

    example = PAGE.split("```toml\n")[1].split("```")[0]
    assert converted(tomllib.loads(example)).faults
