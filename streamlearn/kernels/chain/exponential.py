"""exp of many numbers at once.

Compilers vectorise a loop of arithmetic operations, but not one that calls the C library. Where edge features
depend on the position, a CRF computes L² exponentials at each.
"""

import math

import numpy as np

from streamlearn.kernels.jit import inner_kernel

# The result for smaller arguments is 0: powers of two down to 2^-1010 are normal numbers.
_LEAST = -700.0
# x = k · log 2 + r. The first part of log 2 has 21 trailing zeros, so that its product with k is exact.
_LOG2_FIRST = float.fromhex("0x1.62e42feep-1")
_LOG2_REST = float.fromhex("0x1.a39ef35793c76p-33")
# A number of this size has no fractional bits: adding it rounds to an integer, and its last bits hold k.
_ROUNDS = 1.5 * 2.0**52
_EXPONENT_BIT = 52
_2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13 = (1.0 / math.factorial(n) for n in range(2, 14))


@inner_kernel
def exponentials(values, scratch):
    """Replace every x ≤ 0 by exp(x); those below -700 and NaN by 0.

    Parameters
    ----------
    values : float64[n].
    scratch : float64[n], overwritten.

    Notes
    -----
    exp(x) = 2^k exp(r) with |r| ≤ (log 2) / 2, and exp(r) by its Taylor polynomial of degree 13, whose
    remainder is below 5e-18. The result is within two units in the last place of the exact value.
    """
    for i in range(values.size):
        in_range = values[i] >= _LEAST
        x = values[i] if in_range else 0.0
        rounded = x * (1.0 / math.log(2.0)) + _ROUNDS
        k = rounded - _ROUNDS
        r = (x - k * _LOG2_FIRST) - k * _LOG2_REST
        high = _8 + r * (_9 + r * (_10 + r * (_11 + r * (_12 + r * _13))))
        series = 1.0 + r * (1.0 + r * (_2 + r * (_3 + r * (_4 + r * (_5 + r * (_6 + r * (_7 + r * high)))))))
        values[i] = series if in_range else 0.0
        scratch[i] = rounded
    bits, exponents = values.view(np.int64), scratch.view(np.int64)
    for i in range(values.size):
        bits[i] += exponents[i] << _EXPONENT_BIT
