"""CSMA/CA in one collision domain: a slotted simulation, and the theory."""

import numpy as np


def broadcasts(n: int, cw: int, rounds: int, seed: int) -> tuple[float, float]:
    """Saturated broadcasts: share of frames that were alone; idle slots a busy period."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, cw + 1, n)
    sent = alone = idle = 0
    for _ in range(rounds):
        slots = left.min()
        idle += int(slots)
        left -= slots
        now = left == 0
        sent += int(now.sum())
        alone += int(now.sum() == 1)
        left[now] = rng.integers(0, cw + 1, now.sum())
    return alone / sent, idle / rounds


def acknowledged(n: int, cw_min: int, cw_max: int, rounds: int, seed: int) -> tuple[float, float]:
    """Saturated unicast, never given up: share of frames that collide; idle slots a busy period."""
    rng = np.random.default_rng(seed)
    cw = np.full(n, cw_min)
    left = rng.integers(0, cw + 1)
    sent = collided = idle = 0
    for _ in range(rounds):
        slots = left.min()
        idle += int(slots)
        left -= slots
        now = left == 0
        sent += int(now.sum())
        if now.sum() > 1:
            collided += int(now.sum())
            cw[now] = np.minimum(2 * cw[now] + 1, cw_max)
        else:
            cw[now] = cw_min
        left[now] = rng.integers(0, cw[now] + 1)
    return collided / sent, idle / rounds


def share_alone(n: int, cw: int) -> float:
    """Share of saturated broadcasts that do not collide, exactly.

    Count time in slots, each with the busy period that may begin it. A station that sent draws 0
    with q = 1 / (cw + 1) and sends at once, against only those that have just collided with it:
    the others' counters froze at 1 or more. Else it comes b slots later, b uniform in 1 ... cw,
    whatever the others do. So stations are independent renewal processes: a slot is a first one
    with tau = 2 / (cw + 1), and the m-th repetition at once of a frame has company with q^m tau.
    """
    q, tau = 1 / (cw + 1), 2 / (cw + 1)
    m = np.arange(60)
    return float((1 - q) * (q**m * (1 - q**m * tau) ** (n - 1)).sum())


def busy_share(n: int, cw: int, slot_s: float, difs_s: float, frame_s: float) -> float:
    """Share of time in which saturated broadcasts are on the air; see `share_alone`."""
    q, tau = 1 / (cw + 1), 2 / (cw + 1)
    busy = (1 - (1 - q ** np.arange(60) * tau) ** n).sum()
    return float(busy * frame_s / (slot_s + busy * (frame_s + difs_s)))


def share_alone_textbook(n: int, cw: int) -> float:
    """The same by the textbook: cw / 2 idle slots, then a transmission, all slots alike."""
    return (1 - 2 / (cw + 2)) ** (n - 1)


def bianchi(n: int, cw_min: int, cw_max: int) -> tuple[float, float]:
    """tau and p of Bianchi's chain (IEEE JSAC 18(3), 2000, eqs. 7 and 9), by bisection."""
    w, m = cw_min + 1, int(np.log2((cw_max + 1) / (cw_min + 1)))

    def tau_of(p: float) -> float:
        return 2 / (1 + w + p * w * sum((2 * p) ** k for k in range(m)))

    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        if 1 - (1 - tau_of(p)) ** (n - 1) > p:
            low = p
        else:
            high = p
    return tau_of(low), low


def bianchi_throughput(n: int, timing, frame_s: float, ack_s: float) -> float:  # type: ignore[no-untyped-def]
    """Share of time that goes into frames which succeed (eq. 13)."""
    tau, _ = bianchi(n, timing.cw_min, timing.cw_max)
    some = 1 - (1 - tau) ** n
    success = n * tau * (1 - tau) ** (n - 1)
    good = frame_s + timing.sifs_s + ack_s + timing.difs_s
    bad = frame_s + timing.difs_s
    return (
        success * frame_s / ((1 - some) * timing.slot_s + success * good + (some - success) * bad)
    )


def hidden_share(timing, frame_s: float) -> float:  # type: ignore[no-untyped-def]
    """Share received between two saturated broadcasters out of each other's reach.

    The other one is a renewal process of its own: a pause of DIFS and b slots, then a frame. A
    frame gets through if it lies within one pause.
    """
    pauses = timing.difs_s + np.arange(timing.cw_min + 1) * timing.slot_s
    return float(np.maximum(pauses - frame_s, 0).mean() / (pauses.mean() + frame_s))


def aloha_share(rate: float, frame_s: float) -> float:
    """The same for Poisson arrivals, as pure ALOHA has it: no other begins within two frames."""
    return float(np.exp(-2 * rate * frame_s))
