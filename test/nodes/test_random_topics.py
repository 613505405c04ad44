# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Random wrenches, targets, states and recordings are accepted or refused by own errors."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, MessageError
from support.trials import outcomes

pytest.importorskip('rclpy')

from geometry_msgs.msg import (  # noqa: E402  # noqa: E402
    Point,
    PointStamped,
    Pose,
    PoseStamped,
    Quaternion,
    Vector3,
    Wrench,
    WrenchStamped,
)
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.loops.external_inputs import ExternalWrenches, InitialStateReader  # noqa: E402
from softrobot_dynamics.loops.message_fields import cause_of, CAUSES  # noqa: E402
from softrobot_dynamics.loops.tip_targets import TargetOrders  # noqa: E402
from std_msgs.msg import Header  # noqa: E402
from support.linear_plant import COORDINATES, Model, Simulator  # noqa: E402
from support.recorded import recordings, write_recording  # noqa: E402

ODD = [float('nan'), float('inf'), -float('inf'), 1e308, -1e200, 5e-324, 0.0]
PLACES = ['cart', 'cart base', 'cart 0 0 1', 'cart 0 0 1 base', '']
WORDS = ['cart', 'base', 'horse', '0', '1e400', 'nan', '-1_0', 'ä\x00', '{}', '٣', '']


def triple(rng, share=0.1):
    """Return three numbers by their names, some of them odd."""
    values = (rng.choice(ODD) if rng.random() < share else rng.uniform(-9, 9) for _ in range(3))
    return dict(zip('xyz', values))


def place(rng):
    """Return a frame_id, most often one that says where."""
    words = ' '.join(rng.choices(WORDS, k=rng.randint(0, 6)))
    return words if rng.random() < 0.4 else rng.choice(PLACES)


def known(trial):
    """Return a trial whose refusal has a cause that is counted."""

    def run():
        try:
            trial()
        except MessageError as error:
            assert cause_of(error) in CAUSES
            raise

    return run


def test_random_wrenches():
    """Wrenches of random messages are finite, on known bodies, and removed by zeros."""
    rng, pushes = random.Random(1), ExternalWrenches(Model())

    def trial():
        wrench = Wrench(force=Vector3(**triple(rng)), torque=Vector3(**triple(rng)))
        frame = place(rng)
        found = pushes.read(WrenchStamped(header=Header(frame_id=frame), wrench=wrench))
        for each in found['cart']:
            assert np.isfinite(each.value).all()
            assert each.point is None or np.isfinite(each.point).all()
        zero = WrenchStamped(header=Header(frame_id=frame))
        pushes.read(zero)
        assert len(pushes._wrenches) == 0

    taken, refused = outcomes([known(trial)] * 1000)
    assert taken > 200 and refused > 200


def test_random_states_to_begin_at():
    """States of random messages are finite, and unnamed coordinates are initial."""
    rng, reader = random.Random(2), InitialStateReader(Model(), Simulator(), 1e-3)

    def trial():
        names = rng.sample([*COORDINATES, *COORDINATES, 'z'], rng.randint(0, 3))
        sizes = [len(names) + rng.choice([0] * 8 + [1]) for _ in range(2)]
        values = [[rng.choice([*ODD, 1.0, 2.0, -3.0]) for _ in range(k)] for k in sizes]
        message = JointState(name=names, position=values[0], velocity=values[1])
        q, qd = reader.read(message)
        assert np.isfinite([q, qd]).all()
        for i, name in enumerate(COORDINATES):
            assert q[i] == (values[0][names.index(name)] if name in names else 0.0)
        assert (abs(q) < 1e3).all()  # from farther away it cannot make a step

    taken, refused = outcomes([known(trial)] * 1000)
    assert taken > 100 and refused > 100


def test_random_points_and_poses():
    """A goal is finite, and its rotation is one."""
    rng = random.Random(3)
    controller = SimpleNamespace(controlled=np.array([0, 1]))
    targets = TargetOrders(SimpleNamespace(model=Model(), controller=controller))

    def trial():
        header = Header(frame_id=rng.choice(['cart', '', 'cart', 'horse', 'ä']))
        point = Point(**triple(rng))
        if rng.random() < 0.5:
            message = PointStamped(header=header, point=point)
        else:
            turn = rng.choice([*ODD[:3], 0.5, 0.5, 0.5, 0.5, -0.5, 1.0])
            orientation = Quaternion(x=0.5, y=0.5, z=-0.5, w=turn)
            message = PoseStamped(
                header=header, pose=Pose(position=point, orientation=orientation)
            )
        body, (goal, rotation) = targets._read(message)
        assert body == 'cart' and np.isfinite(goal).all()
        if rotation is not None:
            assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)

    taken, refused = outcomes([known(trial)] * 1000)
    assert taken > 200 and refused > 200


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Return the bytes of a small recording."""
    path = tmp_path_factory.mktemp('recorded') / 'run.mcap'
    write_recording(path, recordings(ticks=30, before=10)[0])
    return path.read_bytes()


def test_random_recordings(recorded, tmp_path):
    """A corrupted recording is read as far as it is valid, or refused."""
    rng, path = random.Random(4), tmp_path / 'run.mcap'

    def trial():
        data = bytearray(recorded)
        for _ in range(rng.randint(0, 3)):
            i = rng.randrange(len(data))
            way = rng.randrange(4)
            if way < 2:
                data[i] = rng.randrange(256)
            elif way == 2:
                del data[i : i + rng.randint(1, 9)]
            else:
                data[i : i + 8] = rng.randbytes(8)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        path.write_bytes(bytes(data))
        run = sd.read_recording(path)
        assert all(len(column) <= 50 for column in run.columns.values())

    taken, refused = outcomes([trial] * 400)
    assert taken > 50 and refused > 10


def test_a_file_that_is_no_recording_is_refused(tmp_path):
    """An empty file, another kind of file and a folder are refused."""
    (tmp_path / 'empty').touch()
    (tmp_path / 'text').write_text('t, a\n')
    for name in ('empty', 'text', '', 'nowhere'):
        with pytest.raises(ArgumentError, match='an MCAP file that a node has recorded'):
            sd.read_recording(tmp_path / name)
