# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
One's own arm: from the first bag to a closed loop, with arms whose numbers are hidden.

Needs no FOLDER. The arms are simulated ones that differ from the robot file by numbers drawn at
random; what is fitted knows nothing of these but the bag.
"""

import contextlib
import io
import json
from pathlib import Path
import tempfile
import time

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import get_typestore, Stores
import softrobot_dynamics as sd
from softrobot_dynamics import cli
from softrobot_dynamics.configuration.build import law_of, plan_of
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors
from softrobot_dynamics.estimation.settings import load_estimator
from softrobot_dynamics.identification.excitation import excite
from softrobot_dynamics.offline.closed_loop import closed_loop
from softrobot_dynamics.simulation.actuator_dynamics import ActuatedSimulator

TITLE = 'Simulated arms, from a bag to a closed loop'

ROBOT, SEEDS = 'pcc_arm', (11, 12, 13)
HIDDEN = {  # times the robot file's, or for what it has not the number itself
    'young_modulus': (0.7, 1.3), 'density': (0.85, 1.15), 'damping': (0.5, 1.5),
    'lag': (0.004, 0.015),
}  # fmt: skip
FIT = 'young_modulus,density,damping,lag=0..0.05'
SHAKE = {'kind': 'multisine', 'duration': 20.0, 'share': 0.2}
PERIOD, WAIT, LOOP, RAMP = 1e-3, 1.0, 12.0, 2.0  # [s]: of commands; before them; of the loop
STORE = get_typestore(Stores.LATEST)
JOINTS, POSE = 'sensor_msgs/msg/JointState', 'geometry_msgs/msg/PoseStamped'
MAPPING = """\
time: {column: stamp}
commands:
  t1: {column: /joint_commands effort.t1}
  # ... one line for each tendon
markers:
  - name: tip
    body: segment3
    point: [0, 0, 0.2]
    columns: [/sensors/camera pose.position.x, /sensors/camera pose.position.y,
              /sensors/camera pose.position.z]
    noise: 0.001            # m
coordinates:                # of a tendon: by how much it is longer than at rest
  - {name: t1, column: /sensors/encoders position.t1, noise: 0.0002}
  # ... likewise
"""
TEXT = """
{count} simulated arms whose numbers are drawn at random: modulus by up to 30 %, density 15 %,
damping 50 % off the file's, and a lag of 4 to 15 ms that the file has not; camera of 1 mm and 1°,
encoders of 0.2 mm, 100 Hz each; commands at 1 kHz. Steps as in
[the guide](recordings.md#your-own-arm-from-the-first-bag-to-a-closed-loop), for `{robot}`: a
{kind} of {seconds:.0f} s, fitted in {least:.0f} to {most:.0f} s. A camera that is right to 1 mm
along each axis leaves 1.73 mm.

| hidden | fitted (95 %) | left at the tip | left of lengths |
| --- | --- | --- | --- |
{fits}

The shipped circle of 10 cm by `pfbl` with its default gains, on estimates from the same sensors:
distance of the tip from the circle [mm], RMS and at most.

| arm | by `my_arm.yaml` | by `fitted.yaml` | if all numbers were known |
| --- | --- | --- | --- |
{loops}

The remaining error is that of the [sensors](figures_estimation.md#in-the-loop).
"""


def section(folder, options, say):
    """Return the text of the section."""
    del folder, options
    fits, loops, spans = [], [], []
    for number, seed in enumerate(SEEDS, 1):
        with tempfile.TemporaryDirectory() as name:
            found, span = _identified(Path(name), seed)
            fits.append(_fit_row(seed, found))
            spans.append(span)
            say(f'{fits[-1]} in {span:.0f} s')
            loops.append(f'| {number} | {_loops(Path(name), seed)} |')
            say(loops[-1])
    return TEXT.format(
        robot=ROBOT,
        count=len(SEEDS),
        kind=SHAKE['kind'],
        seconds=SHAKE['duration'] + WAIT,
        least=min(spans),
        most=max(spans),
        fits='\n'.join(fits),
        loops='\n'.join(loops),
    )


def _hidden(seed):
    """Return {number: value} of an arm, and its model."""
    rng, robot = np.random.default_rng(seed), sd.load_robot(ROBOT)
    body = robot.modules[0].body
    drawn = {name: rng.uniform(*ends) for name, ends in HIDDEN.items()}
    numbers = {name: getattr(body, name, 1.0) * share for name, share in drawn.items()}
    return numbers, sd.compile_model(sd.vary(robot, numbers))


def _identified(folder, seed):
    """Fit an arm from its bag as a user does; return what was found, and the time taken [s]."""
    _record(folder / 'bag', seed)
    (folder / 'motion.yaml').write_text(_mapping(), encoding='utf-8')
    line = ['identify', ROBOT, folder / 'bag', '--mapping', folder / 'motion.yaml', '--fit', FIT]
    line += ['--output', folder / 'fitted.yaml', '--json', folder / 'found.json']
    begin = time.monotonic()
    with contextlib.redirect_stdout(io.StringIO()):
        status = cli.main([str(each) for each in line])
    if status:
        raise SystemExit(f'softrobot identify: status {status}')
    found = json.loads((folder / 'found.json').read_text(encoding='utf-8'))
    return found, time.monotonic() - begin


def _mapping():
    """Return the mapping with all its lines."""
    lines = []
    for line in MAPPING.splitlines():
        if '#' in line and '...' in line:
            lines += [lines[-1].replace('t1', f't{k}') for k in range(2, 10)]
        else:
            lines.append(line)
    return '\n'.join(lines)


def _record(path, seed):
    """Write the bag of an arm that is shaken, as `ros2 bag record` does."""
    _, arm = _hidden(seed)
    wave = excite(sd.compile_model(sd.load_robot(ROBOT)), **SHAKE)
    instruments = SimulatedSensors(
        arm, load_estimator(shipped('estimators')[ROBOT]).sensors, seed=seed
    )
    ramp = np.full(arm.m, 1.0)  # the safe command, until the first one comes
    robot = ActuatedSimulator(arm, q=sd.equilibrium(arm, command=ramp).q)
    robot.begin_under(ramp)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        write = {name: _topic(bag, *how) for name, how in _TOPICS.items()}
        for t in np.arange(0.0, WAIT + SHAKE['duration'], PERIOD):
            told = t >= WAIT - 0.5 * PERIOD
            u = np.array([np.interp(t - WAIT, wave.t, row) for row in wave.u.T]) if told else ramp
            for reading in instruments.look(t, robot.q, robot.qd, u):
                write[reading.sensor](reading.time, reading.value)
            if told:
                write['commands'](t, u)
            robot.step(u, PERIOD)


def _joints(field):
    """Return what makes a JointState of numbers, those of a field."""

    def made(header, values):
        fields = {'position': (), 'velocity': (), 'effort': (), field: values}
        arrays = {name: np.array(x, dtype=float) for name, x in fields.items()}
        names = [f't{k}' for k in range(1, 10)]
        return STORE.types[JOINTS](header=header, name=names, **arrays)

    return made


def _pose(header, T):
    """Return a PoseStamped of a transform (4, 4), of which only the position is read here."""
    kinds = STORE.types
    place = kinds['geometry_msgs/msg/Point'](*(float(x) for x in T[:3, 3]))
    turn = kinds['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    return kinds[POSE](header=header, pose=kinds['geometry_msgs/msg/Pose'](place, turn))


_TOPICS = {
    'commands': ('/joint_commands', JOINTS, _joints('effort')),
    'encoders': ('/sensors/encoders', JOINTS, _joints('position')),
    'camera': ('/sensors/camera', POSE, _pose),
}


def _topic(bag, name, kind, make):
    """Return a function of a time [s] and a value that writes a message."""
    connection = bag.add_connection(name, kind, typestore=STORE)

    def write(t, value):
        ns = 1_795_000_000_000_000_000 + round(1e9 * t)
        stamp = STORE.types['builtin_interfaces/msg/Time'](ns // 10**9, ns % 10**9)
        message = make(STORE.types['std_msgs/msg/Header'](stamp, ''), value)
        bag.write(connection, ns, STORE.serialize_cdr(message, kind))

    return write


def _fit_row(seed, found):
    """Return a row: hidden and fitted numbers, and residuals."""
    hidden, _ = _hidden(seed)
    known = ', '.join(f'{name} {value:.5g}' for name, value in hidden.items())
    told = ', '.join(
        f'{e["value"]:.5g} ({e["lower"]:.5g} to {e["upper"]:.5g})' for e in found['estimates']
    )
    lengths = 1e3 * np.sqrt(
        np.mean([np.square(x[0]) for x in found['rms_of_coordinates'].values()])
    )
    tip = 1e3 * found['rms_of_all_markers'][0]
    return f'| {known} | {told} | {tip:.2f} mm | {lengths:.3f} mm |'


def _loops(folder, seed):
    """Return cells: how far the tip is from its circle, by the robot file, the fit, the truth."""
    hidden, arm = _hidden(seed)
    robots = [sd.load_robot(ROBOT), sd.load_robot(folder / 'fitted.yaml'), arm.description]
    return ' | '.join('{:.1f}, {:.1f}'.format(*_off_circle(robot, arm)) for robot in robots)


def _off_circle(robot, arm):
    """Return how far the arm's tip is from the shipped circle [mm], RMS and at most."""
    model = sd.compile_model(robot)
    values = controller_values(robot, [shipped('controllers')[ROBOT]])[0]
    planned = plan_of(model, values, model.q0)
    estimator = sd.Estimator(model, shipped('estimators')[ROBOT])
    run = closed_loop(
        model,
        law_of(model, values),
        planned.reference,
        LOOP,
        start=sd.Start(ramp=RAMP),
        plant=arm,
        feedback=sd.Feedback(estimator=estimator, sensors={'seed': 1}),
    )
    late = run.t > 2.0 * RAMP
    tips = np.array([sd.forward_kinematics(arm, q=q)[-1][:3, 3] for q in run.q[late][::10]])
    centre, radius = values['reference.circle.center'], values['reference.circle.radius']
    away = tips - centre
    off = 1e3 * np.hypot(np.hypot(away[:, 0], away[:, 1]) - radius, away[:, 2])
    return np.sqrt(np.mean(off**2)), off.max()
