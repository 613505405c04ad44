# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""States in parts, with other names and without velocities, over real DDS."""

import contextlib
import queue
import threading
import time

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from support.linear_plant import COORDINATES  # noqa: E402
from support.node_processes import RATE  # noqa: E402
from support.observer import CONTROLLER, SIMULATION  # noqa: E402

pytestmark = pytest.mark.realtime

PERIOD, LATE = 1.0 / RATE, 4  # [s]; periods
PARTS = {'state_topics': '[arm, soft]', 'states.arm.names': '[x]'}
NAMES = {'joint_prefix': 'left_', 'joint_names.y': 'bend', 'states.soft.prefix': 'camera_'}


class Drivers:
    """Drivers of two coordinates at rest, each on a topic and with a clock of its own."""

    def __init__(self, node):
        self._publishers = [
            node.create_publisher(JointState, f'{part}/joint_states', 10)
            for part in ('arm', 'soft')
        ]
        self.silent, self._sent, self._next = set(), 0, time.monotonic()

    def send(self, **changed):
        """Send the states of the next period once it has come; `changed` fields of `soft`."""
        if time.monotonic() < self._next:
            return
        self._next, self._sent = time.monotonic() + PERIOD, self._sent + 1
        for part, publisher in enumerate(self._publishers):
            message = JointState(
                name=['gripper', COORDINATES[part]], position=[np.nan, 0.0], velocity=[0.0, 0.0]
            )
            if part == 1:
                for name, value in changed.items():
                    setattr(message, name, value)
            stamp = (100 + 1000 * part) * 10**9 + round(self._sent * PERIOD * 1e9)
            message.header.stamp = stamped(stamp)
            if part not in self.silent:
                publisher.publish(message)


def said(observer):
    """Return the level and the words of the controller."""
    status = observer.status.get(CONTROLLER)
    return (status.level, status.message) if status else (b'', '')


def text(observer, key):
    """Return a text of the controller's status."""
    values = observer.status[CONTROLLER].values if CONTROLLER in observer.status else ()
    return next((v.value for v in values if v.key == key), '')


def test_a_robot_in_two_parts_with_other_names_is_held(observer, start):
    """Parts, prefixes and mapped names in simulation and controller close the loop."""
    heard = {}
    for topic in ('arm/joint_states', 'soft/joint_states'):
        observer.node.create_subscription(
            JointState, topic, lambda message, topic=topic: heard.update({topic: message}), 10
        )
    given = {key.replace('.', '__'): value for key, value in (PARTS | NAMES).items()}
    start('simulation', states__arm__rate=RATE / 2, **given)
    start('controller', autostart='true', **given | {'rate': RATE / 2})
    observer.until_running()
    observer.until(lambda: len(heard) == 2, 'both parts')
    assert {topic: list(message.name) for topic, message in heard.items()} == {
        'arm/joint_states': ['left_x'],
        'soft/joint_states': ['bend'],
    }
    observer.until(lambda: observer.value(CONTROLLER, 'ticks') > RATE, 'a second of ticks')
    assert observer.value(CONTROLLER, 'rate of arm [Hz]') == pytest.approx(RATE / 2, rel=0.2)
    assert observer.value(CONTROLLER, 'rate of soft [Hz]') == pytest.approx(RATE, rel=0.2)
    assert 'refused' not in said(observer)[1]


def test_a_silent_part_is_named_and_the_safe_command_sent(observer, start, tmp_path):
    """Each part that falls silent trips the watchdog, and is named; what it sends is refused."""
    drivers = Drivers(observer.node)
    given = {key.replace('.', '__'): value for key, value in PARTS.items()}
    start('controller', autostart='true', **given)
    drivers.silent = {1}

    def until(condition, what, **changed):
        def sent():
            drivers.send(**changed)
            return condition()

        observer.until(sent, what, every=0.2 * PERIOD)

    until(lambda: 'no valid states of soft' in said(observer)[1], 'the missing part by name')
    log = tmp_path / 'controller.log'
    until(lambda: 'no valid state of soft on /soft/joint_states' in log.read_text(), 'its topic')
    drivers.silent = set()
    until(lambda: observer.mode(CONTROLLER) == 'running', 'both parts')
    drivers.silent = {0}
    until(
        lambda: (
            said(observer)[0] == DiagnosticStatus.ERROR
            and 'no valid states of arm' in said(observer)[1]
        ),
        'the silent part by name',
    )
    drivers.silent = set()
    until(lambda: observer.mode(CONTROLLER) == 'running', 'the loop once more')
    until(lambda: '(part soft)' in text(observer, 'last refusal'), 'a refusal', position=[1.0])
    assert observer.value(CONTROLLER, 'watchdog trips') >= 1
    until(lambda: observer.mode(CONTROLLER) == 'running', 'the loop in the end')


@pytest.mark.parametrize('velocity', [[], [0.0, np.nan]])
def test_missing_velocities_are_reported(velocity, observer, start, tmp_path):
    """A driver without velocities, or with nan, is followed; the log says so with the delay."""
    drivers = Drivers(observer.node)
    given = {key.replace('.', '__'): value for key, value in PARTS.items()}
    start('controller', autostart='true', **given)

    def running():
        drivers.send(velocity=velocity)
        log = (tmp_path / 'controller.log').read_text()
        return observer.mode(CONTROLLER) == 'running' and '10 ms late' in log

    observer.until(running, 'a running loop, and words', every=0.2 * PERIOD)
    assert text(observer, 'velocities').endswith('10 ms late, which the law compensates: y')


@pytest.mark.parametrize('clock', ['true', 'false'], ids=['one clock', 'own clocks'])
def test_a_late_part_is_brought_to_the_tick_if_the_clock_is_one(clock, observer, start):
    """
    A part that comes 40 ms after its stamp is extrapolated to the tick's moment, by one clock.

    The diagnostics name it. By clocks of their own nobody can know of its latency, and it lags.
    """
    given = {key.replace('.', '__'): value for key, value in PARTS.items()}
    start('controller', autostart='true', states__tick='arm', states__shared_clock=clock, **given)
    arm, soft = (
        observer.node.create_publisher(JointState, f'{part}/joint_states', 10)
        for part in ('arm', 'soft')
    )
    sent, due, apart = 0, time.monotonic(), []

    def moved():
        """Send both parts of x = y = -cos t, one as it was; note how far apart they seem."""
        nonlocal sent, due
        if time.monotonic() < due:
            return False
        due, sent = time.monotonic() + PERIOD, sent + 1
        for publisher, name, late in ((soft, 'y', LATE), (arm, 'x', 0)):
            t = (sent - late) * PERIOD
            message = JointState(name=[name], position=[-np.cos(t)], velocity=[np.sin(t)])
            message.header.stamp = stamped(10**11 + round(t * 1e9))
            publisher.publish(message)
        state = observer.heard.pop('state', None)
        if state is not None and len(state.position) == 2:
            apart.append(abs(state.position[0] - state.position[1]))
        return len(apart) > 30 and sent * PERIOD > 0.5 * np.pi

    observer.until(moved, 'reports of a quarter of a turn', every=0.2 * PERIOD)
    if clock == 'true':
        assert max(apart) < 0.2 * LATE * PERIOD
        words = 'states of soft are 40 ms older than the ticks'
        observer.until(lambda: moved() and words in said(observer)[1], words, every=0.2 * PERIOD)
    else:
        assert max(apart) > 0.5 * LATE * PERIOD


@pytest.mark.parametrize('tick', ['', 'arm'], ids=['slowest', 'fastest'])
def test_parts_close_the_loop_as_fast_as_answers_come(tick, observer, start):
    """Without real time the tick's part is answered, and no state of the other is waited for."""
    given = {key.replace('.', '__'): value for key, value in PARTS.items()}
    given |= {'states__shared_clock': 'true'} | ({'states__tick': tick} if tick else {})
    start(
        'simulation', real_time_factor=0.0, command_timeout_periods=1000,
        states__soft__rate=RATE / 4, **given,
    )  # fmt: skip
    rate = RATE if tick else RATE / 4
    start('controller', autostart='true', **given | {'rate': rate, 'watchdog_periods': 1000})
    observer.until_running()
    observer.until(lambda: observer.value(CONTROLLER, 'ticks') > 300, 'answers')
    assert observer.value(SIMULATION, 'missed ticks') == 0


class LateDriver:
    """Passes the states of one part on, each so long [s] after it came."""

    def __init__(self, source, topic, late):
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        node = rclpy.create_node('late', context=self._context)
        self._publisher = node.create_publisher(JointState, topic, 10)
        self._waiting, self._late, self._over = queue.SimpleQueue(), late, threading.Event()
        node.create_subscription(JointState, source, self._came, 10)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._threads = [threading.Thread(target=each) for each in (self._listen, self._pass_on)]
        for each in self._threads:
            each.start()

    def _came(self, message):
        self._waiting.put((time.monotonic() + self._late, message))

    def _listen(self):
        while not self._over.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _pass_on(self):
        while not self._over.is_set():
            with contextlib.suppress(queue.Empty):
                due, message = self._waiting.get(timeout=0.1)
                time.sleep(max(0.0, due - time.monotonic()))
                self._publisher.publish(message)

    def close(self):
        """End."""
        self._over.set()
        for each in self._threads:
            each.join()
        rclpy.shutdown(context=self._context)


def test_a_late_part_is_predicted_and_the_arm_follows(observer, start_arm, tmp_path):
    """
    A part is two periods late: the law predicts whole states, and the arm follows within 1 mm.

    They are of the moment at which that part is known, about three periods before the ticks; log
    and diagnostics say so. The simulated time passes slowly, so that the machine makes no delay.
    """
    pace, late = 0.2, 2
    given = {
        'state_topics': '[one, two]', 'states__one__names': '["segment1/*"]',
        'states__tick': 'one', 'states__shared_clock': 'true',
    }  # fmt: skip
    driver = LateDriver('raw/joint_states', 'two/joint_states', late * PERIOD / pace)
    try:
        start_arm(
            'simulation', states__two__topic='raw/joint_states', real_time_factor=pace, **given
        )
        start_arm(
            'controller', autostart='true', reference__type='circle', watchdog_periods=200,
            reference__circle__body='segment3', reference__circle__period=2.0,
            reference__ramp_time='0.5', **given,
        )  # fmt: skip
        observer.until_running()
        log, words = tmp_path / 'controller.log', 'whole states are'
        observer.until(lambda: words in log.read_text(), words)
        observer.until(lambda: observer.value(CONTROLLER, 'ticks') > 0.8 * RATE, 'the circle')
        errors = []

        def seen():
            errors.append(observer.output_error())
            return observer.value(CONTROLLER, 'ticks') > 1.7 * RATE

        observer.until(seen, 'almost half a turn more')
        delay = 1e-3 * RATE * observer.value(CONTROLLER, 'delay of whole states [ms]')
        assert late <= delay < late + 2.0
        assert np.nanmax(errors) < 1e-3
        assert observer.value(CONTROLLER, 'watchdog trips') == 0
    finally:
        driver.close()


@pytest.mark.parametrize('given, simulated, rate', [
    ({}, {}, RATE),
    ({'state_topics': '[all]'}, {'states__all__velocities': 'false'}, RATE),
    ({'state_topics': '[one, two, three]', 'states__one__names': '["segment1/*"]',
      'states__two__names': '["segment2/*"]', 'states__tick': 'two'},
     {'rate': 500.0, 'states__two__rate': 125.0, 'states__three__rate': 62.5,
      'states__three__velocities': 'false'}, 125.0),
], ids=['whole', 'without velocities', 'three parts'])  # fmt: skip
def test_the_arm_follows_a_circle_whatever_its_drivers_send(
    given, simulated, rate, observer, start_arm
):
    """With states in three parts, or without velocities, the arm follows within 1 mm."""
    start_arm('simulation', **{'rate': RATE, **given, **simulated})
    start_arm(
        'controller', autostart='true', rate=rate, reference__type='circle', **given,
        reference__circle__body='segment3', reference__circle__period=2.0,
        reference__ramp_time='0.5',
    )  # fmt: skip
    observer.until_running()
    observer.until(lambda: observer.value(CONTROLLER, 'ticks') > 1.0 * rate, 'a second')
    errors = []

    def seen():
        errors.append(observer.output_error())
        return observer.value(CONTROLLER, 'ticks') > 3.0 * rate

    observer.until(seen, 'a turn more')
    assert np.nanmax(errors) < 1e-3 and observer.mode(SIMULATION) == 'driven by commands'
    assert observer.value(CONTROLLER, 'watchdog trips') == 0
