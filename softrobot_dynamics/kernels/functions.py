# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Scalar functions for compiled kernels, written so that loops over points vectorise."""

import math

import numpy as np
from softrobot_dynamics.compiling.jit import inlined, kernel

# pi/2 in three parts (Cody & Waite); exact products for |quadrant| < 2**20
_PIO2_1 = 1.57079632673412561417e00
_PIO2_2 = 6.07710050630396597660e-11
_PIO2_3 = 2.02226624879595063154e-21
_TWO_OVER_PI = 2.0 / math.pi
CUBIC_LIMIT = 2.0 / (3.0 * math.sqrt(3.0))  # w^3 - w = a has a double root at minus this
_SQRT_3, _INVERSE_SQRT_3 = math.sqrt(3.0), 1.0 / math.sqrt(3.0)
SINCOS_LIMIT = 1.0e6  # beyond it the reduction loses digits: NaN

# minimax polynomials on [-pi/4, pi/4] (fdlibm's k_sin and k_cos)
_S1, _S2, _S3 = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
)
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = (
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)

# 1 / j!, the series of the exponential function
_E2 = 0.5
_E3 = 0.16666666666666666
_E4 = 0.041666666666666664
_E5 = 0.008333333333333333
_E6 = 0.001388888888888889
_E7 = 0.0001984126984126984
_E8 = 2.48015873015873e-05
_E9 = 2.7557319223985893e-06
_E10 = 2.755731922398589e-07
_E11 = 2.505210838544172e-08
_E12 = 2.08767569878681e-09
_E13 = 1.6059043836821613e-10


@kernel
def vector_sin(x):
    """Sin x without branches or library calls; 1 ulp for |x| < 1e6, NaN beyond."""
    quadrant, sine, cosine = _reduced(x)
    return _in_quadrant(x, quadrant, sine, cosine)


@kernel
def vector_cos(x):
    """Cos x without branches or library calls; 1 ulp for |x| < 1e6, NaN beyond."""
    quadrant, sine, cosine = _reduced(x)
    return _in_quadrant(x, quadrant + 1.0, sine, cosine)


@inlined
def _reduced(x):
    """Nearest multiple of pi/2, as a count, and the sine and cosine of the remainder."""
    quadrant = np.floor(x * _TWO_OVER_PI + 0.5)
    r = ((x - quadrant * _PIO2_1) - quadrant * _PIO2_2) - quadrant * _PIO2_3
    z = r * r
    sine = r + r * z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6)))))
    cosine = (
        1.0 - 0.5 * z + z * z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6)))))
    )
    return quadrant, sine, cosine


@inlined
def _in_quadrant(x, quadrant, sine, cosine):
    """Sine of a small angle and ``quadrant`` quarters of a turn; NaN where x is too large."""
    half = np.floor(0.5 * quadrant)
    odd = quadrant - 2.0 * half
    sign = 1.0 - 2.0 * (half - 2.0 * np.floor(0.5 * half))
    value = sign * sine if odd == 0.0 else sign * cosine
    return value if abs(x) < SINCOS_LIMIT else np.nan


@kernel
def vector_tanh(x):
    """
    Hyperbolic tangent without branches or library calls, so that loops vectorise; 8 ulp.

    From m = exp(-2 |x|) - 1 by a series of m at 1/128 of the argument and seven doublings
    m (2 + m), none of which loses digits.
    """
    size = abs(x)
    size = 20.0 if size > 20.0 else size  # where the result is 1; NaN stays
    r = size * (-1.0 / 64.0)
    high = _E7 + r * (_E8 + r * (_E9 + r * (_E10 + r * (_E11 + r * (_E12 + r * _E13)))))
    m = r * (1.0 + r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * (_E6 + r * high))))))
    for _ in range(7):
        m = m * (2.0 + m)
    value = m / (2.0 + m)
    return value if x < 0.0 else -value


@inlined
def cubic_root(a):
    """
    Largest root w of w^3 - w = a for |a| < 2 / (3 sqrt 3), to rounding.

    Where it meets the next one, at w = 1 / sqrt 3, it has the derivative of a square root. With
    t^2 = a + 2 / (3 sqrt 3), w = 1 / sqrt 3 + y makes y^3 + sqrt 3 y^2 = t^2, and y / t is smooth:
    a polynomial in t, to 5e-9, and a step of Newton's method for y.
    """
    t = math.sqrt(a + CUBIC_LIMIT)
    g = -0.00929889334937338419 + t * 0.00183382220595037767
    g = -0.0364803365740343556 + t * (0.0224531636680407317 + t * g)
    g = -0.0638677343265100177 + t * (0.0489931227336341175 + t * g)
    g = -0.166665930185067613 + t * (0.0913710628359904628 + t * g)
    g = 0.759835681683146528 + t * g
    y = t * g
    g -= (g * g * (y + _SQRT_3) - 1.0) / (g * (3.0 * y + 2.0 * _SQRT_3))
    return _INVERSE_SQRT_3 + t * g


@kernel
def cubic(a):
    """Largest root w of w^3 - w = a for |a| < 2 / (3 sqrt 3), NaN beyond."""
    return cubic_root(a) if abs(a) < CUBIC_LIMIT else np.nan


@kernel
def stumpff(k, z):
    """Stumpff function c_k(z) of one number z: series near zero, sine and cosine beyond."""
    if abs(z) < 4.0:
        term = 1.0
        for i in range(2, k + 1):
            term /= i
        total = term
        for j in range(1, 16):
            term *= -z / ((k + 2 * j) * (k + 2 * j - 1))
            total += term
        return total
    root = math.sqrt(abs(z))
    if z < 0.0:
        value = math.cosh(root) if k % 2 == 0 else math.sinh(root) / root
    else:
        value = math.cos(root) if k % 2 == 0 else math.sin(root) / root
    factorial = 1.0
    for lower in range(k % 2, k, 2):  # c_{k+2} = (1/k! - c_k) / z
        value = (1.0 / factorial - value) / z
        factorial *= (lower + 1) * (lower + 2)
    return value


@inlined
def stumpff_series(z):
    """c_0 ... c_7 of |z| < 13.2 without branches, each to rounding error."""
    return stumpff_ten(z)[:8]


@inlined
def stumpff_ten(z):
    """c_0 ... c_9 of |z| < 13.2 likewise."""
    c8, c9 = 3.7699876288159054e-33, 1.216125041553518e-34
    c8, c9 = 3.279889237069838e-30 - z * c8, 1.1309962886447716e-31 - z * c9
    c8, c9 = 2.4795962632247976e-27 - z * c8, 9.183689863795546e-29 - z * c9
    c8, c9 = 1.6117375710961184e-24 - z * c8, 6.446950284384474e-26 - z * c9
    c8, c9 = 8.896791392450574e-22 - z * c8, 3.868170170630684e-23 - z * c9
    c8, c9 = 4.110317623312165e-19 - z * c8, 1.9572941063391263e-20 - z * c9
    c8, c9 = 1.5619206968586225e-16 - z * c8, 8.22063524662433e-18 - z * c9
    c8, c9 = 4.779477332387385e-14 - z * c8, 2.8114572543455206e-15 - z * c9
    c8, c9 = 1.1470745597729725e-11 - z * c8, 7.647163731819816e-13 - z * c9
    c8, c9 = 2.08767569878681e-09 - z * c8, 1.6059043836821613e-10 - z * c9
    c8, c9 = 2.755731922398589e-07 - z * c8, 2.505210838544172e-08 - z * c9
    c8, c9 = 2.48015873015873e-05 - z * c8, 2.7557319223985893e-06 - z * c9
    c6, c7 = 0.001388888888888889 - z * c8, 0.0001984126984126984 - z * c9
    c4, c5 = 1.0 / 24.0 - z * c6, 1.0 / 120.0 - z * c7
    c2, c3 = 0.5 - z * c4, 1.0 / 6.0 - z * c5
    return 1.0 - z * c2, 1.0 - z * c3, c2, c3, c4, c5, c6, c7, c8, c9


@kernel
def stumpff_family(z):
    """c_0 ... c_7 of one number z, each to rounding error."""
    if abs(z) < 13.0:  # beyond, the differences below lose few digits
        return stumpff_series(z)
    root, y = math.sqrt(abs(z)), 1.0 / z
    if z < 0.0:
        c0, c1 = math.cosh(root), math.sinh(root) / root
    else:
        c0, c1 = math.cos(root), math.sin(root) / root
    c2, c3 = (1.0 - c0) * y, (1.0 - c1) * y
    c4, c5 = (0.5 - c2) * y, (1.0 / 6.0 - c3) * y
    return c0, c1, c2, c3, c4, c5, (1.0 / 24.0 - c4) * y, (1.0 / 120.0 - c5) * y


@inlined
def stumpff_doubled(c0, c1, c2, c3, c4, c5, c6, c7):
    """c_1 ... c_7 of 4 z from those of z, by the formulas of doubled angles."""
    return (
        c0 * c1,
        0.5 * c1 * c1,
        0.25 * (c3 + c1 * c2),
        0.125 * c3 * (1.0 + c1),
        (c5 + 0.5 * c3 + c1 * c4) / 16.0,
        (c3 / 6.0 + c5 * (1.0 + c1)) / 32.0,
        (c7 + 0.5 * c5 + c6 + c3 * c4) / 64.0,
    )
