"""`halfway pub`, `halfway sub` and `halfway spy`: events from and to the terminal."""

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from halfway.cli.live import node_options
from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import warn
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.live.control.control_requests import Arrived
    from halfway.live.control.places import ControlSocket

_OWN = "no node is running on this machine, so this command starts a node"
_BATCH = 256
_SPY_EVERY_S = 1.0


def pub(
    topic: node_options.Topic,
    text: node_options.Text = "-",
    *,
    count: node_options.Repeats = 1,
    retain: node_options.Retain = False,
    keep: node_options.Keep = False,
    expiry: node_options.Expiry = None,
    wait: node_options.Wait = 3.0,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Publish one event, or one event for each line of stdin.

    \b
    A node that runs on this machine publishes the event. If no node runs, the command
    starts its own node, and waits for a neighbour before it publishes.

    \b
    halfway pub sensors/kitchen 21.5
    halfway pub sensors/kitchen --count 5 'reading {{count}}'
    vmstat 1 | halfway pub machine/load -
    halfway pub lamps/hall on --retain
    halfway pub alarms/door open --keep     the event is on disk before this command ends
    """
    from halfway.live.mesh import Level

    level = Level.KEPT if keep else Level.BEST_EFFORT
    settings = {"retain": retain, "expiry_s": expiry, "link_s": wait, "level": level}
    batches = _batches(_payloads(text, count), 1 if text == "-" else _BATCH)
    published, neighbours = _published(node, topic, batches, settings)
    if neighbours == 0:
        warn("the node has no neighbour, so only subscribers at this node received the event")
    if as_json:
        typer.echo(json.dumps({"published": published, "neighbours": neighbours}))


def _published(
    node: str, topic: str, batches: Iterable[list[bytes]], options: dict[str, Any]
) -> tuple[int, int]:
    """Publish batches of payloads for `halfway pub` at a node; return the number of events, and of
    the node's neighbours.
    """
    from halfway.live.control.client import answer_of
    from halfway.live.control.control_requests import Done, PublishRequest

    published = neighbours = 0
    with at(node) as place:
        for batch in batches:
            answer = answer_of(place, PublishRequest(topic=topic, payloads=batch, **options))
            assert isinstance(answer, Done)
            published, neighbours = published + answer.count, answer.neighbours
    return published, neighbours


def sub(
    topic_filter: node_options.TopicFilter,
    count: node_options.MostEvents = None,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Print each event when it arrives: its topic and its payload on one line.

    \b
    The command first prints the retained value of each topic (see `halfway pub --retain`).

    \b
    halfway sub 'sensors/#'
    halfway sub 'sensors/+/temperature' --json | jq .payload
    halfway sub alarms --count 1
    """
    printed = 0
    with at(node) as place:
        for event in _arrivals(place, topic_filter):
            _print_event(event, as_json)
            printed += 1
            if count is not None and printed >= count:
                break


def spy(
    topic_filter: node_options.TopicFilter = "#",
    seconds: node_options.ForSeconds = 1e9,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Once per second, print each topic with events: rate, mean size and mean age of its events.

    The retained values, which were published before the command began, do not count.

    \b
    halfway spy
    halfway spy 'sensors/#' --seconds 10 --json
    """
    counts: dict[str, list[float]] = {}  # topic -> events, bytes, ages
    begun = shown = time.monotonic()
    with at(node) as place:
        for event in _watched(place, topic_filter, _SPY_EVERY_S):
            if event is not None and not event.retained:
                row = counts.setdefault(event.topic, [0, 0, 0.0])
                row[0], row[1] = row[0] + 1, row[1] + len(event.payload)
                row[2] += event.age_s
            now = time.monotonic()
            if now - shown >= _SPY_EVERY_S:
                _print_counts(counts, now - shown, as_json)
                counts, shown = {}, now
            if now - begun >= seconds:
                break


@contextmanager
def at(node: str) -> Iterator["ControlSocket"]:
    """Return the node that `halfway pub` or `sub` asks: a running node of this machine, else a
    node that runs during the command.
    """
    from halfway.live.control.client import chosen

    place = chosen(node)
    if place is not None:
        yield place
        return
    from halfway.live.interface.background import own_node

    warn(_OWN)
    with own_node() as own:
        yield own


def _payloads(text: str, count: int) -> Iterator[bytes]:
    if text == "-":
        for line in sys.stdin.buffer:
            yield line.rstrip(b"\r\n")
        return
    for number in range(1, count + 1):
        yield text.replace("{{count}}", str(number)).encode()


def _batches(payloads: Iterable[bytes], most: int) -> Iterator[list[bytes]]:
    """Yield the payloads of `halfway pub` in batches of a count, and lines of stdin one by one as
    they come.
    """
    batch: list[bytes] = []
    for payload in payloads:
        batch.append(payload)
        if len(batch) == most:
            yield batch
            batch = []
    if batch:
        yield batch


def _arrivals(place: "ControlSocket", topic_filter: str) -> Iterator["Arrived"]:
    """Yield the events of a topic filter as they arrive at the terminal."""
    for event in _watched(place, topic_filter, None):
        if event is not None:
            yield event


def _watched(
    place: "ControlSocket", topic_filter: str, every_s: float | None
) -> Iterator["Arrived | None"]:
    """Yield the events for `halfway sub` as they arrive, and None each time that none came for
    `every_s`.

    every_s: seconds; None: the generator waits for an event.
    """
    from halfway.live.control.client import START_ONE, ask
    from halfway.live.control.control_requests import Arrived, SubscribeRequest

    for answer in ask(place, SubscribeRequest(filter=topic_filter), every_s):
        if answer is None or isinstance(answer, Arrived):
            yield answer
    raise Problem(f"node = {place.name}: the node has ended", remedy=START_ONE)


def _print_event(event: "Arrived", as_json: bool) -> None:
    text = event.payload.decode(errors="replace")
    if not as_json:
        typer.echo(f"{event.topic} {text}")
        return
    typer.echo(json.dumps({
        "topic": event.topic, "payload": text, "publisher": event.publisher,
        "epoch": event.epoch, "number": event.number, "age_s": round(event.age_s, 6),
        "hops": event.hops, "retained": event.retained, "local": event.local,
    }))  # fmt: skip


def _print_counts(counts: dict[str, list[float]], seconds: float, as_json: bool) -> None:
    for topic, (events, size, ages) in sorted(counts.items()):
        rate, mean, age = events / seconds, size / events, ages / events
        if as_json:
            row = {
                "topic": topic,
                "events": int(events),
                "per_second": round(rate, 3),
                "mean_bytes": round(mean, 1),
                "mean_age_s": round(age, 6),
            }
            typer.echo(json.dumps(row))
        else:
            typer.echo(f"{rate:8.1f}/s {mean:8.0f} B {1000 * age:8.1f} ms  {topic}")
    if not counts and not as_json:
        typer.echo("no event arrived in the last second")
