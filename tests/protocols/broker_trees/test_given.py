"""What a node of a broker tree is given: its id and its role, and as a broker the root's id."""

from types import ModuleType

import numpy as np
import pytest

from halfway.adapters.broker_trees import own_rows
from halfway.core.missing import NONE
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.sim.environment.memory import named_arrays

IDS = np.array([2**31 - 1, 7, 0, 123_456_789, 40], np.int32)
BROKERS, CLIENTS, ROOT = IDS[:3], IDS[3:4], 7


@pytest.mark.parametrize("module", [siena, underlay_siena])
def test_a_node_is_given_its_id_its_role_and_a_broker_the_root(module: ModuleType) -> None:
    """Each row of the state of all nodes is the state of a lone node that is given no more."""
    sizes = (6,) if module is siena else (6, 5)

    def state(ids: np.ndarray, brokers: np.ndarray, clients: np.ndarray) -> object:
        return module.state(ids, brokers, ROOT, *sizes, clients=ClientCapacity(clients, 4, 2, 3))

    whole = dict(named_arrays(state(IDS, BROKERS, CLIENTS)))
    for row, node_id in enumerate(IDS):
        own = IDS[row : row + 1]
        alone = state(own, own[np.isin(own, BROKERS)], own[np.isin(own, CLIENTS)])
        for name, array in named_arrays(alone):
            rows = own_rows(state(IDS, BROKERS, CLIENTS), name, row)
            mine = array[own_rows(alone, name, 0)]
            if name not in ("broker_index", "clients.client_index"):
                assert mine.tobytes() == whole[name][rows].tobytes(), (node_id, name)


@pytest.mark.parametrize("module", [siena, underlay_siena])
def test_at_first_a_broker_seeks_a_parent_and_no_node_knows_a_path(module: ModuleType) -> None:
    sizes = (6,) if module is siena else (6, 5)
    state = module.state(IDS, BROKERS, ROOT, *sizes)
    assert state.parent.tolist() == [SEEKING, NONE, SEEKING]
    assert (state.circuits.of["owner"] == NONE).all()
    assert (state.nearby.broker == NONE).all()
    assert (state.clients.broker == NONE).all()
