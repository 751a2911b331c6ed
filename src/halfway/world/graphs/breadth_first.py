"""The breadth-first search over a graph in compressed rows, one kernel for components and for
distances.
"""

import numpy as np

from halfway.core.compiled import inlined

_u4 = np.uint32


@inlined
def mark_reachable(start, who, source, first, step, mark, queue):
    """Mark all rows of a graph that a path joins to `source`, breadth first; return their number.

    start [n+1], who [m]: the links of a graph. mark [n]: -1 for a row that is not yet marked. The
    source gets `first`, and every other row gets the mark of the row before it plus `step`: step 0
    numbers a component, and step 1 counts hops. queue [n]: the rows in the order of their marks.
    """
    mark[source] = first
    queue[0] = source
    head, tail = _u4(0), _u4(1)
    while head < tail:
        i = _u4(queue[head])
        head += _u4(1)
        for k in range(start[i], start[_u4(i + _u4(1))]):
            j = _u4(who[_u4(k)])
            if mark[j] < 0:
                mark[j] = mark[i] + step
                queue[tail] = j
                tail += _u4(1)
    return tail
