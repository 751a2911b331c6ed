"""The runs that a comparison's map plays: the first replicate of each system, once more, traced."""

from collections.abc import Callable

import msgspec

from halfway.comparison.compare import Answer, Question
from halfway.comparison.replay.replay import Replay, replay_of_scenario
from halfway.scenario.build import network_of

MOST_NODES = 3000  # beyond that a page with a map would be too large to be sent to anybody
Told = Callable[[int, int], None]  # systems traced, of how many


def replays_of(question: Question, answer: Answer, told: Told) -> list[Replay]:
    """A replay of every system that ran, at the first point; none for too large a network."""
    first = [ran for ran in answer.runs if (ran.point, ran.replicate) == (0, 0)]
    seeds = {ran.system: ran.seed for ran in first if ran.status == "ok"}
    found: list[Replay] = []
    for contender in question.contenders:
        if contender.name not in seeds:
            continue
        told(len(found), len(seeds))
        seed = seeds[contender.name]
        scenario = msgspec.structs.replace(question.points[0].scenario, seed=seed)
        network, motion = network_of(scenario)
        n = network.n if network is not None else motion.n if motion is not None else 0
        if n > MOST_NODES:
            return []
        found.append(replay_of_scenario(scenario, contender.system()))
    return found
