# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Random messages, parameters and files are accepted or refused by the package's errors.

Seeded, and mutations of what is right rather than noise, so that most of a reader is reached.
"""

import copy
import random

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration.node_parameters import OF_CONTROLLER, OF_SIMULATION
from softrobot_dynamics.configuration.parameter_descriptions import ParameterTable
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import DescriptionError, MessageError
from softrobot_dynamics.references.file import read_table
from softrobot_dynamics.schema.yaml_files import read_yaml
from support.trials import outcomes
import yaml

MARKS = b'{}[]:,-#&*!|>%@`"\'\n\t \x00\xff01.eanx'
NAMES = ('left', 'right', 'wrist')
ODD = (
    None, True, 0, -1, 3, 10**400, 2**63, 0.5, -0.0, 1e-320, 1e308, float('nan'), float('inf'),
    '', 'left', 'nan', '1e999', 'ä\x00\n', '../..', [], {}, [[]], [None], [1.0, 'x'],
    {'type': 'rigid'}, {1: 2}, {None: []}, [float('inf')] * 3, (), 'x' * 300,
)  # fmt: skip


def places(data, path=()):
    """Yield the path of every entry of nested mappings and lists."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, key))


def mutated(data, random, wholes):
    """Return a copy of which one to three entries are odd, gone, doubled or another's."""
    data = copy.deepcopy(data)
    for _ in range(random.randint(1, 3)):
        found = list(places(data))
        if not found:
            break
        *way, last = random.choice(found)
        holder = data
        for key in way:
            holder = holder[key]
        change = random.randrange(4)
        if change == 0:
            del holder[last]
        elif change == 1 and isinstance(holder, list):
            holder.insert(last, copy.deepcopy(holder[last]))
        elif change == 1:
            holder[random.choice(['tpye', 'name', 7, None])] = holder.pop(last)
        else:
            holder[last] = copy.deepcopy(random.choice(wholes if change == 2 else ODD))
    return data


@pytest.mark.parametrize('robot', sorted(shipped('robots')))
def test_mutated_robot_files(robot):
    """A mutated robot file is either read or refused with every mistake named."""
    rng = random.Random(robot)
    good = read_yaml(shipped('robots')[robot])[0]
    wholes = [good, *good['bodies'], *good.get('actuators', [])]
    folder = shipped('robots')[robot].parent
    files = [mutated(good, rng, wholes) for _ in range(100)]
    taken, refused = outcomes(lambda d=d: sd.load_robot(d, folder=folder) for d in files)
    assert taken > 0 and refused > 30


def test_mutated_texts_of_robot_files(tmp_path):
    """Characters gone, doubled or others: YAML, or not."""
    rng, path = random.Random(1), tmp_path / 'robot.yaml'

    def trial():
        text = bytearray(shipped('robots')['double_pendulum'].read_bytes())
        for _ in range(rng.randint(1, 4)):
            i = rng.randrange(len(text))
            text[i : i + rng.randint(0, 2)] = bytes(rng.choices(MARKS, k=rng.randint(0, 2)))
        path.write_bytes(bytes(text))
        sd.load_robot(path)

    taken, refused = outcomes([trial] * 150)
    assert taken > 10 and refused > 50


def test_mutated_controller_files(tmp_path):
    """A mutated controller file is either taken or refused by name."""
    rng, path = random.Random(2), tmp_path / 'controller.yaml'
    description = sd.load_robot('pcc_arm')
    good = read_yaml(shipped('controllers')['pcc_arm'])[0]

    def trial():
        path.write_text(yaml.safe_dump(mutated(good, rng, [good])), encoding='utf-8')
        controller_values(description, [path])

    taken, refused = outcomes([trial] * 150)
    assert taken > 10 and refused > 50


@pytest.mark.parametrize('rows', [OF_CONTROLLER, OF_SIMULATION], ids=['controller', 'simulation'])
def test_random_parameters(rows):
    """An accepted parameter is of the kind of its row and within its bounds."""
    rng, table = random.Random(3), ParameterTable(rows)

    def trial():
        row = rng.choice(rows)
        value = rng.choice([*ODD, row.default, row.lower, row.upper, *row.choices])
        read = table.read({row.name: value})[row.name]
        if row.kind in ('double', 'integer') and read == read:
            assert row.lower <= read <= row.upper and abs(read) < float('inf')

    taken, refused = outcomes([trial] * 2000)
    assert taken > 200 and refused > 200


def test_a_whole_number_beyond_doubles_is_refused():
    """An integer beyond the range of doubles is refused as a wrong value."""
    rate = next(row for row in OF_CONTROLLER if row.name == 'rate')
    with pytest.raises(DescriptionError, match='rate'):
        ParameterTable([rate]).read({'rate': 10**400})


def test_random_csv(tmp_path):
    """An accepted CSV file has finite values and increasing times."""
    rng, path = random.Random(4), tmp_path / 'table.csv'
    cells = ['0', '1', '2.5', '-1', 'nan', 'inf', '', 'x', '"', '1e400', '\x00', 'ä', '1_0', ' 3']

    def trial():
        rows = [['t', 'a', 'b'], *([f'{0.1 * k:.1f}', '1', '2'] for k in range(rng.randint(0, 4)))]
        for _ in range(rng.randint(0, 2)):
            row = rng.choice(rows)
            row[rng.randrange(3)] = rng.choice(cells)
        if rng.random() < 0.2:
            rng.choice(rows).append('5')
        path.write_text('\n'.join(','.join(row) for row in rows), encoding='utf-8')
        table = read_table('file', str(path))
        assert np.isfinite(table.values).all() and (np.diff(table.times) > 0.0).all()

    taken, refused = outcomes([trial] * 1000)
    assert taken > 100 and refused > 100


def numbers(rng, size, share=0.05):
    """Return floats, most of them ordinary, most often as many as they should be."""
    odd = [float('nan'), float('inf'), 1e308, -1e200, 5e-324]
    size += rng.choice([-1, 1]) if rng.random() < share else 0
    return [rng.choice(odd) if rng.random() < share else rng.uniform(-9, 9) for _ in range(size)]


def names(rng):
    """Return the names in some order, seldom others."""
    given = rng.sample(NAMES, len(NAMES))
    if rng.random() < 0.2:
        given[rng.randrange(3)] = rng.choice(['left', 'lfet', '', 'ä' * 50])
    return given[: rng.choice([3] * 9 + [2])]


def test_random_states_and_commands():
    """A state or command that is read from a random message is finite and complete."""
    pytest.importorskip('rclpy')
    from sensor_msgs.msg import JointState
    from softrobot_dynamics.loops.state_reader import StateReader
    from softrobot_dynamics.nodes.messaging.command_messages import CommandReader

    rng = random.Random(5)
    state, command = StateReader(NAMES), CommandReader(NAMES)

    def trial():
        fields = {field: numbers(rng, 3) for field in ('position', 'velocity', 'effort')}
        message = JointState(name=names(rng), **fields)
        q, qd = state.read(message)
        u, _ = command.read(message)
        k = list(message.name).index(NAMES[0])
        assert q[0] == fields['position'][k] and u[0] == fields['effort'][k]
        assert np.isfinite([q, qd, u]).all()

    taken, refused = outcomes([trial] * 4000)
    assert taken > 300 and refused > 300


def test_random_bytes_of_messages():
    """Bytes changed, cut off or added on the way: a message, or unreadable."""
    pytest.importorskip('rclpy')
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState
    from softrobot_dynamics.loops.state_reader import StateReader
    from softrobot_dynamics.nodes.messaging import codec

    rng, decoder = random.Random(6), codec.Decoder(JointState)
    reader = StateReader(NAMES)
    good = serialize_message(
        JointState(name=list(NAMES), position=[1.0] * 3, velocity=[2.0] * 3, effort=[3.0] * 3)
    )

    def trial():
        data = bytearray(good)
        for _ in range(rng.randint(0, 2)):
            data[rng.randrange(4, len(data))] = rng.randrange(256)
        if rng.random() < 0.2:
            del data[rng.randrange(len(data)) :]
        reader.read(decoder.decode(bytes(data)))

    taken, refused = outcomes([trial] * 1000)
    assert taken > 100 and refused > 100


def test_random_trajectories():
    """A trajectory that is taken has finite references from its first point to its last."""
    pytest.importorskip('rclpy')
    from softrobot_dynamics.loops.trajectories import TrajectoryReader
    from softrobot_dynamics.references.piecewise import sample
    from support.trajectory_messages import trajectory

    rng, reader, out = random.Random(7), TrajectoryReader(NAMES), np.empty((3, 3))

    def trial():
        orders = rng.choice([1, 2, 3])
        times = np.cumsum([0.0, *(rng.choice([0.1, 0.5, 1.0, 2.0]) for _ in range(3))])
        if rng.random() < 0.1:
            rng.shuffle(times)
        points = [
            [t, *([0.0] * 3 if k and i == 3 else numbers(rng, 3, 0.005) for k in range(orders))]
            for i, t in enumerate(times)
        ]
        message = trajectory(names(rng), *points[rng.choice([0] * 9 + [4]) :])
        reference = reader.read(message).reference(rng.choice([0.0, 0.5, -0.5, -100.0]))
        for t in (0.0, 0.7, 5.0):
            sample(reference, t, out)
            assert np.isfinite(out).all()

    taken, refused = outcomes([trial] * 250)
    assert taken > 25 and refused > 25


def test_absurd_numbers_are_refused_without_a_warning():
    """Warnings are errors here: in a state that overflows when squared, and in a trajectory."""
    pytest.importorskip('rclpy')
    from sensor_msgs.msg import JointState
    from softrobot_dynamics.loops.state_reader import StateReader
    from softrobot_dynamics.loops.trajectories import TrajectoryReader
    from support.trajectory_messages import trajectory

    state = JointState(name=list(NAMES), position=[1e200] * 3, velocity=[0.0] * 3)
    with pytest.raises(MessageError, match='not a number'):
        StateReader(NAMES).read(state)
    course = trajectory(NAMES, (0.0, [0.0] * 3), (1.0, [1e308, 0.0, 0.0]))
    with pytest.raises(MessageError, match='positions of point 1'):
        TrajectoryReader(NAMES).read(course)


def test_a_refusal_of_a_message_has_a_known_cause():
    """Every refusal of a message has a cause that the controller counts."""
    pytest.importorskip('rclpy')
    from sensor_msgs.msg import JointState
    from softrobot_dynamics.loops.message_fields import cause_of, CAUSES
    from softrobot_dynamics.loops.state_reader import StateReader

    rng, reader, causes = random.Random(8), StateReader(NAMES), set()
    for _ in range(500):
        position, velocity = numbers(rng, 3), numbers(rng, 3)
        try:
            reader.read(JointState(name=names(rng), position=position, velocity=velocity))
        except MessageError as error:
            causes.add(cause_of(error))
    assert causes == {'wrong size', 'wrong name', 'not a number'} and causes <= set(CAUSES)
