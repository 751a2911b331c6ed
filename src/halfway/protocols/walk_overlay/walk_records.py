"""The records of a walk of the walk overlay: each copies the number, the random state and the steps
of the walk from the record before.
"""

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages


@apart
def emit_of_walk(message, kind, after, towards, out):
    """Emit the next record of an overlay walk, which copies the random state and the steps from the
    record `message`.
    """
    o = emit(out, kind, after, towards)
    for a in range(messages.STEPS + 1):
        o.args[a] = message.args[a]
    return o


@apart
def emit_of_head(message, kind, after, towards, out):
    """Emit the next record of an overlay walk's head, which copies the fields of the walk and the
    flags of the head from the record `message`.
    """
    o = emit_of_walk(message, kind, after, towards, out)
    o["flags"] = message["flags"]
    return o
