"""exp of many numbers at once.

Compilers turn a loop over arithmetic into one over vectors of four or eight numbers, but not one that calls
the C library. Where edge features depend on the position, a CRF takes L² exponentials at each.
"""

import math

import numpy as np

from streamlearn.kernels.jit import inner_kernel

# Below it exp is taken for 0: powers of two down to 2^-1010 are normal numbers.
_LEAST = -700.0
# x = k · log 2 + r. The first part of log 2 has 21 trailing zeros, so that its product with k is exact.
_LOG2_FIRST = float.fromhex("0x1.62e42feep-1")
_LOG2_REST = float.fromhex("0x1.a39ef35793c76p-33")
# A number of this size has no bits behind the point: to add it is to round, and the last bits hold k.
_ROUNDS = 1.5 * 2.0**52
_EXPONENT_BIT = 52
_2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13 = (1.0 / math.factorial(n) for n in range(2, 14))


@inner_kernel
def exponentials(values, room):
    """Write exp(x) over every x ≤ 0; 0 for those below -700 and for NaN.

    Parameters
    ----------
    values : float64[n].
    room : float64[n], left with nothing of use.

    Notes
    -----
    exp(x) = 2^k exp(r) with |r| ≤ (log 2) / 2, and exp(r) by its Taylor polynomial of degree 13, the rest of
    which is below 5e-18. Within two units in the last place of the exact value.
    """
    for i in range(values.size):
        counts = values[i] >= _LEAST
        x = values[i] if counts else 0.0
        rounded = x * (1.0 / math.log(2.0)) + _ROUNDS
        k = rounded - _ROUNDS
        r = (x - k * _LOG2_FIRST) - k * _LOG2_REST
        high = _8 + r * (_9 + r * (_10 + r * (_11 + r * (_12 + r * _13))))
        series = 1.0 + r * (1.0 + r * (_2 + r * (_3 + r * (_4 + r * (_5 + r * (_6 + r * (_7 + r * high)))))))
        values[i] = series if counts else 0.0
        room[i] = rounded
    bits, exponents = values.view(np.int64), room.view(np.int64)
    for i in range(values.size):
        bits[i] += exponents[i] << _EXPONENT_BIT
