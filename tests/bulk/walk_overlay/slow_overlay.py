"""Algorithms 1 and 2 of paper 2 with sets: the slow oracle of the bulk driver."""

from halfway.world.graphs.network import Network
from tests.protocols.slow_world import RandomState


class SlowWalk:
    """One walk: its nodes in order, and the neighbourhoods counted so far."""

    def __init__(self, row: int, seed: int, branches: int) -> None:
        self.nodes = [row]
        self.back = {row: row}
        self.left: set[int] = set()  # nodes whose neighbours are in N(DRW)
        self.heads = [row] * branches
        self.random_state = [
            RandomState(RandomState(seed, row).word, branch) for branch in range(branches)
        ]
        self.going = [True] * branches
        self.steps = 0
        self.met: tuple[int, int] | None = None


def slow_overlay(
    network: Network,
    initiators: list[int],
    seed: int,
    *,
    pure: bool = False,
    alpha: float = 1.0,
    beta: float = 0.0,
    branches: int = 1,
    early: bool = False,
    together: int = 2,
) -> list[SlowWalk]:
    """All walks; that of an initiator on another walk has no nodes."""
    neighbours = [set(map(int, network.neighbours(i))) for i in range(network.n)]
    walks: list[SlowWalk] = []

    def decide(walk: SlowWalk, branch: int) -> bool:
        """One decision; whether the walk met another."""
        y = walk.heads[branch]
        if early and walk.steps > 0:
            walk.left.add(y)
        walk.steps += 1
        value = walk.random_state[branch].value()
        draw = lambda rows: rows[(value >> 32) * len(rows) >> 32]  # noqa: E731
        others = {i for other in walks if other is not walk for i in other.nodes}
        if met := sorted(neighbours[y] & others):
            walk.met = y, draw(met)
            return True
        if pure:
            free = sorted(neighbours[y])
        else:
            first = set().union(*(neighbours[j] for j in walk.left))
            second = set().union(*(neighbours[j] for j in first))
            price = {
                v: alpha * len(neighbours[v] & first) + beta * len(neighbours[v] & second)
                for v in neighbours[y] - set(walk.nodes)
            }
            free = sorted(v for v in price if price[v] == min(price.values()))
        if not free:
            walk.going[branch] = walk.back[y] != y
            walk.heads[branch] = walk.back[y]
        else:
            z = draw(free)
            walk.heads[branch] = z
            if z not in walk.nodes:
                walk.nodes.append(z)
                walk.back[z] = y
        if walk.going[branch]:
            walk.left.add(y)
        return False

    def run(group: list[SlowWalk]) -> None:
        walks.extend(group)
        for _ in range(10**5):
            for branch in range(branches):
                for walk in group:
                    if walk.going[branch] and decide(walk, branch):
                        return
            if not any(any(walk.going) for walk in group):
                return

    run([SlowWalk(row, seed, branches) for row in initiators[:together]])
    for row in initiators[together:]:
        if any(row in walk.nodes for walk in walks):
            nothing = SlowWalk(row, seed, branches)
            nothing.nodes = []
            walks.append(nothing)
        else:
            run([SlowWalk(row, seed, branches)])
    return walks
