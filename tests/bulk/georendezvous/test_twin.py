"""GeoRendezvous message by message takes the paths of the bulk driver `CellRoutes`."""

from halfway.bulk.georendezvous.cell_routes import CellRoutes
from halfway.papers.georendezvous.message_run import best_point, cell_run, post, printed_rules
from halfway.protocols.georendezvous.messages import ADVERT, ADVERTISE, ARRIVED, POINT
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import disk
from tests.protocols.georendezvous.test_georendezvous import STILL


def test_messages_take_the_paths_of_the_bulk_driver() -> None:
    """[geo §2.1] Homes, and hops of the best point, are those of `CellRoutes` on the same key."""
    # [geo §2.3] "has the shortest number of hops": the best point is used.
    radius = radius_of_degree(110, 16)
    compared = 0
    for seed in range(3):
        network = disk(n=110, radius=radius, seed=seed)
        pairs = distinct_pairs(network.n, 4, seed)
        routes = CellRoutes(network, radius)
        scalars = printed_rules(radius, seed, points=4, tried=2, **STILL)
        cells = cell_run(network, scalars, topics=4, seconds=8.0, received_records=200_000)
        for topic, (publisher, subscriber) in enumerate(pairs):
            post(cells, 2.0, publisher, ADVERTISE, topic)
            post(cells, 3.0, subscriber, SUBSCRIBE, topic)
            post(cells, 5.0, publisher, PUBLISH, topic, topic)
        cells.run(8.0)
        assert cells.state.lost.sum() == 0
        paths = routes.paths(pairs, 4, seed)
        expected = paths.shortest(2, with_traversal=True)
        records, rows = cells.received_records()
        for topic, (publisher, subscriber) in enumerate(pairs):
            for number in range(4):
                there = (records["flags"] & ARRIVED > 0) & (records["topic"] == topic)
                there &= (records["kind"] == ADVERT) & (records["args"][:, POINT] == number)
                (home,) = {tuple(map(int, routes.cell[row])) for row in rows[there]}
                x, y = records["args"][there][0][:2]
                assert home == routes.route(publisher, int(x), int(y)).home
            if paths.direct[topic] > 0 and expected[topic] >= 0:
                _, hops = best_point(cells, int(subscriber), int(publisher), topic) or (0, 0)
                # The last hop, to the subscriber, counts even within the home's own cell.
                assert expected[topic] <= hops <= expected[topic] + 1
                compared += 1
    assert compared >= 9
