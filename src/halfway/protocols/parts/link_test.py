"""The test of a link: a node asks a neighbour that it hears to acknowledge a reliable hop."""

from halfway.core.kinds import Kinds
from halfway.core.values.ranges import whole

KINDS = Kinds({"sequence": whole(1, 2**31 - 1)})
LINK_TEST = KINDS.network(
    249, "link-test", "the sender asks whether the receiver hears it", "sequence"
)
