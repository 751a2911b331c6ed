"""The map section of a comparison page: controls, legend, notes and packed replays."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.world import ReplayWorld
from halfway.report.comparison.map.packing import Packed, packed_replay, packed_world
from halfway.report.comparison.plots.system_marks import badge
from halfway.report.document import asset, section

MOST_BYTES = 4_400_000  # most bytes of all replays; the whole page stays below 5 MB
SCRIPTS = (
    "decode.js", "world.js", "run.js", "camera.js", "signs.js", "view.js", "names.js",
    "transmissions.js", "walks.js", "regions.js", "spread.js", "gestures.js", "player.js",
    "controls.js", "details.js", "density.js", "search.js", "legend.js", "permalink.js", "svg.js",
    "export.js", "main.js",
)  # fmt: skip
_KEYS = (
    ("Space", "play, pause"), ("← →", "back, forward by 1 %"),
    ("Page ↑ ↓", "back, forward by 10 %"), ("Home End", "the beginning, the end"),
    ("&lt; &gt;", "slower, faster"), ("n p", "next, previous event"),
    ("[ ]", "previous, next system"), ("+ −", "zoom in, out"), ("*", "the whole field"),
    ("Shift + arrows", "move the field"), ("f or /", "find a node"), ("l", "copy the link"),
    ("s", "save as SVG"), ("Esc", "leave the event, the node, the zoom"), ("?", "this list"),
)  # fmt: skip
_LEFT_OUT = {
    "sent": "the map draws {kept:,} of {all:,} transmissions, evenly spread",
    "reached": "the map draws the earliest {kept:,} of {all:,} first receptions of events",
    "steps": "the map draws the first {kept:,} of {all:,} steps of walks",
}


def map_section(replays: Sequence[Replay], places: dict[str, int], title: str = "") -> str:
    """Return the map section, or "" without replays. places: system -> the number of its mark.

    title: of the comparison, for saved pictures.
    """
    if not replays:
        return ""
    worlds, of = _worlds(replays)
    packed_worlds = [packed_world(world) for world in worlds]
    packed = _within(replays, MOST_BYTES - sum(len(world.blob) for world in packed_worlds))
    about = {
        "title": title,
        "worlds": [world.about for world in packed_worlds],
        "replays": [
            {**replay.about, "world": place} for replay, place in zip(packed, of, strict=True)
        ],
    }
    blobs = _blobs("world", packed_worlds) + _blobs("replay", packed)
    n = worlds[0].network.n
    seconds = max(world.seconds for world in worlds)
    inner = (
        f'<p class="lead">The first network of the comparison: {n:,} nodes, {seconds:g} s. '
        "Every system has the same nodes, publications and faults.</p>"
        '<noscript><p class="lead">The map needs JavaScript. The tables and '
        "plots need no JavaScript.</p>"
        f"</noscript>{_board(replays, places)}{_notes(packed_worlds, packed)}"
    )
    # No name in the JSON text may open or close an element.
    text = json.dumps(about, separators=(",", ":"), default=float).replace("<", "\\u003c")
    data = f'<script type="application/json" id="replays">{text}</script>{blobs}'
    return section("map", "Replay of one run", inner) + data


def _worlds(replays: Sequence[Replay]) -> tuple[list[ReplayWorld], list[int]]:
    """Return the different worlds in a map section, and the index of each replay's world."""
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
        (a.network.start, b.network.start),
        (a.network.who, b.network.who),
        (a.frames, b.frames),
        *((a.publications[name], b.publications[name]) for name in a.publications),
        *((a.subscriptions[name], b.subscriptions[name]) for name in a.subscriptions),
    ]
    return (a.seconds, a.reach) == (b.seconds, b.reach) and all(
        (first is None) == (other is None) and (first is None or np.array_equal(first, other))
        for first, other in arrays
    )


def _within(replays: Sequence[Replay], capacity: int) -> list[Packed]:
    """Return a map's replays packed within a number of bytes: small ones whole, large ones
    thinned.
    """
    packed = {k: packed_replay(replay, capacity) for k, replay in enumerate(replays)}
    by_size = sorted(packed, key=lambda k: len(packed[k].blob))
    for taken, k in enumerate(by_size):
        share = capacity // (len(by_size) - taken)
        if len(packed[k].blob) > share:
            packed[k] = packed_replay(replays[k], share)
        capacity -= len(packed[k].blob)
    return [packed[k] for k in range(len(replays))]


def _blobs(name: str, packed: Sequence[Packed]) -> str:
    return "".join(
        f'<script type="text/plain" id="{name}-{k}">{one.blob}</script>'
        for k, one in enumerate(packed)
    )


def map_script() -> str:
    """Return the scripts of the map section as one text, in the order of their definitions."""
    return "\n".join(asset("comparison", f"map/{name}") for name in SCRIPTS)


def _board(replays: Sequence[Replay], places: dict[str, int]) -> str:
    """Return the board of the map section: the panels and all controls; `controls.js` binds
    them.
    """
    buttons = ""
    if len(replays) > 1:
        buttons = '<button type="button" data-system="-1" aria-pressed="true">all systems</button>'
    for k, replay in enumerate(replays):
        name = f"{badge(places.get(replay.system, k))} {escape(replay.system)}"
        buttons += f'<button type="button" data-system="{k}" aria-pressed="false">{name}</button>'
    return (
        '<div class="board" hidden tabindex="0" role="group" '
        'aria-label="Map of a run. The key ? lists the keys.">'
        f'<div class="systems" role="group" aria-label="System">{buttons}</div>'
        f'<div class="screen"><div class="views"></div>{_ASIDE}</div>{_TRANSPORT}{_TOOLS}'
        f'<ul class="signs" aria-label="Legend"></ul>{_help()}</div>'
    )


_ASIDE = (
    '<aside aria-label="Node and event"><label>Find a node <input class="find" type="search" '
    'list="node-names" autocomplete="off" autocapitalize="off" spellcheck="false" '
    'placeholder="name" aria-keyshortcuts="f"></label><datalist id="node-names"></datalist>'
    '<label>Follow <select class="events" aria-label="Event to follow"></select></label>'
    '<button type="button" class="earlier" aria-label="Previous event" aria-keyshortcuts="p">‹'
    '</button><button type="button" class="later" aria-label="Next event" aria-keyshortcuts="n">›'
    '</button><output class="matches"></output><div class="node" role="status"></div>'
    '<div class="details" role="status"></div><ol class="receivers" hidden></ol></aside>'
)
_TRANSPORT = (
    '<div class="transport" role="group" aria-label="Playback">'
    '<button type="button" class="play" aria-label="Play" aria-keyshortcuts="Space"></button>'
    '<div class="time"><canvas class="density" aria-hidden="true"></canvas>'
    '<input class="range" type="range" min="0" max="10000" value="0" aria-label="Time"></div>'
    '<output class="clock">0 s</output><div class="paces"><label class="pace">speed '
    '<select class="speed" aria-label="Speed"></select></label><label class="pace">begin '
    '<select class="begin" aria-label="Begin"><option value="event">at the first event</option>'
    '<option value="start">at 0 s</option></select></label>'
    '<span class="zooms" role="group" aria-label="Zoom">'
    '<button type="button" class="zoom-out" aria-label="Zoom out">−</button>'
    '<button type="button" class="zoom-all" aria-label="The whole field">⤢</button>'
    '<button type="button" class="zoom-in" aria-label="Zoom in">+</button></span></div>'
    '<output class="message"></output></div>'
)
_TOOLS = (
    '<div class="tools" role="group" aria-label="Save and share">'
    '<button type="button" class="link">Copy link</button>'
    '<button type="button" class="save">Save SVG</button>'
    '<button type="button" class="film">Record film</button>'
    '<button type="button" class="keys" aria-haspopup="dialog" aria-keyshortcuts="?">Keys '
    "<kbd>?</kbd></button></div>"
)


def _help() -> str:
    """Return the overlay of the map section that lists the keys."""
    keys = "".join(f"<div><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>" for key, what in _KEYS)
    return (
        '<dialog class="help" aria-labelledby="help-title"><h3 id="help-title">Keys of the map</h3>'
        f'<dl>{keys}</dl><h3>Systems</h3><ul class="system-keys"></ul>'
        "<p>The mouse wheel with Ctrl, or two fingers, zooms. A drag moves the field.</p>"
        '<button type="button" class="close">Close</button></dialog>'
    )


def _notes(worlds: Sequence[Packed], packed: Sequence[Packed]) -> str:
    """Return the notes of the map section on data that its map omits."""
    notes = ["The map does not draw transmissions that no node received."]
    for world in worlds:
        if not world.about["own"]:
            notes.append(
                "This network has no positions, so the map places nodes by their distances in hops."
            )
        if world.about["frames"] > 1:
            gap = world.about["seconds"] / (world.about["frames"] - 1)
            notes.append(f"The map has positions every {gap:.3g} s, and interpolates between them.")
        if world.about["events_left_out"]:
            notes.append(f"{world.about['events_left_out']:,} later events are not on the map.")
    for replay in packed:
        left_out = replay.about["left_out"].items()
        left = [_LEFT_OUT[name].format(kept=kept, all=every) for name, (kept, every) in left_out]
        if left:
            notes.append(f"{replay.about['system']}: {'; '.join(left)}.")
        if replay.about["until"] < replay.about["seconds"]:
            notes.append(
                f"{replay.about['system']}: the map ends at {replay.about['until']:.3g} s."
            )
    unique = list(dict.fromkeys(notes))
    items = "".join(f"<li>{escape(note)}</li>" for note in unique)
    summary = f"Notes on the map ({len(unique)})"
    return f'<details class="left-out notes"><summary>{summary}</summary><ul>{items}</ul></details>'
