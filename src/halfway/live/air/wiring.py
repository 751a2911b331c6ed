"""The commands that wire the air, as lines for the programs `ip`, `bridge` and `nft`.

Every node has an interface `air0` in its own namespace. The frames of the node pass the relay on
their way to the hub, whose bridge has one port for each node. The set `links` in the bridge's
filter lists which node hears which. On the way back, the frames pass the relay again, where a
program may delay them.

    node k: air0 === d_k :relay: q_k === p_k :hub: bridge and filter
"""

from collections.abc import Iterable, Iterator

SUBNET, NETWORK_BITS = "10.71.", 16
LOSS_STEPS = 1_000_000  # the resolution of a share
DELAYED, STRAIGHT = "drop", "fwd to"  # action of the kernel on a frame that the relay may keep
COUNTERS = ("heard", "lost", "split", "out_of_reach", "to_groups")
Pair = tuple[int, int]  # sender, hearer


def address(node: int) -> str:
    """Return the IPv4 address in the wiring that belongs to a node."""
    return f"{SUBNET}{(node + 1) >> 8}.{(node + 1) & 255}"


def hardware_address(node: int) -> str:
    """Return the hardware address of a node's wire to the air, locally administered."""
    return f"02:00:47:00:{node >> 8:02x}:{node & 255:02x}"


def hub_lines() -> list[str]:
    """Return the `ip` lines that create the air's bridge."""
    return ["link add air type bridge mcast_snooping 0 ageing_time 0", "link set air up"]


def relay_lines(hub: str, nodes: list[str]) -> Iterator[str]:
    """Yield the `ip` lines that create all pairs of interfaces in the air's relay.

    hub, nodes: paths of their namespaces. In the relay, interfaces towards the hub have odd
    indices, so that the filter of one socket can distinguish them from interfaces towards the
    nodes.
    """
    for k, path in enumerate(nodes):
        yield f"link add name q{k} index {2 * k + 11} type veth peer name p{k} netns {hub}"
        peer = f"peer name air0 address {hardware_address(k)} netns {path}"
        yield f"link add name d{k} index {2 * k + 12} type veth {peer}"
        yield f"link set q{k} up"
        yield f"link set d{k} up"


def port_lines(n: int) -> Iterator[str]:
    """Yield the `ip` lines that put the ports into the air's bridge."""
    for k in range(n):
        yield f"link set p{k} master air"
        yield f"link set p{k} up"


def forwarding_lines(n: int) -> Iterator[str]:
    """Yield the `bridge` lines that fix the port of each node, so that the bridge floods no
    frame.
    """
    for k in range(n):
        yield f"fdb replace {hardware_address(k)} dev p{k} master static"


def node_lines(node: int, n: int) -> Iterator[str]:
    """Yield the `ip` lines that give a node on the air its address, and the addresses of the
    others.
    """
    yield "link set lo up"
    yield f"address add {address(node)}/{NETWORK_BITS} dev air0"
    yield "link set air0 up"
    for k in range(n):
        if k != node:
            yield f"neighbour add {address(k)} lladdr {hardware_address(k)} dev air0 nud permanent"


def relay_rules(n: int, delayed: bool, duplicates: float) -> Iterator[str]:
    """Yield the `nft` lines by which the relay forwards frames, some of them twice."""
    yield "add table netdev relay"
    for k in range(n):
        hook = "{ type filter hook ingress device %s priority 0; }"
        yield f"add chain netdev relay from{k} " + hook % f'"d{k}"'
        yield f'add rule netdev relay from{k} fwd to "q{k}"'
        yield f"add chain netdev relay to{k} " + hook % f'"q{k}"'
        if duplicates > 0.0:
            twice = f'numgen random mod {LOSS_STEPS} < {steps(duplicates)} dup to "d{k}"'
            yield "add counter netdev relay duplicated" if k == 0 else ""
            yield f"add rule netdev relay to{k} {_counted(twice, 'duplicated')}"
        yield f"add rule netdev relay to{k} " + (DELAYED if delayed else f'{STRAIGHT} "d{k}"')


def hub_rules() -> Iterator[str]:
    """Yield the `nft` lines that filter the air's bridge; at first no node hears another."""
    yield "add table bridge air"
    for name in COUNTERS:
        yield f"add counter bridge air {name}"
    yield "add set bridge air links { type ifname . ifname; }"
    yield "add set bridge air side { type ifname; }"
    yield "add chain bridge air losses"
    yield "add chain bridge air hears { type filter hook forward priority 0; policy drop; }"
    for rule in (
        "ip protocol != udp drop",
        "ip daddr 224.0.0.0/4 counter name to_groups",
        "iifname . oifname != @links counter name out_of_reach drop",
        "iifname @side oifname != @side counter name split drop",
        "iifname != @side oifname @side counter name split drop",
        "jump losses",
        "counter name heard accept",
    ):
        yield f"add rule bridge air hears {rule}"


def loss_rules(share: float) -> Iterator[str]:
    """Yield the `nft` lines that drop a share of all receptions at random."""
    yield "flush chain bridge air losses"
    if share > 0.0:
        test = f"numgen random mod {LOSS_STEPS} < {steps(share)}"
        yield f"add rule bridge air losses {test} counter name lost drop"


def link_rules(verb: str, pairs: Iterable[Pair]) -> Iterator[str]:
    """Yield the `nft` lines that add pairs of nodes to the links, or delete them."""
    elements = ", ".join(f'"p{a}" . "p{b}"' for a, b in pairs)
    if elements:
        yield f"{verb} element bridge air links {{ {elements} }}"


def side_rules(nodes: Iterable[int]) -> Iterator[str]:
    """Yield the `nft` lines that separate some nodes from the others."""
    yield "flush set bridge air side"
    elements = ", ".join(f'"p{k}"' for k in nodes)
    if elements:
        yield f"add element bridge air side {{ {elements} }}"


def steps(share: float) -> int:
    """Return a share in a wiring command as a number of steps."""
    return round(share * LOSS_STEPS)


def _counted(rule: str, counter: str) -> str:
    """Return a filter rule of the air's wiring with a counter before its action, which is `dup`."""
    test, action, target = rule.partition(" dup to ")
    return f"{test} counter name {counter}{action}{target}"
