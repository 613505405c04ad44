# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Publish the objects around a simulated robot, and the forces of contact."""

from __future__ import annotations

from array import array
from threading import Event, Thread
import traceback
from typing import TYPE_CHECKING

from geometry_msgs.msg import Vector3, WrenchStamped
import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from softrobot_dynamics.dynamics.calls import forward_kinematics
from softrobot_dynamics.loops.realtime import apply_priority, SLOW
from softrobot_dynamics.nodes.messaging.message_values import stamped
from softrobot_dynamics.nodes.messaging.qos import publisher
from softrobot_dynamics.nodes.messaging.state_messages import StateWriter
from softrobot_dynamics.simulation.contact_snapshot import ContactReading, ContactSnapshot
from softrobot_dynamics.simulation.contact_wrenches import ContactWrenches, object_columns
from std_msgs.msg import Float64, Float64MultiArray, MultiArrayDimension, MultiArrayLayout

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time
    from softrobot_dynamics.annotations import Vector
    from softrobot_dynamics.model.model import CompiledModel

_CONTACTS_QOS = QoSProfile(depth=1)
_STEP_TIMEOUT = 1.0  # [s] for the loop's next step
_ERROR_PERIOD = 10.0  # [s] between two errors
CONTACT_COLUMNS = 6  # numbers of a contact: point and force


class ContactPublisher:
    """
    Publishes contacts of a simulated robot at a rate, in a thread of its own.

    - `~/objects` (sensor_msgs/JointState): position and velocity of the objects' coordinates, by
      the names that `~/set_state` takes
    - `~/contacts/BODY` (geometry_msgs/WrenchStamped) for each body and object with a shape: the
      wrench of all contacts on it, about the origin and in the axes of the frame at its tip, which
      is that of the visualizer on `/tf`
    - `~/contact_points` (std_msgs/Float64MultiArray): a row x, y, z [m], fx, fy, fz [N] for each
      contact, in the base frame: where, and the force on the first of both; on the robot where
      it touches something else
    - `~/time` (std_msgs/Float64), where obstacles are given a motion: the simulated time [s] since
      the start or the last reset, by which they move

    The loop copies state and forces into a :class:`ContactSnapshot` when this thread asks for it.
    Where nobody listens it does not.
    """

    def __init__(
        self, node: Node, model: CompiledModel, snapshot: ContactSnapshot, rate: float
    ) -> None:
        self._node, self._model, self._snapshot = node, model, snapshot
        self._bodies, self._columns = ContactWrenches(model), object_columns(model)
        self._state = StateWriter([model.coordinate_names[i] for i in self._columns])
        self._points = Float64MultiArray()
        prefix = f'{node.get_namespace()}/'.lstrip('/')
        self._frames = [prefix + name for name in self._bodies.names]
        topics = [f'~/contacts/{name}' for name in self._bodies.names]
        self._wrenches = [publisher(node, WrenchStamped, topic, _CONTACTS_QOS) for topic in topics]
        self._objects = publisher(node, JointState, '~/objects', _CONTACTS_QOS)
        self._contacts = publisher(node, Float64MultiArray, '~/contact_points', _CONTACTS_QOS)
        moves = any(obstacle.motion for obstacle in model.description.environment)
        self._time = publisher(node, Float64, '~/time', _CONTACTS_QOS) if moves else None
        clocks = () if self._time is None else (self._time,)
        self._publishers = [*self._wrenches, self._objects, self._contacts, *clocks]
        self._period, self._closed = 1.0 / rate, Event()
        self._thread = Thread(target=self._run, name='contacts', daemon=True)
        self._thread.start()

    def _run(self) -> None:
        apply_priority(SLOW)
        while not self._closed.wait(self._period):
            if not any(each.get_subscription_count() for each in self._publishers):
                continue
            try:
                if (reading := self._snapshot.request(_STEP_TIMEOUT)) is not None:
                    self._publish(reading)
            except Exception:  # what fails once is no reason to publish nothing any more
                words = f'~/contacts: {traceback.format_exc()}'
                self._node.get_logger().error(words, throttle_duration_sec=_ERROR_PERIOD)

    def _publish(self, reading: ContactReading) -> None:
        """Publish a reading on the topics that somebody listens to."""
        stamp = stamped(reading.stamp)
        if self._objects.get_subscription_count():
            q, qd = reading.q[self._columns], reading.qd[self._columns]
            self._objects.publish(self._state.write(q, qd, stamp))
        if self._contacts.get_subscription_count():
            rows = np.hstack([reading.points, reading.forces])
            self._points.layout = _layout(len(rows))
            self._points.data = array('d', rows.tobytes())
            self._contacts.publish(self._points)
        if self._time is not None and self._time.get_subscription_count():
            self._time.publish(Float64(data=reading.time))
        heard = [k for k, each in enumerate(self._wrenches) if each.get_subscription_count()]
        if heard:
            wrenches = self._bodies.wrenches(reading, forward_kinematics(self._model, q=reading.q))
            for k in heard:
                self._wrenches[k].publish(_wrench(wrenches[k], self._frames[k], stamp))

    def close(self) -> None:
        """End the thread and give the topics back."""
        self._closed.set()
        self._thread.join()
        for each in self._publishers:
            self._node.destroy_publisher(each)


def _wrench(value: Vector, frame: str, stamp: Time) -> WrenchStamped:
    """Return a wrench (6,), the moment first, as a message."""
    a, b, c, x, y, z = value.tolist()
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = stamp, frame
    message.wrench.torque, message.wrench.force = Vector3(x=a, y=b, z=c), Vector3(x=x, y=y, z=z)
    return message


def _layout(rows: int) -> MultiArrayLayout:
    """Return the layout of so many rows of CONTACT_COLUMNS numbers."""
    size = [
        MultiArrayDimension(label='contacts', size=rows, stride=rows * CONTACT_COLUMNS),
        MultiArrayDimension(label='x y z fx fy fz', size=CONTACT_COLUMNS, stride=CONTACT_COLUMNS),
    ]
    return MultiArrayLayout(dim=size)
