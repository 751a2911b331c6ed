"""The decision of a comparison: what it chooses, what it leaves open, and how often it is wrong."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from halfway.comparison.evaluation.cell_statistics import cells_of
from halfway.comparison.evaluation.comparison_results import (
    Decision,
    DecisionRule,
    Metric,
    Need,
    ResultCell,
)
from halfway.comparison.evaluation.decision import ErrorLevels, decide
from halfway.comparison.evaluation.metrics import METRICS
from halfway.pipeline.statistics.estimates import greatest_share, p_above
from tests.comparison.decisions import (
    CASES,
    MOST,
    SKEWED_CASES,
    SKEWED_LAWS,
    STATED,
    errors,
    skewed,
    table,
)

BY_NAME = {metric.name: metric for metric in METRICS}
NEED = Need("delivery-ratio", 0.95)
NOISE = np.array([0.3, -0.5, 0.1, 0.8, -0.2, -0.6, 0.4, 0.0, -0.4, 0.1])
ENERGY = DecisionRule((NEED,), "energy")


def around(mean: float, spread: float) -> Sequence[float]:
    return (mean + spread * NOISE).tolist()


def decided(
    rule: DecisionRule, *, asked: Sequence[int] = (), **systems: dict[str, Sequence[float]]
) -> Decision:  # fmt: skip
    """The decision on systems with these values; `latency_p95` is written for latency-p95."""
    metrics, compared_cells = compared(systems)
    return decide(0, metrics, compared_cells, rule, asked)


def compared(
    systems: dict[str, dict[str, Sequence[float]]],
) -> tuple[list[Metric], list[ResultCell]]:
    """The metrics of systems with these values, and their cells."""
    names = dict.fromkeys(name for of in systems.values() for name in of)
    metrics = [BY_NAME[name.replace("_", "-")] for name in names]
    return metrics, cells(metrics, systems)


def cells(
    metrics: Sequence[Metric], systems: dict[str, dict[str, Sequence[float]]]
) -> list[ResultCell]:
    found = []
    for metric in metrics:
        values = {
            system.replace("_", "-"): np.array(of[metric.name.replace("-", "_")])
            for system, of in systems.items()
        }
        found += cells_of(0, metric, values, next(iter(values)))
    return found


def verdicts(decision: Decision) -> dict[str, str]:
    return {one.system: one.verdict for one in decision.systems}


GOOD = {"delivery_ratio": around(0.98, 0.005), "energy": around(10.0, 0.5)}
DEAR = {"delivery_ratio": around(0.99, 0.005), "energy": around(20.0, 0.5)}
POOR = {"delivery_ratio": around(0.5, 0.05), "energy": around(1.0, 0.1)}


def test_the_cheapest_of_those_that_meet_the_need_is_chosen() -> None:
    found = decided(ENERGY, flooding=DEAR, gossip=GOOD, rumor=POOR)
    assert verdicts(found) == {"gossip": "chosen", "flooding": "costs more", "rumor": "fails"}
    (gossip, flooding, rumor) = found.systems
    assert flooding.extra is not None
    assert flooding.extra.value == pytest.approx(10.0)
    assert gossip.needs[0].confidence > 0.999
    assert rumor.needs[0].confidence < 0.001


def test_systems_that_cannot_be_distinguished_are_named() -> None:
    near = {"delivery_ratio": around(0.98, 0.005), "energy": (10.02 - 0.5 * NOISE).tolist()}
    found = decided(ENERGY, flooding=GOOD, gossip=near)
    assert verdicts(found) == {"flooding": "chosen", "gossip": "not clearly worse"}


def test_a_need_that_is_neither_met_nor_missed_stays_open() -> None:
    unsure = {"delivery_ratio": around(0.955, 0.03), "energy": around(5.0, 0.5)}
    found = decided(ENERGY, flooding=DEAR, gossip=unsure)
    assert verdicts(found) == {"flooding": "chosen", "gossip": "open"}
    alone = decided(ENERGY, gossip=unsure, rumor=POOR)
    assert alone.chosen is None
    # An open system that costs more than one that meets the needs is not the best in any case.
    dear = {"delivery_ratio": around(0.955, 0.03), "energy": around(50.0, 0.5)}
    assert verdicts(decided(ENERGY, flooding=DEAR, gossip=dear))["gossip"] == "costs more"


def test_all_needs_must_be_met_and_less_is_better_in_a_cost() -> None:
    quick = GOOD | {"latency_p95": around(0.5, 0.05)}
    slow = GOOD | {"latency_p95": around(3.0, 0.2)}
    rule = DecisionRule((NEED, Need("latency-p95", 1.0)), "energy")
    found = decided(rule, flooding=slow, gossip=quick)
    assert verdicts(found) == {"gossip": "chosen", "flooding": "fails"}
    assert [need.verdict for need in found.systems[1].needs] == ["meets", "fails"]


def test_nothing_is_chosen_where_all_fail() -> None:
    found = decided(ENERGY, flooding=POOR, gossip=POOR)
    assert found.chosen is None


def test_without_a_need_delivery_near_the_best_counts_and_then_messages() -> None:
    cost = "messages_per_notification"
    best = {"delivery_ratio": around(0.99, 0.005), cost: around(50.0, 2.0)}
    near = {"delivery_ratio": around(0.985, 0.005), cost: around(9.0, 0.5)}
    idle = {"delivery_ratio": around(0.1, 0.01), cost: around(1.0, 0.1)}
    found = decided(DecisionRule(), flooding=best, gossip=near, rumor=idle)
    assert verdicts(found) == {"gossip": "chosen", "flooding": "costs more", "rumor": "fails"}
    assert not found.stated
    # A need on a cost alone does not make it a merit to deliver nothing.
    of_cost = decided(DecisionRule((Need("energy", 100.0),), "energy"), flooding=DEAR, rumor=POOR)
    assert verdicts(of_cost)["rumor"] == "fails"


def test_a_system_without_a_value_in_some_replicates_is_not_confirmed() -> None:
    gaps = GOOD | {"latency_p95": [math.nan, *around(0.5, 0.05)[1:]]}
    rule = DecisionRule((NEED, Need("latency-p95", 1.0)), "energy")
    whole = DEAR | {"latency_p95": around(0.5, 0.05)}
    assert verdicts(decided(rule, flooding=whole, gossip=gaps))["gossip"] == "open"
    # A replicate in which no system has a value says nothing.
    both = DEAR | {"latency_p95": gaps["latency_p95"]}
    assert verdicts(decided(rule, flooding=both, gossip=gaps))["gossip"] == "chosen"


def test_a_system_whose_runs_fail_hinders_no_decision() -> None:
    broken = {"delivery_ratio": [math.nan] * 10, "energy": [math.nan] * 10}
    once = {"delivery_ratio": [1.0, *[math.nan] * 9], "energy": [5.0, *[math.nan] * 9]}
    rule = DecisionRule((), "energy")
    found = verdicts(decided(rule, flooding=DEAR, gossip=GOOD, broken=broken, once=once))
    assert (found["gossip"], found["broken"], found["once"]) == ("chosen", "open", "open")
    assert decided(rule, gossip=GOOD, broken=broken).chosen == "gossip"


def test_replicates_like_those_at_hand_settle_an_open_system_in_the_named_number() -> None:
    for mean, verdict in ((0.955, "chosen"), (0.945, "fails")):
        unsure = {"delivery_ratio": around(mean, 0.03), "energy": around(5.0, 0.5)}
        (one,) = decided(ENERGY, gossip=unsure).systems
        assert one.verdict == "open"
        assert one.replicates_needed in (45, 60)
        count = one.replicates_needed or 0
        longer = {name: np.resize(values, count).tolist() for name, values in unsure.items()}
        assert verdicts(decided(ENERGY, gossip=longer, asked=[10])) == {"gossip": verdict}
    (clear,) = decided(ENERGY, gossip=GOOD).systems
    assert clear.replicates_needed is None


def test_each_decision_on_a_question_spends_two_thirds_of_the_error_that_is_left() -> None:
    levels = [ErrorLevels.after(decisions) for decisions in range(20)]
    assert levels[0].met == pytest.approx(0.025 * 2 / 3)
    assert levels[1].failed == pytest.approx(0.0125 * 2 / 9)
    assert sum(sum(one) for one in levels) == pytest.approx(0.05 + 0.05)
    assert sum(one.missed for one in levels) == pytest.approx(0.05)
    # Ten equal shares: a p-value of 1 in 1,024, which is enough for the first decision alone.
    same = {"delivery_ratio": [1.0] * 10, "energy": around(10.0, 0.5)}
    of_ten = {f"s{k}": same for k in range(10)}
    first, second = decided(ENERGY, **of_ten), decided(ENERGY, **of_ten, asked=[5])
    assert first.chosen
    assert second.chosen is None
    assert second.asked == (5,)


def test_a_question_is_the_same_whatever_the_order_of_its_needs() -> None:
    other = Need("latency-p95", 1.0)
    assert DecisionRule((NEED, other), "energy").question == (
        DecisionRule((other, NEED), "energy").question
    )
    assert DecisionRule((NEED,), "energy").question != DecisionRule((NEED,)).question


def test_a_system_that_sometimes_fails_does_not_hide_that_another_one_never_does() -> None:
    cost = "messages_per_notification"
    best = {"delivery_ratio": [1.0] * 10, cost: around(50.0, 2.0)}
    erratic = {"delivery_ratio": [0.98, 0.99, *[0.97] * 7, 0.5], cost: around(90.0, 2.0)}
    found = decided(DecisionRule(), flooding=best, walk=erratic)
    assert found.chosen == "flooding"
    # The loss makes the spread so large that the plain test does not see it.
    margins = np.array(best["delivery_ratio"]) - erratic["delivery_ratio"] + 0.02
    assert p_above(margins) > 0.0125
    # A system that is behind in many replicates gains nothing by one in which it is ahead.
    behind = {"delivery_ratio": [*[0.9649] * 9, 0.96], cost: around(9.0, 0.5)}
    other = {"delivery_ratio": [*[0.99] * 9, 0.5], cost: around(90.0, 2.0)}
    assert verdicts(decided(DecisionRule(), flooding=other, gossip=behind))["gossip"] != "chosen"


def test_losses_that_no_replicate_shows_are_not_excluded() -> None:
    """Without a loss in n replicates, a share of 1 - 0.05^(1/n) cannot be excluded."""
    assert greatest_share(0, 20, 0.05) == pytest.approx(1.0 - 0.05 ** (1 / 20))  # 14 %
    # Clopper & Pearson: 1 of 20 or fewer has a probability of 5 % at this share.
    share = greatest_share(1, 20, 0.05)
    assert (1.0 - share) ** 20 + 20 * share * (1.0 - share) ** 19 == pytest.approx(0.05)
    assert greatest_share(3, 3, 0.05) == 1.0
    # The first decision spends two thirds of the 5 %, which two systems share.
    found = decided(ENERGY, gossip=GOOD, rumor=POOR)
    met, failed = (one.needs[0] for one in found.systems)
    assert (met.missed, met.replicates, failed.missed) == (0, 10, 10)
    assert met.greatest_share == pytest.approx(1.0 - (0.05 * 2 / 3 / 2) ** (1 / 10))
    assert failed.greatest_share == 1.0
    again = decided(ENERGY, asked=[5], gossip=GOOD, rumor=POOR).systems[0].needs[0]
    assert again.greatest_share == pytest.approx(1.0 - (0.05 * 2 / 9 / 2) ** (1 / 10))


def test_the_replicates_that_miss_a_need_are_counted() -> None:
    quick = {"delivery_ratio": [*[0.98] * 38, 0.94, 0.95], "energy": around(10.0, 0.5) * 4}
    late = quick | {"latency_p95": [0.5] * 37 + [1.1] * 3}
    rule = DecisionRule((NEED, Need("latency-p95", 1.0)), "energy")
    found = decided(rule, gossip=late)
    assert [need.missed for need in found.systems[0].needs] == [1, 3]
    assert found.chosen == "gossip"
    # Without a need on delivery, a replicate counts in which another system is far ahead.
    other = {"delivery_ratio": [*[0.98] * 38, 0.965, 0.975], "energy": around(20.0, 0.5) * 4}
    of_best = decided(DecisionRule((), "energy"), gossip=quick, flooding=other)
    assert [one.needs[0].missed for one in of_best.systems] == [2, 0]
    # A replicate without a value counts if another system has a value there, but not otherwise.
    gaps = late | {"latency_p95": [math.nan, math.nan, *[0.5] * 38]}
    less = late | {"latency_p95": [math.nan, *[0.5] * 39]}
    both = {one.system: one.needs[1] for one in decided(rule, gossip=gaps, flooding=less).systems}
    assert (both["gossip"].missed, both["gossip"].replicates) == (1, 39)
    assert (both["flooding"].missed, both["flooding"].replicates) == (0, 39)
    alone = decided(DecisionRule((), "energy"), gossip=quick).systems[0].needs[0]
    assert (alone.missed, alone.replicates) == (0, 40)


@pytest.mark.long
def test_the_stated_share_covers_the_losses_of_the_chosen_system() -> None:
    """300 studies of 24 systems, of which each loses everything in a share of the networks.

    The shares that are just above the bound of one system alone are the worst ones.
    """
    generator, alone, all_ = np.random.default_rng(7), 0, 0
    loss = 1.0 - 0.05 ** (1 / 20) + 0.005
    for _ in range(300):
        values = {
            f"s{k}": {"delivery_ratio": (generator.random(20) >= loss).astype(float).tolist(),
                      "energy": around(10.0, 0.5) * 2}
            for k in range(24)
        }  # fmt: skip
        found = decided(ENERGY, **values)
        if found.chosen is not None:
            result = found.systems[0].needs[0]
            all_ += result.greatest_share < loss
            alone += greatest_share(result.missed, 20, 0.05) < loss
    assert alone > 100  # most choices: a bound for one system does not hold for the best of 24
    assert all_ <= 15


def test_one_replicate_decides_nothing() -> None:
    one = {"delivery_ratio": [0.99], "energy": [1.0]}
    found = decided(ENERGY, flooding=one, gossip=one)
    assert found.chosen is None
    cost = {"delivery_ratio": [1.0], "messages_per_notification": [9.0]}
    alone = decided(DecisionRule(), flooding=cost)  # it is its own best
    assert (alone.chosen, verdicts(alone)) == (None, {"flooding": "open"})


def test_equal_shares_are_as_sure_as_a_sign_test() -> None:
    """Ten replicates without a loss: 1 in 1,024. Five are too few for a choice of 12."""
    same = {"delivery_ratio": [1.0] * 10, "energy": around(10.0, 0.5)}
    found = decided(ENERGY, flooding=same, gossip=POOR)
    assert found.systems[0].needs[0].confidence == pytest.approx(1.0 - 2.0**-10)
    few = {name: values[:5] for name, values in same.items()}
    many = {f"s{k}": few for k in range(12)}
    assert decided(ENERGY, **many).chosen is None
    # A constant by design, such as the size of a table, is certain.
    size = GOOD | {"state_per_node": [512.0] * 10}
    rule = DecisionRule((NEED, Need("state-per-node", 512.0)), "energy")
    assert verdicts(decided(rule, flooding=size))["flooding"] == "chosen"


def test_the_p_value_belongs_to_the_interval() -> None:
    from halfway.pipeline.statistics.estimates import mean_interval

    generator = np.random.default_rng(3)
    for values in (generator.exponential(size=8), generator.normal(5.0, 1.0, 8)):
        for level in (0.8, 0.95, 0.99):
            low = mean_interval(values, level)[1]
            assert p_above(values, low) == pytest.approx((1.0 - level) / 2.0, rel=1e-6)
    assert p_above([1.0, 1.0], 0.5) == 0.0
    assert p_above([1.0, 1.0], 1.0) == 1.0
    assert p_above([3.0]) == 1.0
    # Near a bound, a logarithmic scale needs more evidence.
    close = np.array([0.99, 0.97, 0.999, 0.98])
    assert p_above(close, 0.95, most=1.0) > 1.5 * p_above(close, 0.95)


@pytest.mark.parametrize("laws", [("share of 200", "normal"), ("network", "network")])
@pytest.mark.long
def test_a_decision_is_rarely_wrong(laws: tuple[str, str]) -> None:
    """100 studies a case: at most 5 % are wrong (14 of 100 would be, at 5 %, in 1 of 2,000)."""
    for name, case in CASES.items():
        for replicates in (3, 10):
            assert errors(case, laws, replicates, STATED, 100).wrong < 0.14, name


@pytest.mark.parametrize("laws", [("share of 200", "normal"), ("network", "network")])
def test_clear_cases_are_decided(laws: tuple[str, str]) -> None:
    assert errors(CASES["clear"], laws, 10, STATED, 100).named > 0.8


@pytest.mark.parametrize("laws", SKEWED_LAWS.values(), ids=list(SKEWED_LAWS))
def test_a_decision_from_values_with_a_long_tail_is_rarely_wrong(laws: tuple[str, str]) -> None:
    """100 studies of two systems: at most 5 % are wrong, as above."""
    assert errors(SKEWED_CASES["two"], laws, 20, STATED, 100).wrong < 0.14


@pytest.mark.slow
def test_a_decision_from_values_with_a_long_tail_is_wrong_in_at_most_5_percent() -> None:
    """2,000 studies of two and of 24 systems: two minutes."""
    assert [one for one in skewed(2_000) if one[3].wrong > 0.05] == []


@pytest.mark.slow
def test_a_decision_is_wrong_in_at_most_5_percent_of_studies() -> None:
    """2,000 studies of each case, law and number of replicates: half an hour."""
    assert [(law, n, one.wrong) for law, n, one in table(2_000) if one.wrong > 0.05] == []


@pytest.mark.slow
def test_decisions_that_follow_their_sentences_are_wrong_in_at_most_5_percent_of_studies() -> None:
    """2,000 studies of each case and law, with up to four decisions each: an hour."""
    assert [(law, one.wrong) for law, _, one in table(2_000, MOST) if one.wrong > 0.05] == []
