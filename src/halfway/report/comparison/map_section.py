"""The map section of a comparison page: controls, legend, notes and packed replays."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.world import ReplayWorld
from halfway.report.comparison.packing import Packed, packed_replay, packed_world
from halfway.report.comparison.system_marks import badge
from halfway.report.document import section

MOST_BYTES = 4_400_000  # of all replays together; the whole page stays below 5 MB
_KEYS = (
    ("Space", "play, pause"), ("← →", "back, forward"), ("+ −", "faster, slower"),
    ("n p", "next, previous event"), ("Esc", "all events"), ("0 to 9", "all systems, one system"),
)  # fmt: skip
_LEFT_OUT = {
    "sent": "the map draws {kept:,} of {all:,} transmissions, evenly spread",
    "reached": "the map draws the earliest {kept:,} of {all:,} first receptions of events",
    "steps": "the map draws the first {kept:,} of {all:,} steps of walks",
}


def map_section(replays: Sequence[Replay], places: dict[str, int]) -> str:
    """The map section; "" without replays. places: system -> its index in a comparison's tables."""
    if not replays:
        return ""
    worlds, of = _worlds(replays)
    packed_worlds = [packed_world(world) for world in worlds]
    packed = _within(replays, MOST_BYTES - sum(len(one.blob) for one in packed_worlds))
    about = {
        "worlds": [one.about for one in packed_worlds],
        "replays": [{**one.about, "world": place} for one, place in zip(packed, of, strict=True)],
    }
    blobs = _blobs("world", packed_worlds) + _blobs("replay", packed)
    n = worlds[0].network.n
    seconds = max(world.seconds for world in worlds)
    inner = (
        f'<p class="lead">The first network of the comparison: {n:,} nodes, {seconds:g} s. '
        "Every system meets the same nodes, publications and faults.</p>"
        '<noscript><p class="lead">The map needs JavaScript. The tables and '
        "plots need no JavaScript.</p>"
        f"</noscript>{_board(replays, places)}{_notes(packed_worlds, packed)}"
    )
    # The JSON text must not close the element around it.
    text = json.dumps(about, separators=(",", ":"), default=float).replace("</", "<\\/")
    data = f'<script type="application/json" id="replays">{text}</script>{blobs}'
    return section("map", "Replay of one run", inner) + data


def _worlds(replays: Sequence[Replay]) -> tuple[list[ReplayWorld], list[int]]:
    """The different worlds in a map section, and the index of each replay's world."""
    worlds: list[ReplayWorld] = []
    of = []
    for replay in replays:
        place = next((k for k, world in enumerate(worlds) if _same(world, replay.world)), None)
        if place is None:
            worlds.append(replay.world)
        of.append(len(worlds) - 1 if place is None else place)
    return worlds, of


def _same(a: ReplayWorld, b: ReplayWorld) -> bool:
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
    """A map's replays packed into so many bytes: small ones whole, the rest for the large ones."""
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


def _board(replays: Sequence[Replay], places: dict[str, int]) -> str:
    buttons = ""
    if len(replays) > 1:
        buttons = '<button type="button" data-system="-1" aria-pressed="true">all systems</button>'
    for k, replay in enumerate(replays):
        name = f"{badge(places.get(replay.system, k))} {escape(replay.system)}"
        buttons += f'<button type="button" data-system="{k}" aria-pressed="false">{name}</button>'
    keys = "".join(f"<span><kbd>{key}</kbd> {what}</span>" for key, what in _KEYS)
    return (
        '<div class="board" hidden tabindex="0" role="group" aria-label="Map of a run">'
        f'<div class="systems" role="group" aria-label="System">{buttons}</div>'
        '<div class="screen"><div class="views"></div>'
        '<aside aria-label="Followed event"><label>Follow '
        '<select class="events" aria-label="Event to follow"></select></label>'
        '<button type="button" class="earlier" aria-label="Previous event">‹</button>'
        '<button type="button" class="later" aria-label="Next event">›</button>'
        '<div class="details" role="status"></div><ol class="receivers" hidden></ol></aside></div>'
        '<div class="transport" role="group" aria-label="Playback">'
        '<button type="button" class="play" aria-label="Play"></button>'
        '<div class="time"><canvas class="density" aria-hidden="true"></canvas>'
        '<input class="range" type="range" min="0" max="10000" value="0" aria-label="Time"></div>'
        '<output class="clock">0 s</output><label class="pace">speed '
        '<select class="speed" aria-label="Speed"></select></label></div>'
        f'{_legend(replays)}<p class="keys">{keys}</p></div>'
    )


def _legend(replays: Sequence[Replay]) -> str:
    """The legend of the map section: the meaning of the signs that occur."""
    labels = dict.fromkeys(label for replay in replays for label in replay.labels)
    meetings = dict.fromkeys(replay.meeting for replay in replays if replay.meeting)
    changes = [replay.tables["changes"]["what"] for replay in replays]
    kinds = {int(what) for some in changes for what in np.unique(some)}
    has = {name for replay in replays for name, table in replay.tables.items() if len(table["t"])}
    signs = [
        ("ring event", "an event on its way (a ring to all neighbours, a dash to one neighbour)"),
        ("tick", "an event is delivered to a subscriber"),
        ("square", "a subscriber that waits for the event"),
        ("square missed", "a subscriber that never receives the event"),
        ("diamond", "the publisher of the event"),
        ("ring other", "other messages"),
        *((f"stroke walk-{k % 2}", label) for k, label in enumerate(labels)),
        *([("sign-met", ", or ".join(meetings))] if "met" in has else []),
        *([("stroke tree", "a link of the overlay")] if "links" in has else []),
        *([("broker", "a broker (its region has the same colour and hatching)")]
          if "belongs" in has else []),
        *([("cell", "a home cell with its topics")] if "homes" in has else []),
        *([("cross", "a node that is down")] if 0 in kinds else []),
        *([("stroke cut", "a link that is cut")] if 2 in kinds else []),
    ]  # fmt: skip
    items = "".join(
        f'<li><i class="sign {sign}" aria-hidden="true"></i>{escape(text)}</li>'
        for sign, text in signs
    )
    return f'<ul class="signs">{items}</ul>'


def _notes(worlds: Sequence[Packed], packed: Sequence[Packed]) -> str:
    """Notes of the map section on what its map leaves out."""
    notes = ["The map does not draw transmissions that no node received."]
    for world in worlds:
        if not world.about["own"]:
            notes.append(
                "This network has no positions, so the map places nodes by their distances in hops."
            )
        if world.about["frames"] > 1:
            gap = world.about["seconds"] / (world.about["frames"] - 1)
            notes.append(f"The map knows positions every {gap:.3g} s, and interpolates linearly.")
        if world.about["events_left_out"]:
            notes.append(f"{world.about['events_left_out']:,} later events are not on the map.")
    for one in packed:
        left_out = one.about["left_out"].items()
        left = [_LEFT_OUT[name].format(kept=kept, all=every) for name, (kept, every) in left_out]
        if left:
            notes.append(f"{one.about['system']}: {'; '.join(left)}.")
        if one.about["until"] < one.about["seconds"]:
            notes.append(f"{one.about['system']}: the map ends at {one.about['until']:.3g} s.")
    items = "".join(f"<li>{escape(note)}</li>" for note in dict.fromkeys(notes))
    return f'<ul class="readings left-out">{items}</ul>'
