# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Parameter values become controllers, simulators and sensors, without ROS."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.configuration import build, declared_parameters, law_settings  # noqa: E402
from softrobot_dynamics.configuration.parameter_files import controller_values  # noqa: E402
from softrobot_dynamics.description.robot import load_robot  # noqa: E402
from softrobot_dynamics.errors import (  # noqa: E402
    ArgumentError,
    DescriptionError,
    MessageError,
    UnknownNameError,
)
from softrobot_dynamics.loops.external_inputs import InitialStateReader  # noqa: E402
from support.closures import four_bar  # noqa: E402
from support.robots import soft_arm  # noqa: E402

VALUES = {row.name: row.default for row in declared_parameters.SIMULATION}


def test_the_simulated_robot_may_be_another():
    """The parameter `plant` changes the simulated robot; an invalid plant is refused by name."""
    given = {**VALUES, 'robot': 'double_pendulum'}
    own, other = (build.simulated({**given, 'plant': x}) for x in ((), ('mass=×1.3',)))
    masses = [[m.body.mass for m in p.model.description.modules] for p in (own, other)]
    assert masses[1] == pytest.approx([1.3 * m for m in masses[0]])
    for plant, error in ((['weight=2'], UnknownNameError), (['mass'], ArgumentError)):
        with pytest.raises(error):
            build.simulated({**given, 'plant': plant})


def test_robots_with_closed_loops_are_simulated_and_not_controlled(tmp_path):
    """The simulator begins with loops closed and refuses open states; a law is refused."""
    file = tmp_path / 'four_bar.yaml'
    file.write_text(json.dumps(four_bar()))
    plant = build.simulated({**VALUES, 'robot': str(file)})
    np.testing.assert_array_equal(plant.simulator.q, plant.model.q0)
    reader = InitialStateReader(plant.model, plant.trial, 1e-3)
    message = SimpleNamespace(name=['crank'], position=[0.6], velocity=[], effort=[])
    with pytest.raises(MessageError, match='loop is open by'):
        reader.read(message)
    values = controller_values(plant.model.description, [])[0] | {'robot': str(file)}
    with pytest.raises(ArgumentError, match='control laws are not supported for closed loops'):
        build.controlled(values)


def test_the_simulated_robot_may_be_of_another_body_model(tmp_path):
    """A plant of another body model is measured in the coordinates of `robot`."""
    files = [tmp_path / f'{name}.yaml' for name in ('own', 'rods')]
    for file, order in zip(files, (None, 1)):
        file.write_text(json.dumps(soft_arm(order)))
    given = {**VALUES, 'robot': str(files[0]), 'plant': [str(files[1]), 'damping=×1.5']}
    plant = build.simulated(given)
    assert (plant.model.n, plant.published.n) == (13, 7)
    assert plant.model.description.modules[1].body.damping == pytest.approx(0.075)
    names = {row.name for row in declared_parameters.sensor_rows(plant.published)}
    assert 'sensors.a/bend_x.noise' in names
    plain = {row.name: row.default for row in declared_parameters.sensor_rows(plant.published)}
    sensing = plant.sensing({**given, **plain})
    q = np.zeros(13)
    q[0], q[3] = 0.3, 2.0  # turned, and kappa_y of the first rod
    heard = sensing.sense(0, q, 0.1 * q)
    assert heard.q == pytest.approx([0.3, 0.4, *[0.0] * 5], abs=1e-6)
    assert heard.qd == pytest.approx(0.1 * heard.q, abs=1e-6)
    with pytest.raises(ArgumentError, match='plant: .*a robot of the actuators turn, t10'):
        build.simulated({**given, 'plant': ['pcc_arm']})


def test_the_simulated_robot_may_carry_something():
    """A payload by parameters makes the same torque accelerate the robot less."""
    given = {**VALUES, 'robot': 'double_pendulum', 'payload.body': 'lower_bar'}
    gained = []
    for mass in (0.0, 2.0):
        robot, rates = build.simulated({**given, 'payload.mass': mass}).simulator, []
        for torque in (0.0, 10.0):
            robot.reset(np.array([0.3, 0.2]))
            robot.step([torque, 0.0], 1e-3)
            rates.append(robot.qd[0])
        gained.append(rates[1] - rates[0])
    assert 0.0 < gained[1] < 0.9 * gained[0]
    with pytest.raises(ArgumentError, match='payload.body: .horse., expected a body, one of'):
        build.simulated({**given, 'payload.body': 'horse'})


def test_a_simulation_begins_within_the_position_limits_of_joints(tmp_path):
    """An initial posture outside is refused by the joint's name, and so is a state told later."""
    file, finger = tmp_path / 'finger.yaml', {'type': 'prismatic', 'name': 'slide'}
    finger['limits'] = {'position': [0.0, 0.04]}
    bodies = [{'name': 'finger', 'joint': finger, 'body': {'type': 'rigid', 'mass': 0.1}}]
    given = {**VALUES, 'robot': str(file)}
    file.write_text(json.dumps({'name': 'r', 'bodies': bodies, 'initial': {'slide': 0.05}}))
    with pytest.raises(DescriptionError, match='initial.slide: 0.05, .* its limits, 0 to 0.04'):
        build.simulated(given)
    file.write_text(json.dumps({'name': 'r', 'bodies': bodies}))
    plant = build.simulated(given)
    reader = InitialStateReader(plant.model, plant.trial, 1e-3)

    def told(position):
        return SimpleNamespace(name=['slide'], position=[position], velocity=[], effort=[])

    with pytest.raises(MessageError, match='slide: -0.01, .* its limits, 0 to 0.04'):
        reader.read(told(-0.01))
    assert reader.read(told(0.03))[0] == pytest.approx([0.03])


def test_sensors_are_for_all_coordinates_or_each():
    """A coordinate's own sensor parameter overrides the common one; wrong ones are named."""
    plant = build.simulated({**VALUES, 'robot': 'double_pendulum'})
    rows = declared_parameters.sensor_rows(plant.model)
    assert 'sensors.elbow.velocity_noise' in {row.name for row in rows}
    given = {**VALUES, **{row.name: row.default for row in rows}, 'sensors.delay': 2e-3}
    sensing = plant.sensing({**given, 'sensors.noise': 0.1, 'sensors.elbow.noise': 0.2})
    assert sensing.sensors.noise.tolist() == [0.1, 0.2] and sensing.sensors.delay == 2e-3
    with pytest.raises(DescriptionError, match='sensors.resolution: -1'):
        plant.sensing({**given, 'sensors.elbow.resolution': -1.0})
    assert plant.sensing({**given, 'sensors.rate': 200.0}).sensors.rate == 200.0
    with pytest.raises(ArgumentError, match='sensors.rate: 1200.0, expected .* 1000 Hz'):
        plant.sensing({**given, 'sensors.rate': 1200.0})


def test_the_bus_is_off_by_default_and_watchdogs_outlast_it():
    """The bus is off by default, and command timeouts must outlast the period of sensors."""
    rows = {row.name: row for row in declared_parameters.SIMULATION}
    assert rows['bus.rate'].read_only and rows['bus.phase'].read_only
    values = {name: row.default for name, row in rows.items()}
    assert vars(law_settings.bus_of(values)) == {'rate': 0.0, 'phase': 0.0}
    found = law_settings.bus_of({**values, 'bus.rate': 100.0, 'bus.phase': 2e-3})
    assert vars(found) == {'rate': 100.0, 'phase': 2e-3}
    with pytest.raises(DescriptionError, match='bus.phase: 0.002, expected 0'):
        law_settings.bus_of({**values, 'bus.phase': 2e-3})
    for rate, periods in ((0.0, 2), (200.0, 6), (20.0, 51)):
        given = {**values, 'sensors.rate': rate, 'command_timeout_periods': periods}
        law_settings.require_patience(given)
    words = 'command_timeout_periods: 50, expected more than 50, the periods from'
    with pytest.raises(ArgumentError, match=words):
        law_settings.require_patience({**values, 'sensors.rate': 20.0})
    law_settings.require_patience({**values, 'sensors.rate': 20.0, 'estimator': 'pcc_arm'})


def test_laws_know_an_environment_and_no_objects(tmp_path):
    """The parameter `surroundings` adds an environment to the robot of a law, objects never."""
    file = tmp_path / 'table.yaml'
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.5, 0, 0], 'normal': [-1, 0, 0]}
    ball = {'name': 'ball', 'mass': 0.1, 'shape': {'type': 'sphere', 'radius': 0.03}}
    file.write_text(json.dumps({'environment': [wall], 'objects': [ball]}))
    robot = load_robot('double_pendulum')
    known = build.known_to_laws(robot, {'surroundings': str(file)})
    assert [shape.name for shape in known.environment] == ['wall']
    assert known.modules == robot.modules
    assert build.known_to_laws(robot, {'surroundings': ''}) is robot
    file.write_text(json.dumps({'environment': [{**wall, 'normal': 'up'}]}))
    with pytest.raises(DescriptionError, match='normal'):
        build.known_to_laws(robot, {'surroundings': str(file)})


def test_a_path_through_an_obstacle_is_planned_as_if_there_were_none():
    """Statics in contact would find no posture there; the law keeps away as it goes."""
    robot = load_robot('pcc_arm')
    post = {'name': 'post', 'type': 'capsule', 'start': [0.1, 0, 0.3], 'end': [0.1, 0, 0.7]}
    around = sd.surround(robot, {'environment': [{**post, 'radius': 0.02}]})
    values = controller_values(robot, [])[0] | {'robot': 'pcc_arm', 'reference.type': 'circle'}
    circle = {'center': [0.0, 0.0, 0.57], 'radius': 0.1, 'period': 5.0}
    values |= {f'reference.circle.{name}': value for name, value in circle.items()}
    first, other = (
        build.plan_of(model, values, model.q0).reference
        for model in map(sd.compile_model, (robot, around))
    )
    assert np.array_equal(first.coefficients, other.coefficients)


@pytest.mark.parametrize('phased', [False, True])
def test_what_a_law_keeps_clear_of_is_known_where_references_are_planned(tmp_path, phased):
    """A clearance is no fault of a reference that is planned without the environment."""
    post = {'name': 'post', 'type': 'capsule', 'start': [0.1, 0, 0.3], 'end': [0.1, 0, 0.7]}
    around = {'environment': [{**post, 'radius': 0.02}]}
    robot, path = sd.surround(load_robot('pcc_arm'), around), tmp_path / 'controller.yaml'
    own = {'controller': 'predictive', 'predictive': {'clearance': 0.01},
           'reference': {'type': 'setpoint', 'setpoint': [0.0] * 9}}  # fmt: skip
    own = {'phases': ['all'], 'all': {'parts': ['arm']}, 'arm': own} if phased else own
    path.write_text(json.dumps({'/**': {'controller': {'ros__parameters': own}}}))
    values = controller_values(robot, [path])[0]
    model = sd.compile_model(robot)
    assert build.plan_of(model, values, model.q0).reference is not None
    alone = sd.compile_model(load_robot('pcc_arm'))
    with pytest.raises(DescriptionError, match=r'predictive\.clearance.*may touch'):
        build.settings_for(alone, values)


def test_what_a_running_law_cannot_change_is_read_only():
    """The led tip, and whether contact acts, are refused live; all else of the law may change."""
    robot = load_robot('pcc_arm')
    values = controller_values(robot, [])[0] | {'controller': 'predictive'}
    rows = {row.name: row for row in declared_parameters.all_rows(robot, values)}
    fixed = {x for x, row in rows.items() if x.startswith('predictive.') and row.read_only}
    assert fixed == {'predictive.tip', 'predictive.contact'}
