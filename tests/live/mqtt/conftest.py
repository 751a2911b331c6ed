"""One door and two doors, for tests that must hold for both."""

from collections.abc import Iterator

import pytest

from tests.live.mqtt.doors import Doors, opened

LIVE = pytest.param("live", id="live mesh", marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=[1, 2, LIVE], ids=["one door", "two doors", "live mesh"])
def doors(request: pytest.FixtureRequest) -> Iterator[Doors]:
    """Doors at nodes of one mesh: clients use the first and the last."""
    live = request.param == "live"
    with opened(2, nodes=4) if live else opened(request.param) as made:
        yield made


@pytest.fixture
def ports(doors: Doors) -> tuple[int, int]:
    """The ports of the first and of the last door."""
    return doors.ports[0], doors.ports[-1]
