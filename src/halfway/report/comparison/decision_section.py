"""The decision on the page of a comparison: what to choose, and why."""

import math
import re
from collections.abc import Mapping, Sequence
from html import escape

from halfway.comparison.evaluation.comparison_results import (
    Decision,
    NeedResult,
    RankedSystem,
    Results,
    SystemVerdict,
)
from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report import wording
from halfway.report.comparison.comparison_tables import framed, signed, span
from halfway.report.comparison.decision_text import (
    VERDICT_COLUMNS,
    limit_of,
    need_text,
    question_of,
    share_text,
)
from halfway.report.comparison.plots.decision_plot import pareto
from halfway.report.comparison.plots.sweep_plots import varied
from halfway.report.comparison.plots.system_marks import badge, mark_numbers
from halfway.report.document import section

_OPTION = re.compile(r"--[a-z]+ [\w=.-]*\w")
_EXTRA = "difference to the chosen system"


def decision_section(results: Results) -> str:
    """Return the section of the page with the decision of every point, or "" without a decision."""
    if not results.decisions:
        return ""
    if len(results.decisions) == 1:
        inner = _whole(results, results.decisions[0])
    else:
        folded = "".join(_folded(results, decision) for decision in results.decisions)
        limit = limit_of(results.decisions)
        inner = f"{_overview(results)}{limit and f'<p>{limit}</p>'}{folded}"
    how = (
        "With 95 % confidence, two statements hold. The chosen system meets every need. The "
        "cheapest system that meets every need is the chosen system, or a system that is open or "
        "not clearly worse."
    )
    return section("decision", "Which system to choose", f'{inner}<p class="note">{how}</p>')


def _whole(results: Results, decision: Decision) -> str:
    return (
        f'<p class="decision">{_marked(decision.sentence)}</p>'
        f"{_table(results, decision)}{pareto(results, decision)}"
    )


def _marked(sentence: str) -> str:
    """Return a decision's sentence as HTML, in which no line ends within an option or a value."""
    text = escape(sentence).replace(" ± ", " ±\N{NO-BREAK SPACE}")
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return _OPTION.sub(r'<span class="option">\g<0></span>', text)


def _overview(results: Results) -> str:
    """Return the table of all decisions of a sweep, with one row per point and one column per
    verdict.
    """
    fields, marks = varied(results), mark_numbers(results.systems)
    names = [*fields[1:], *(heading for heading, _ in VERDICT_COLUMNS)]
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    rows = ""
    for decision in results.decisions:
        first, *others = (wording.scalar(results.points[decision.point][field]) for field in fields)
        texts = [escape(field) for field in others]
        texts += [_named(decision, verdicts, marks) for _, verdicts in VERDICT_COLUMNS]
        cells = "".join(
            f'<td data-name="{escape(name)}">{text}</td>'
            for name, text in zip(names, texts, strict=True)
        )
        rows += f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>'
    metrics = {metric.name: metric for metric in results.metrics}
    return framed(fields[0], question_of(results.decisions[0], metrics), heads, rows, "decisions")


def _named(decision: Decision, verdicts: Sequence[SystemVerdict], marks: Mapping[str, int]) -> str:
    """Return the systems of a decision with one of these verdicts, and their marks, as HTML."""
    names = [one.system for one in decision.systems if one.verdict in verdicts]
    text = ", ".join(f"{badge(marks[name])}\N{NO-BREAK SPACE}{escape(name)}" for name in names)
    return f"<b>{text}</b>" if names == [decision.chosen] else text or NO_VALUE


def _folded(results: Results, decision: Decision) -> str:
    point = results.points[decision.point]
    where = ", ".join(f"{name} = {wording.scalar(value)}" for name, value in point.items())
    return (
        f"<details><summary>Reasons, {escape(where)}</summary>{_whole(results, decision)}</details>"
    )


def _table(results: Results, decision: Decision) -> str:
    """Return the table of a decision: for each system a row with its verdict, needs and cost."""
    metrics = {metric.name: metric for metric in results.metrics}
    marks, cost = mark_numbers(results.systems), metrics[decision.minimise]
    texts = [need_text(need, metrics[need.metric]) for need in decision.needs]
    price = f"{cost.heading}, to minimise"
    heads = '<th scope="col">verdict</th>'
    heads += "".join(f'<th scope="col" class="n">{escape(text)}</th>' for text in texts)
    heads += f'<th scope="col" class="n">{escape(price)}</th>'
    compared = any(ranked.extra is not None for ranked in decision.systems)
    heads += f'<th scope="col" class="n">{_EXTRA}</th>' if compared else ""
    rows = "".join(
        _row(ranked, marks[ranked.system], texts, price, compared=compared)
        for ranked in decision.systems
    )
    caption = (
        "Systems, ordered by verdict and then by cost. Below a mean are its 95 % interval, "
        "and the one-sided confidence that the mean meets the need. Below them are the "
        "replicates that miss the need by themselves, and the greatest share of further "
        "replicates that could miss it (95 % confidence)"
    )
    return framed("system", caption, heads, rows, "ranking")


def _row(
    ranked: RankedSystem, number: int, texts: Sequence[str], price: str, *, compared: bool
) -> str:
    needs = ""
    for text, need in zip(texts, ranked.needs, strict=True):
        value = "" if math.isnan(need.value.value) else f' data-value="{need.value.value:.12g}"'
        needs += (
            f'<td class="n need-{need.verdict}" data-name="{escape(text)}"{value}>'
            f"{need.value.texts[0]}{span(need.value)}"
            f'<span class="span">{need.verdict}{_sure(need)}</span>{_missed(need)}</td>'
        )
    value = "" if math.isnan(ranked.cost.value) else f' data-value="{ranked.cost.value:.12g}"'
    cost = f"{ranked.cost.texts[0]}{span(ranked.cost)}"
    extra = f'<td class="n" data-name="{_EXTRA}"></td>' if compared else ""
    if ranked.extra is not None:
        mean, low, high = (signed(text) for text in ranked.extra.texts)
        order = "" if math.isnan(ranked.extra.value) else f' data-value="{ranked.extra.value:.12g}"'
        extra = (
            f'<td class="n" data-name="{_EXTRA}"{order}>'
            f'{mean}<span class="span">{low} to {high}</span></td>'
        )
    kind = ranked.verdict.replace(" ", "-")
    return (
        f'<tr class="{kind}"><th scope="row">{badge(number)} {escape(ranked.system)}</th>'
        f'<td data-name="verdict"><b class="word">{ranked.verdict}</b></td>{needs}'
        f'<td class="n" data-name="{escape(price)}"{value}>{cost}</td>{extra}</tr>'
    )


def _sure(need: NeedResult) -> str:
    """Return the one-sided confidence that a decision's need is met; the last digit is rounded
    down.
    """
    if need.verdict == "fails" or need.confidence == 0.0:  # 0: one replicate
        return ""
    if need.confidence >= 0.999:
        return ", over 99.9 % sure"
    return f", {math.floor(1000.0 * need.confidence) / 10.0:.1f} % sure"


def _missed(need: NeedResult) -> str:
    """Return the replicates that miss a need of the decision, and the share that could, as HTML."""
    if need.verdict != "meets":
        return ""
    missed = f"{need.missed or 'none'} of {need.replicates:,} miss it"
    return f'<span class="span">{missed}, up to {share_text(need.greatest_share)} could</span>'
