"""The reports of every failure detector to its application: the members that the detector suspects
or trusts.
"""

from halfway.core.compiled import inlined
from halfway.core.kinds import Kinds
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.core.values.ranges import EPOCH, NODE

MEMBER_RANGE = {"member": NODE}
COUNTED_RANGES = MEMBER_RANGE | {"incarnation": EPOCH}  # of a member with a counter
REPORTED = "target"  # of both reports: the member

KINDS = Kinds(MEMBER_RANGE)
SUSPECTED = KINDS.report(
    20, "suspected", "the node suspects a member from now on", reused={REPORTED: "member"}
)
TRUSTED = KINDS.report(
    21,
    "trusted",
    "the node knows a member, and trusts it from now on",
    reused={REPORTED: "member"},
)


@inlined
def report(kind, member, out):
    """Report SUSPECTED or TRUSTED of a member (given by its id) to the application of a failure
    detector.
    """
    o = emit(out, kind, 0.0, APP)
    o[REPORTED] = member
