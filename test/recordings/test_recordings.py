# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Records can be read, by other programs too, and survive the end of a process."""

import contextlib
import errno
import functools
import json
import os
from pathlib import Path
import signal
import subprocess
import sys

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, UnknownNameError

pytest.importorskip('rclpy')

from mcap.reader import make_reader  # noqa: E402
from mcap_ros2.decoder import DecoderFactory  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from softrobot_dynamics.nodes import record, record_contents, record_topics  # noqa: E402
from softrobot_dynamics.nodes.record import Record  # noqa: E402

COORDINATES, ACTUATORS = ('shoulder', 'arm/bend_x', 'arm/bend_y'), ('left', 'right')
NAMES = 'q', 'qd', 'u', 'y_d', 'y_d_rate', 't', 'mode'
FIELDS = {
    'q': lambda messages: messages['/joint_states'].position,
    'qd': lambda messages: messages['/joint_states'].velocity,
    'u': lambda messages: messages['/joint_commands'].effort,
    'y_d': lambda messages: messages['/controller/reference'].points[0].positions,
    'y_d_rate': lambda messages: messages['/controller/reference'].points[0].velocities,
    't': lambda messages: messages['/controller/time'].data,
    'mode': lambda messages: messages['/controller/mode'].data,
}
PERIOD, STAMP = 1_000_000, 1_700_000_000_123_456_789
CHILD = """
import sys, time
sys.path.insert(0, {folder!r})
from test_recordings import start, ticks
from pathlib import Path
record = start(Path(sys.argv[1]), running=True)
for k, row in enumerate(ticks(10**6)):
    record.add(*row)
    time.sleep(1e-3)
    if k % 100 == 0:
        print(k, flush=True)
"""


def topics():
    """Return topics of every kind."""
    return (
        record_topics.joint_state('/joint_states', COORDINATES, position='q', velocity='qd'),
        record_topics.joint_state('/joint_commands', ACTUATORS, effort='u'),
        record_topics.trajectory_point(
            '/controller/reference', ACTUATORS[:1], positions='y_d', velocities='y_d_rate'
        ),
        record_topics.number('/controller/time', 't'),
        record_topics.number('/controller/mode', 'mode', whole=True),
    )


def start(path, failed=None, running=False):
    """Return a Record of these topics, which writes when it is told to unless `running`."""
    facts = {'node': 'controller', 'robot': 'arm', 'modes': ['waiting', 'running']}
    parameters = '/controller/parameters', {'gains.p': 100.0, 'limits.rate': np.nan}
    record = Record(path, topics(), facts, parameters, failed)
    if not running:
        record._closed.set()
        record._thread.join()
    return record


def ticks(count):
    """Yield rows of `add`: the numbers of tick k are made of k."""
    for k in range(count):
        q = k + np.array([0.1, 0.2, 0.3])
        row = q, -q, np.array([2.0 * k, np.nan]), [1.0 / (1 + k)], [3.0], 0.001 * k, k % 2
        yield k * PERIOD, STAMP + k * PERIOD, *row


def add(record, count, part=1000):
    """Add ticks and write them, some at a time."""
    for k, row in enumerate(ticks(count), 1):
        record.add(*row)
        if k % part == 0 or k == count:
            record._write()


@functools.cache
def columns(count):
    """Return what the columns of so many ticks must be."""
    _, stamps, *values = zip(*ticks(count), strict=True)
    named = {name: np.array(x) for name, x in zip(NAMES, values, strict=True)}
    return {**named, 'stamp': np.array(stamps)}


def check(recording, count):
    """Assert that a Recording holds just the first ticks."""
    assert len(recording) == count
    for name, values in columns(count).items():
        assert np.array_equal(recording[name], values, equal_nan=values.dtype == float), name


@pytest.mark.quick
def test_a_record_is_read_as_it_was_written(tmp_path):
    """Columns are read to the last bit, with facts and parameters at their times."""
    path = tmp_path / 'run.mcap'
    record = start(path)
    add(record, 5000)
    record.note({'gains.p': 150.0})
    record._write()
    record.close()
    recording = sd.read_recording(path)
    check(recording, 5000)
    assert recording.complete and record.lost == 0
    assert recording.facts['robot'] == 'arm' and recording.facts['version'] == sd.__version__
    (begin, first), (end, change) = recording.parameters
    assert first == {'gains.p': 100.0, 'limits.rate': None} and change == {'gains.p': 150.0}
    assert begin < end
    assert np.diff(recording['log_time']).tolist() == [PERIOD] * 4999
    with pytest.raises(UnknownNameError, match='known: q, '):
        recording['p']


@pytest.mark.quick
def test_other_readers_find_the_same(tmp_path):
    """A generic MCAP reader finds the same by the file's index and definitions."""
    path = tmp_path / 'run.mcap'
    record = start(path)
    add(record, 20)
    record.close()
    found = []
    with open(path, 'rb') as file:
        reader = make_reader(file, True, [DecoderFactory()])
        assert reader.get_header().profile == 'ros2'
        summary = reader.get_summary()
        assert summary.statistics.message_count == 20 * 5 + 1
        for _, channel, message, decoded in reader.iter_decoded_messages():
            if channel.topic == '/controller/parameters':
                assert json.loads(decoded.data)['gains.p'] == 100.0
                continue
            if channel.topic == '/joint_states':
                found.append({})
            found[-1][channel.topic] = decoded
            if hasattr(decoded, 'header'):
                stamp = decoded.header.stamp
                assert stamp.sec * 1_000_000_000 + stamp.nanosec == message.publish_time
        _, channel, message = next(reader.iter_messages('/joint_states'))
    wanted = columns(20)
    assert len(found) == 20
    for name, field in FIELDS.items():
        values = np.array([field(messages) for messages in found])
        assert np.array_equal(values, wanted[name], equal_nan=True), name
    assert found[0]['/joint_states'].name == list(COORDINATES)
    assert found[0]['/controller/reference'].joint_names == ['left']
    assert message.publish_time == STAMP


@pytest.mark.quick
def test_rosbags_reads_a_record(tmp_path):
    """The reader of rosbags, without a ROS installation, reads a record."""
    highlevel = pytest.importorskip('rosbags.highlevel')
    record = start(tmp_path / 'run.mcap')
    add(record, 20)
    record.close()
    with highlevel.AnyReader([tmp_path / 'run.mcap']) as reader:
        heard = [c for c in reader.connections if c.topic == '/joint_states']
        messages = [reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(heard)]
    assert np.array_equal([m.position for m in messages], columns(20)['q'])


@pytest.mark.quick
@pytest.mark.parametrize('kind', [record_topics.JointState, record_topics.JointTrajectory])
def test_definitions_are_those_of_the_messages(kind):
    """Definitions in a record equal those of the messages field by field."""
    from mcap_ros2._vendor.rosidl_adapter.parser import parse_message_string

    package, _, name = record_topics.type_name(kind).split('/')
    text, *others = record_topics.definition(kind).split('=' * 80 + '\n')
    spec = parse_message_string(package, name, text)
    assert [field.name for field in spec.fields] == list(kind.get_fields_and_field_types())
    assert {other.splitlines()[0] for other in others} >= {
        'MSG: std_msgs/Header',
        'MSG: builtin_interfaces/Time',
    }


@pytest.mark.quick
@pytest.mark.parametrize('topic', topics(), ids=lambda topic: topic.name)
def test_messages_have_no_bytes_to_spare(topic):
    """Messages have no surplus bytes, which strict readers refuse."""
    data, kind = bytes(topic.template().data), type(topic.message)
    assert deserialize_message(data, kind) == topic.message
    with pytest.raises(Exception, match='.'):  # of a kind of the middleware's own
        deserialize_message(data[:-1], kind)


def test_a_killed_process_leaves_all_but_its_last_second(tmp_path):
    """After kill -9 all that was added a second before is read, complete and in order."""
    path = tmp_path / 'run.mcap'
    code = CHILD.format(folder=str(Path(__file__).parent))
    child = subprocess.Popen(
        [sys.executable, '-c', code, str(path)],
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    try:
        for line in child.stdout:  # a second or two
            if int(line) == 1500:
                break
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    recording = sd.read_recording(path)
    assert not recording.complete
    assert len(recording) > 500
    check(recording, len(recording))


def test_wherever_a_file_is_cut_the_rest_can_be_read(tmp_path):
    """A cut anywhere in a file costs what comes after it and nothing before."""
    whole, cut = tmp_path / 'whole.mcap', tmp_path / 'cut.mcap'
    record = start(whole)
    add(record, 300, part=100)
    record.close()
    data, lengths = whole.read_bytes(), []
    for size in np.linspace(2000, len(data) - 1, 60).astype(int):
        cut.write_bytes(data[:size])
        with contextlib.suppress(ArgumentError):  # not even the metadata are there
            recording = sd.read_recording(cut)
            lengths.append(len(recording))
            check(recording, len(recording)) if len(recording) else None
    assert lengths == sorted(lengths)
    assert {0, 100, 200, 300} == set(lengths)


@pytest.mark.quick
def test_a_full_disk_ends_the_record_and_nothing_else(tmp_path):
    """A full disk ends the record with one message; the loop goes on, and the file is readable."""
    said, path = [], tmp_path / 'run.mcap'
    record = start(path, lambda what, error: said.append((what, error)))
    add(record, 2000)
    file, room = record._file._file, 1000

    class Full:
        """A file on a disk with little room."""

        def write(self, data):
            nonlocal room
            if not room:
                raise OSError(errno.ENOSPC, 'No space left on device')
            written = file.write(data[:room])
            room -= written
            return written

        def __getattr__(self, name):
            return getattr(file, name)

    record._file._file = Full()
    for _ in range(2):
        for row in ticks(100):
            record.add(*row)
        record._run()
    record.close()
    assert len(said) == 1 and str(path) in said[0][0] and said[0][1] is record.error
    assert record.lost == 200 and len(record) == 2000
    assert 'No space left' in record_contents.words(record)
    recorded = sd.read_recording(path)
    assert not recorded.complete
    check(recorded, 2000)


@pytest.mark.quick
def test_a_disk_that_waits_costs_rows_and_no_memory(tmp_path, monkeypatch):
    """Ticks that the ring buffer has no room for are reported, and missing for a reader."""
    monkeypatch.setattr(record, '_RING_ROWS', 64)
    slow = start(tmp_path / 'run.mcap')
    for row in ticks(100):
        slow.add(*row)
    assert slow.lost == 36 and '36 ticks' in record_contents.words(slow)
    slow._write()
    add(slow, 3)
    slow.close()
    found = sd.read_recording(slow.path)
    assert found.lost == 36 and found['tick'].tolist() == [*range(64), 100, 101, 102]


@pytest.mark.quick
def test_a_loop_without_real_time_waits_for_room(tmp_path, monkeypatch):
    """No tick is lost where the loop can wait for the file."""
    monkeypatch.setattr(record, '_RING_ROWS', 64)
    monkeypatch.setattr(record, 'WRITE_PERIOD', 1e-2)
    path = tmp_path / 'run.mcap'
    ours = start(path, running=True)
    for row in ticks(1000):
        ours.wait_for_room(patience=600.0)
        ours.add(*row)
    ours.close()
    assert ours.lost == 0 and len(sd.read_recording(path)) == 1000


@pytest.mark.quick
def test_an_empty_record_has_its_columns(tmp_path):
    """An empty record has its columns and no rows."""
    path = tmp_path / 'run.mcap'
    start(path).close()
    recording = sd.read_recording(path)
    assert len(recording) == 0 and recording['q'].shape == (0, 3) and recording.complete


@pytest.mark.quick
def test_files_are_named_and_never_overwritten(tmp_path):
    """A file that exists gets a number, a folder a file named after node and time."""
    (tmp_path / 'run.mcap').touch()
    (tmp_path / 'run_2.mcap').touch()
    assert record_contents.new_path(str(tmp_path / 'run.mcap'), 'controller').name == 'run_3.mcap'
    assert record_contents.new_path(str(tmp_path / 'run'), 'controller').name == 'run_3.mcap'
    assert record_contents.new_path(str(tmp_path / 'a.b'), 'controller').name == 'a.b.mcap'
    dated = record_contents.new_path(str(tmp_path), 'controller')
    assert dated.parent == tmp_path and dated.match('controller_2*_*.mcap')
    assert record_contents.new_path(f'{tmp_path}/new/', 'simulation').parent == tmp_path / 'new'
    with pytest.raises(FileExistsError):
        start(tmp_path / 'run.mcap')


@pytest.mark.quick
def test_an_impossible_record_is_refused_beforehand(tmp_path, monkeypatch):
    """An unwritable record is refused beforehand, and without mcap with how to get it."""
    record_contents.prepare('')
    record_contents.prepare(str(tmp_path / 'new' / 'run.mcap'))
    assert (tmp_path / 'new').is_dir()
    (tmp_path / 'file').touch()
    with pytest.raises(ArgumentError, match='folder that can be written'):
        record_contents.prepare(str(tmp_path / 'file' / 'run.mcap'))
    monkeypatch.setattr(record_contents, 'find_spec', lambda name: None)
    with pytest.raises(ArgumentError, match='pip install'):
        record_contents.prepare(str(tmp_path / 'run.mcap'))


@pytest.mark.quick
@pytest.mark.parametrize('content', [None, b'', b'PK', b'\x89MCAP0\r\n'])
def test_a_file_that_is_no_record_is_refused(tmp_path, content):
    """A file that is no record is refused with path and reason."""
    path = tmp_path / 'run.mcap'
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ArgumentError, match='run.mcap.*that a node has recorded'):
        sd.read_recording(path)


@pytest.mark.quick
def test_reading_without_mcap_says_what_to_install(tmp_path, monkeypatch):
    """Reading without mcap says what to install; importing the library does not need it."""
    monkeypatch.setitem(sys.modules, 'softrobot_dynamics.recordings.mcap_content', None)
    with pytest.raises(ArgumentError, match=r"pip install 'softrobot_dynamics\[record\]'"):
        sd.read_recording(tmp_path / 'run.mcap')
