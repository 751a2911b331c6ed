"""The content of events on the walk overlay: it travels in records, and nodes read no other."""

import numpy as np
import pytest

from halfway.core.message import MOST_ATTRIBUTES, RECORD
from halfway.core.records.wire import record_bytes, record_sizes, wire_bytes
from halfway.protocols.walk_overlay.messages import (
    CONTENT_EVENT,
    DELIVERED,
    EVENT,
    KINDS,
)
from tests.core.records.codec import Codec
from tests.protocols.lone import Driven, World, drive, emitted_alone
from tests.protocols.walk_overlay.test_walk_overlay import world


def is_same_alone(
    here: World, driven: Driven, row: int, subscriptions: list[int], contents: list[int]
) -> bool:
    """Whether a lone node emits the same bytes if its catalogue has these entries only.

    All other entries of the catalogue have other topics, intervals, items and values.
    """
    kept = here.rules.catalogue
    others = np.setdiff1d(np.arange(len(kept.topic)), subscriptions)
    unknown = np.setdiff1d(np.arange(len(kept.value)), contents)
    less = kept._replace(**{name: getattr(kept, name).copy() for name in kept._fields})
    less.topic[others], less.low[others], less.high[others] = 77, 0.5, 0.6
    for s in others:
        less.item[less.first[s] : less.first[s + 1]] = 12345
    less.value[unknown], less.event_topic[unknown] = 0.999, 77
    mine = driven.records[driven.rows == row]
    rules = [here.rules._replace(catalogue=of) for of in (kept, less)]
    whole, alone = (emitted_alone(here, row, one, mine) for one in rules)
    return whole == alone


def test_a_node_reads_its_own_applications_entries_of_the_catalogue_only() -> None:
    """[dwo §I, §III] What a node receives has all that it needs: an event its values, a filter its
    bits.
    """
    here = world()
    driven = drive(here)
    published, subscribed = list(range(8, 14)), [3]
    assert len(driven.reported(DELIVERED)) > 0
    assert is_same_alone(
        here, driven, 6, subscribed, []
    )  # the subscriber knows no event beforehand
    assert is_same_alone(here, driven, 0, [], published)  # the publisher knows no subscription
    assert all(is_same_alone(here, driven, row, [], []) for row in (1, 2, 3))  # others know neither
    assert not is_same_alone(here, driven, 6, [], [])
    assert not is_same_alone(here, driven, 0, [], [])


@pytest.mark.parametrize("attributes", range(1, MOST_ATTRIBUTES + 1))
def test_values_travel_in_records_and_cost_eight_bytes_each(attributes: int) -> None:
    plain, sizes = wire_bytes(KINDS[EVENT])[1], record_sizes(KINDS)
    record = np.zeros(1, RECORD).view(np.recarray)
    record["kind"], record["reals"][0, :attributes] = CONTENT_EVENT, 0.25
    record["topic"] = record["event"] = record["publisher"] = 5
    assert record_bytes(sizes, record[0]) == plain + 1 + 8 * attributes
    assert wire_bytes(KINDS[CONTENT_EVENT])[1] <= RECORD.itemsize
    codec = Codec(KINDS)
    assert codec.decode(codec.encode(record[0])).reals.tolist() == record.reals[0].tolist()
