"""Cell Hash Routing in bulk: routes, paths through rendezvous points, notification trees."""
