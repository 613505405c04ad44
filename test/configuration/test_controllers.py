# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`sd.load_controller`: a controller file becomes a law and its reference, without ROS."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.errors import ArgumentError, DescriptionError, UnknownNameError
from softrobot_dynamics.references.piecewise import values_at
from support.robots import compiled

FILE = """
/**:
  controller:
    ros__parameters:
      controller: pd_plus
      rate: 500.0
      pd_plus: {p: 30.0, d: 8.0}
      reference:
        type: spline
        ramp_time: 0.25
        spline: {times: [0.0, 1.0], values: [0.1, 0.2, 0.3, 0.4]}
"""


def written(folder, text):
    """Return the path of a file with a text."""
    path = folder / 'controller.yaml'
    path.write_text(text)
    return path


def test_a_controller_file_becomes_a_law_with_its_parameters_and_reference(tmp_path):
    """Law, gains, period, ramp and reference are those of the file; the rest is the default."""
    model = compiled('double_pendulum')
    found = sd.load_controller(written(tmp_path, FILE), model)
    assert found.law.type_name == 'pd_plus' and found.law.period == 2e-3
    assert found.law.settings.p.tolist() == [30.0, 30.0]
    assert found.ramp == 0.25 and found.parameters['delay'] == 0.0
    reference = found.plan()
    (y,) = values_at(reference, [1.0])
    assert y.tolist() == pytest.approx([0.3, 0.4])
    start = sd.Start(ramp=found.ramp)
    run = sd.closed_loop(model, found.law, reference, 0.01, start=start, progress=lambda *_: None)
    assert len(run.t) == 6 and run.ok.all()


def test_a_shipped_controller_is_loaded_by_its_name():
    """A plain name is a shipped controller; its reference is planned from where one says."""
    model = compiled('double_pendulum')
    found = sd.load_controller('double_pendulum', model)
    assert found.law.settings.p.tolist() == [100.0, 100.0]
    (y,) = values_at(found.plan([0.1, 0.2]), [0.0])
    assert np.isfinite(y).all()
    with pytest.raises(ArgumentError, match='q: '):
        found.plan([0.1])


def test_without_a_reference_a_loaded_controller_stays(tmp_path):
    """A file without a reference gives one that stays at the outputs of the planned state."""
    model = compiled('double_pendulum')
    path = written(tmp_path, '/**: {controller: {ros__parameters: {controller: pd_plus}}}')
    (y,) = values_at(sd.load_controller(path, model).plan([0.3, 0.2]), [5.0])
    assert y.tolist() == pytest.approx([0.3, 0.2])


def test_phases_of_a_controller_file_become_a_composition_and_a_program():
    """A file with phases gives a Composition, and a Program that the closed loop follows."""
    model = compiled('hybrid_arm')
    found = sd.load_controller('hybrid_arm', model)
    assert isinstance(found.law, Composition)
    program = found.plan()
    assert isinstance(program, Program)
    run = sd.closed_loop(model, found.law, program, 0.003, progress=lambda *_: None)
    assert run.ok.all()


def test_a_wrong_controller_file_is_refused_by_name(tmp_path):
    """Values, parameters, laws and files that cannot be are named by the library's errors."""
    model = compiled('double_pendulum')
    for old, new, error, words in (
        ('rate: 500.0', 'rate: -1', DescriptionError, 'rate: -1'),
        ('p: 30.0', 'q: 30.0', ArgumentError, 'without unknown parameters: pd_plus.q'),
        ('controller: pd_plus', 'controller: pd_pluss', UnknownNameError, 'pd_plus'),
    ):
        with pytest.raises(error, match=words):
            sd.load_controller(written(tmp_path, FILE.replace(old, new)), model)
    with pytest.raises(UnknownNameError, match="controller file 'double'.*double_pendulum"):
        sd.load_controller('double', model)
    with pytest.raises(DescriptionError, match='missing'):
        sd.load_controller(tmp_path / 'missing.yaml', model)
    with pytest.raises(ArgumentError, match='model: .*a compiled model'):
        sd.load_controller('double_pendulum', model.description)
    with pytest.raises(ArgumentError, match='source: 3'):
        sd.load_controller(3, model)
