# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Boundaries between success and failure along a varied factor."""

from math import inf

import numpy as np
import pytest
from softrobot_dynamics.studies.factors import Factor
from softrobot_dynamics.studies.failure_boundaries import counts, failure_boundaries
from softrobot_dynamics.studies.study import Study

pytestmark = pytest.mark.quick

FACTORS = (
    Factor('young_modulus', 'robot', '×', 0.5, 1.5),
    Factor('delay', 'loop', 's', 0.0, 5e-3),
)


def made(state, values=None, count=400):
    """Return a Study with the states that a function of values (N, 2) gives."""
    if values is None:
        unit = np.random.default_rng(0).random((count, 2))
        values = np.array([0.5, 0.0]) + unit * np.array([1.0, 5e-3])
    state = np.asarray(state(values))
    none = np.zeros(len(state))
    return Study(FACTORS, values, state, none, none, none, none, ('',) * len(state), 0.04)


def test_a_boundary_is_found_where_it_is():
    """A boundary is found below, above or on both sides and printed with its unit."""
    (fails, degrades) = failure_boundaries(made(lambda v: 2 * (v[:, 0] < 0.83)))
    assert (fails.factor, fails.what, fails.high) == (FACTORS[0], 'fails', inf)
    assert fails.low == pytest.approx(0.83, abs=0.005) and (fails.outside, fails.inside) == (1, 0)
    assert fails.in_words().startswith('fails for young_modulus below ×0.8')
    assert degrades.what == 'does not follow' and degrades.low == fails.low
    (above,) = failure_boundaries(made(lambda v: 1 * (v[:, 1] > 3e-3)))
    assert above.high == pytest.approx(3e-3, abs=1e-4) and above.low == -inf
    assert 'delay above 3' in above.in_words() and ' ms' in above.in_words()
    assert above.as_facts()['below'] is None
    (both,) = failure_boundaries(made(lambda v: 1 * (np.abs(v[:, 0] - 1.0) > 0.2)))
    assert (both.low, both.high) == pytest.approx((0.8, 1.2), abs=0.01)


def test_a_boundary_that_is_not_sharp_is_reported_with_its_clarity():
    """A boundary with one in ten on the wrong side is reported with its clarity."""
    rng = np.random.default_rng(1)
    study = made(lambda v: 1 * ((v[:, 0] < 0.8) ^ (rng.random(len(v)) < 0.1)))
    (boundary,) = failure_boundaries(study)
    assert boundary.low == pytest.approx(0.8, abs=0.03)
    assert boundary.outside == pytest.approx(0.9, abs=0.07)
    assert boundary.inside == pytest.approx(0.1, abs=0.05)


def test_random_results_have_no_boundary():
    """Random results, and runs that all succeed or all fail, have no boundary."""
    rng = np.random.default_rng(2)
    assert failure_boundaries(made(lambda v: rng.integers(0, 3, len(v)))) == ()
    assert (
        failure_boundaries(made(lambda v: 0 * v[:, 0]))
        == ()
        == failure_boundaries(made(lambda v: 0 * v[:, 0] + 2))
    )


def test_boundaries_of_given_values_are_between_them():
    """A boundary between given values is in the middle of them."""
    values = np.array([(m, d) for m in (0.6, 0.8, 1.0) for d in (0.0, 1e-3)])
    (boundary,) = failure_boundaries(made(lambda v: 1 * (v[:, 0] < 0.7), values))
    assert boundary.low == pytest.approx(0.7)
    assert counts(made(lambda v: 1 * (v[:, 0] < 0.7), values)) == {
        'followed': 4, 'degraded': 2, 'failed': 0,
    }  # fmt: skip
