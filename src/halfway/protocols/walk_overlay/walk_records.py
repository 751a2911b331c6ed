"""TODO."""

from halfway.core.compiled import apart
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay import messages


@apart
def emit_of_walk(message, kind, after, towards, out):
    """Emit a record of the overlay walk in `message`, with its random state and its steps."""
    o = emit(out, kind, after, towards)
    for a in range(messages.STEPS + 1):
        o.args[a] = message.args[a]
    return o


@apart
def emit_of_head(message, kind, after, towards, out):
    """Emit a record with the head of the overlay walk in `message`, and the flags of the head."""
    o = emit_of_walk(message, kind, after, towards, out)
    o["flags"] = message["flags"]
    return o
