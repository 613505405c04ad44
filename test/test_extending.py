# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The package of docs/extending.md, with a kind of each sort, as a user would install it."""

import contextlib
import json
import os
from pathlib import Path
import re
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
import softrobot_dynamics as sd
from support.pages import BLOCKS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / 'examples' / 'my_kinds'
PROJECT = (PACKAGE / 'pyproject.toml').read_text('utf-8')
KINDS = re.findall(r"^'(softrobot_dynamics\.\w+)'\.(\w+) = '([\w.]+)'", PROJECT, re.M)
ESTIMATOR = '/estimator: estimator'
SETPOINT = [0.5, 0.003, 0.002, 0.002]  # of tuning.yaml [rad], [L]
PAGES = 'extending.md', 'extending_bodies.md', 'extending_laws.md', 'extending_loop.md'
CONTRACT_TESTS = {  # files by groups of kinds, in some parts: they take long
    ('bodies', 'joints', 'collision', 'integrators'): (
        'test_bodies', 'test_joints', 'test_collision_shapes', 'test_integrator_kinds',
    ),
    ('materials', 'sections', 'bases', 'actuators', 'sensors'): (
        'test_materials', 'test_sections_and_bases', 'test_actuator_kinds', 'test_sensor_kinds',
        'test_measurements',
    ),
    ('controllers', 'tasks', 'bounds', 'references'): (
        'test_pfbl', 'test_task_kinds', 'test_reference_kinds',
    ),
}  # fmt: skip
SESSION = """
import contextlib, io, json, sys, traceback

for line in sys.stdin:
    said, failure = io.StringIO(), ''
    try:
        with contextlib.redirect_stdout(said):
            exec(json.loads(line), {'__name__': '__main__'})
    except Exception:
        failure = traceback.format_exc()
    print(json.dumps([said.getvalue(), failure]), flush=True)
"""
EXCERPTS = [block for block in BLOCKS if block.page in PAGES and block.kind]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a copy of the package, and what pip would put beside it."""
    folder = tmp_path_factory.mktemp('package')
    shutil.copytree(PACKAGE, folder, dirs_exist_ok=True)
    info = folder / 'my_kinds-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: my-kinds\nVersion: 1.0\n')
    entries = [f'[{group}]\n{name} = {module}\n' for group, name, module in KINDS]
    (info / 'entry_points.txt').write_text(_merged(entries))
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


@pytest.fixture(scope='module')
def execute(folder, environment):
    """
    Return a function that executes a program there and returns what it printed.

    One process executes them all: to import the package takes longer than most of them.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, '-c', SESSION], cwd=folder, env=environment, text=True,
        stdin=pipe, stdout=pipe,
    ) as session:  # fmt: skip

        def execute(program):
            session.stdin.write(json.dumps(program) + '\n')
            session.stdin.flush()
            said, failure = json.loads(session.stdout.readline())
            assert not failure, said + failure
            return said

        yield execute
        session.stdin.close()


@pytest.mark.quick
@pytest.mark.parametrize('block', EXCERPTS, ids=str)
def test_the_page_shows_what_is_in_the_package(block):
    """Each block on the page has lines of the file that it names, in order, dots for gaps."""
    assert block.note.startswith('from: examples/my_kinds/')
    text, place = (ROOT / block.note.removeprefix('from: ')).read_text('utf-8'), 0
    for part in re.split(r'^ *\.\.\.\n', block.text, flags=re.M):
        part = part.strip('\n') + '\n'
        place = text.find(part, place)
        assert place >= 0, part
        place += len(part)


@pytest.mark.quick
def test_there_is_one_of_each_kind():
    """Each file of the package is an entry point, every group has one, the page shows all."""
    files = {path.stem for path in (PACKAGE / 'my_kinds').glob('*.py')} - {'__init__'}
    assert {f'my_kinds.{name}' for name in files} == {module for _, _, module in KINDS}
    assert [name for _, name, _ in KINDS] == [module[9:] for _, _, module in KINDS]
    groups = {group for group, _, _ in KINDS}
    assert groups == set(re.findall(r'softrobot_dynamics\.\w+', _registry_groups()))
    assert groups == {f'softrobot_dynamics.{each}' for part in CONTRACT_TESTS for each in part}
    shown = {block.note.rpartition('/')[2] for block in EXCERPTS}
    assert {f'{name}.py' for name in files} <= shown


@pytest.mark.quick
def test_setup_and_the_page_name_every_group():
    """setup.py and the table of kinds name every group of entry points that a registry reads."""
    page = (ROOT / 'docs' / 'extending.md').read_text('utf-8')
    comment = (ROOT / 'setup.py').read_text('utf-8').partition('# Another package adds')[2]
    for group in re.findall(r'softrobot_dynamics(\.\w+)', _registry_groups()):
        assert f'{group}`' in page and group in comment


def _registry_groups():
    """Return the source of all registries of the package."""
    calls = [
        text
        for file in (ROOT / 'softrobot_dynamics').rglob('*.py')
        for text in re.findall(r'= Registry\(\s*([^)]*)\)', file.read_text('utf-8'))
    ]
    assert len(calls) >= 10
    return ' '.join(re.findall(r"'([\w.]+)',?\s*$", call)[0] for call in calls)


def test_a_robot_file_may_name_the_kinds_of_the_guide(run):
    """A robot file may use the guide's kinds, and the command checks their fields."""
    said = run('-m', 'softrobot_dynamics.cli', 'check', 'cam_arm.yaml')
    assert '4 coordinates, 4 actuators: 1 torque [N m], 3 pressure [kPa]' in said


@pytest.mark.parametrize('groups', CONTRACT_TESTS, ids=' '.join)
def test_contract_tests_pass_for_the_kinds_of_the_guide(run, groups):
    """The contract tests over registered kinds pass for the guide's kinds."""
    names = [name for group, name, _ in KINDS if group.rpartition('.')[2] in groups]
    assert len(names) >= len(groups)
    tests = [str(next(ROOT.glob(f'test/**/{file}.py'))) for file in CONTRACT_TESTS[groups]]
    cases = ' or '.join(f'[{name} or -{name}' for name in names)  # not "eight" of "weighted"
    said = run('-m', 'pytest', '-v', '-p', 'no:cacheprovider', '-k', cases, *tests)
    for name in names:
        assert re.search(rf'\[{name}(-\d+)?[\]-].* PASSED', said), name


def test_the_law_of_the_guide_tracks_its_reference(execute):
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
    said = execute(program)
    assert 'output_pd.stiffness: -2.0, expected a number >= 0 [unit of u per unit of y]' in said
    assert "output_pd.carry: 'all', expected one of weight, nothing" in said
    assert 'output_pd.damping: 0.0, expected a number > 0 beside a stiffness' in said
    assert 'read-only' in said


def test_the_reference_of_the_guide_has_targets(execute):
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
    said = execute(program)
    assert 'no admissible actuation holds the point' in said
    assert 'reference.eight.width: 5.0, expected a number > 0 and <= 1 [m]' in said


LOOP = """
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.references.piecewise import constant

model, period = sd.compile_model(sd.load_robot('cam_arm.yaml')), 2e-3
gains = {'stiffness': [2.0, 2e4, 2e4, 2e4], 'damping': [0.3, 40.0, 40.0, 40.0]}

def run(name, mass, duration=4.0, **given):
    kind = CONTROLLERS.get(name)
    own = kind.make_settings(model, **gains, **given)
    law, robot = kind(model, period=period, settings=own), sd.Simulator(model, carrier='arm')
    law.warm()
    robot.carry(mass)
    law.start(robot.q, robot.qd, 0.0)
    law.follow(constant(np.array([0.5, 0.003, 0.002, 0.002])), 0.0, 1.0)
    for k in range(round(duration / period)):
        command = law.compute(k * period, robot.q.copy(), robot.qd.copy())
        assert command.ok
        robot.step(command.u, period)
    return law, np.abs(law.outputs(robot.q, robot.qd)[0] - [0.5, 0.003, 0.002, 0.002])
"""


def test_the_law_that_learns_finds_the_payload(execute):
    """The adaptive law learns 50 g, or none, within 2 g, and its error shrinks tenfold."""
    program = (
        LOOP
        + """
_, off = run('output_pd', 0.05)
law, left = run('payload_pd', 0.05)
assert abs(law.payload - 0.05) < 2e-3, law.payload
assert (left[1:] < 0.1 * off[1:]).all(), (left, off)
law, left = run('payload_pd', 0.0)
assert law.payload < 2e-3, law.payload
law, _ = run('payload_pd', 0.05, duration=2.0, heaviest=0.02)
assert law.payload == 0.02
"""
    )
    execute(program)


def test_the_compiled_law_does_as_the_other_and_allocates_nothing(execute):
    """The compiled law ends where output_pd does, and 100 ticks allocate nothing."""
    program = (
        LOOP
        + """
from numba.core.runtime import _nrt_python, rtsys

_, off = run('output_pd', 0.05)
law, same = run('bounded_pd', 0.05, bound=[10.0, 1e3, 1e3, 1e3])
np.testing.assert_allclose(same, off, rtol=0.01, atol=1e-6)
_nrt_python.memsys_enable_stats()
before = rtsys.get_allocation_stats()
for _ in range(100):
    law.compute(9.0, model.q0, 0.0 * model.q0)
after = rtsys.get_allocation_stats()
assert after.alloc == before.alloc
assert np.isfinite(law.growth(model.q0, law.settings.feed_forward, law.settings))
law, weak = run('bounded_pd', 0.05, bound=[1e-3, 0.01, 0.01, 0.01])
assert weak[1] > 10.0 * off[1], (weak, off)
"""
    )
    execute(program)


def test_the_estimator_goes_by_the_sensor(execute):
    """sd.Estimator finds how the arm bends from three of the page's wire sensors."""
    program = """
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors

model = sd.compile_model(sd.load_robot('cam_arm.yaml'))
settings = sd.load_estimator('sensors.yaml')
u = np.array([0.0, 60.0, 20.0, 20.0])
q = sd.equilibrium(model, u=u).q
robot, estimator = sd.Simulator(model, q=q), sd.Estimator(model, settings)
instruments = SimulatedSensors(model, settings.sensors, seed=1)
estimator.begin(0.0, u=u)
before = np.abs(estimator.estimate(0.0).q - q)
for _ in range(1000):
    robot.step(u, 1e-3)
    for reading in instruments.look(robot.time, robot.q, robot.qd, u):
        estimator.measure(*reading)
found = estimator.estimate(robot.time)
assert before[1] > 0.1 and np.abs(found.q - robot.q).max() < 0.02, (before, found.q - robot.q)
assert estimator.observability().unobservable == ()
assert sd.Estimator(model, {'sensors': [{'name': 'encoder', 'type': 'joint', 'names': ['turn'],
    'noise': 1e-3}]}).observability().unobservable
"""
    execute(program)


def test_the_integrator_is_chosen_by_name(execute):
    """The page's integrator comes near the default one, with an error of first order."""
    program = """
import numpy as np
import softrobot_dynamics as sd

model, ends = sd.compile_model(sd.load_robot('cam_arm.yaml')), []
euler = [{'integrator': 'euler', 'substep': h} for h in (2e-5, 1e-5)]
for given in ({}, *euler):
    robot = sd.Simulator(model, **given)
    robot.step([0.0, 60.0, 20.0, 20.0], 0.1)
    ends.append(robot.q.copy())
errors = [np.abs(end - ends[0]).max() for end in ends[1:]]
assert 1e-7 < errors[1] < 0.7 * errors[0] < 1e-4, errors
"""
    execute(program)


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


def _merged(entries):
    """Return sections of an ini file, those of one group together."""
    found = {}
    for entry in entries:
        group, _, line = entry.partition('\n')
        found[group] = found.get(group, '') + line
    return ''.join(f'{group}\n{lines}' for group, lines in found.items())


def near(observer, y, tolerance):
    """Tell whether the outputs were last reported near y (m,)."""
    reported = observer.heard.get('state')
    return reported is not None and (np.abs(np.array(reported.position) - y) < tolerance).all()


def moves(observer):
    """Tell whether the reference last reported moves every bellows."""
    (point,) = observer.heard['reference'].points
    return (np.abs(point.velocities[1:]) > 1e-5).all()


@pytest.fixture
def compiled_arm(execute):
    """Let a process compile what the nodes then find compiled."""
    execute('import softrobot_dynamics as sd; sd.compile_model(sd.load_robot("cam_arm.yaml"))')


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


@pytest.mark.realtime
@pytest.mark.usefixtures('compiled_arm')
def test_the_estimator_node_hears_the_sensor(observer, start):
    """The estimator node converges on wires that the simulation node publishes over DDS."""
    from sensor_msgs.msg import JointState, Range
    from softrobot_dynamics.loops.message_fields import stamp_of
    from softrobot_dynamics.nodes.messaging.message_values import stamped

    robot = '-p', 'robot:=cam_arm.yaml', '-p', 'rate:=100.0', '-p', 'estimator:=sensors.yaml'
    start('simulation', *robot, '-p', 'wait_for_commands:=false')
    start('estimator', *robot, '-p', 'autostart:=true')
    observer.until(lambda: observer.mode(ESTIMATOR) == 'estimating', 'its status')
    true, names = [], ['turn', 'b1', 'b2', 'b3']
    observer.node.create_subscription(JointState, 'simulation/joint_states', true.append, 1)
    commands = observer.node.create_publisher(JointState, 'joint_commands', 1)

    def bent_and_known():
        commands.publish(JointState(name=names, effort=[0.0, 60.0, 20.0, 20.0]))
        if not (true and observer.states):
            return False
        found, wanted = (np.array(each[-1].position) for each in (observer.states, true))
        return abs(wanted[1]) > 0.15 and np.abs(found - wanted).max() < 0.03

    observer.until(bent_and_known, 'an estimate near the truth', every=0.02)
    told = observer.node.create_publisher(Range, 'sensors/left', 1)
    wrong = Range(header=observer.states[-1].header, range=float('nan'))

    def refused():
        wrong.header.stamp = stamped(stamp_of(observer.states[-1]) + 1)
        told.publish(wrong)
        return observer.value(ESTIMATOR, 'refused: not a number') >= 1

    observer.until(refused, 'a refusal', every=0.05)
    assert observer.mode(ESTIMATOR) == 'estimating'
