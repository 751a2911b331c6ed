"""Where the numbers of a node begin in each of its incarnations.

Other nodes remember numbers of an earlier incarnation, such as the number of a walk. A node that
lost its memory would use these numbers again. So the numbers of an incarnation begin at a multiple
of 2^16. In the first incarnation of a simulated node they begin at 0.
"""

import numpy as np

from halfway.core.compiled import inlined

_BITS = 16  # low bits of a number, which count within an incarnation
WITHIN = (1 << _BITS) - 1  # the mask of these bits
# 2^14 incarnations. All numbers stay below 2^30, so a node that counts past its 2^16 numbers does
# not leave the range of a record's integers.
_INCARNATIONS = np.uint32(0x3FFF)


@inlined
def number_before(incarnation):
    """Return the number (int32) before the first number of a node in one of its incarnations."""
    return np.int32((np.uint32(incarnation) & _INCARNATIONS) << np.uint32(_BITS))
