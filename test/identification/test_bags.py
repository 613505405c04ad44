# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Motions from ROS bags equal those from tables; missing topics are named."""

from pathlib import Path
import shutil

import numpy as np
import pytest
from softrobot_dynamics import cli
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.mapping import read_mapping, read_motion

highlevel = pytest.importorskip('rosbags.highlevel')
from rosbags.rosbag2 import StoragePlugin, Writer  # noqa: E402
from rosbags.typesys import get_typestore, Stores  # noqa: E402

pytestmark = pytest.mark.quick

STORE = get_typestore(Stores.LATEST)
MAPPING = """
time: {column: stamp}
commands:
  t1: {column: /joint_commands effort.t1, unit: mN}
  t4: {column: /joint_commands effort.t4}
markers:
  - name: tip
    body: segment3
    point: [0, 0, 0.2]
    columns: [/tip pose.position.x, /tip pose.position.y, /tip pose.position.z]
    unit: mm
  - name: ring
    body: segment1
    point: [0, 0, 0.2]
    columns: [/rings poses.1.position.x, /rings poses.1.position.y, /rings poses.1.position.z]
coordinates:
  - {name: t2, column: /winches position.t2}
start: rest
"""
T = np.array([0.0, 0.01, 0.02, 0.035])  # [s] of commands
SEEN = np.array([0.005, 0.02, 0.03])  # of the tip, one of them with a command
PLACES = np.array([[1.0, 2.0, 580.0], [2.0, np.nan, 581.0], [3.0, 4.0, 582.0]])  # [mm]


def message(kind, **fields):
    """Return a message of a kind with some fields, the others as they are at first."""
    kinds = STORE.types
    made = {'sensor_msgs/msg/JointState': {'name': [], 'position': [], 'velocity': [],
                                           'effort': []}}  # fmt: skip
    values = {**made.get(kind, {}), **fields}
    for name in ('position', 'velocity', 'effort'):
        if name in made.get(kind, {}):
            values[name] = np.array(values[name], dtype=float)
    return kinds[kind](**values)


def header(t):
    """Return a header at a time [s] after one of now."""
    kinds, ns = STORE.types, 1_795_000_000_123_456_789 + round(1e9 * t)
    time = kinds['builtin_interfaces/msg/Time'](sec=ns // 10**9, nanosec=ns % 10**9)
    return kinds['std_msgs/msg/Header'](stamp=time, frame_id='')


def pose(x, y, z):
    """Return a Pose."""
    kinds = STORE.types
    at = kinds['geometry_msgs/msg/Point'](x=float(x), y=float(y), z=float(z))
    turn = kinds['geometry_msgs/msg/Quaternion'](x=0.0, y=0.0, z=0.0, w=1.0)
    return kinds['geometry_msgs/msg/Pose'](position=at, orientation=turn)


def written(folder, plugin=StoragePlugin.MCAP):
    """Return the path of a bag, as `ros2 bag record` writes them."""
    joints, kinds = 'sensor_msgs/msg/JointState', STORE.types
    with Writer(folder / 'bag', version=9, storage_plugin=plugin) as writer:

        def topic(name, kind):
            connection = writer.add_connection(name, kind, typestore=STORE)
            return lambda each, ns: writer.write(connection, ns, STORE.serialize_cdr(each, kind))

        commands, winches = topic('/joint_commands', joints), topic('/winches', joints)
        tips = topic('/tip', 'geometry_msgs/msg/PoseStamped')
        rings = topic('/rings', 'geometry_msgs/msg/PoseArray')
        topic('/rosout', 'std_msgs/msg/String')
        for k, t in enumerate(T):
            told = {'name': ['t4', 't1'], 'effort': [k, 1000.0 * k]}
            commands(message(joints, header=header(t), **told), 5 + k)
        measured = message(joints, header=header(T[1]), name=['t1', 't2'], position=[7.0, 8.0])
        winches(measured, 50)
        for t, place in zip(SEEN, PLACES):
            tips(kinds['geometry_msgs/msg/PoseStamped'](header=header(t), pose=pose(*place)), 60)
            two = [pose(0, 0, 0), pose(*place / 1e3)]
            rings(kinds['geometry_msgs/msg/PoseArray'](header=header(t), poses=two), 70)
    return folder / 'bag'


def read(bag, folder, mapping=MAPPING):
    """Return the Motion of a bag by a mapping."""
    (folder / 'mapping.yaml').write_text(mapping, encoding='utf-8')
    return read_motion(load_robot('pcc_arm'), bag, read_mapping(folder / 'mapping.yaml'))


@pytest.mark.parametrize('plugin', list(StoragePlugin))
def test_a_bag_is_read_as_a_table(tmp_path, plugin):
    """A bag becomes a table at stamps, with commands held and NaN for missing values."""
    found = read(written(tmp_path, plugin), tmp_path)
    times = np.union1d(T, SEEN)
    assert found.times == pytest.approx(times, abs=1e-9)
    last = np.searchsorted(T, times, side='right') - 1
    assert found.commands[:, 0] == pytest.approx(last) and found.commands[:, 3].tolist() == \
        found.commands[:, 0].tolist()  # fmt: skip
    wanted = np.full((len(times), 3), np.nan)
    wanted[np.searchsorted(times, SEEN)] = 1e-3 * PLACES
    for k in (0, 1):
        np.testing.assert_allclose(found.positions[:, k], wanted)
    assert np.flatnonzero(np.isfinite(found.values[:, 0])).tolist() == [2]
    assert found.values[2, 0] == 8.0


def test_times_may_be_those_of_the_recorder(tmp_path):
    """Times of the recorder are used for messages without stamps or with wrong ones."""
    found = read(written(tmp_path), tmp_path, MAPPING.replace('stamp', 'received'))
    assert found.times == pytest.approx(1e-9 * np.array([0, 1, 2, 3, 45, 55, 65]), abs=1e-15)


@pytest.mark.parametrize(('old', 'new', 'words'), [
    ('/tip pose.position.x', '/top pose.position.x', "'/top', expected one of .*/joint_commands"),
    ('/tip pose.position.x', '/tip', "a topic and a field, as '/camera"),
    ('/tip pose.position.x', '/tip pose.place.x', 'which has no place'),
    ('/tip pose.position.x', '/tip header.frame_id', 'a field that is a number'),
    ('effort.t4', 'effort.t9', 'a field of the messages on /joint_commands'),
    ('poses.1.position.x', 'poses.7.position.x', 'a field of the messages on /rings'),
    ('stamp', 'clock', 'stamp, received'),
])  # fmt: skip
def test_missing_topics_and_fields_are_named(tmp_path, old, new, words):
    """A missing topic or field is refused with those that exist."""
    with pytest.raises(ArgumentError, match=words):
        read(written(tmp_path), tmp_path, MAPPING.replace(old, new))


def test_a_damaged_bag_is_refused(tmp_path, capsys):
    """A damaged bag is refused by the command."""
    (tmp_path / 'run.mcap').write_bytes(b'nothing')
    (tmp_path / 'mapping.yaml').write_text(MAPPING, encoding='utf-8')
    given = ['--mapping', str(tmp_path / 'mapping.yaml'), '--fit', 'young_modulus']
    assert cli.main(['identify', 'pcc_arm', str(tmp_path / 'run.mcap'), *given]) == 2
    assert 'a bag (' in capsys.readouterr().err and Path(tmp_path / 'run.mcap').exists()


@pytest.mark.parametrize('plugin', list(StoragePlugin))
def test_a_bag_without_metadata_is_read_as_with_it(tmp_path, plugin):
    """A recorder that was killed has not written metadata.yaml."""
    bag = written(tmp_path, plugin)
    wanted = read(bag, tmp_path)
    (bag / 'metadata.yaml').unlink()
    for path in (bag, next(each for each in bag.iterdir())):
        found = read(path, tmp_path)
        np.testing.assert_array_equal(found.times, wanted.times)
        np.testing.assert_array_equal(found.positions, wanted.positions)


LONG = """
time: {column: received}
commands: {t1: {column: /joint_commands effort.t1}}
coordinates: [{name: t2, column: /joint_commands effort.t1}]
start: rest
"""


@pytest.fixture(scope='module')
def one_long_bag(tmp_path_factory):
    """Return a bag, in the form of `written`, of many commands of one tendon, and its Motion."""
    joints, folder = 'sensor_msgs/msg/JointState', tmp_path_factory.mktemp('bags')
    with Writer(folder / 'long', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection('/joint_commands', joints, typestore=STORE)
        for k in range(20000):
            each = message(joints, header=header(0.001 * k), name=['t1'], effort=[float(k)])
            writer.write(connection, 1_000_000 * k, STORE.serialize_cdr(each, joints))
    return folder / 'long', read(folder / 'long', folder, LONG)


@pytest.fixture
def long_bag(one_long_bag, tmp_path):
    """Return a copy of the long bag that a test may damage, and the Motion of the whole."""
    bag, whole = one_long_bag
    return Path(shutil.copytree(bag, tmp_path / 'long')), whole


@pytest.mark.parametrize('place', [0.1, 0.5])
def test_a_bag_with_overwritten_bytes_is_refused(long_bag, tmp_path, place):
    """A bag with zeros in place of messages is refused by an error that names it."""
    bag, _ = long_bag
    file = next(bag.glob('*.mcap'))
    data = bytearray(file.read_bytes())
    begin = int(place * len(data))
    data[begin : begin + 2000] = bytes(2000)
    file.write_bytes(data)
    with pytest.raises(ArgumentError, match=r'recording: .*expected a bag \('):
        read(bag, tmp_path, LONG)


@pytest.mark.parametrize('metadata', [True, False])
def test_a_cut_bag_is_read_up_to_where_it_was_cut(long_bag, tmp_path, metadata):
    """A cut bag gives all messages before the cut, and a warning with the time of the last."""
    bag, whole = long_bag
    file = next(bag.glob('*.mcap'))
    data = file.read_bytes()
    file.write_bytes(data[: 3 * len(data) // 4])
    if not metadata:
        (bag / 'metadata.yaml').unlink()
    with pytest.warns(RuntimeWarning, match='is cut: it is read up to [0-9]+ ns'):
        found = read(bag, tmp_path, LONG)
    count = len(found.times)
    assert 1000 < count < len(whole.times)
    np.testing.assert_array_equal(found.commands, whole.commands[:count])
    assert file.read_bytes() == data[: 3 * len(data) // 4]
