"""One door and two doors, for tests that must hold for both."""

from collections.abc import Iterator

import pytest

from tests.live.mqtt.doors import Doors, opened


@pytest.fixture(scope="module", params=[1, 2], ids=["one door", "two doors"])
def doors(request: pytest.FixtureRequest) -> Iterator[Doors]:
    """Doors at nodes of one mesh: clients use the first and the last."""
    with opened(request.param) as made:
        yield made


@pytest.fixture
def ports(doors: Doors) -> tuple[int, int]:
    """The ports of the first and of the last door."""
    return doors.ports[0], doors.ports[-1]
