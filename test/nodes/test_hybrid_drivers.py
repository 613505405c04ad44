# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The example of three drivers: rigid arm told positions, soft arm estimated, regulators."""

import importlib.util
from pathlib import Path
import sys

import numpy as np
import pytest
import softrobot_dynamics as sd
import yaml

pytest.importorskip('rclpy')

from support.joint_drives import with_joint_drives  # noqa: E402
from support.node_processes import compile_for_nodes  # noqa: E402

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / 'examples' / 'hybrid_drivers'
RATE = 125.0  # [Hz]
AIM = [1.570796, -0.785398, -0.785398, -0.628319, 0.392699, -1.570796]  # [rad] of the first phase


def module(path):
    """Return a file of Python as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


def test_the_robot_of_the_example_is_the_shipped_one_with_position_drives():
    """The example's robot is hybrid_arm with another name and with position drives."""
    own = yaml.safe_load((EXAMPLE / 'hybrid_arm_position.yaml').read_text(encoding='utf-8'))
    due = with_joint_drives('hybrid_arm')
    assert own.pop('name') == 'hybrid_arm_position'
    due.pop('name')
    assert own == due


def test_a_regulator_limits_commands_and_refuses_those_that_are_not_finite():
    """A number beyond the limits becomes the limit; nan raises ValueError."""
    regulator = module(EXAMPLE / 'regulator.py')
    assert regulator.limited([-1.0, 5.0, 99.0], 0.0, 80.0) == [0.0, 5.0, 80.0]
    with pytest.raises(ValueError, match='finite'):
        regulator.limited([float('nan')], 0.0, 80.0)


@pytest.fixture(scope='module')
def bench():
    """Return the benchmark of the example; what its processes need is compiled."""
    bench = module(ROOT / 'benchmarks' / 'hybrid_drivers.py')
    model = compile_for_nodes(str(bench.POSITION))
    sd.load_controller(bench.LAWS, model).law.warm()
    sd.Estimator(model, str(EXAMPLE / 'sensors.yaml')).observability()
    return bench


@pytest.mark.realtime
def test_three_drivers_take_the_rigid_arm_to_its_posture(bench, tmp_path):
    """
    The first phase runs over DDS on an arm's states and estimates.

    The arm arrives where it should, the controller hears the bends about as they are, and the
    regulators get what the controller says. Skipped if the machine has no time for four processes
    of that rate.
    """
    controller, simulation, shares = bench.drivers(tmp_path / 'run', 2.7, RATE)
    assert all(0.0 < share < 2.0 for share in shares.values())
    if (late := bench.lateness(controller, simulation)) > 1.0 / RATE:  # estimates go on meanwhile
        pytest.skip(f'simulated hardware was late by {1e3 * late:.1f} ms')
    assert controller['q'][-1, :6] == pytest.approx(AIM, abs=0.05)
    t = controller['stamp']
    late = (t > t[0] + 2_500_000_000) & (t < t[-1] - 200_000_000)
    true = np.transpose(
        [np.interp(t[late], simulation['stamp'], column) for column in simulation['q'].T]
    )
    assert np.abs(controller['q'][late] - true)[:, 6:8].max() < 0.1
    assert simulation['u'][-100:, 6:9].max() > 0.0
