"""The limit on the memory of a run: the memory that the machine has free, and an engine that grows
within this limit.

Without the limit, the system kills the process while the run fills its tables.
"""

from pathlib import Path

from halfway.problem import Problem
from halfway.sim.engine.calendar_queue.calendar import SLOT_BITS
from halfway.sim.engine.state import Engine, grown

_MACHINE = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")  # the limit of a container, in version 2 of control groups
FEW_BYTES = 1e8  # that every run may take
_MOST_SLOTS = 1 << SLOT_BITS
_REMEDY = "use a network whose nodes have fewer neighbours, or another system"


def free_bytes() -> float:
    """Return the memory that the machine has free for a run, in bytes; inf if the system does not
    state it.

    Runs in other processes that have not filled their tables yet are not counted.
    """
    found = [_free_of_machine(), _free_of_group()]
    return min((value for value in found if value is not None), default=float("inf"))


def check_memory(need: float, what: str, *, where: str, remedy: str) -> None:
    """Raise Problem if a run needs more bytes of memory than the machine has free.

    what: what needs the memory, in the plural.
    """
    if need > FEW_BYTES and need > (limit := free_bytes()):
        gigabytes = f"need up to {need / 1e9:,.1f} GB: expected at most {limit / 1e9:,.1f} GB"
        raise Problem(f"{what} {gigabytes}, the free memory", where=where, remedy=remedy)


def with_capacity(engine: Engine, free: int, remedy: str = _REMEDY) -> Engine:
    """Return the engine of a run, enlarged until `free` more records in flight have room. Raises
    Problem with a remedy if the memory or the queue of the engine has no room for them.
    """
    slots, times = len(engine.out.free), 1
    while int(engine.out.tally[0]) + (times - 1) * slots < free:
        times *= 2
    if times == 1:
        return engine
    what = f"{times * slots:,} records in flight"
    where = "network"
    if times * slots > _MOST_SLOTS:
        raise Problem(f"{what}: expected at most {_MOST_SLOTS:,}", where=where, remedy=remedy)
    queue = engine.queue
    parts = (*engine.out, *engine.flight, *queue.near, *queue.far, queue.at, queue.key, queue.after)
    check_memory(times * sum(part.nbytes for part in parts), what, where=where, remedy=remedy)
    return grown(engine, times)


def _free_of_machine() -> float | None:
    for line in _lines(_MACHINE):
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return 1024.0 * int(value.split()[0])
    return None


def _free_of_group() -> float | None:
    """Return the bytes that a container may still take; files in its cache do not count."""
    most, used = _lines(_GROUP / "memory.max"), _lines(_GROUP / "memory.current")
    if not used or not most or most[0] == "max":
        return None
    kept = dict(line.split() for line in _lines(_GROUP / "memory.stat"))
    return float(int(most[0]) - int(used[0]) + int(kept.get("file", 0)))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("ascii").splitlines()
    except OSError:
        return []
