# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Simulation 3 of [P], Figure 11: chains of N planar bodies of constant curvature.

Equality first: M q'' = IID(q, 0, q'') and c = IID(q, q', 0) in random states, beside Lagrange's
equations of the chain, made here of its material points in the plane. Then the time of each by N,
called from Python; and forward dynamics in two ways, with M in the same pass, and inertia-based
[P, Sec. 5.2], M column by column as IID(q, 0, e_i). How the compiled loop does beside symbolic
Lagrange in C is measured by benchmarks/performance, from which the dotted curves come where the
package lies in its source tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
import json
from pathlib import Path
import time
from typing import Any, TYPE_CHECKING

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
import softrobot_dynamics as sd
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.reproduce.axes import LINE_STYLES
from softrobot_dynamics.reproduce.outcome import (
    Array,
    Check,
    difference,
    quietly,
    SystemResult,
    Tell,
)
from softrobot_dynamics.reproduce.reference_rotations import Numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from softrobot_dynamics.viewing.animation import Film

TITLE = 'chains of N planar bodies: equality and time by N [P, Simulation 3, Figure 11]'

ROBOT = 'scalability'
LENGTH, RADIUS, DENSITY = 0.3, 0.03, 1000.0  # that Lagrange's equations go by
COMPARED_SIZES, STATES = (1, 2, 4, 8), 100
STATE_RANGES = np.array([[np.pi], [10.0], [100.0]])  # of q, qd, qdd in random states [P]
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
MIN_FITTED_SIZE = 32  # of the fit of exponents
COMPLEX_STEP = 1e-40
# [s], [s], [rad] of a link: the chain that is filmed
FILM_DURATION, FRAME_TIME, FILM_BEND = 5.0, 0.01, 0.25
FIGURES_FILE = Path(__file__).parents[3] / 'docs' / 'performance.json'  # in a source tree
METHODS = {
    'momentum': 'M q̈ = IID(q, 0, q̈)',
    'bias': 'c = IID(q, q̇, 0)',
    'one pass': 'forward dynamics, M in the same pass',
    'columns': 'forward dynamics, inertia-based',
}


def run(tell: Tell = quietly, share: float = 1.0) -> SystemResult:
    """Compare in a `share` of 100 states, then time chains; short ones alone if share < 1."""
    rng, errors = np.random.default_rng(0), []
    for n in COMPARED_SIZES:
        model = _chain(n)
        with tell(f'equality, N = {n}'):
            for _ in range(max(2, round(share * STATES))):
                errors.append(_compared(model, *rng.uniform(-1.0, 1.0, (3, n)) * STATE_RANGES))
    worst = np.max(errors, axis=0)
    against = 'Lagrange’s equations of points in the plane'
    checks = (
        Check('M q̈', worst[0], 1e-11, '', against),
        Check('c', worst[1], 1e-9, '', against),
        Check('M by columns IID(q, 0, e_i)', worst[2], 1e-12, '', 'M of the same pass'),
        Check('inertia-based forward dynamics', worst[3], 1e-9, '', 'q̈ of Lagrange’s equations'),
    )
    times: dict[str, list[float]] = {name: [] for name in METHODS}
    sizes = SIZES if share >= 1.0 else SIZES[:2]
    for n in sizes:
        with tell(f'time, N = {n}'):
            for name, seconds in _times(_chain(n), share).items():
                times[name].append(seconds)
    remarks = _remarks(sizes, times) if share >= 1.0 else ()
    data = {'N': np.array(sizes), 'times': times, 'published': _published()}
    with tell(f'the shipped chain swings for {share * FILM_DURATION:g} s'):
        data['t'], data['q'] = _swing(share * FILM_DURATION)
    return SystemResult(checks, remarks, data)


def _swing(span: float) -> tuple[Array, Array]:
    """Return times (T,) [s] and coordinates (T, n) of the shipped chain, let go when bent."""
    model = sd.compile_model(sd.load_robot(ROBOT))
    robot, rows = sd.Simulator(model), []
    robot.reset(np.full(model.n, FILM_BEND))
    times = np.arange(0.0, span + 0.5 * FRAME_TIME, FRAME_TIME)
    for _ in times:
        rows.append(robot.q.copy())
        robot.step(np.zeros(model.m), FRAME_TIME)
    return times, np.array(rows)


def film(data: dict[str, Any]) -> Film:
    """Return the motion of the shipped chain."""
    from softrobot_dynamics.viewing.animation import Film

    model = sd.compile_model(sd.load_robot(ROBOT))
    return Film(model, np.asarray(data['t']), np.asarray(data['q']))


def _chain(n: int) -> CompiledModel:
    """Return the model of n of the shipped links, without what drives them."""
    robot = sd.load_robot(ROBOT)
    links = [replace(robot.modules[0], name=f'b{i}', joint_name=f'b{i}', parent=i - 1)
             for i in range(n)]  # fmt: skip
    return sd.compile_model(replace(robot, modules=tuple(links), actuators=(), start=()))


def _compared(model: CompiledModel, q: Array, qd: Array, qdd: Array) -> list[float]:
    """Return the relative differences of M qdd, c, M by columns, and forward dynamics."""
    zero = 0.0 * q
    momentum = sd.inertial_inverse_dynamics(model, q=q, qd=zero, qdd=qdd)
    bias, M = sd.mass_inertial_inverse_dynamics(model, q=q, qd=qd, qdd=zero)
    own, derivatives = _mass(q)[0], []
    for e in np.eye(len(q)):
        derivatives.append(_mass(q + 1j * COMPLEX_STEP * e)[1] / COMPLEX_STEP)
    turning = np.tensordot(qd, derivatives, 1) @ qd - 0.5 * np.einsum(
        'kij,i,j->k', derivatives, qd, qd
    )
    columns = _columns(model, q)
    found = np.linalg.solve(columns, own @ qdd + turning - bias)  # under the forces of Lagrange
    return [
        difference(momentum, own @ qdd),
        difference(bias, turning),
        difference(columns, M),
        difference(found, qdd),
    ]


def _columns(model: CompiledModel, q: Array) -> Array:
    """Return M column by column [P, Sec. 5.2]; with q' = 0, where the paper has q'."""
    zero = np.zeros(len(q))
    units = np.eye(len(q))
    iid = sd.inertial_inverse_dynamics
    return np.column_stack([iid(model, q=q, qd=zero, qdd=e) for e in units])


def _mass(q: Numbers) -> tuple[Array, Array]:
    """Return the real and the imaginary part of M (n, n) = sum of m J^T J, at complex q (n,)."""
    nodes, weights = leggauss(16)
    s, ds = 0.5 * (nodes + 1.0), 0.5 * weights
    n, heading, tip = len(q), 0.0, np.zeros(2)
    mass = DENSITY * np.pi * RADIUS**2 * LENGTH
    derivatives, tips = np.zeros((2, n), dtype=complex), np.zeros((2, n), dtype=complex)
    M = np.zeros((n, n), dtype=complex)
    for i, bend in enumerate(q):
        along = [np.append(s, 1.0)[:, None] * s, np.append(s, 1.0)[:, None] * ds]
        sines, cosines = np.sin(heading + bend * along[0]), np.cos(heading + bend * along[0])
        places = LENGTH * np.array([(along[1] * sines).sum(1), (along[1] * cosines).sum(1)])
        own = LENGTH * along[0] * along[1]
        bending = np.array([(own * cosines).sum(1), -(own * sines).sum(1)])  # of the axis, by q_i
        across = np.array([np.cos(heading + bend * s), -np.sin(heading + bend * s)])
        for side in (0.5 * RADIUS, -0.5 * RADIUS):  # where the section has its second moment
            p = tip[:, None] + places[:, :-1] + side * across
            J = np.zeros((2, len(s), n), dtype=complex)
            for j in range(i):  # beyond body j all turns about its tip, which moves itself
                turned = np.array([p[1] - tips[1, j], tips[0, j] - p[0]])
                J[:, :, j] = derivatives[:, j, None] + turned
            turned = np.array([across[1], -across[0]])
            J[:, :, i] = bending[:, :-1] + side * s * turned
            M += np.einsum('ckj,k,ckl->jl', J, 0.5 * mass * ds, J)
        tip, heading = tip + places[:, -1], heading + bend
        derivatives[:, i], tips[:, i] = bending[:, -1], tip
    return M.real, M.imag


def _times(model: CompiledModel, share: float) -> dict[str, float]:
    """Return the median time [s] of each of METHODS at q = qd = qdd = 1, by public functions."""
    ones, zero = np.ones(model.n), np.zeros(model.n)

    def momentum() -> Array:
        return sd.inertial_inverse_dynamics(model, q=ones, qd=zero, qdd=ones)

    def bias() -> Array:
        return sd.inertial_inverse_dynamics(model, q=ones, qd=ones, qdd=zero)

    def in_one_pass() -> Array:
        return sd.forward_dynamics(model, q=ones, qd=ones, u=np.zeros(model.m))

    def by_columns() -> NDArray[np.floating[Any]]:
        return np.linalg.solve(_columns(model, ones), -bias())

    calls = momentum, bias, in_one_pass, by_columns
    return {name: _median(call, 200 if share >= 1.0 else 3) for name, call in zip(METHODS, calls)}


def _median(call: Callable[[], object], count: int) -> float:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _remarks(sizes: Sequence[int], times: dict[str, list[float]]) -> tuple[str, ...]:
    long = [k for k, n in enumerate(sizes) if n >= MIN_FITTED_SIZE]
    grown = {
        name: np.polyfit(np.log(np.take(sizes, long)), np.log(np.take(found, long)), 1)[0]
        for name, found in times.items()
    }
    last = times['columns'][-1] / times['one pass'][-1]
    words = ', '.join(f'{METHODS[name]} {power:.2f}' for name, power in grown.items())
    return (
        'printed in [P, Sec. 5.2] as IID(q, q̇, e_i): a column of M is IID(q, 0, e_i)',
        f'from N = {MIN_FITTED_SIZE} to {sizes[-1]} time grows, here and now,'
        f' as N to the power: {words}',
        f'at N = {sizes[-1]} forward dynamics with M in the same pass is {last:.0f} times as fast '
        'as the inertia-based one',
        'M has N² entries, so that "at no extra cost" [P] cannot hold for long chains: '
        'docs/figures_performance.md',
    )


def _published() -> dict[str, Any]:
    """Return {curve: (N, time [s])} of docs/performance.json, medians of its runs; or none."""
    if not FIGURES_FILE.is_file():
        return {}
    runs = json.loads(FIGURES_FILE.read_text(encoding='utf-8'))['planar_chain']
    curves = {}
    for operation in ('momentum', 'bias'):
        for who in ('ours', 'peer'):
            sizes = list(runs[0][operation][who])
            medians = [np.median([run[operation][who][n] for run in runs]) for n in sizes]
            curves[f'{operation}, {who}'] = np.array([[int(n) for n in sizes], medians])
    return curves


def draw(figure: Figure, data: dict[str, Any]) -> None:
    """Draw time over N: M qdd and c as published, and forward dynamics in both ways."""
    figure.set_size_inches(10.0, 3.8)
    axes = figure.subplots(1, 3, sharey=True)
    for axis, operation in zip(axes, ('momentum', 'bias')):
        axis.loglog(data['N'], 1e6 * np.array(data['times'][operation]), 'o-',
                    color=LINE_STYLES[0][0],
                    ms=4, label='from Python')  # fmt: skip
        labels = ('ours', 'compiled loop'), ('peer', 'Lagrange in C')
        for (who, label), (colour, style) in zip(labels, LINE_STYLES[1:]):
            curve = data['published'].get(f'{operation}, {who}')
            if curve is not None:
                axis.loglog(curve[0], 1e6 * curve[1], style, color=colour, label=label)
        axis.set(xlabel='N', title=METHODS[operation])
        axis.legend(loc='upper left')
    for name, (colour, style) in zip(('one pass', 'columns'), LINE_STYLES):
        label = METHODS[name].split(', ')[1]
        axes[2].loglog(data['N'], 1e6 * np.array(data['times'][name]), f'o{style}', color=colour,
                       ms=4, label=label)  # fmt: skip
    axes[2].set(xlabel='N', title='forward dynamics, from Python')
    axes[2].legend(loc='upper left')
    axes[0].set_ylabel('time [µs]')
