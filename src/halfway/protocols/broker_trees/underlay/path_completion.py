"""The search of a broker in the underlay-aware tree for those of its paths that are missing or
dead.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND, UPPER
from halfway.protocols.broker_trees.paths.peer_paths import direct_path, second_path
from halfway.protocols.broker_trees.paths.searches import own_number, search, search_direct
from halfway.protocols.broker_trees.underlay.path_waits import missed


@apart
def complete_paths(state, rules, sender, out):
    """Search for those of the paths x, y and z of a broker to its parent and grandparent that are
    missing or dead [uas §4].

    One search follows the other, because y avoids x.
    """
    up, above = state.parent[sender.broker], state.grandparent[sender.broker]
    if up < 0:
        return
    number, most = own_number(sender, up), rules.missed_pings
    if number < 0 or missed(state, rules, sender, DIRECT) > most:
        search_direct(sender, up, out)
        return
    if second_path(sender, up) == NO_PLACE or missed(state, rules, sender, SECOND) > most:
        search(sender, up, number + SECOND, NONE, out)
    if above != NONE and direct_path(sender, above) == NO_PLACE:
        search(sender, above, number + UPPER, up, out)
