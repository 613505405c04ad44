# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters with a prior of known standard deviation: NAME=A..B+-D."""

import functools

import numpy as np
import pytest
from scipy import stats
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.identification.validation import cross_validate
from support.robots import compiled

NOISE = 2e-3  # [m]
TIP = 'segment3', (0.0, 0.0, 0.2)
KNOWN = [
    'young_modulus=+-3e4',  # a number that keeps its sign
    'density=+-0.05',  # one factor of those that differ
    't1.path.phase=-0.5..0.5+-0.1',  # one that does not
]


@functools.cache
def robot():
    """Return a description with one density that is another."""
    return sd.vary(compiled('pcc_arm').description, {'segment1.density': 900.0})


@functools.cache
def measured(noise=NOISE):
    """Return postures of a softer, heavier arm with a tendon elsewhere."""
    true = {'young_modulus': 4.7e5, 'density': '×1.2', 't1.path.phase': 0.3}
    real = sd.vary(robot(), true)
    u = np.random.default_rng(1).uniform(0.0, 6.0, (6, 9))
    markers = [Marker('tip', *TIP, noise)]
    nowhere = postures(real, u, markers, np.zeros((6, 1, 3)))
    there = Predictor(read_parameters(real, ['density']), nowhere).points(np.zeros(1))
    return postures(robot(), u, markers, there)


def test_the_fit_minimises_residuals_and_priors():
    """The fit minimises squared residuals by noise plus squared priors by deviations."""
    found = identify(robot(), measured(), KNOWN, loss='linear')
    parameters, deviations = found.parameters, [3e4, 0.05, 0.1]

    def cost(x):
        off = (Predictor(parameters, measured()).points(x) - measured().positions) / NOISE
        values = [p.value(v) for p, v in zip(parameters.each, x)]
        before = (np.array(values) - [6e5, 1.0, 0.0]) / deviations
        return 0.5 * (off**2).sum() + 0.5 * (before**2).sum()

    h = 1e-3
    for step in h * np.eye(3):
        near, here = [cost(found.x + sign * step) for sign in (1.0, -1.0)], cost(found.x)
        assert min(near) > here  # a parabola, its bottom here to a part of its width
        assert abs(near[0] - near[1]) < 0.05 * (sum(near) - 2.0 * here)
    free = identify(robot(), measured(), [text.partition('+-')[0].rstrip('=') for text in KNOWN])
    for one, other in zip(found.estimates, free.estimates):
        assert abs(one.value - one.nominal) < abs(other.value - one.nominal)


def test_unobservable_parameters_keep_their_prior():
    """A parameter that postures do not show keeps the file's value and deviation."""
    free = [text.partition('+-')[0].rstrip('=') for text in KNOWN]
    found = identify(robot(), measured(), [*free, 'damping=+-0.01'], loss='linear')
    other, wide = found.estimates[-1], stats.t.ppf(0.975, 18 + 1 - 4)
    assert found.unidentifiable == () and other.value == pytest.approx(other.nominal)
    assert np.log(other.upper / other.nominal) == pytest.approx(wide * 0.01 / 0.08, rel=1e-3)
    left = cross_validate(found, loss='linear', folds=3)
    assert left.x[:, -1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(('text', 'words'), [
    ('density=+-0', 'D > 0'),
    ('density=900..1200+-few', 'D > 0'),
    ('density=+-', 'D > 0'),
    ('density=1..+-5', 'A < B'),
    ('t1.path.phase=+-0.1', 'A..B'),
])  # fmt: skip
def test_wrong_deviations_are_refused(text, words):
    """A wrong deviation is refused with what would be right."""
    with pytest.raises(ArgumentError, match=words):
        read_parameters(robot(), [text])


def test_a_prior_needs_the_noise():
    """A deviation of a parameter is refused without the noise of the data."""
    with pytest.raises(ArgumentError, match='noise'):
        identify(robot(), measured(1.0), KNOWN)
