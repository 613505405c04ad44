# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The package of docs/extending.md, with a kind of each sort, as a user would install it."""

import contextlib
import os
from pathlib import Path
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
import softrobot_dynamics as sd

GUIDE = Path(__file__).parents[1] / 'docs' / 'extending.md'
FILES = dict(re.findall(r'<!-- file: (\S+) -->\n```\w+\n(.*?)```', GUIDE.read_text('utf-8'), re.S))
ENTRY = re.compile(r"^'(softrobot_dynamics\.\w+)' = \{(\w+) = '([\w.]+)'\}", re.M)
KINDS = ENTRY.findall(FILES['pyproject.toml'])
SETPOINT = [0.5, 0.003, 0.002, 0.002]  # of tuning.yaml [rad], [L]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the files of the guide, and what pip would put beside them."""
    folder = tmp_path_factory.mktemp('package')
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding='utf-8')
    info = folder / 'my_kinds-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: my-kinds\nVersion: 1.0\n')
    entries = [f'[{group}]\n{name} = {module}\n' for group, name, module in KINDS]
    (info / 'entry_points.txt').write_text(''.join(entries))
    return folder


@pytest.fixture(scope='module')
def environment(folder):
    """Return the environment of processes that know the package; no worker's, for tests in one."""
    path = os.pathsep.join(filter(None, [str(folder), *sys.path]))
    own = ('PYTEST_XDIST', 'SOFTROBOT_TEST_SESSION')
    kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    return {**kept, 'PYTHONPATH': path, 'PYTHONWARNINGS': 'error::RuntimeWarning'}


@pytest.fixture(scope='module')
def run(folder, environment):
    """Return a function that runs Python with arguments there and returns what it said."""

    def run(*arguments, cwd=folder, succeeds=True):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=cwd, env=environment, text=True,
            capture_output=True, timeout=900,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert (done.returncode == 0) == succeeds, said
        return said

    return run


def test_there_is_one_of_each_kind():
    """Each file of the guide's package has an entry point, each of another kind."""
    modules = {name for name in FILES if name.startswith('my_kinds/') and '__' not in name}
    assert {f'{module.replace(".", "/")}.py' for _, _, module in KINDS} == modules
    assert len({group for group, _, _ in KINDS}) == len(KINDS) == len(modules)


def test_a_robot_file_may_name_the_kinds_of_the_guide(run):
    """A robot file may use the guide's kinds, and the command checks their fields."""
    said = run('-m', 'softrobot_dynamics.cli', 'check', 'cam_arm.yaml')
    assert '4 coordinates, 4 actuators: 1 torque [N m], 3 pressure [kPa]' in said


def test_contract_tests_pass_for_the_kinds_of_the_guide(run):
    """The contract tests over registered kinds pass for the guide's kinds."""
    names = ' or '.join(name for _, name, _ in KINDS)
    files = (
        'test_joints.py', 'test_actuator_kinds.py', 'test_pfbl.py', 'test_bodies.py',
        'test_materials.py', 'test_sections_and_bases.py', 'test_reference_kinds.py',
    )  # fmt: skip
    tests = [str(next(GUIDE.parents[1].glob(f'test/**/{name}'))) for name in files]
    said = run('-m', 'pytest', '-v', '-p', 'no:cacheprovider', '-k', names, *tests)
    for _, name, _ in KINDS:
        assert re.search(rf'\[{name}(-\d+)?[\]-].* PASSED', said), name


def test_the_law_of_the_guide_tracks_its_reference(run):
    """The guide's law tracks its reference with checked parameters, in Python and in nodes."""
    program = """
import numpy as np
import softrobot_dynamics as sd
from my_kinds.output_pd import OutputPd
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.configuration.law_settings import settings_of

model = sd.compile_model(sd.load_robot('cam_arm.yaml'))
values = {'output_pd.stiffness': 7.0, 'output_pd.b2.stiffness': 9.0}
values['output_pd.b1.damping'] = np.nan
settings = settings_of(OutputPd, model, ['b1', 'b2'], values)
assert settings.stiffness.tolist() == [7.0, 9.0] and settings.damping.tolist() == [20.0, 20.0]
try:
    OutputPd.make_settings(model, stiffness=[1.0, -2.0, 1.0, 1.0], carry='all', damping=0.0)
except DescriptionError as error:
    print(error)
try:
    OutputPd.make_settings(model, damping=0.0)
except DescriptionError as error:
    print(error)
try:
    settings.stiffness[0] = 1.0
except ValueError as error:
    print(error)
"""
    said = run('-c', program)
    assert 'output_pd.stiffness: -2.0, expected a number >= 0 [unit of u per unit of y]' in said
    assert "output_pd.carry: 'all', expected one of weight, nothing" in said
    assert 'output_pd.damping: 0.0, expected a number > 0 beside a stiffness' in said
    assert 'read-only' in said


def test_the_reference_of_the_guide_has_targets(run):
    """The guide's reference has targets for tips, and refuses what the robot cannot do."""
    program = """
import numpy as np
import softrobot_dynamics as sd
from my_kinds.eight import Eight
from softrobot_dynamics.evaluation.targets import targets_of
from softrobot_dynamics.errors import DescriptionError, InfeasibleReferenceError
from softrobot_dynamics.references import feasibility
from softrobot_dynamics.references.contract import trajectory

values = {'reference.type': 'eight', 'reference.eight.period': 4.0}
targets, eight = targets_of(values), Eight('tip', (0.0, 0.0, 0.13), 0.01, 4.0)
assert trajectory(values) == eight and targets.duration == 4.0
model = sd.compile_model(sd.load_robot('cam_arm.yaml'))
planned = feasibility.plan(model, [0, 1, 2, 3], eight, model.q0)
assert planned.reference.period == 4.0 and planned.remarks == ()
times = 4.0 * np.linspace(0, 264, 8, dtype=int) / 264
tips = [sd.forward_kinematics(model, q=q)[-1, :3, 3] for q, _ in planned.places]
np.testing.assert_allclose(tips, targets.points(times)[:, 0], atol=1e-5)
try:
    feasibility.plan(model, [0], Eight('tip', (0.0, 0.0, 0.5), 0.01, 4.0), model.q0)
except InfeasibleReferenceError as error:
    print(error)
try:
    trajectory({**values, 'reference.eight.width': 5.0})
except DescriptionError as error:
    print(error)
"""
    said = run('-c', program)
    assert 'no admissible actuation holds the point' in said
    assert 'reference.eight.width: 5.0, expected a number > 0 and <= 1 [m]' in said


@pytest.fixture
def observer():
    """Return an Observer."""
    pytest.importorskip('rclpy')
    from support.observer import Observer

    observer = Observer()
    yield observer
    observer.close()


@pytest.fixture
def start(folder, environment, tmp_path):
    """Return a function that starts a node, by its name, as a process."""
    with contextlib.ExitStack() as stack:

        def start(name, *given):
            log = stack.enter_context(open(tmp_path / f'{name}.log', 'a', encoding='utf-8'))
            process = subprocess.Popen(
                [sys.executable, '-m', f'softrobot_dynamics.nodes.{name}', '--ros-args', *given],
                stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=folder,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        yield start
    for log in tmp_path.glob('*.log'):  # pytest shows it if the test failed
        print(log.read_text(encoding='utf-8'))


def near(observer, y, tolerance):
    """Tell whether the outputs were last reported near y (m,)."""
    reported = observer.heard.get('state')
    return reported is not None and (np.abs(np.array(reported.position) - y) < tolerance).all()


def moves(observer):
    """Tell whether the reference last reported moves every bellows."""
    (point,) = observer.heard['reference'].points
    return (np.abs(point.velocities[1:]) > 1e-5).all()


@pytest.fixture
def compiled_arm(run):
    """Let a process compile what the nodes then find compiled."""
    run('-c', 'import softrobot_dynamics as sd; sd.compile_model(sd.load_robot("cam_arm.yaml"))')


@pytest.mark.realtime
@pytest.mark.usefixtures('compiled_arm')
def test_the_nodes_run_the_package_of_the_guide(observer, start, tmp_path):
    """The nodes run the guide's package from a file, and its parameters are tuned live."""
    robot = '-p', 'robot:=cam_arm.yaml', '-p', 'rate:=100.0'
    start('simulation', *robot)
    record = tmp_path / 'controller.mcap'
    given = '-p', 'autostart:=true', '-p', f'record:={record}', '--params-file', 'tuning.yaml'
    controller = start('controller', *robot, *given)
    observer.until_running()
    tolerance = np.array([0.02, 2e-4, 2e-4, 2e-4])
    observer.until(lambda: near(observer, SETPOINT, tolerance), 'the set-point')
    assert observer.get('output_pd.stiffness') == 20000.0
    assert observer.get('output_pd.turn.stiffness') == 2.0
    assert observer.set(output_pd__b1__stiffness=30000.0).successful
    refused = observer.set(output_pd__carry='all')
    assert not refused.successful and 'one of weight, nothing' in refused.reason
    refused = observer.set(output_pd__damping=0.0, output_pd__turn__damping=0.0)
    assert not refused.successful and 'beside a stiffness' in refused.reason
    assert observer.set(output_pd__carry='nothing').successful
    observer.until(lambda: not near(observer, SETPOINT, 0.5 * tolerance), 'the arm to sag')
    refused = observer.set(reference__type='eight', reference__eight__width=2.0)
    assert not refused.successful and 'reference.eight.width' in refused.reason
    assert observer.set(reference__type='eight', reference__eight__width=0.008).successful
    observer.until(lambda: moves(observer), 'the eight')
    controller.send_signal(signal.SIGTERM)
    assert controller.wait(900) == 0
    recording = sd.read_recording(record)
    assert recording.facts['command_units'] == ['N m', 'kPa', 'kPa', 'kPa']
    assert recording.facts['output_units'] == ['rad', 'L', 'L', 'L']
    changes = [values for _, values in recording.parameters[1:]]
    assert changes == [
        {'output_pd.b1.stiffness': 30000.0},
        {'output_pd.carry': 'nothing'},
        {'reference.type': 'eight', 'reference.eight.width': 0.008},
    ]
