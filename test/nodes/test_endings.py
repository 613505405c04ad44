# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Loops that fail or end by themselves, over real DDS and in other threads."""

import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.errors import SingularMassError  # noqa: E402
from softrobot_dynamics.loops.thread import Loop, Requests  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from support.linear_plant import COORDINATES  # noqa: E402
from support.node_processes import closed_loop, SAFE  # noqa: E402
from support.observer import CONTROLLER, PATIENCE  # noqa: E402


def put(observer, q, qd=(0.0, 0.0)):
    """Have the simulated robot begin at a state."""
    topic = 'simulation/set_state'
    message = JointState(name=list(COORDINATES), position=list(q), velocity=list(qd))
    publisher = observer.node.create_publisher(JointState, topic, 10)
    observer.until(publisher.get_subscription_count, 'the simulation')
    publisher.publish(message)


@pytest.mark.realtime
def test_a_simulation_whose_loop_fails_reports_it_and_ends(observer, start, tmp_path):
    """A simulation whose loop fails ends with an error status and a log line."""
    simulation = start('simulation', robot='faulty')
    observer.until(lambda: observer.states, 'a state')
    put(observer, (3.5, 0.0))
    assert simulation.wait(PATIENCE) == 1
    log = (tmp_path / 'simulation.log').read_text(encoding='utf-8')
    assert 'the simulation loop ended' in log and 'a fault of the simulator' in log


@pytest.mark.realtime
def test_a_controller_whose_loop_fails_sends_the_safe_command_and_ends(observer, start, tmp_path):
    """First the safe command, then its own line, and a status that is not 0."""
    controller = start('controller', autostart='true', robot='faulty')
    publisher = observer.node.create_publisher(JointState, 'joint_states', 10)

    def answered(q):
        message = JointState(name=list(COORDINATES), position=[q, 0.0], velocity=[0.0, 0.0])
        message.header.stamp = stamped(time.time_ns())
        publisher.publish(message)
        return observer.commands

    observer.until(lambda: answered(0.1), 'an answer', every=0.005)
    observer.until(lambda: answered(3.5) and controller.poll() is not None, 'its end')
    assert controller.wait(PATIENCE) == 1
    log = (tmp_path / 'controller.log').read_text(encoding='utf-8')
    assert 'the control loop ended' in log and 'a fault of the judge' in log
    observer.until(lambda: list(observer.commands[-1].effort) == SAFE, 'the safe command')


@pytest.mark.realtime
def test_the_controller_says_of_a_simulation_that_it_has_diverged(observer, start, tmp_path):
    """The controller reports a diverged simulation with a remedy that works."""
    closed_loop(observer, start)
    put(observer, (99.0, 0.0), (60.0, 0.0))  # it goes on for more than a period

    def said():
        words = observer.words().get(CONTROLLER, '')
        return 'diverged' in words and 'ros2 service call /simulation/reset' in words

    observer.until(said, 'the reason for the silence')
    log = tmp_path / 'controller.log'
    observer.until(lambda: 'waiting for states on /joint_states: /simulation' in log.read_text(),
                   'the same in the log')  # fmt: skip
    assert observer.call(Trigger, 'simulation/reset', Trigger.Request()).success
    observer.until_running()


class _Quiet:
    """An inbox and an published for which nothing happens."""

    def __init__(self):
        self.words = []

    def wake(self):
        """Do nothing."""

    def ended(self, event, error):
        """Keep what is said."""
        self.words.append((event, error))


class _Failing(Loop):
    """A loop whose end, and perhaps its safety, fails."""

    def __init__(self, failure=None):
        self.published, self.failure, self.safe = _Quiet(), failure, 0
        super().__init__('test', _Quiet(), self.published)

    def _begin(self):
        raise KeyError('wrong')

    def _fail(self):
        self.safe += 1
        if self.failure is not None:
            raise self.failure


@pytest.mark.quick
@pytest.mark.parametrize('failure', [None, OSError('no way out')])
def test_a_loop_that_ends_tells_its_node_whatever_else_fails(failure):
    """A failing loop makes the robot safe, then logs and ends the node in any case."""
    loop, ends = _Failing(failure), []
    loop.ended = lambda: ends.append((loop.safe, len(loop.published.words)))
    if failure is None:
        loop.run()
    else:
        with pytest.raises(OSError, match='no way out'):
            loop.run()
    assert ends == [(1, 1)] and isinstance(loop.error, KeyError)


@pytest.mark.quick
def test_a_refused_request_does_not_end_the_loop():
    """A refused request returns an error to its caller, and later requests are served."""
    requests, done = Requests(_Quiet()), []

    class Now:
        """An inbox by which the loop looks at once, in the same thread."""

        def wake(self):
            requests.carry_out()

    requests._inbox = Now()

    def refuse():
        raise SingularMassError(('x',))

    with pytest.raises(SingularMassError):
        requests.ask(refuse, 1.0)
    assert requests.ask(lambda: done.append(1), 1.0) and done == [1]


@pytest.mark.quick
def test_a_record_that_cannot_be_written_for_any_reason_reports_it(tmp_path):
    """Any failure to write a record is reported and ends its thread."""
    pytest.importorskip('mcap')
    from softrobot_dynamics.nodes import record_topics
    from softrobot_dynamics.nodes.record import Record

    said = []
    record = Record(
        tmp_path / 'run.mcap', [record_topics.number('/time', 't')], {}, ('/parameters', {}),
        lambda what, error: said.append((what, error)),
    )  # fmt: skip
    record._messages = lambda rows: np.zeros(2) / np.array(['x'])
    record.add(1, 1, 0.5)
    record.close()
    assert len(said) == 1 and 'ends here' in said[0][0] and record.lost == 1


@pytest.mark.parametrize('node, arguments, words', [
    ('controller', ['--params-file', 'bare.yaml'],
     "'--params-file bare.yaml', expected a params file that ROS can read, as NODE: "),
    ('estimator', ['-p', 'rate:=['], "'-p rate:=[', expected a parameter override rule"),
    ('simulation', ['--params-file', 'nosuch.yaml'], 'Error opening YAML file'),
    ('visualizer', ['--nosuch'], '--nosuch'),
    ('visualizer', ['-e', 'a//b'], 'Enclave name is not valid'),
    ('visualizer', ['-p', 'rate:=fast', '-p', 'discs:=-1'], "rate: 'fast', expected a number"),
])  # fmt: skip
def test_arguments_that_cannot_be_read_end_a_node_in_one_line(tmp_path, node, arguments, words):
    """ROS arguments and parameters that are wrong end each node with status 1 and one line."""
    (tmp_path / 'bare.yaml').write_text('rate: {fast: 1}\n', encoding='utf-8')
    module = f'softrobot_dynamics.nodes.{node}'
    start = f'import sys; from {module} import main; sys.exit(main())'
    ended = subprocess.run(
        [sys.executable, '-c', start, '--priority', '0', '--ros-args', *arguments],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip
    lines = [line for line in ended.stdout.splitlines() if '[rcl]' not in line]
    assert ended.returncode == 1 and len(lines) == 1, ended.stdout
    assert words in lines[0] and len(lines[0]) < 450
