"""Shell completion: systems, figures, metrics and scenario fields, as names of the command line."""

from collections.abc import Iterable, Iterator


def systems(incomplete: str) -> list[tuple[str, str]]:
    """Complete the name of a system in the shell, with its idea as the help text."""
    from halfway.report.terminal.listing import ideas

    return [(name, idea) for name, idea in ideas().items() if name.startswith(incomplete)]


def several_systems(incomplete: str) -> list[tuple[str, str]]:
    """Complete the last of several systems in the shell, which commas separate."""
    before, comma, last = incomplete.rpartition(",")
    chosen = before.split(",")
    return [(before + comma + name, about) for name, about in systems(last) if name not in chosen]


def figures(incomplete: str) -> list[str]:
    """Complete the name of a paper, or a figure of a paper, in the shell."""
    from halfway.papers import PAPERS

    names = [*PAPERS, *(f"{p.name}/{f.name}" for p in PAPERS.values() for f in p.figures)]
    return _beginning(names, incomplete)


def metrics(incomplete: str) -> list[str]:
    """Complete the name of a comparison's metric in the shell."""
    from halfway.comparison.evaluation.metrics import METRICS

    return _beginning((metric.name for metric in METRICS), incomplete)


def needs(incomplete: str) -> list[str]:
    """Complete in the shell the metric of a need such as delivery-ratio=0.95, up to its equals
    sign.
    """
    return [f"{name}=" for name in metrics(incomplete)]


def stopping_rules(incomplete: str) -> list[str]:
    """Complete in the shell the metric at the end of a stopping rule (half-width=2%,energy)."""
    rule, comma, last = incomplete.rpartition(",")
    rule = rule if comma else incomplete if "=" in incomplete else "half-width=2%"
    return [f"{rule},{name}" for name in metrics(last if comma else "")]


def fields(incomplete: str) -> list[str]:
    """Complete in the shell a field of the scenario for --set and --sweep, up to its equals
    sign.
    """
    return _beginning((f"{name}=" for name in dict.fromkeys(_fields())), incomplete)


def _fields() -> Iterator[str]:
    from halfway.adapters.registry import TABLE
    from halfway.scenario.json_schema import descriptions

    for table, own in descriptions().items():
        prefix = {"top": "", "faults": "faults[0]."}.get(table.split()[0], f"{table.split()[0]}.")
        yield from (prefix + name for name in own)
    for name, system in TABLE.items():
        yield from (f"options.{name}.{option}" for option in system.options)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
