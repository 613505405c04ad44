# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The place on a segment that is nearest to a solid."""

import math

import pytest
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.golden_section import nearest_place

pytestmark = pytest.mark.quick
STRAIGHT = 2.0, 0.0, 0.0  # from one end of a segment to the other


@kernel
def ball_distance(x, y, z, radius, height):
    """Distance of a point from a ball at a height on the z axis."""
    return math.sqrt(x * x + y * y + (z - height) * (z - height)) - radius


@kernel
def place(x, u):
    """Place on a segment from (x, 1, 0) that is nearest to a ball."""
    return nearest_place((x, 1.0, 0.0), u, ball_distance, (0.3, 0.5))


@pytest.mark.parametrize('x, wanted', [
    (-1.0, 0.5), (-0.4, 0.2), (0.0, 0.0), (0.7, 0.0), (-2.0, 1.0), (-5.0, 1.0),
])  # fmt: skip
def test_nearest_place(x, wanted):
    """It is that of the perpendicular, or an end, exactly, where that is beyond."""
    found = place(x, STRAIGHT)
    assert found == wanted if wanted in (0.0, 1.0) else found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize('u', [(0.0, 0.0, 0.0), (math.nan, 0.0, 0.0)], ids=['point', 'nan'])
def test_a_segment_without_length_begins_where_it_is_nearest(u):
    """The place on a segment that is a point, or no number, is its beginning."""
    assert place(-1.0, u) == 0.0
