# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Lagrange's equations of a chain of N planar constant-curvature bodies, derived by sympy, as C.

    python lagrange.py momentum|bias N FILE.c

The kinetic energy T(q, qd) is written in closed form and differentiated: with the momenta
p = dT/d(qd), M qdd is p(q, qdd), and c = (dp/dq) qd - dT/dq. No Christoffel symbols are formed,
not even M. Common subexpressions are computed once, sines and cosines of sums of q by addition.

Body: bend b, spin w of its first section, rate v of b. In the axes (x, z) of that section its
points are p(s) = int_0^s L (sin bs, cos bs) ds, and all integrals over s are Stumpff functions
c_k(b^2), whose derivatives are such functions again; so there is no division by b, which would
lose all digits near b = 0. The C code takes BODIES (N), LENGTH, MASS and SECTION (m r^2 / 4) as
macros.
"""

from itertools import accumulate
from pathlib import Path
import sys

import sympy
from sympy.codegen.rewriting import create_expand_pow_optimization

LENGTH, MASS, SECTION = sympy.symbols('LENGTH MASS SECTION')

PREAMBLE = """#include <math.h>

static void stumpff(double b, double cosine, double sine, double *c)
{
    const double z = b * b;
    if (z < 0.5) {
        c[6] = 1. / 720 - z * (1. / 40320 - z * (1. / 3628800 - z * (1. / 479001600
            - z * (1. / 87178291200. - z / 20922789888000.))));
        c[7] = 1. / 5040 - z * (1. / 362880 - z * (1. / 39916800 - z * (1. / 6227020800.
            - z * (1. / 1307674368000. - z / 355687428096000.))));
        c[5] = 1. / 120 - z * c[7], c[4] = 1. / 24 - z * c[6];
        c[3] = 1. / 6 - z * c[5], c[2] = 0.5 - z * c[4];
        c[1] = 1 - z * c[3], c[0] = 1 - z * c[2];
    } else {
        const double y = 1 / z;
        c[0] = cosine, c[1] = sine / b;
        c[2] = (1 - c[0]) * y, c[3] = (1 - c[1]) * y;
        c[4] = (0.5 - c[2]) * y, c[5] = (1. / 6 - c[3]) * y;
        c[6] = (1. / 24 - c[4]) * y, c[7] = (1. / 120 - c[5]) * y;
    }
}
"""

FUNCTION = """
__attribute__((noinline)) void {name}(const double *q, const double *v, double *out)
{{
    double c[BODIES][8], C[BODIES + 1], S[BODIES + 1];
    C[0] = 1, S[0] = 0;
    for (int i = 0; i < BODIES; i++) {{
        const double cosine = cos(q[i]), sine = sin(q[i]);
        C[i + 1] = C[i] * cosine - S[i] * sine, S[i + 1] = S[i] * cosine + C[i] * sine;
        stumpff(q[i], cosine, sine, c[i]);
    }}
{body}
}}

void repeat_{name}(long repeats, const double *q, const double *v, double *out)
{{
    for (long i = 0; i < repeats; i++) {{
        {name}(q, v, out);
        __asm__ volatile("" ::: "memory");
    }}
}}
"""


class Stumpff(sympy.Function):
    """c_k(b^2) as a function of (k, b)."""

    nargs = 2

    def fdiff(self, argindex=2):
        """Return the derivative by b."""
        k, b = self.args
        return b * (k * Stumpff(k + 2, b) - Stumpff(k + 1, b))


def kinetic_energy(angles, spins, hessians, rates):
    """
    Return T [J].

    ``angles`` [rad] and ``spins`` [rad/s] are those of the first sections of the bodies in the
    base, ``hessians`` and ``rates`` those of the bodies. A body is carried along by the speeds of
    all tips before it, which the mass of all bodies after it shares.
    """
    b, m, J, L = sympy.Symbol('b'), MASS, SECTION, LENGTH
    c = [Stumpff(k, b) for k in range(6)]
    moment = m * L * b * c[3], m * L * c[2]  # int p dm
    inertia = 2 * m * L**2 * c[3] + J  # int p.p dm and the sections'
    swing = m * L**2 * (c[3] - c[4]) + J / 2  # int p x dp/db dm
    own = 2 * m * L**2 * (c[4] - 2 * c[5]) + J / 3  # int dp/db . dp/db dm
    x_speed = z_speed = energy = sympy.Integer(0)
    for i, (angle, w, bend, v) in enumerate(zip(angles, spins, hessians, rates)):
        beyond, at = (len(hessians) - 1 - i) * m, {b: bend}
        x, z = _speed((L * b * c[2], L * c[1]), b, at, w, v)
        energy += (inertia.subs(at) * w**2 + own.subs(at) * v**2) / 2 + swing.subs(at) * w * v
        energy += beyond * (x**2 + z**2) / 2
        x, z = _turned(x, z, angle)
        dx, dz = _turned(*_speed(moment, b, at, w, v), angle)
        energy += x_speed * (beyond * x + dx) + z_speed * (beyond * z + dz)
        x_speed, z_speed = x_speed + x, z_speed + z
    return energy


def _speed(point, b, at, w, v):
    """Rate of a point (x, z) that depends on b, in axes that spin at w."""
    x, z = (coordinate.subs(at) for coordinate in point)
    x_rate, z_rate = (coordinate.diff(b).subs(at) for coordinate in point)
    return x_rate * v + w * z, z_rate * v - w * x


def _turned(x, z, angle):
    cosine, sine = sympy.cos(angle), sympy.sin(angle)
    return cosine * x + sine * z, cosine * z - sine * x


def equations(operation, n):
    """Return n expressions, the momenta or the bias c, and the C names of what they use."""
    hessians, rates = sympy.symbols(f'b:{n}'), sympy.symbols(f'v:{n}')
    angles = [sympy.Integer(0), *accumulate(hessians)]
    T = kinetic_energy(angles, [sympy.Integer(0), *accumulate(rates)], hessians, rates)
    momenta = [T.diff(rate) for rate in rates]
    if operation == 'momentum':
        wanted = momenta
    else:
        wanted = [_along(p, hessians, rates) - T.diff(bend) for p, bend in zip(momenta, hessians)]
    names = dict(zip(rates, (f'v[{i}]' for i in range(n))))
    for i, bend in enumerate(hessians):
        after = angles[i + 1]
        names[sympy.cos(after)], names[sympy.sin(after)] = f'C[{i + 1}]', f'S[{i + 1}]'
        names.update({Stumpff(k, bend): f'c[{i}][{k}]' for k in range(8)})
        names[bend] = f'q[{i}]'
    return wanted, {atom: sympy.Symbol(name) for atom, name in names.items()}


def _along(expression, variables, rates):
    """Return the derivative of an expression along the rates of its variables."""
    step = sympy.Symbol('step')
    moved = expression.xreplace({x: x + step * rate for x, rate in zip(variables, rates)})
    return moved.diff(step).xreplace({step: sympy.Integer(0)})


def function(name, expressions, names):
    """Return the C source of a function of q and v that fills ``out`` with n values."""
    expressions = [expression.xreplace(names) for expression in expressions]
    parts, values = sympy.cse(expressions, sympy.numbered_symbols('x'), order='none')
    product = create_expand_pow_optimization(8)
    lines = [f'const double {symbol} = {sympy.ccode(product(part))};' for symbol, part in parts]
    lines += [f'out[{i}] = {sympy.ccode(product(value))};' for i, value in enumerate(values)]
    return FUNCTION.format(name=name, body='\n'.join('    ' + line for line in lines))


def main(operation, n, path):
    """Write the C source."""
    Path(path).write_text(PREAMBLE + function(operation, *equations(operation, int(n))))


if __name__ == '__main__':
    main(*sys.argv[1:])
