# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The estimation loop in simulated time: when it publishes a state, and what it refuses."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import PoseArray  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration.command_parts import CommandPart  # noqa: E402
from softrobot_dynamics.estimation.sensor_simulation import SimulatedSensors  # noqa: E402
from softrobot_dynamics.loops import estimation_loop  # noqa: E402
from softrobot_dynamics.loops.deadlines import EstimationSchedule  # noqa: E402
from softrobot_dynamics.loops.estimation_loop import EstimationLoop, RUNNING, SETTLING, WAITING  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of  # noqa: E402
from softrobot_dynamics.loops.sensor_adapters import adapter_of  # noqa: E402
from softrobot_dynamics.loops.sensor_clock import SensorClock  # noqa: E402
from softrobot_dynamics.loops.sensor_streams import CommandStream, ObservabilityCheck, Stream  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_messages import CommandReader  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_topics import PartsReader  # noqa: E402
from softrobot_dynamics.nodes.messaging.measurements import MeasurementWriter  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from softrobot_dynamics.nodes.visualizer import poses_of, transforms_of  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.robots import compiled  # noqa: E402

pytestmark = pytest.mark.quick

MS = 1_000_000  # [ns], a period
AHEAD = 5_000 * SECOND  # of the stamps, to the clock of the loop
GIVEN = {
    'sensors': [
        {'name': 'camera', 'type': 'pose', 'body': 'segment3'},
        {
            'name': 'cables',
            'type': 'joint',
            'names': [f't{k}' for k in range(1, 10)],
            'noise': 2e-4,
        },
    ],
    'disturbance': {'force': 0.05, 'moment': 5e-4},
}
U = np.full(9, 2.0)
COLLISION = 1.0  # [N]


GAUGES = {'name': 'gauges', 'names': ['t1', 't2']}


@functools.cache
def parts(gauged=False, change=None):
    """Return model, estimator, fit and sufficiency of the shipped arm."""
    gauges = {**GAUGES, 'noise': 0.01, 'change': change} if change else GAUGES
    model, given = compiled('pcc_arm'), {**GIVEN, 'efforts': [gauges]} if gauged else GIVEN
    estimator = sd.Estimator(model, given)
    return model, estimator, sd.ShapeFit(model, given), ObservabilityCheck(estimator, ())


class Box:
    """An inbox that the test fills."""

    def __init__(self):
        self.message = None

    def wait(self, timeout):
        """Return what is there."""
        message, self.message = self.message, None
        return message

    def age(self):
        """Return how long it has been there."""
        return 0

    def wake(self):
        """Nobody waits."""


class Outlet:
    """Keeps what goes out."""

    def __init__(self):
        self.states, self.words, self.reports, self.pushes = [], [], 0, []
        self.doubts = []

    def state(self, q, qd, stamp):
        self.states.append((q, qd, stamp))

    def report(self, estimator, stamp, epoch):
        self.reports += 1

    def entered(self, mode, before, healthy):
        self.words.append(mode)

    def refused(self, error):
        self.words.append(error.reason)

    def lost(self, why):
        self.words.append(why)

    def far_off(self, sensor, coarse):
        self.doubts.append((sensor, coarse))

    def collided(self, body, size, still):
        self.pushes.append((body, size, still))

    def slow(self, words):
        self.words.append(words)

    def failed(self, event, error):
        raise error


class Rig:
    """An arm under tension at rest, its sensors, and the loop."""

    def __init__(
        self, monkeypatch, gauged=False, change=None, reader=None, pace=1.0, known=None, period=MS
    ):
        model, estimator, fit, sufficient = parts(gauged, change)
        self.time, self.publisher, self.commands = 1000 * SECOND, Outlet(), Box()
        self.pace, known = pace, known or pace
        monkeypatch.setattr(estimation_loop, 'now', lambda: self.time)
        monkeypatch.setattr(estimation_loop, 'sleep_until', self._sleep_until)
        sensors, efforts = estimator.settings.sensors, estimator.settings.efforts
        every = (*sensors, *efforts)
        self.writers = {each.name: MeasurementWriter(each) for each in every}
        self.boxes = {each.name: Box() for each in every}
        self.loop = EstimationLoop(
            estimator, fit,
            [Stream(each, self.boxes[each.name]) for each in every],
            CommandStream(self.commands, reader or CommandReader(model.actuator_names), U),
            self.publisher,
            EstimationSchedule(
                period, 100 * MS, 50 * MS, 20 * MS, 0.0, 'segment3', COLLISION, known
            ),
            sufficient,
        )  # fmt: skip
        self.q, self.acting = sd.equilibrium(model, u=U).q, U
        self.instruments = SimulatedSensors(model, sensors, efforts=efforts, seed=3)
        self.silent, self.spoil, self.stamps = set(), {}, []
        self.loop._begin()

    def _sleep_until(self, deadline):
        self.time = max(self.time, deadline)

    @property
    def present(self):
        """The time of the stamps [ns]."""
        return round(self.time * self.pace) + AHEAD

    def go(self, periods):
        """Let periods pass, with what the sensors measure at rest."""
        for _ in range(periods):
            at = self.present
            for reading in self.instruments.look(1e-9 * at, self.q, 0.0 * self.q, self.acting):
                if reading.sensor not in self.silent:
                    self.bring(reading.sensor, reading.value, at)
            self.loop._cycle()

    def bring(self, sensor, value, stamp):
        """Let a message come, spoilt as told."""
        message = self.writers[sensor].write(value, stamp)
        self.spoil.get(sensor, lambda message: None)(message)
        self.boxes[sensor].message = message
        self.stamps.append(stamp_of(message))

    def until(self, mode, most=2000):
        """Go on until there is a mode."""
        for _ in range(most):
            self.go(1)
            if self.loop.mode == mode:
                return
        raise AssertionError(f'no mode {mode} but {self.loop.mode}: {self.publisher.words[-3:]}')


@pytest.fixture
def rig(monkeypatch):
    """Return a Rig that says states."""
    rig = Rig(monkeypatch)
    rig.until(RUNNING)
    return rig


def test_it_starts_after_values_of_all_sensors(monkeypatch):
    """After values of all sensors the loop starts at the fitting posture and settles."""
    rig = Rig(monkeypatch)
    rig.silent = {'cables'}
    rig.go(20)
    assert rig.loop.mode == WAITING and rig.loop.sensors.missing == ('cables',)
    rig.silent = set()
    rig.until(SETTLING)
    assert not rig.publisher.states
    rig.until(RUNNING)
    rig.go(200)
    states = rig.publisher.states
    assert len(states) == 200 and rig.publisher.reports in (9, 10, 11)
    assert np.diff([stamp for *_, stamp in states]) == pytest.approx(MS, abs=0.01 * MS)
    assert abs(states[-1][2] - rig.present) < 2 * MS
    tip, wanted = (
        sd.forward_kinematics(parts()[0], q=q)[-1][:3, 3] for q in (states[-1][0], rig.q)
    )
    assert np.abs(tip - wanted).max() < 1e-3  # where each look at it is off by as much


def test_wrong_measurements_are_refused_and_the_others_go_on(rig):
    """Invalid, repeated, future and unstamped values are counted and left out."""

    def wrong(message):
        message.pose.position.x = np.nan

    def later(message):
        message.header.stamp = stamped(stamp_of(message) + 10 * SECOND)

    def unstamped(message):
        message.header.stamp = stamped(0)

    for cause, spoil in (('not a number', wrong), ('from the future', later),
                         ('stale', unstamped)):  # fmt: skip
        rig.spoil = {'camera': spoil}
        rig.go(30)
        assert rig.loop.statistics.refused[cause] == 3
    rig.spoil = {}
    rig.go(20)
    rig.boxes['cables'].message = rig.writers['cables'].write(np.zeros(9), rig.stamps[-1])
    rig.loop._cycle()
    assert rig.loop.statistics.refused['out of order'] == 1
    rig.go(5)
    assert rig.loop.mode == RUNNING and rig.loop.statistics.counts['losses'] == 0
    assert np.isfinite([state[0] for state in rig.publisher.states]).all()


def test_outliers_are_counted_and_change_no_state(rig):
    """Outliers of a camera off by a metre are counted and change no state."""
    before = rig.loop.statistics.counts['outliers']

    def elsewhere(message):
        message.pose.position.x += 1.0

    rig.spoil = {'camera': elsewhere}
    rig.go(50)
    assert rig.loop.statistics.counts['outliers'] >= before + 5
    assert np.abs(rig.publisher.states[-1][0] - rig.q).max() < 0.1
    rig.go(100)
    assert rig.loop.mode == RUNNING and rig.loop.sensors.missing == rig.loop.sensors.rejected == (
        'camera',
    )
    rig.spoil = {}
    rig.go(20)
    assert not rig.loop.sensors.missing


def test_a_robot_off_the_model_is_followed(rig):
    """Sensors that agree against the model correct the states, and the log says so."""
    pulled = U.copy()
    pulled[0] = 12.0
    rig.q = sd.equilibrium(parts()[0], u=pulled).q
    rig.go(1)
    assert np.abs(rig.publisher.states[-1][0] - rig.q).max() > 0.1
    rig.go(3000)
    assert rig.loop.mode == RUNNING and rig.loop.statistics.counts['losses'] == 0
    assert {name for name, _ in rig.publisher.doubts} == {'camera', 'cables'}
    assert np.abs(rig.publisher.states[-1][0] - rig.q).max() < 0.1


def test_sensors_whose_values_are_all_rejected_are_not_called_silent(rig):
    """If sensors are too far off to correct the estimate, no state goes out, with the reason."""

    def far(message):
        message.pose.position.x += 1.0

    def long(message):
        message.position = [x + 1.0 for x in message.position]

    rig.spoil = {'camera': far, 'cables': long}
    rig.until(WAITING)
    words = ' '.join(rig.publisher.words)
    assert 'camera, cables rejected' in words and 'silent' not in words


@pytest.mark.parametrize('size, pushed', [(0.6, False), (1.5, True)])
def test_a_large_push_is_reported(rig, size, pushed):
    """A large push is reported once with its size while it lasts, and again for a new one."""
    rig.go(500)
    assert not rig.publisher.pushes
    rest = rig.q
    push = {'segment3': sd.Wrench([0.0, 0.0, 0.0, size, 0.0, 0.0], None, 'base')}
    rig.q = sd.equilibrium(parts()[0], u=U, wrenches=push).q
    rig.go(1500)
    told = rig.publisher.pushes
    assert rig.loop.statistics.counts['collisions'] == pushed
    if pushed:
        assert told[0][::2] == ('segment3', False) and told[0][1] > COLLISION
        assert told[-1] == ('segment3', pytest.approx(size, rel=0.3), True)
        assert len(told) > 100 and sum(not still for *_, still in told) == 1
    rig.q = rest
    rig.go(1000)
    told.clear()
    rig.go(500)
    assert not told and rig.loop.statistics.counts['collisions'] == pushed
    rig.q = sd.equilibrium(parts()[0], u=U, wrenches=push).q
    rig.go(1000)
    assert rig.loop.statistics.counts['collisions'] == 2 * pushed


def test_no_state_goes_out_without_sensors(rig):
    """Without sensors states stop within the time-out, and resume without a jump in time."""
    rig.silent = {'camera', 'cables'}
    rig.go(150)
    assert rig.loop.mode == WAITING
    said = len(rig.publisher.states)
    assert 90 <= (rig.publisher.states[-1][2] - rig.stamps[-1]) / MS <= 102
    rig.go(500)
    assert len(rig.publisher.states) == said
    rig.silent = set()
    rig.until(RUNNING)
    rig.go(20)
    stamps = [stamp for *_, stamp in rig.publisher.states]
    assert (np.diff(stamps) > 0).all() and abs(stamps[-1] - rig.present) < 2 * MS


def test_one_sensor_may_be_sufficient(rig):
    """The cables alone observe this arm without the camera, but the camera alone does not."""
    _, estimator, _, sufficient = parts()
    assert not sufficient.lacking(['cables'])
    rig.silent = {'camera'}
    rig.go(300)
    assert rig.loop.mode == RUNNING and rig.loop.sensors.missing == ('camera',)
    lacking = sufficient.lacking(['camera'])
    assert set(lacking) == set(estimator.observability(sensors=['camera']).unobservable)
    rig.silent = {'cables'}
    rig.go(300)
    assert rig.loop.mode == (WAITING if lacking else RUNNING)
    assert rig.loop.lacking == lacking
    assert not lacking or any('no sensor observes' in words for words in rig.publisher.words)


def test_commands_count_from_when_they_come(rig):
    """A command counts from its arrival, so that the state is that of the pulled robot."""
    from sensor_msgs.msg import JointState

    model = parts()[0]
    pulled = U.copy()
    pulled[0] = 12.0
    rig.commands.message = JointState(name=list(model.actuator_names), effort=pulled.tolist())
    robot = sd.Simulator(model)
    robot.reset(rig.q)
    rig.silent = {'camera', 'cables'}
    rig.go(80)
    robot.step(pulled, 0.08)
    moved = np.abs(robot.q - rig.q).max()
    assert moved > 0.05  # some ten times what it is known to
    assert np.abs(rig.publisher.states[-1][0] - robot.q).max() < 0.3 * moved
    rig.commands.message = JointState(name=list(model.actuator_names), effort=[np.nan] * 9)
    rig.go(1)
    assert rig.loop.statistics.refused['not a number'] == 1


def test_commands_in_parts_count_as_one(monkeypatch):
    """Parts that came since the last cycle count together; one that did not stays as it was."""
    names = parts()[0].actuator_names
    first, second = (
        CommandPart(name, 'multi_array', '', own, names[own[0] : own[-1] + 1], (), (1e-3,) * k)
        for name, own, k in (('one', (0, 1, 2), 3), ('other', (3, 4, 5, 6, 7, 8), 6))
    )
    rig = Rig(monkeypatch, reader=PartsReader([first, second]))
    rig.until(RUNNING)
    told, waiting = [], []
    monkeypatch.setattr(rig.loop._estimator, 'command', lambda at, u: told.append(u.tolist()))
    rig.commands.wait = lambda timeout: waiting.pop(0) if waiting else None
    waiting[:] = [(0, Float64MultiArray(data=[3e3] * 3)), (1, Float64MultiArray(data=[4e3] * 6))]
    rig.go(1)
    waiting[:] = [(0, Float64MultiArray(data=[5e3] * 3))]
    rig.go(1)
    waiting[:] = [(1, Float64MultiArray(data=[5e3] * 2))]
    rig.go(2)
    assert told == [[3.0] * 3 + [4.0] * 6, [5.0] * 3 + [4.0] * 6]
    assert rig.loop.statistics.refused['wrong size'] == 1


def test_the_sensor_clock_follows_the_quickest_messages():
    """The clock follows the quickest messages, and one that falls behind after a second."""
    present = SensorClock()
    assert not present
    present.update(50 * SECOND, 10 * SECOND)
    present.update(50 * SECOND + MS, 10 * SECOND + 9 * MS)
    assert present.at(10 * SECOND + 10 * MS) == 50 * SECOND + 10 * MS
    last = present.at(10 * SECOND + 900 * MS)
    for k in range(1000, 4000, 10):  # from here on stamps are 20 ms behind
        moment = 10 * SECOND + k * MS
        present.update(50 * SECOND + (k - 20) * MS, moment)
        time = present.at(moment)
        assert last < time < last + 150 * MS
        last = time
    assert last == 50 * SECOND + (3990 - 20) * MS


@pytest.mark.parametrize('pace', [0.2, 2.0, 10.0])
def test_time_may_pass_faster_or_slower_by_the_stamps(monkeypatch, pace):
    """States are stamped by the sensors' time within a period, none is refused, each is due."""
    rig = Rig(monkeypatch, pace=pace, period=20 * MS)
    rig.until(RUNNING)
    begin, before = rig.time, len(rig.publisher.states)
    rig.go(200)
    assert abs(rig.publisher.states[-1][2] - rig.present) <= 20 * MS
    stamps = [stamp for *_, stamp in rig.publisher.states[before:]]
    assert len(stamps) == 200 and np.abs(np.diff(stamps) - 20 * MS).max() <= 2
    assert rig.time - begin == pytest.approx(4 * SECOND / pace)
    assert not rig.loop.statistics.refused and not rig.loop.slowness()


@pytest.mark.parametrize('pace', [0.2, 2.0])
def test_another_pace_than_that_of_the_sensors_is_reported(monkeypatch, pace):
    """A pace other than the sensors' is reported within five seconds, with the parameter."""
    rig = Rig(monkeypatch, pace=pace, known=1.0, period=20 * MS)
    rig.go(210)  # 4.2 s
    words = f'by {pace:g} s per second, but `real_time_factor` is 1'
    assert words in rig.loop.slowness() and any(words in each for each in rig.publisher.words)


def test_a_loop_that_misses_deadlines_for_lack_of_a_processor_reports_it(monkeypatch):
    """Deadlines missed for a tenth of the time are reported; a single stall is not."""
    rig = Rig(monkeypatch, period=20 * MS)
    rig.time += 80 * MS
    rig.go(110)
    assert not rig.loop.slowness()
    for _ in range(36):
        rig.time += 60 * MS
        rig.go(5)
    assert 'of the time passed while this node had no processor' in rig.loop.slowness()


def test_a_sensor_whose_stamps_stand_still_does_not_keep_the_others_out(monkeypatch):
    """A sensor with constant stamps is refused, and its time does not hold up the others."""
    rig = Rig(monkeypatch, gauged=True)
    old = stamped(rig.present - SECOND)
    rig.spoil = {'gauges': lambda message: setattr(message.header, 'stamp', old)}
    rig.silent = {'camera', 'cables'}
    rig.go(100)  # the gauges are the first that are heard
    rig.silent = set()
    rig.until(RUNNING)
    rig.go(10)
    assert rig.loop.statistics.refused['out of order'] > 100
    assert abs(rig.publisher.states[-1][2] - rig.present) < 2 * MS


def test_efforts_count_for_commands_while_they_come(monkeypatch):
    """Measured efforts replace commands; silent gauges are reported without loss of states."""
    rig = Rig(monkeypatch, gauged=True)
    rig.acting = np.r_[3.0, 1.0, U[2:]]
    rig.q = sd.equilibrium(parts(True)[0], u=rig.acting).q
    rig.until(RUNNING)
    rig.go(300)
    estimator = rig.loop._estimator
    assert not rig.loop.efforts.missing and rig.loop.complaint() == ''
    assert estimator._commands.at(estimator.time) == pytest.approx(rig.acting)
    rig.silent = {'gauges'}
    rig.go(300)
    assert rig.loop.mode == RUNNING and rig.loop.statistics.counts['losses'] == 0
    assert (
        rig.loop.efforts.missing == ('gauges',)
        and 'gauges silent: replaced' in rig.loop.complaint()
    )
    assert estimator._commands.at(estimator.time) == pytest.approx(U)
    rig.silent = set()
    rig.go(100)
    assert not rig.loop.efforts.missing


def test_spikes_of_gauges_are_counted_and_wrong_gauges_replaced_by_commands(monkeypatch):
    """Spikes are counted; gauges wrong for the time-out are named and commands used."""
    rig = Rig(monkeypatch, gauged=True, change=10.0)
    rig.until(RUNNING)
    rig.go(300)
    statistics, estimator = rig.loop.statistics, rig.loop._estimator
    square, numbers = rig.loop.squares['gauges']
    assert statistics.counts['outliers'] == 0 and numbers > 50 and 0.0 < square < numbers

    def spike(message):
        message.effort = [message.effort[0], message.effort[1] + 50.0]

    rig.spoil = {'gauges': spike}
    rig.go(10)
    rig.spoil = {}
    assert statistics.counts['outliers'] == 1 and rig.loop.complaint() == ''
    assert estimator._commands.at(estimator.time) == pytest.approx(U, abs=0.1)
    rig.go(100)

    def wrong(message):
        message.effort = [x + 200.0 for x in message.effort]

    rig.spoil = {'gauges': wrong}
    rig.go(300)
    assert rig.loop.mode == RUNNING and statistics.counts['losses'] == 0
    assert rig.loop.efforts.missing == rig.loop.efforts.rejected == ('gauges',)
    assert 'gauges rejected: replaced by the commands' in rig.loop.complaint()
    assert 'silent' not in rig.loop.complaint()
    assert np.array_equal(estimator._commands.at(estimator.time), U)
    rig.spoil = {}
    rig.go(100)
    assert (
        not rig.loop.efforts.missing
        and not rig.loop.efforts.rejected
        and rig.loop.complaint() == ''
    )


def test_gauges_without_a_gate_have_no_statistic(monkeypatch):
    """Gauges whose every change is accepted have no squared deviations."""
    rig = Rig(monkeypatch, gauged=True)
    rig.until(RUNNING)
    rig.go(50)
    assert set(rig.loop.squares) == {'camera', 'cables'} and not rig.loop.efforts.missing


def test_of_what_has_piled_up_on_a_shared_topic_the_newest_counts(rig):
    """After a stall one measurement of a topic of many nodes is taken in, not all that waited."""
    camera = next(each for each in rig.loop.sensors.streams if each.sensor.name == 'camera')
    source = {'type': 'tf2_msgs/TFMessage', 'names': 'tip'}
    given = {**GIVEN['sensors'][0], 'message': source}
    (sensor,) = sd.load_estimator({'sensors': [given]}).sensors
    waiting = []

    class Queue(Box):
        def wait(self, timeout):
            return waiting.pop(0) if waiting else None

    stream = camera._replace(inbox=Queue(), adapter=adapter_of(sensor))
    own = rig.loop.sensors
    own.streams = [each for each in own.streams if each is not camera] + [stream]
    tip = sd.forward_kinematics(parts()[0], q=rig.q)[-1]
    rig.silent = {'cables'}
    before = rig.loop.statistics.counts['measurements']
    for k in range(20, -1, -1):
        for name in ('tip', 'lamp'):
            each = transforms_of(PoseArray(poses=poses_of(tip[None])), [name])[0]
            each.header.stamp = stamped(rig.present - k * MS)
            each.transform.translation.x += 1e-6 * k
            waiting.append(SimpleNamespace(transforms=[each]))
    rig.go(2)
    assert not waiting and rig.loop.statistics.counts['measurements'] == before + 2
    assert not sum(rig.loop.statistics.refused.values())
