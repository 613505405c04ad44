# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A ROS node that records all topics of the nodes under test and calls their services."""

import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
import numpy as np
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from softrobot_dynamics.loops.message_fields import SECOND, stamp_of
from std_msgs.msg import Float64MultiArray
from support import node_processes
from trajectory_msgs.msg import JointTrajectory

PATIENCE = 900.0  # [s] for what comes within one on an idle machine
LAST_WORDS = 60.0  # [s] for the same once a node has failed
OFTEN = 0.005  # [s]
CONTROLLER, SIMULATION = '/controller: control loop', '/simulation: simulated robot'


class _TakenByUs(MutuallyExclusiveCallbackGroup):
    """Keeps the executor off, which takes half a core for 2000 messages a second."""

    def can_execute(self, entity):
        return False


class Observer:
    """A ROS node of the test's own that sees and says everything."""

    def __init__(self):
        self._context = rclpy.Context()
        rclpy.init(context=self._context)
        self.node = rclpy.create_node('observer', context=self._context)
        self._executor = rclpy.executors.SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self.status, self.commands, self.states, self.heard = {}, [], [], {}
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self._diagnosed, 10)
        self._streams, self._apart = [], _TakenByUs()
        for kind, topic, keep in (
            (JointState, 'joint_commands', self.commands.append),
            (JointState, 'joint_states', self.states.append),
            (JointState, 'controller/controller_state', self._keep('state')),
            (JointTrajectory, 'controller/reference', self._keep('reference')),
            (Float64MultiArray, 'controller/commands', self._keep('array')),
        ):
            self.listen(kind, topic, keep)
        self._publishers, self._clients = {}, {}

    def listen(self, kind, topic, keep):
        """Hand on the messages of a topic on which each tick says something."""
        depth, apart = QoSProfile(depth=1000), self._apart
        stream = self.node.create_subscription(kind, topic, keep, depth, callback_group=apart)
        self._streams.append(stream)

    def _keep(self, name):
        return lambda message: self.heard.update({name: message})

    def _diagnosed(self, message):
        for status in message.status:
            self.status[status.name] = status

    def until(self, condition, what, every=OFTEN):
        """Ask again, after ``every`` [s] or less, until the condition holds, or patience ends."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if node_processes.failed():  # what it said may still be on its way
                end = min(end, time.monotonic() + LAST_WORDS)
            assert time.monotonic() < end, f'{what}: nothing came; {self.words()}'
            self._executor.spin_once(timeout_sec=every)
            self._listen()

    def until_later(self, seconds):
        """Wait until the robot's own time, which its states tell, is later by so much [s]."""
        end = stamp_of(self.states[-1]) + round(seconds * SECOND)
        self.until(lambda: stamp_of(self.states[-1]) > end, f'{seconds} s of states')

    def _listen(self):
        """Take all that has come on the topics on which each tick says something."""
        for stream in self._streams:
            with stream.handle:
                while taken := stream.handle.take_message(stream.msg_type, False):
                    stream.callback(taken[0])

    def ignore(self, topic):
        """Listen no more to one of the topics on which each tick says something."""
        (stream,) = (each for each in self._streams if each.topic_name == topic)
        self._streams.remove(stream)
        self.node.destroy_subscription(stream)

    def words(self):
        """Return what the nodes say of themselves."""
        return {name: status.message for name, status in self.status.items()}

    def value(self, name, key):
        """Return a number of a status, nan if there is none yet."""
        values = self.status[name].values if name in self.status else ()
        return next((float(v.value) for v in values if v.key == key), math.nan)

    def reference(self, field):
        """Return a field of the reference last reported (m,), nan if there was none."""
        heard = self.heard.get('reference')
        return np.array(getattr(heard.points[0], field)) if heard and heard.points else math.nan

    def output_error(self):
        """
        Return the greatest error of the outputs in the last report, nan if there is none.

        Outputs and reference are two messages: one may be heard before the other of its tick.
        """
        state, reference = self.heard.get('state'), self.heard.get('reference')
        if state is None or reference is None or stamp_of(state) != stamp_of(reference):
            return math.nan
        return np.abs(np.array(state.position) - self.reference('positions')).max()

    @property
    def phase(self):
        """The phase that the controller reports, None if there is none."""
        values = self.status[CONTROLLER].values if CONTROLLER in self.status else ()
        return next((v.value for v in values if v.key == 'phase'), None)

    def mode(self, name):
        """Return the mode of a status, '' if there is none yet."""
        values = self.status[name].values if name in self.status else ()
        return next((v.value for v in values if v.key == 'mode'), '')

    def until_running(self):
        """Wait for the closed loop, whatever else there is to say of it."""
        self.until(
            lambda: (
                self.mode(CONTROLLER) == 'running'
                and self.mode(SIMULATION) == 'driven by commands'
            ),
            'a closed loop',
        )

    def ask(self, kind, name, request):
        """Return the future of a service's answer."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name)
        client = self._clients[name]
        self.until(client.service_is_ready, name)
        return client.call_async(request)

    def answer(self, future, what='an answer'):
        """Return what was asked for."""
        self.until(future.done, what)
        return future.result()

    def call(self, kind, name, request):
        """Return the answer of a service."""
        return self.answer(self.ask(kind, name, request), name)

    def begin_to_set(self, **values):
        """Return the future of the answer to a change of the controller's parameters."""
        request = SetParametersAtomically.Request(
            parameters=[
                Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
                for name, value in values.items()
            ]
        )
        name = 'controller/set_parameters_atomically'
        return self.ask(SetParametersAtomically, name, request)

    def set(self, **values):
        """Return the answer to a change of the controller's parameters, all or none."""
        return self.answer(self.begin_to_set(**values), 'parameters').result

    def set_pace(self, factor):
        """Let the simulated time pass at a factor of real time."""
        change = Parameter('real_time_factor', value=float(factor)).to_parameter_msg()
        request = SetParametersAtomically.Request(parameters=[change])
        name = 'simulation/set_parameters_atomically'
        assert self.call(SetParametersAtomically, name, request).result.successful

    def get(self, name):
        """Return a double parameter of the controller."""
        return (
            self.call(
                GetParameters, 'controller/get_parameters', GetParameters.Request(names=[name])
            )
            .values[0]
            .double_value
        )

    def begin_to_change(self, transition):
        """Return the future of the answer to a transition of the controller."""
        request = ChangeState.Request(transition=Transition(id=transition))
        return self.ask(ChangeState, 'controller/change_state', request)

    def change(self, transition):
        """Return whether the controller made a transition."""
        return self.answer(self.begin_to_change(transition), 'a transition').success

    def say(self, topic, message):
        """Publish on a topic somebody listens to."""
        if topic not in self._publishers:
            publisher = self.node.create_publisher(type(message), topic, QoSProfile(depth=10))
            self.until(lambda: publisher.get_subscription_count() > 1, topic)
            self._publishers[topic] = publisher
        self._publishers[topic].publish(message)

    def hush(self, topic):
        """Say nothing on a topic any more."""
        self.node.destroy_publisher(self._publishers.pop(topic))

    def close(self):
        """Leave."""
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.try_shutdown()
