"""The map on a page: its buttons, what it says of itself, and the replays that its script plays."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.scene import Stage
from halfway.report.comparison.looks import badge
from halfway.report.comparison.packing import Packed, packed_replay, packed_stage

MOST_BYTES = 4_400_000  # of all replays together; the whole page stays below 5 MB
_KEYS = (
    ("Space", "play, pause"), ("← →", "a little back, on"), ("+ −", "faster, slower"),
    ("n p", "next, previous event"), ("Esc", "all events"), ("0 to 9", "all systems, or one"),
)  # fmt: skip
_LEFT_OUT = {
    "sent": "{told:,} of {all:,} transmissions are drawn, evenly spread",
    "reached": "the first {told:,} of {all:,} first receptions of events are told",
    "steps": "the first {told:,} of {all:,} steps of walks are drawn",
}


def map_section(replays: Sequence[Replay], places: dict[str, int]) -> str:
    """The section with the map; "" without replays. places: system -> its place in the tables."""
    if not replays:
        return ""
    stages, of = _stages(replays)
    staged = [packed_stage(stage) for stage in stages]
    packed = _within(replays, MOST_BYTES - sum(len(one.blob) for one in staged))
    about = {
        "stages": [one.about for one in staged],
        "replays": [{**one.about, "stage": place} for one, place in zip(packed, of, strict=True)],
    }
    blobs = _blobs("stage", staged) + _blobs("replay", packed)
    n = stages[0].network.n
    seconds = max(stage.seconds for stage in stages)
    return (
        '<section id="map" aria-labelledby="map-title"><h2 id="map-title">One run, played again'
        f'</h2><p class="lead">The first network of the comparison: {n:,} nodes, {seconds:g} s. '
        "Every system meets the same nodes, publications and faults.</p>"
        '<noscript><p class="lead">The map needs JavaScript; the tables and plots do not.</p>'
        f"</noscript>{_board(replays, places)}{_notes(staged, packed)}</section>"
        f'<script type="application/json" id="replays">{_json(about)}</script>{blobs}'
    )


def _stages(replays: Sequence[Replay]) -> tuple[list[Stage], list[int]]:
    """The different stages, and which of them each replay has."""
    stages: list[Stage] = []
    of = []
    for replay in replays:
        place = next((k for k, stage in enumerate(stages) if _same(stage, replay.stage)), None)
        if place is None:
            stages.append(replay.stage)
        of.append(len(stages) - 1 if place is None else place)
    return stages, of


def _same(a: Stage, b: Stage) -> bool:
    arrays: list[tuple[Any, Any]] = [
        (a.network.start, b.network.start), (a.network.who, b.network.who), (a.frames, b.frames),
        *((a.publications[name], b.publications[name]) for name in a.publications),
        *((a.subscriptions[name], b.subscriptions[name]) for name in a.subscriptions),
    ]  # fmt: skip
    return (a.seconds, a.reach) == (b.seconds, b.reach) and all(
        (one is None) == (other is None) and (one is None or np.array_equal(one, other))
        for one, other in arrays
    )


def _within(replays: Sequence[Replay], room: int) -> list[Packed]:
    """All packed into so many bytes: small ones whole, what they leave goes to the large ones."""
    packed = {k: packed_replay(replay, room) for k, replay in enumerate(replays)}
    by_size = sorted(packed, key=lambda k: len(packed[k].blob))
    for taken, k in enumerate(by_size):
        share = room // (len(by_size) - taken)
        if len(packed[k].blob) > share:
            packed[k] = packed_replay(replays[k], share)
        room -= len(packed[k].blob)
    return [packed[k] for k in range(len(replays))]


def _blobs(name: str, packed: Sequence[Packed]) -> str:
    return "".join(
        f'<script type="text/plain" id="{name}-{k}">{one.blob}</script>'
        for k, one in enumerate(packed)
    )


def _json(about: dict[str, Any]) -> str:
    """JSON that cannot end the element that it is in."""
    return json.dumps(about, separators=(",", ":"), default=float).replace("</", "<\\/")


def _board(replays: Sequence[Replay], places: dict[str, int]) -> str:
    buttons = "".join(
        f'<button type="button" data-system="{k}" aria-pressed="false">'
        f"{badge(places.get(replay.system, k))} {escape(replay.system)}</button>"
        for k, replay in enumerate(replays)
    )
    if len(replays) > 1:
        every = '<button type="button" data-system="-1" aria-pressed="true">all systems</button>'
        buttons = every + buttons
    keys = "".join(f"<span><kbd>{key}</kbd> {what}</span>" for key, what in _KEYS)
    return (
        '<div class="board" hidden tabindex="0" role="group" aria-label="Map of a run">'
        f'<div class="systems" role="group" aria-label="System">{buttons}</div>'
        '<div class="screen"><div class="views"></div>'
        '<aside aria-label="The event that is followed"><label>Follow '
        '<select class="events" aria-label="Event to follow"></select></label>'
        '<button type="button" class="earlier" aria-label="Previous event">‹</button>'
        '<button type="button" class="later" aria-label="Next event">›</button>'
        '<div class="story" role="status"></div><ol class="told" hidden></ol></aside></div>'
        '<div class="transport" role="group" aria-label="Playback">'
        '<button type="button" class="play" aria-label="Play"></button>'
        '<div class="time"><canvas class="density" aria-hidden="true"></canvas>'
        '<input class="range" type="range" min="0" max="10000" value="0" aria-label="Time"></div>'
        '<output class="clock">0 s</output><label class="pace">speed '
        '<select class="speed" aria-label="Speed"></select></label></div>'
        f'{_legend(replays)}<p class="keys">{keys}</p></div>'
    )


def _legend(replays: Sequence[Replay]) -> str:
    """What the signs mean, of those that occur."""
    labels = list(dict.fromkeys(label for replay in replays for label in replay.labels))
    meetings = list(dict.fromkeys(replay.meeting for replay in replays if replay.meeting))
    changes = [replay.tables["changes"]["what"] for replay in replays]
    kinds = {int(what) for some in changes for what in np.unique(some)}
    has = {name for replay in replays for name, table in replay.tables.items() if len(table["t"])}
    signs = [
        ("ring event", "an event is sent: a ring to all near, a dash to one"),
        ("tick", "delivered to a subscriber"),
        ("square", "a subscriber that waits"),
        ("square vain", "one that waits in vain"),
        ("diamond", "the publisher"),
        ("ring other", "other messages"),
        *(
            (f"stroke walk-{k % 2}", label)
            for k, label in enumerate(labels)
        ),
        *([("sign-met", ", or ".join(meetings))] if "met" in has else []),
        *([("stroke tree", "a link of the overlay")] if "links" in has else []),
        *([("letter", "a broker; its region has its colour and hatching")]
          if "belongs" in has else []),
        *([("cell", "a home cell, with its topics")] if "homes" in has else []),
        *([("cross", "a node that is down")] if 0 in kinds else []),
        *([("stroke cut", "a link that is cut")] if 2 in kinds else []),
    ]  # fmt: skip
    items = "".join(
        f'<li><i class="sign {sign}" aria-hidden="true"></i>{escape(text)}</li>'
        for sign, text in signs
    )
    return f'<ul class="signs">{items}</ul>'


def _notes(stages: Sequence[Packed], packed: Sequence[Packed]) -> str:
    """What the map does not show, in words."""
    notes = ["Transmissions that nobody heard are not in the record of a run, and not drawn."]
    for stage in stages:
        if not stage.about["own"]:
            notes.append("This network has no positions: it is laid out by distances in hops.")
        if stage.about["frames"] > 1:
            gap = stage.about["seconds"] / (stage.about["frames"] - 1)
            notes.append(f"Positions are told every {gap:.3g} s; between two, all move straight.")
        if stage.about["untold"]:
            notes.append(f"{stage.about['untold']:,} later events are not told.")
    for one in packed:
        left = "; ".join(
            _LEFT_OUT[name].format(told=told, all=every)
            for name, (told, every) in one.about["left"].items()
        )
        if left:
            notes.append(f"{one.about['system']}: {left}.")
        if one.about["until"] < one.about["seconds"]:
            notes.append(f"{one.about['system']}: told until {one.about['until']:.3g} s.")
    items = "".join(f"<li>{escape(note)}</li>" for note in dict.fromkeys(notes))
    return f'<ul class="readings left-out">{items}</ul>'
