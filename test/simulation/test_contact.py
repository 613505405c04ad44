# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Contact in simulations: impacts, friction, rest, energy; both integrators."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.model.contact_blocks import contact_blocks
from softrobot_dynamics.recursion.contact_pairs import STIFFNESS
from softrobot_dynamics.simulation.integrators import exponential
from support.contact_errors import error_of_forces
from support.contacts import arm, GRAVITY, thing, world

STEPS = [{}, {'tolerance': 1e-6}]
both = pytest.mark.parametrize('options', STEPS, ids=['equal steps', 'tolerance'])
FLOOR = {'name': 'floor', 'type': 'plane'}
ARM_AND_BALLS = {
    'name': 'arm',
    'gravity': [0.0, 0.0, 0.0],
    'bodies': [
        {
            'name': 'rod',
            'joint': {'type': 'fixed'},
            'body': {
                'type': 'pcc',
                'length': 0.5,
                'radius': 0.02,
                'density': 1070.0,
                'young_modulus': 6e5,
                'damping': 0.08,
            },
            'collision': {'type': 'rod'},
        }
    ],
    'initial': {'rod/bend_x': [0.0, 2.0]},
}


def run(simulator, duration, u=(), dt=1e-3):
    """Return q and qd (T, n) each at the ends of periods."""
    states = []
    for _ in range(round(duration / dt)):
        simulator.step(u, dt)
        states.append(np.concatenate([simulator.q, simulator.qd]))
    return np.split(np.array(states), 2, axis=1)


@both
@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
def test_a_sphere_rebounds_at_the_share_of_its_speed_that_restitution_is(options, restitution):
    """A sphere of 1 kg that falls 1 m parts from the floor at e times its speed of approach."""
    shape = {'type': 'sphere', 'radius': 0.1, 'restitution': restitution, 'stiffness': 1e6}
    floor = {**FLOOR, 'restitution': restitution}
    simulator = sd.Simulator(world([thing('ball', shape, (0, 0, 1.1))], [floor]), **options)
    z, v = (states[:, 3] for states in run(simulator, 0.7))
    hit = np.sqrt(2.0 * GRAVITY)
    assert -v.min() == pytest.approx(hit, rel=3e-3)
    assert v.max() == pytest.approx(restitution * hit, abs=0.015 * hit)
    assert z.min() > 0.1 - 0.01  # not through the floor
    assert np.isfinite(z).all()


@both
@pytest.mark.parametrize('share', [0.9, 1.1, 2.0])
def test_a_block_sticks_below_the_angle_of_friction_and_slides_above(options, share):
    """On an incline of tan(angle) = share mu a block rests, or accelerates as Coulomb has it."""
    mu = 0.5
    angle = np.arctan(share * mu)
    gravity = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
    block = {'type': 'box', 'edges': [0.2, 0.2, 0.1], 'friction': mu}
    model = world([thing('block', block, (0, 0, 0.05))], [{**FLOOR, 'friction': mu}], gravity)
    simulator = sd.Simulator(model, **options)
    q, qd = run(simulator, 1.0)
    expected = max(0.0, GRAVITY * (np.sin(angle) - mu * np.cos(angle)))
    creep = 0.0 if not options else 3.0 * model.contact_plan.slip
    assert qd[-1, 1] == pytest.approx(expected, abs=1e-3 + creep)
    assert np.abs(q[-1, 4:7]).max() < 1e-3  # it does not tip over


def test_what_friction_holds_does_not_creep_in_equal_steps():
    """A block that sticks to an incline has come to rest, to rounding."""
    gravity = (GRAVITY * np.sin(0.3), 0.0, -GRAVITY * np.cos(0.3))
    block = {'type': 'box', 'edges': [0.2, 0.2, 0.1]}
    simulator = sd.Simulator(world([thing('b', block, (0, 0, 0.05))], [FLOOR], gravity))
    q, qd = run(simulator, 6.0)
    assert np.abs(qd[-1, 1:]).max() < 1e-6  # the slide falls
    assert np.abs(q[-1, 1:] - q[-1000, 1:]).max() < 1e-6


@both
def test_a_sphere_rolls_down_an_incline(options):
    """Friction lets a sphere roll without sliding: it accelerates at 5/7 g sin(angle)."""
    gravity = (GRAVITY * np.sin(0.2), 0.0, -GRAVITY * np.cos(0.2))
    model = world([thing('o', {'type': 'sphere', 'radius': 0.05}, (0, 0, 0.05))], [FLOOR], gravity)
    _, qd = run(sd.Simulator(model, **options), 1.0)
    assert qd[-1, 1] == pytest.approx(5.0 / 7.0 * GRAVITY * np.sin(0.2), rel=3e-3)
    omega = qd[-1, 5]
    assert omega * 0.05 == pytest.approx(qd[-1, 1], rel=5e-3)


def test_newtons_cradle_of_three_passes_the_motion_on():
    """The last of three equal spheres in a row leaves at the speed of the first."""
    sphere = {'type': 'sphere', 'radius': 0.05, 'restitution': 1.0, 'friction': 0.0}
    spheres = [thing(f'o{i}', sphere, (x, 0, 0)) for i, x in enumerate((-0.3, 0.0, 0.1002))]
    model = world(spheres, gravity=(0.0, 0.0, 0.0), initial={'o0/x': [-0.3, 1.0]})
    _, qd = run(sd.Simulator(model), 0.5)
    np.testing.assert_allclose(qd[-1, [1, 7, 13]], [0.0, 0.0, 1.0], atol=1e-9)


def test_a_stack_stands():
    """A sphere on a box on a larger box stay where they are."""
    boxes = [
        thing('a', {'type': 'box', 'edges': [0.2, 0.2, 0.1]}, (0, 0, 0.05)),
        thing('b', {'type': 'box', 'edges': [0.1, 0.1, 0.1]}, (0, 0, 0.15), 0.5),
        thing('c', {'type': 'sphere', 'radius': 0.05}, (0.0, 0.0, 0.25), 0.5),
    ]
    q, qd = run(sd.Simulator(world(boxes, [FLOOR])), 1.0)
    np.testing.assert_allclose(q[-1, [3, 9, 15]], [0.05, 0.15, 0.25], atol=1e-3)
    assert np.abs(q[-1, [1, 2, 7, 8]]).max() < 1e-4
    assert np.abs(qd[-1]).max() < 1e-2


def test_a_body_in_a_tube_stays_in_it():
    """A sphere that is thrown in a tube bounces, and never gets farther than its wall."""
    tube = {'name': 'tube', 'type': 'tube', 'start': [0, 0, -9], 'end': [0, 0, 9], 'radius': 0.2}
    sphere = {'type': 'sphere', 'radius': 0.05, 'restitution': 0.8}
    model = world(
        [thing('o', sphere)], [{**tube, 'restitution': 0.8}], initial={'o/x': [0.0, 2.0]}
    )
    q, qd = run(sd.Simulator(model), 1.0)
    assert np.hypot(q[:, 1], q[:, 2]).max() < 0.15 + 2e-3
    assert (np.diff(np.sign(qd[:, 1])) != 0).sum() == 4  # at 2, 1.6, 1.28, ... m/s on 0.3 m each
    assert qd[-1, 1] == pytest.approx(2.0 * 0.8**4, rel=1e-3)


@pytest.mark.parametrize('friction', [0.0, 0.8])
def test_an_arm_that_hits_a_wall_never_gains_energy(friction):
    """The energy of an arm that swings against a wall falls, in every period."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [-0.03, 0, 0], 'normal': [1, 0, 0]}
    model = arm([{**wall, 'friction': friction}], friction=friction)
    simulator = sd.Simulator(model, q=np.tile([0.5, 0.0, 0.0], 3))
    energies = []
    for _ in range(1500):
        simulator.step([0.0], 1e-3)
        q, qd = simulator.q, simulator.qd
        parts = sd.potential_energy(model, q=q), sd.elastic_energy(model, q=q)
        energies.append(sum(parts) + sd.kinetic_energy(model, q=q, qd=qd))
    energies = np.array(energies)
    assert np.diff(energies).max() < 1e-3 * (energies[0] - energies[-1])
    assert np.abs(simulator.qd).max() < 0.3


def test_an_arm_pressed_on_a_wall_rests_where_statics_has_it():
    """Without friction a pulled arm comes to rest at the equilibrium, with the same force."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.06, 0, 0], 'normal': [-1, 0, 0]}
    model = arm([{**wall, 'friction': 0.0}])
    found = sd.equilibrium(model, u=[15.0])
    simulator = sd.Simulator(model, q=sd.equilibrium(model, u=[0.1]).q)
    run(simulator, 6.0, [15.0])
    assert np.abs(simulator.qd).max() < 1e-5
    np.testing.assert_allclose(simulator.q, found.q, atol=1e-5)
    pressing = sd.contacts(model, q=found.q).force.sum()
    assert pressing > 0.05
    assert sd.contacts(model, q=simulator.q).force.sum() == pytest.approx(pressing, rel=1e-3)


@pytest.mark.parametrize('scale', [1e-2, 0.1, 1.0])
def test_contact_does_not_depend_on_the_unit_of_length(scale):
    """An arm 100 times smaller, or 10 times, touches a wall as one of 0.6 m does."""
    wall = {'name': 'w', 'type': 'plane', 'point': [0.06 * scale, 0, 0], 'normal': [-1, 0, 0]}
    model = arm([wall], scale=scale)
    light = sd.equilibrium(model, u=[15.0 * scale**2])
    found = sd.contacts(model, q=light.q)
    assert light.stable
    assert found.bodies[0][1] == 'w'
    assert 0.0 < -found.gap[0] < 0.03 * 0.02 * scale
    tip = sd.forward_kinematics(model, q=light.q)[-1][0, 3]
    assert tip == pytest.approx(0.04 * scale, abs=0.01 * scale)


def test_a_start_where_surfaces_overlap_is_refused_by_their_names():
    """The posture is refused with the names of what overlaps and by how much; a reset too."""
    ball = {'type': 'sphere', 'radius': 0.05}
    with pytest.raises(ArgumentError, match=r'o and floor do not overlap, as they do by 0\.03 m'):
        sd.Simulator(world([thing('o', ball, (0, 0, 0.02))], [FLOOR]))


def test_deep_penetration_does_not_explode():
    """A body that a state puts deep into another one leaves it slowly, at bounded speed."""
    simulator = sd.Simulator(
        world([thing('o', {'type': 'sphere', 'radius': 0.05}, (0, 0, 0.1))], [FLOOR])
    )
    simulator.q[3] = 0.0
    _, qd = run(simulator, 1.0)
    assert np.abs(qd).max() < 1.0


def test_an_arm_touches_itself_only_if_it_says_so():
    """Parts next to each other never touch; others do where both groups are named."""
    assert arm().contact_plan is None
    model = arm(self_contact=True)
    assert model.contact_plan is not None
    rolled = np.tile([3.2, 0.0, 0.0], 3)  # more than one turn and a half
    found = sd.contacts(model, q=rolled)
    assert ('s0', 's2') in found.bodies
    assert not sd.contacts(model, q=np.tile([0.5, 0.0, 0.0], 3)).bodies


def test_robots_that_touch_nothing_move_as_before_bit_by_bit():
    """Surroundings that are far away change nothing."""
    far = {'name': 'wall', 'type': 'plane', 'point': [9.0, 0, 0], 'normal': [-1, 0, 0]}
    paths = []
    for environment in ([], [far]):
        simulator = sd.Simulator(arm(environment, segments=2))
        paths.append(run(simulator, 0.3, [3.0])[0])
    np.testing.assert_array_equal(paths[0], paths[1])


def test_equal_inputs_give_equal_states_with_contact():
    """A simulation with impacts is the same again, bit by bit, after a reset too."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.03, 0, 0], 'normal': [-1, 0, 0]}
    simulator = sd.Simulator(arm([wall]))
    first = run(simulator, 0.5, [4.0])[0]
    simulator.reset()
    np.testing.assert_array_equal(run(simulator, 0.5, [4.0])[0], first)


def stacked(count, stiffness=None, **more):
    """Return the model of cubes of 0.1 kg that stand on each other on a floor."""
    edges = {'type': 'box', 'edges': [0.1, 0.1, 0.1]}
    if stiffness is not None:
        edges['stiffness'] = stiffness
    boxes = [thing(f'b{i}', edges, (0, 0, 0.05 + 0.1 * i), 0.1) for i in range(count)]
    return world(boxes, [FLOOR], **more)


@both
def test_the_force_of_contact_holds_a_box_on_an_incline(options):
    """With friction it is against the weight, by the simulator in either kind of steps."""
    gravity = (2.0, 0.0, -9.0)
    box = thing('b', {'type': 'box', 'edges': [0.2, 0.2, 0.02]}, (0, 0, 0.01), 2.0)
    simulator = sd.Simulator(world([box], [FLOOR], gravity), **options)
    assert not simulator.contact_force.any()
    run(simulator, 0.5)
    np.testing.assert_allclose(
        simulator.contact_force[1:4], [-4.0, 0.0, 18.0], rtol=2e-3, atol=1e-3
    )


def test_steps_whose_forces_miss_their_law_are_said_once():
    """A simulator warns in the third such step, and then no more."""
    simulator = sd.Simulator(stacked(2))
    simulator.contact.unsettled[0] = 2
    run(simulator, 0.01)
    simulator.contact.unsettled[0] = 3
    with pytest.warns(RuntimeWarning, match='missed their law by more than 1% in 3') as said:
        run(simulator, 0.01)
    assert len(said) == 1


@pytest.mark.parametrize(
    'stiffness, dt', [(None, 1e-2), (1e7, 5e-3), (1e9, 1e-3)], ids=['soft', 'hard', 'hardest']
)
def test_steps_of_a_stack_have_settled_by_an_error_that_is_found_otherwise(
    monkeypatch, stiffness, dt
):
    """By dense linear algebra each step of ten boxes has its forces to 1 %, or is counted."""
    kept = []
    system_of = exponential.system_of
    monkeypatch.setattr(
        exponential, 'system_of', lambda model: kept.append(system_of(model)) or kept[-1]
    )
    simulator = sd.Simulator(stacked(10, stiffness), substep=dt)
    wrong = 0
    for _ in range(60):
        before = simulator.unsettled
        simulator.step([], dt)
        error = error_of_forces(simulator.contact, kept[-1])
        assert error < 1e-2 or simulator.unsettled > before
        wrong += error >= 1e-2
    assert wrong <= 1
    assert np.abs(simulator.q[1:].reshape(10, 6)[:, 3:]).max() < 1e-5  # rad: none leans


@pytest.mark.parametrize('dt', [5e-4, 5e-3])
def test_a_hard_stack_comes_to_rest(dt):
    """Boxes with contacts of 10 MN/m do not jitter: in the end they are at rest, upright."""
    simulator = sd.Simulator(stacked(10, 1e7), substep=dt)
    run(simulator, 1.0, dt=5e-3)
    _, qd = run(simulator, 0.2, dt=5e-3)
    assert np.abs(qd[:, 1:]).max() < 1e-4
    assert np.abs(simulator.q[1:].reshape(10, 6)[:, 3:5]).max() < 1e-6  # rad: none leans
    assert simulator.unsettled == 0


def test_a_stack_of_ten_boxes_rests_for_two_seconds():
    """A stack of ten boxes sinks by its compliance only, does not tilt, and all steps settle."""
    count, mass = 10, 0.1
    model = stacked(count)
    simulator = sd.Simulator(model)
    q, qd = run(simulator, 2.0)
    stiffness = model.contact_plan.numbers[0, STIFFNESS]
    corners = np.array([4.0] + [8.0] * (count - 1))  # on the floor, and of two flush faces
    sinks = mass * GRAVITY * np.arange(count, 0, -1) / (corners * stiffness)
    ends = q[-1, 1:].reshape(count, 6)
    assert 0.9 * sinks.sum() < 0.05 + 0.1 * (count - 1) - ends[-1, 2] < 1.01 * sinks.sum()
    assert np.abs(q[:, 1:].reshape(-1, count, 6)[:, :, 3:]).max() < 1e-4  # rad, at all times
    assert np.abs(ends[:, :2]).max() < 1e-4
    assert np.abs(qd[-1, 1:]).max() < 1e-4
    assert simulator.unsettled == 0


def test_objects_that_only_contact_couples_move_as_if_all_coordinates_were_coupled(monkeypatch):
    """Blocks of coordinates in the system of contacts change no number of an arm among balls."""
    ball = {'type': 'sphere', 'radius': 0.03}
    robot = {**ARM_AND_BALLS, 'objects': [
        thing('a', ball, (0.055, 0.0, 0.5), 0.1), thing('b', ball, (0.116, 0.0, 0.5), 0.2)
    ]}  # fmt: skip
    model = sd.compile_model(sd.load_robot(robot))
    q, qd = run(sd.Simulator(model), 0.3)
    blocks, sides = contact_blocks(model)
    assert len(blocks) == 3 and sides.max() == 2
    whole = exponential.whole_system
    own = len(model.contact_plan.pairs), model.n
    monkeypatch.setattr(
        exponential,
        'system_of',
        lambda model: whole(SimpleNamespace(gap=np.zeros(own[0])), own[1]),
    )
    q_whole, qd_whole = run(sd.Simulator(model), 0.3)
    assert np.abs(q[-1, model.coordinate_names.index('b/x')] - 0.116) > 1e-3  # it was pushed
    np.testing.assert_allclose(q, q_whole, atol=1e-8)
    np.testing.assert_allclose(qd, qd_whole, atol=1e-6)


def test_a_copy_made_in_contact_goes_on_bit_by_bit():
    """A pickled simulator of an arm that has come to a wall keeps the pairs that touch."""
    wall = {'name': 'wall', 'type': 'plane', 'point': [0.06, 0, 0], 'normal': [-1, 0, 0]}
    simulator = sd.Simulator(arm([wall]))
    run(simulator, 0.5, [8.0])
    assert sd.contacts(simulator.model, q=simulator.q).force.any()
    other = pickle.loads(pickle.dumps(simulator))
    np.testing.assert_array_equal(run(other, 0.1, [8.0])[0], run(simulator, 0.1, [8.0])[0])
