# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Excitation commands are within limits, separable and followed by the node."""

import numpy as np
import pytest
from softrobot_dynamics.cli import main
from softrobot_dynamics.configuration import build
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.excitation import excite, SAMPLE_RATE
from softrobot_dynamics.references.piecewise import values_at
from support.robots import compiled


def test_a_sweep_raises_one_command_after_the_other():
    """A sweep raises one command at a time from zero to the share of its limit and back."""
    arm = compiled('pcc_arm')
    found = excite(arm, duration=18.0, share=0.2)
    np.testing.assert_allclose(found.u.max(axis=0), 0.2 * arm.upper, rtol=1e-3)
    assert (found.u >= 0.0).all() and not found.u[[0, -1]].any()
    moved = found.u > 1e-9
    assert (moved.sum(axis=1) <= 1).all()
    turns = moved[moved.any(axis=1)].argmax(axis=1)
    assert (np.diff(turns) >= 0).all() and turns[0] == 0 and turns[-1] == 8


def test_a_multisine_gives_each_command_frequencies_of_its_own():
    """In the middle of a multisine no command has a frequency of another one."""
    arm = compiled('pcc_arm')
    found = excite(arm, 'multisine', duration=20.0, share=0.1, low=0.2, high=2.0)
    assert (found.u >= 0.0).all() and (found.u <= 0.1 * arm.upper + 1e-12).all()
    window = (0.1 < found.t / 20.0) & (found.t / 20.0 < 0.9)
    t, u = found.t[window], found.u[window]
    lines = np.arange(4, 41) / 20.0
    basis = np.exp(2j * np.pi * lines * t[:, None])
    full = np.column_stack([np.ones(len(t)), basis.real, basis.imag])
    fitted = np.linalg.lstsq(full, u, rcond=None)[0]
    amplitude = np.hypot(fitted[1:38], fitted[38:])
    strong = amplitude > 1e-3 * amplitude.max(axis=0)
    assert (strong.sum(axis=1) == 1).all() and (strong.sum(axis=0) >= 4).all()
    rates = np.abs(np.diff(found.u, axis=0)).max(axis=0) * SAMPLE_RATE
    assert (rates <= arm.rate_limit).all()


def test_an_unsuitable_excitation_is_refused():
    """A falling robot, unlimited actuators and wrong settings are refused with the reason."""
    with pytest.raises(ArgumentError, match='would be'):
        excite(compiled('ur10e'), duration=4.0)
    arm = compiled('pcc_arm')
    for given, words in (
        ({'kind': 'noise'}, 'sweep, multisine'),
        ({'share': 1.5}, 'at most 1'),
        ({'duration': 0.1}, '1 to 3600 s'),
        ({'kind': 'multisine', 'low': 3.0, 'high': 2.0}, 'low < high'),
        ({'kind': 'multisine', 'duration': 2.0}, 'a frequency each'),
    ):
        with pytest.raises(ArgumentError, match=words):
            excite(arm, **given)


@pytest.mark.parametrize('kind, most', [('sweep', '8'), ('multisine', '7.96')])
def test_the_written_file_is_what_the_controller_follows(tmp_path, capsys, kind, most):
    """The controller follows the written file within limits, and files are not overwritten."""
    path = tmp_path / 'shake.csv'
    command = ['excite', 'pcc_arm', '--duration', '9', '--share', '0.2', '--output', str(path)]
    command += ['--kind', kind]
    assert main(command) == 0
    assert f't6: 0 to {most} N, 0.2 of its limits' in capsys.readouterr().out
    arm = compiled('pcc_arm')
    values = controller_values(arm.description, [path.with_suffix('.yaml')])[0]
    planned = build.plan_of(arm, values, arm.q0)
    assert values['controller'] == 'feed_forward' and planned.remarks == ()
    found = excite(arm, kind, duration=9.0, share=0.2)
    np.testing.assert_allclose(values_at(planned.reference, found.t), found.u, atol=1e-6)
    assert main(command) == 2 and 'which does not exist' in capsys.readouterr().err
