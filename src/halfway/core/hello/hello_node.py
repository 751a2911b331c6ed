"""The handler of a node that sends hellos in addition to the records of its protocol, which runs
behind a door.

The handler of this node is compiled once for all protocols. It calls the handler of the protocol
through a door, so that the machine code of the protocol is the same with and without hellos.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from halfway.core.compiler.lent import lent
from halfway.core.door import Door, enter
from halfway.core.handler import handles
from halfway.core.hello.messages import HELLO, HELLO_TIMER
from halfway.core.hello.receiving import hear_hello
from halfway.core.hello.sending import start, tick
from halfway.core.hello.state import Hellos
from halfway.core.message import START


class HelloNode(NamedTuple):
    """The state of nodes that send hellos: the state of hellos, and the door to their protocol."""

    hellos: Hellos
    protocol: Any


def with_hellos(
    state: Any,
    rules: Any,
    hellos: Hellos,
    neighbourhood: Any,
    out: Any,
    lend: Callable[[Any], Any] = lent,
) -> HelloNode:
    """Return the state of nodes that send hellos beside their protocol's records.

    state, rules: state and rules of the protocol, which learns its neighbourhood from these hellos
    and emits into `out`. lend: see `Door`; the lender must be another one than for the door to the
    result.
    """
    return HelloNode(hellos, Door(state, rules, neighbourhood, out, lend))


@handles(HelloNode)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle a hello or its timer at row i; the protocol handles every other record."""
    if message.kind == HELLO:
        hear_hello(state.hellos, rules, neighbourhood, i, message, message.at)
    elif message.kind == HELLO_TIMER:
        tick(state.hellos, rules, neighbourhood, i, message.at, out)
    else:
        if message.kind == START:
            start(state.hellos, rules, i, message.at, out)
        if message.kind != START or rules.starts:
            enter(state.protocol, i, message)
