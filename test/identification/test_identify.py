# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameters of a robot file from held postures, with confidence and observability."""

from dataclasses import replace
import functools

import numpy as np
import pytest
from scipy import stats
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.identification.confidence import confidence
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import fitted, identify, rms
from softrobot_dynamics.identification.model_selection import choose
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.identification.validation import cross_validate
from support.robots import compiled

MARKERS = (
    Marker('middle', 'segment2', (0.02, 0.0, 0.1)),
    Marker('tip', 'segment3', (0.0, 0.0, 0.2)),
)
TRUTH = {'young_modulus': 4.7e5, 'density': 1180.0}
FIT = list(TRUTH)


def arm():
    """Return the description of the robot file, which is wrong."""
    return compiled('pcc_arm').description


@functools.cache
def measured(count=6, scale=6.0, seed=1):
    """Return postures of the true arm under random tensions [N], exact."""
    robot = sd.vary(arm(), TRUTH)
    u = np.random.default_rng(seed).uniform(0.0, scale, (count, 9))
    nowhere = postures(robot, u, MARKERS, np.zeros((count, 2, 3)))
    seen = Predictor(read_parameters(robot, FIT), nowhere)
    return postures(robot, u, MARKERS, seen.points(np.zeros(2)))


def noisy(data, noise, seed):
    """Return postures with normal noise [m] in each coordinate."""
    rng = np.random.default_rng(seed)
    off = rng.normal(0.0, noise, data.positions.shape)
    return postures(arm(), data.commands, MARKERS, data.positions + off)


def values(found):
    """Return the estimates by name."""
    return {e.name: e.value for e in found.estimates}


def test_derivatives_are_those_of_whole_solves():
    """Derivatives by stiffness, weight and length equal differences of equilibria."""
    parameters = read_parameters(arm(), ['young_modulus', 'density', 'segment2.length'])
    predictor, x, h = Predictor(parameters, measured(2)), np.array([0.1, -0.2, 0.05]), 1e-3
    derivatives = predictor.derivatives(x)
    for k, step in enumerate(h * np.eye(3)):
        difference = (predictor.points(x + step) - predictor.points(x - step)) / (2.0 * h)
        assert np.abs(derivatives[..., k] - difference).max() < 1e-5 * np.abs(difference).max()


def test_exact_data_give_the_truth():
    """Exact data give the true parameters from the file's and from random starts."""
    for starts in 1, 2:
        found = identify(arm(), measured(), FIT, starts=starts, seed=3)
        assert values(found) == pytest.approx(TRUTH, rel=1e-6)
        assert found.unidentifiable == () and found.rms < 1e-8
        assert rms(found.initial_residuals) > 2e-3
        assert found.robot == sd.vary(arm(), values(found))


@pytest.mark.quick
def test_intervals_of_a_line_are_those_of_linear_regression():
    """Intervals of a line through five points equal scipy's linear regression."""
    x, noise = np.arange(5.0), np.array([0.1, -0.2, 0.05, 0.15, -0.1])
    line = stats.linregress(x, noise)
    left = noise - line.intercept - line.slope * x
    found = confidence(np.column_stack([x, np.ones(5)]), left)
    wide = stats.t.ppf(0.975, 3)
    assert found.half == pytest.approx([wide * line.stderr, wide * line.intercept_stderr])
    assert found.unidentifiable.shape == (0, 2)


def test_intervals_are_as_wide_as_errors_are():
    """Errors over eight draws, squared by their deviations, follow chi^2."""
    parameters, t = read_parameters(sd.vary(arm(), TRUTH), FIT), stats.t.ppf(0.975, 34)
    squares = np.zeros(2)
    for seed in range(8):
        data = noisy(measured(), 1e-3, 1000 + seed)
        found = fitted(parameters, data, [np.zeros(2)], 'linear')
        half = [0.5 * np.log(e.upper / e.lower) / t for e in found.estimates]
        squares += (found.x / half) ** 2
    low, high = stats.chi2.ppf([5e-4, 1.0 - 5e-4], 8)
    assert (low < squares).all() and (squares < high).all()


def test_intervals_shrink_with_the_noise():
    """Intervals shrink in proportion to the noise."""
    widths = [
        np.array([e.upper - e.lower for e in identify(arm(), data, FIT).estimates])
        for data in (noisy(measured(), noise, 5) for noise in (1e-3, 1e-4))
    ]
    assert widths[0] == pytest.approx(10.0 * widths[1], rel=0.1)


def test_unobservable_combinations_are_named():
    """Hanging postures show E / rho only, as reported; pulled tendons show the rest."""
    tilted = sd.load_robot('pcc_arm')
    hanging = type(tilted)(**{**vars(tilted), 'gravity': (6.0, 0.0, 7.0)})
    u = np.zeros((2, 9))
    data = postures(hanging, u, MARKERS, np.zeros((2, 2, 3)))
    points = Predictor(read_parameters(sd.vary(hanging, TRUTH), FIT), data).points(np.zeros(2))
    found = identify(hanging, postures(hanging, u, MARKERS, points), FIT)
    assert found.unidentifiable == ('young_modulus +10 % with density +10 %',)
    assert np.isnan([[e.lower, e.upper] for e in found.estimates]).all()
    ratio = TRUTH['young_modulus'] / TRUTH['density']
    assert values(found)['young_modulus'] / values(found)['density'] == pytest.approx(ratio)
    more = np.vstack([u, found.suggest(candidates=4, count=1)])
    assert np.linalg.norm(more[-1]) > 1.0 and (more >= 0.0).all() and (more <= 40.0).all()
    data = postures(hanging, more, MARKERS, np.zeros((3, 2, 3)))
    points = Predictor(read_parameters(sd.vary(hanging, TRUTH), FIT), data).points(np.zeros(2))
    found = identify(hanging, postures(hanging, more, MARKERS, points), FIT)
    assert found.unidentifiable == () and values(found) == pytest.approx(TRUTH, rel=1e-5)


def test_a_number_without_effect_is_named():
    """Damping does nothing at rest; the other estimate keeps its interval."""
    found = identify(arm(), noisy(measured(), 1e-3, 2), ['young_modulus', 'damping'])
    modulus, damping = found.estimates
    assert found.unidentifiable == ('damping',) and np.isnan(damping.lower)
    assert modulus.lower < modulus.value < modulus.upper


def test_swapped_markers_hardly_count():
    """A swapped marker hardly changes a fit with soft_l1, but does with squares."""
    data = noisy(measured(), 1e-4, 4)
    wrong = data.positions.copy()
    wrong[0, 1] += 0.05
    off = {
        loss: abs(values(identify(arm(), postures(arm(), data.commands, MARKERS, wrong), FIT,
                                  loss=loss))['young_modulus'] / 4.7e5 - 1.0)
        for loss in ('linear', 'soft_l1')
    }  # fmt: skip
    assert off['soft_l1'] < 1e-2 < 5.0 * off['soft_l1'] < off['linear']


def test_unseen_markers_do_not_count():
    """Markers that were not seen, and their weights, do not count."""
    data = measured()
    there = data.positions.copy()
    there[1:, 0] = np.nan
    found = identify(arm(), postures(arm(), data.commands, MARKERS, there), FIT)
    assert values(found) == pytest.approx(TRUTH, rel=1e-6)
    assert np.isnan(found.residuals[1:, 0]).all() and found.rms < 1e-8


def test_validation_postures_judge_and_choose():
    """Errors on unseen postures are no smaller, and damping is not worth fitting."""
    data = noisy(measured(), 1e-3, 6).only(range(3))
    found = identify(arm(), data, ['young_modulus', 'damping'], loss='linear')
    checked = cross_validate(found, loss='linear')
    assert found.rms < checked.rms < 2.0 * found.rms
    assert checked.x[:, 0].std() > 0.0 and checked.residuals.shape == (3, 2, 3)
    low, high = checked.intervals[0]
    assert low < values(found)['young_modulus'] < high
    choice = choose(found, loss='linear')
    assert choice.names == ('young_modulus',)
    assert choice.errors == pytest.approx((rms(found.initial_residuals), checked.rms), rel=1e-3)


def test_postures_of_one_name_are_left_out_together():
    """Each by a fit that has seen none of its name; names are dealt out in turn to folds."""
    data = noisy(measured(), 1e-3, 6)
    data = replace(data, names=('a', 'a', 'b', 'c', 'd', 'd'))
    found = identify(arm(), data, ['young_modulus'], loss='linear')
    others = {}  # fits that have not seen these rows
    for folds, rows in (None, [[0, 1], [2], [3], [4, 5]]), (3, [[0, 1, 4, 5], [2], [3]]):
        checked = cross_validate(found, loss='linear', folds=folds)
        for x, out in zip(checked.x, rows, strict=True):
            if tuple(out) not in others:
                seen = data.only([row for row in range(6) if row not in out])
                others[tuple(out)] = fitted(found.parameters, seen, [found.x], 'linear')
            alone = others[tuple(out)]
            assert x == pytest.approx(alone.x, abs=1e-9)
            there = Predictor(found.parameters, data.only(out)).points(alone.x)
            expected = data.positions[out] - there
            assert checked.residuals[out] == pytest.approx(expected, abs=1e-9)
    for wrong in 2, 5, 3.0:
        with pytest.raises(ArgumentError, match='folds.*from 3 to 4'):
            cross_validate(found, folds=wrong)


def test_parameters_are_one_for_equal_numbers_and_factors_for_others():
    """Equal numbers share a parameter and others a factor, within the robot's bounds."""
    robot = sd.vary(arm(), {'segment1.density': 900.0})
    one, other, ratio = read_parameters(robot, ['young_modulus', 'density', 'poisson_ratio']).each
    assert (one.nominal, one.factor, one.relative) == (6e5, False, True)
    assert (other.nominal, other.factor) == (1.0, True)
    assert ratio.upper == pytest.approx(0.5)
    changed = read_parameters(robot, ['density']).robot(np.log([2.0]))
    assert [m.body.density for m in changed.modules] == pytest.approx([1800.0, 2140.0, 2140.0])
    bound = identify(arm(), measured(), ['young_modulus=5.5e5..7e5', 'density']).estimates[0]
    assert bound.at_bound and bound.value == pytest.approx(5.5e5)


@pytest.mark.parametrize(('fit', 'error', 'words'), [
    ([], ArgumentError, 'names of numbers'),
    (['stiffness_of_all'], UnknownNameError, 'young_modulus'),
    (['density', 'density=1..2'], ArgumentError, 'each name once'),
    (['density=2..1'], ArgumentError, 'A < B'),
    (['density=a..b'], ArgumentError, 'A < B'),
    (['density=-1..1e3'], DescriptionError, 'density'),
    (['t1.friction'], ArgumentError, 'A..B'),
])  # fmt: skip
def test_wrong_parameters_are_refused(fit, error, words):
    """Wrong parameters are refused with what would be right."""
    with pytest.raises(error, match=words):
        read_parameters(arm(), fit)


@pytest.mark.parametrize(('u', 'markers', 'where', 'words'), [
    (np.zeros((2, 8)), MARKERS, np.zeros((2, 2, 3)), r'\(P, 9\)'),
    (np.full((2, 9), np.nan), MARKERS, np.zeros((2, 2, 3)), 'finite'),
    (np.zeros((2, 9)), MARKERS, np.zeros((2, 1, 3)), r'\(2, 2, 3\)'),
    (np.zeros((2, 9)), MARKERS, np.full((2, 2, 3), np.nan), 'seen'),
    (np.zeros((2, 9)), [Marker('x', 'arm', (0.0,) * 3)], np.zeros((2, 1, 3)), 'segment1'),
    (np.zeros((2, 9)), [Marker('x', 'segment1', (0.0,) * 3, 0.0)], np.zeros((2, 1, 3)), '> 0'),
])  # fmt: skip
def test_wrong_postures_are_refused(u, markers, where, words):
    """Wrong postures are refused with what would be right."""
    with pytest.raises((ArgumentError, UnknownNameError), match=words):
        postures(arm(), u, markers, where)
    with pytest.raises(ArgumentError, match='loss'):
        identify(arm(), measured(), FIT, loss='cauchy')
