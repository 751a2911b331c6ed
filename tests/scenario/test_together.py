"""Measured ratios with contention, batteries and payloads of topics in one scenario file."""

from pathlib import Path

import pytest

from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.node_table import nodes_of

HUB = [("hub", f"n{k}") for k in range(6)]
CHAIN = [(f"c{k}", f"c{k + 1}") for k in range(5)]
SIDES = [(f"{side}{i}", f"{side}{j}") for side in "lr" for i in range(3) for j in range(i)]
NETWORKS = {"hub": HUB, "chain": CHAIN, "bridge": [*SIDES, ("l0", "r0")]}
TEXT = """
seconds = 40
[network]
kind = "file"
path = "links.csv"
[radio]
kind = "contention"
ratios = "links.csv"
ratio_columns = ["there", "back"]
[power]
battery_j = {battery}
[workload]
publishers = {{ small = ["{a}"], big = ["{b}"] }}
subscribers = {{ small = ["{b}"], big = ["{a}"] }}
payload_bytes = {{ small = 10, big = 800 }}
events = 30
start_s = 2
every_s = 1
"""


def outcome(folder: Path, name: str, ratio: float, battery: str = "1e6") -> Outcome:
    """The outcome of flooding between two far nodes, with the same ratio on every link."""
    links = NETWORKS[name]
    nodes = list(dict.fromkeys(node for link in links for node in link))
    lines = "".join(f"{a},{b},{ratio},{ratio}\n" for a, b in links)
    (folder / "links.csv").write_text("a,b,there,back\n" + lines)
    text = TEXT.format(a=nodes[1], b=nodes[-1], battery=battery)
    (folder / "scenario.toml").write_text(text)
    run = simulation_of(read_scenario(folder / "scenario.toml"), system="flooding")
    found = run.run()
    spent = nodes_of(run).energy_j
    # Halfway looks at the batteries each second: a node overspends by at most that second.
    assert max(spent) <= float(battery) + 0.1
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_ratios_batteries_and_payloads_act_together_on_a_shared_medium(
    name: str, tmp_path: Path
) -> None:
    whole, lossy = (outcome(tmp_path, name, ratio) for ratio in (1.0, 0.5))
    assert whole.expected == lossy.expected == 30
    assert whole.delivered > lossy.delivered
    assert whole.lifetime is not None
    assert whole.lifetime.alive == whole.nodes
    # Every record that carries an event of `big` has 800 bytes more, one of `small` 10.
    for one in (whole, lossy):
        rest = one.bytes_sent - 38 * one.sent["flood"]
        assert rest % 790 == 0
        assert 0 < rest // 790 < one.sent["flood"]
    dying = outcome(tmp_path, name, 1.0, "0.05")
    assert dying.lifetime is not None
    assert 2.0 < dying.lifetime.first_dead_s <= 40.0
    assert dying.lifetime.alive < dying.nodes
    assert dying.published + dying.unpublished == 30
    assert dying.bytes_sent < whole.bytes_sent
