# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Faults that benchmarks/soak.py injects into a closed loop, and where each must be reported."""

import signal

from geometry_msgs.msg import Point, PointStamped, WrenchStamped
import numpy as np
from sensor_msgs.msg import JointState
from soak_loop import ROBOT, SIMULATION, Unaccounted
import softrobot_dynamics as sd
from std_msgs.msg import Header
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

WATCHDOG = 0.05  # [s]
COUNTED = {  # by which counter of the controller a spoiled state is accounted for
    'not a number': 'refused: not a number',
    'infinite': 'refused: not a number',
    'absurd': 'refused: not a number',
    'of another robot': 'refused: wrong name',
    'a number missing': 'refused: wrong size',
    'unreadable': 'refused: unreadable',
    'implausible rate': 'refused: contradiction',
    'repeated': 'refused: out of order',
    'out of order': 'refused: out of order',
    'from the future': 'refused: from the future',
    'dropped': 'missed ticks',
    'late': 'missed ticks',
    'silence': 'watchdog trips',
}


class Faults:
    """Faults to inject: each method causes one, and returns once it is accounted for."""

    def __init__(self, loop, rng):
        self._loop, self._random = loop, rng
        self._model = sd.compile_model(sd.load_robot(ROBOT))

    def spoil(self, kind):
        """Have the proxy spoil states."""
        seconds = self._random.uniform(2.0, 5.0) * WATCHDOG
        counted = self._loop.grows(COUNTED[kind])
        if not self._loop.order(fault=kind, seconds=seconds):
            raise Unaccounted('no state was spoiled')
        counted()

    def clock_set(self):
        """Set the clock an hour forwards, and back again."""
        for way, cause in (('forwards', 'from the future'), ('back', 'out of order')):
            # a watchdog that trips meanwhile has the controller believe no state of before
            counted = self._loop.grows(f'refused: {cause}', 'watchdog trips')
            self._loop.order(fault=f'clock set {way}', seconds=3.0 * WATCHDOG)
            counted()

    def _stopped(self, name):
        process = self._loop.processes[name]
        process.send_signal(signal.SIGSTOP)
        self._loop.pause(self._random.uniform(3.0, 8.0) * WATCHDOG)
        process.send_signal(signal.SIGCONT)

    def controller_stopped(self):
        """SIGSTOP, SIGCONT."""
        counted = (
            self._loop.grows('watchdog trips'),
            self._loop.grows('command time-outs', node=SIMULATION),
        )
        self._stopped('controller')
        for each in counted:
            each()

    def simulation_stopped(self):
        """SIGSTOP, SIGCONT."""
        here, there = (
            self._loop.grows('watchdog trips'),
            self._loop.grows('slips', node=SIMULATION),
        )
        self._stopped('simulation')
        here()
        there()

    def simulation_killed(self):
        """SIGKILL, and another one."""
        counted = self._loop.grows('watchdog trips')
        self._replaced('simulation', signal.SIGKILL, counted)

    def _controller_ended(self, number):
        counted = self._loop.grows('command time-outs', node=SIMULATION)
        self._replaced('controller', number, counted)

    def _replaced(self, name, number, counted):
        """End a node, see that the other one noticed, and start another, whatever came of it."""
        try:
            self._loop.end(name, number)
            counted()
        finally:
            self._loop.start(name)

    def controller_killed(self):
        """SIGKILL, and another one."""
        self._controller_ended(signal.SIGKILL)

    def controller_ended(self):
        """SIGTERM or SIGINT, and another one."""
        self._controller_ended(self._random.choice([signal.SIGTERM, signal.SIGINT]))

    def deactivated(self):
        """Inactive for a while."""
        counted = self._loop.grows('command time-outs', node=SIMULATION)
        for name in ('deactivate', 'activate'):
            if not self._loop.answer(self._loop.change(name)).success:
                raise Unaccounted(f'{name} failed')
            self._loop.pause(3.0 * WATCHDOG)
        counted()

    def emergency_stop(self):
        """Stop, and release."""
        said = self._loop.says('controller', 'emergency stop: stopped')  # never held back
        self._asked('emergency_stop', SetBool.Request(data=True))
        said()
        self._asked('emergency_stop', SetBool.Request(data=False))

    def _asked(self, name, request):
        answer = self._loop.answer(self._loop.ask(name, request))
        if not answer.success:
            raise Unaccounted(f'{name}: {answer.message}')

    def hold_and_restart(self):
        """Ask for both."""
        self._asked('hold', Trigger.Request())
        self._asked('restart', Trigger.Request())

    def time_stands_still(self):
        """Pause the simulation."""
        counted = self._loop.grows('watchdog trips')
        self._asked('pause', SetBool.Request(data=True))
        self._loop.pause(4.0 * WATCHDOG)
        self._asked('pause', SetBool.Request(data=False))
        counted()

    def storm_of_gains(self):
        """Set gains as fast as answers come, every fifth wrong."""
        for k in range(60):
            p = -1.0 if k % 5 == 0 else self._random.uniform(50.0, 150.0)
            self._set(p > 0.0, gains__p=p)
        self._set(True, gains__p=100.0)

    def _set(self, well, **values):
        result = self._loop.answer(self._loop.set(**values)).result
        if result.successful != well or (not well and not result.reason):
            raise Unaccounted(f'{values}: {result}')

    def bad_parameters(self):
        """Ask for what is refused."""
        for values in (
            {'rate': 500.0}, {'limits__upper': -5.0}, {'reference__type': 'nonsense'},
            {'gains__d': float('nan')}, {'gains__p': 1e9}, {'watchdog_periods': 0},
            {'target__speed': float('inf')}, {'safe_ramp': -1.0},
        ):  # fmt: skip
            self._set(False, **values)

    def trajectory(self):
        """Send one to be followed, and one to be refused."""
        names, y = self._loop.heard['y']
        there = [each + self._random.uniform(-5e-4, 5e-4) for each in y]
        for end in (there, [float('nan')] * len(y)):
            message = JointTrajectory(joint_names=names)
            for t, values in ((0, y), (1, end)):
                message.points.append(JointTrajectoryPoint(positions=values))
                message.points[-1].time_from_start.sec = t
            refused = self._loop.says('controller', '~/trajectory refused: ')
            self._loop.tell['controller/trajectory'].publish(message)
        refused()

    def target(self):
        """Ask for a point within reach, and for one that is none."""
        angle = self._random.uniform(0.0, 6.3)
        x, y = 0.05 * np.cos(angle), 0.05 * np.sin(angle)
        self._loop.tell['controller/target'].publish(PointStamped(point=Point(x=x, y=y, z=0.58)))
        self._loop.pause(1.1)  # warnings come once a second
        refused = self._loop.says('controller', '~/target refused: ')
        self._loop.tell['controller/target'].publish(PointStamped(header=Header(frame_id='elbow')))
        refused()

    def wrench(self):
        """Push, once at no body."""
        self._loop.pause(1.1)  # warnings come once a second
        refused = self._loop.says('simulation', '~/wrench: message refused: wrong name')
        for frame, force in (('segment3 base', 0.2), ('elbow', 1.0), ('segment3 base', 0.0)):
            message = WrenchStamped(header=Header(frame_id=frame))
            message.wrench.force.x = force
            self._loop.tell['simulation/wrench'].publish(message)
            self._loop.pause(0.2)
        refused()

    def moved(self):
        """Put the robot elsewhere."""
        # after stalls a state that is put has a stamp as much ahead as the simulated time was held
        keys = 'refused: contradiction', 'refused: from the future', 'watchdog trips'
        counted = self._loop.grows(*keys)
        name = self._random.choice(self._model.coordinate_names[:2])
        self._loop.wait_for(self._loop.tell['simulation/set_state'].get_subscription_count, 'ears')
        position = [self._random.choice([-1.0, 1.0]) * self._random.uniform(0.4, 0.6)]
        message = JointState(name=[name], position=position)
        self._loop.tell['simulation/set_state'].publish(message)
        counted()
