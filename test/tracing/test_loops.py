# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Kernels of loops over the lanes of a block, whose arithmetic is traced."""

import numpy as np
import pytest
from softrobot_dynamics.tracing.differentiate import derivatives_along, direction
from softrobot_dynamics.tracing.graph import SYMBOLIC
from softrobot_dynamics.tracing.loops import cross, traced_loop

LANES = 8


@traced_loop(LANES)
def turning_arm(reach, frames, out):
    """Differentiate p = sin(r) e by time, where e turns at a spin."""
    e, spin, turning = frames.rows(0), frames.rows(3), frames.rows(6)
    r, by_time = frames[9], direction((e, cross(spin, e)), (spin, turning))
    by_time |= direction(([frames[9]], [frames[10]]))
    p = [reach.number(0) * SYMBOLIC.sin(r) * x for x in e]
    out.write(0, *derivatives_along(p, by_time, 2))


@traced_loop(LANES)
def exchange(rows):
    """Exchange the first two rows."""
    rows.write(0, [rows[1], rows[0]])


def test_a_traced_loop_fills_derivatives_of_every_lane():
    """Two derivatives by time of a traced vector equal the product rule, written out."""
    frames = np.random.default_rng(3).normal(size=(11, LANES))
    out = np.full((10, LANES), np.nan)
    turning_arm(np.array([2.0]), frames.ravel(), out.ravel())
    e, w, a, (r, v) = frames[:3].T, frames[3:6].T, frames[6:9].T, frames[9:, :, None]
    e1 = np.cross(w, e)
    e2 = np.cross(a, e) + np.cross(w, e1)
    s, s1, s2 = np.sin(r), np.cos(r) * v, -np.sin(r) * v * v
    wanted = s * e, s1 * e + s * e1, s2 * e + 2.0 * s1 * e1 + s * e2
    for i, vector in enumerate(wanted):
        assert out[3 * i : 3 * i + 3].T == pytest.approx(2.0 * vector, rel=1e-13, abs=1e-14)
    assert np.isnan(out[9]).all()


def test_a_traced_loop_reads_before_it_writes():
    """A loop reads a lane as it was before the loop writes to it."""
    rows = np.arange(3.0 * LANES)
    exchange(rows)
    assert rows.reshape(3, -1)[:, 0].tolist() == [LANES, 0.0, 2.0 * LANES]
