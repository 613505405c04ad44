# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The law `predictive` over real DDS, its solutions in a thread of their own."""

import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, PointStamped, PoseStamped  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from rclpy.qos import QoSProfile  # noqa: E402
import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration.parameter_files import controller_values  # noqa: E402
from softrobot_dynamics.evaluation.replay import replay  # noqa: E402
from softrobot_dynamics.recordings.reading import read_recording  # noqa: E402
from support.node_processes import compile_for_nodes, NODES, RATE, starting  # noqa: E402
from support.observer import CONTROLLER  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402
import yaml  # noqa: E402

pytestmark = pytest.mark.realtime

ROBOT, GOAL = 'double_pendulum', [0.8, -0.3]
LAW = {'controller': 'predictive', 'predictive__interval': 0.02}


def test_it_follows_counts_its_solutions_and_is_replayed(observer, tmp_path):
    """
    Outputs come to their goal, weights change as it runs, and diagnostics tell of solutions.

    A weight that cannot be is refused by its name; the recording is replayed bit for bit.
    """
    compile_for_nodes(ROBOT, controller='predictive')
    record = tmp_path / 'record.mcap'

    def at_goal():
        found = observer.heard.get('state')
        return found and max(abs(a - b) for a, b in zip(found.position, GOAL)) < 1e-2

    with starting(tmp_path, NODES, (), robot=ROBOT, rate=RATE) as start:
        start('simulation')
        start(
            'controller',
            autostart='true',
            record=str(record),
            reference__type='setpoint',
            reference__setpoint=GOAL,
            reference__ramp_time=0.3,
            **LAW,
        )
        observer.until_running()
        observer.until(at_goal, 'the goal')
        observer.until(lambda: observer.value(CONTROLLER, 'solutions') > 5, 'solutions')
        assert observer.value(CONTROLLER, 'failed solutions') == 0
        refused = observer.answer(observer.begin_to_set(predictive__horizon=5.0)).result
        assert not refused.successful and 'predictive.horizon' in refused.reason
        changed = observer.answer(observer.begin_to_set(predictive__output_weight=1e4)).result
        assert changed.successful
        before = observer.value(CONTROLLER, 'solutions')
        observer.until(lambda: observer.value(CONTROLLER, 'solutions') > before, 'more of them')
        observer.until(lambda: observer.value(CONTROLLER, 'ticks') > 1.2 * RATE, 'a second')
        assert observer.change(Transition.TRANSITION_DEACTIVATE)
    recording = read_recording(record)
    found = replay(recording)
    assert found.difference is None and found.compared > 100
    solved = np.diff(recording['solutions'][:, 0])
    assert set(solved) == {0.0, 1.0} and solved.sum() > 5
    after = np.flatnonzero(solved) + 1
    for name in ('cost', 'residual', 'iterations', 'time'):
        values = recording[f'solution_{name}'][after]
        assert values.shape == (len(after), 1) and (values >= 0.0).all()
    assert recording['solution_time'][after].max() < 1.0
    assert recording['solution_failed'].max() == 0.0
    kept = np.flatnonzero(solved == 0.0)
    np.testing.assert_array_equal(
        recording['solution_cost'][kept], recording['solution_cost'][kept + 1]
    )


def test_its_tip_is_led_by_points_and_orders_to_turn_it_are_refused(observer, tmp_path):
    """A point by message is reached; a pose and a trajectory change nothing, and say why."""
    model, log = compile_for_nodes(ROBOT, controller='predictive'), tmp_path / 'controller.log'
    tip = model.body_names[-1]
    publishers = {
        topic: observer.node.create_publisher(kind, f'controller/{topic}', QoSProfile(depth=1))
        for topic, kind in (
            ('target', PointStamped), ('target_pose', PoseStamped), ('trajectory', JointTrajectory)
        )
    }  # fmt: skip

    def place():
        state = observer.states[-1]
        order = [state.name.index(name) for name in model.coordinate_names]
        q = np.array(state.position)[order]
        return sd.forward_kinematics(model, q=q)[-1][:3, 3]

    def say(topic, message, condition, what):
        publisher, due = publishers[topic], 0.0
        observer.until(publisher.get_subscription_count, 'a subscriber')

        def heard():
            nonlocal due
            if time.monotonic() > due:
                publisher.publish(message)
                due = time.monotonic() + 1.0
            return condition()

        observer.until(heard, what)

    # slower, errors would grow at this place
    with starting(tmp_path, NODES, (), robot=ROBOT, rate=250.0) as start:
        start('simulation')
        given = {**LAW, 'predictive__interval': 0.008}
        given |= {'predictive__tip': tip, 'reference__ramp_time': 0.3}
        start('controller', autostart='true', **given)
        observer.until_running()
        point = place() + [0.1, 0.0, 0.05]
        message = PointStamped(point=Point(**dict(zip('xyz', map(float, point)))))
        said = lambda words: lambda: words in log.read_text()  # noqa: E731
        say('target', message, lambda: np.linalg.norm(place() - point) < 1e-2, 'the point')
        say('target_pose', PoseStamped(), said('a linear velocity alone'), 'the refusal')
        say('trajectory', JointTrajectory(), said(f'leads the tip of {tip}'), 'another')
        assert np.linalg.norm(place() - point) < 1e-2
        assert observer.value(CONTROLLER, 'failures') == 0


def test_diagnostics_name_the_solutions_of_each_part(observer, tmp_path):
    """Of two parts that plan ahead each has figures of its own, by its name; none stand alone."""
    phases = {'phases': ['both'], 'both__parts': ['upper', 'lower']}
    own = {
        f'{part}__{name}': value
        for part, joint, interval in (('upper', 'shoulder', 0.02), ('lower', 'elbow', 0.03))
        for name, value in (
            ('controller', 'predictive'),
            ('controlled', [joint]),
            ('predictive__interval', interval),
        )
    }
    file = tmp_path / 'parameters.yaml'
    given = {name.replace('__', '.'): value for name, value in {**phases, **own}.items()}
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': given}}), encoding='utf-8')
    values = controller_values(sd.load_robot(ROBOT), [file])[0]
    del values['robot']
    compile_for_nodes(ROBOT, **values)
    with starting(tmp_path, NODES, (), robot=ROBOT, rate=RATE) as start:
        start('simulation')
        start('controller', autostart='true', record=str(tmp_path / 'r.mcap'), **phases, **own)
        observer.until_running()
        for part, interval in (('upper', 20.0), ('lower', 30.0)):

            def value(key, part=part):
                return observer.value(CONTROLLER, f'{part}: {key}')

            observer.until(lambda: value('solutions') > 15, f'solutions of {part}')
            assert value('interval of solutions [ms]') == pytest.approx(interval)
            assert value('failed solutions') == 0.0 and value('late solutions [ticks]') >= 0.0
            assert value('iterations of the last solution') >= 1.0
            assert value('time of the last solution [ms]') > 0.0
            assert value('cost of the last solution') >= 0.0
            assert value('residual of the last solution') >= 0.0
        assert np.isnan(observer.value(CONTROLLER, 'solutions'))
        assert observer.change(Transition.TRANSITION_DEACTIVATE)
    recording = read_recording(tmp_path / 'r.mcap')
    assert recording.facts['predictive'] == ['upper', 'lower']
    upper, lower = recording['solutions'][-1]
    assert upper > 1.2 * lower > 6.0
