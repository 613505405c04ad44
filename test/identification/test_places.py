# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Markers whose places on a body have a prior and are fitted."""

import numpy as np
import pytest
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.motions import motion
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from support.pulled_rods import held, rod


def test_a_marker_beside_its_point_is_found_where_it_is():
    """Marker places known to 3 mm are found, and the modulus is no less accurate."""
    markers = (Marker('middle', 'rod', (0.0, 0.0, 0.1)), Marker('tip', 'rod', (0.0, 0.0, 0.2)))
    beside = (Marker('middle', 'rod', (0.004, -0.003, 0.1)), markers[1])
    pulls = np.array([[0.5, 0.0, 0.0], [0.0, 0.9, 0.0], [0.0, 0.3, 1.0], [1.2, 0.0, 0.5]])
    data = held(rod(4e5), pulls, markers=beside)
    known = [markers[0]._replace(noise=1e-4, deviation=0.003), markers[1]._replace(noise=1e-4)]
    given = postures(rod(), data.commands, known, data.positions)
    found = identify(rod(5e5), given, ['young_modulus'], loss='linear')
    assert found.placed['middle'] == pytest.approx([0.004, -0.003, 0.0], abs=5e-5)
    assert found.estimates[0].value == pytest.approx(4e5, rel=1e-3)
    predictor = Predictor(found.parameters, given)
    z, h = np.r_[found.x, found.states], 1e-6
    derivatives = predictor.derivatives(z)
    for k, step in enumerate(h * np.eye(len(z))):
        difference = (predictor.points(z + step) - predictor.points(z - step)) / (2.0 * h)
        assert derivatives[..., k] == pytest.approx(difference, abs=1e-5)


def test_a_prior_of_a_place_needs_the_noise():
    """A prior for a place needs the noise of the markers, and is refused for a motion."""
    data = held(rod(), [[0.5, 0.0, 0.0]])
    loose = [data.markers[0], data.markers[1]._replace(deviation=0.002)]
    given = postures(rod(), data.commands, loose, data.positions)
    with pytest.raises(ArgumentError, match='noise'):
        identify(rod(), given, ['young_modulus'])
    with pytest.raises(ArgumentError, match='postures'):
        motion(rod(), [0.0, 0.1], np.zeros((2, 3)), markers=loose, positions=np.zeros((2, 2, 3)))
