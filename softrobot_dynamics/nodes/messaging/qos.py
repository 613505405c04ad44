# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The quality of service of topics, and the `qos_overrides` of it that a user may give.

Of what is published these are reliability, history and depth; of what the loops read it is the
reliability: they want nothing but the newest message.
"""

from collections.abc import Callable, Mapping, Sequence
import copy
from typing import Any

from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSPolicyKind, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription
from softrobot_dynamics.errors import DescriptionError, Problem

OVERRIDES_PREFIX = 'qos_overrides.'

#: How both loops read, from whatever publisher: an old message is not worth sending again, and
#: acknowledging each of them wakes the publisher's threads twice per tick.
NEWEST_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
#: The same of a topic on which many nodes publish, each about something else.
MANY_PUBLISHERS_QOS = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)


def quality_of(values: Mapping[str, Any]) -> QoSProfile:
    """Return the quality of service of a publisher by the parameters."""
    reliable = values['reliability'] == 'reliable'
    return QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE) if reliable else NEWEST_QOS


def publisher(node: Node, kind: type, topic: str, quality: QoSProfile) -> Publisher:
    """Return a publisher of a type of message; DescriptionError for a wrong override."""
    policies = QoSPolicyKind.HISTORY, QoSPolicyKind.DEPTH, QoSPolicyKind.RELIABILITY
    return _create(node.create_publisher, policies, (kind, topic), quality)


def subscription(
    node: Node,
    kind: type,
    topic: str,
    callback: Callable[..., object],
    quality: QoSProfile,
    **options: Any,
) -> Subscription:
    """Return a subscription with options as rclpy has them; errors as :func:`publisher`."""
    policies, arguments = (QoSPolicyKind.RELIABILITY,), (kind, topic, callback)
    return _create(node.create_subscription, policies, arguments, quality, **options)


def _create(
    create: Callable[..., Any],
    policies: Sequence[QoSPolicyKind],
    arguments: tuple[Any, ...],
    quality: QoSProfile,
    **options: Any,
) -> Any:
    """Create a publisher or a subscription whose quality of service a user may override."""
    own = copy.copy(quality)  # rclpy writes what is overridden into it
    try:
        return create(
            *arguments, own, qos_overriding_options=QoSOverridingOptions(policies), **options
        )
    except (RuntimeError, ParameterException) as error:
        words = 'reliability: reliable or best_effort, history: keep_last or keep_all, depth: 1'
        raise DescriptionError(
            (Problem(f'{OVERRIDES_PREFIX}{arguments[1]}', str(error), words),), 'parameters'
        ) from error
