# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Contact beside PyElastica and MuJoCo (the extra `bench`): the same scenes, each in its own way.

    python benchmarks/contact_peers.py [CASE ...] [--rounds 3]

- slide: a soft rod of 1 m and 1 kg on a plane, pulled along its axis by uniform forces above
  friction; its speed after 0.25 s is (F / m - mu g) t. PyElastica, 50 elements.
- peg: a clamped rod of 0.5 m sags across a fixed cylinder without friction, until it is at rest.
  PyElastica, 50 elements.
- cable: a clamped rod of 0.5 m falls over a fixed cylinder with friction. MuJoCo, a chain of 20
  capsules on hinges with springs; ours, 20 arcs of constant curvature.
- pile: ten capsules fall on each other on a floor. MuJoCo.
- stack: ten boxes of 0.1 kg stand on each other; the value is how far the top one has sunk after
  2 s, the rate the largest tilt. MuJoCo.

Each row is the median of fresh processes, one after the other in turns: a simulated second, and
what it comes to. Compiling and building are not timed. Time is that of the processor: other load
counts little. Each program takes the longest step of a list by which the result is as right as is
asked of both (RIGHT): the exact speed of the slide, where rod and cable hang in the end by either
program in steps of 0.1 ms or less, the height of capsules that lie side by side, and boxes that
stand where they were put.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy as np

GRAVITY, MU = 9.81, 0.4
PULL, SPAN = 8.0, 0.25  # [N], [s] of the slide
LENGTH, RADIUS, DENSITY, BENDING = 0.5, 5e-3, 1000.0, 2e-3  # of the rods on pegs; [N m^2]
PEG, PLACE, BELOW = 0.03, 0.25, 0.08  # [m] its radius, how far away, and how far below the clamp
REST = 2.0  # [s] until rods are at rest
DAMPING = 0.1  # [s] of our rods' material
STEPS = 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5
COUNT, HALF, ROUND = 10, 0.05, 0.03  # capsules, [m]
YOUNG = BENDING / (0.25 * np.pi * RADIUS**4)
RIGHT = {  # value, and how far it may be off [m/s], [m]
    'slide': ((PULL - MU * GRAVITY) * SPAN, 1e-3),
    'peg': (0.2224, 2e-3),
    'cable': (0.2219, 2e-3),
    'pile': (ROUND, 1e-3),
    'stack': (0.0, 2e-3),
}
EDGE = 0.1  # [m] of the boxes


def capsules():
    """Return the places (COUNT, 3) [m] and directions of capsules before they fall."""
    random = np.random.default_rng(1)
    places = np.column_stack(
        [random.uniform(-0.05, 0.05, (COUNT, 2)), 0.05 + 0.08 * np.arange(COUNT)]
    )
    angles = random.uniform(0.0, np.pi, COUNT)
    return places, np.column_stack([np.cos(angles), np.sin(angles), np.zeros(COUNT)])


def timed(advance, duration):
    """Return the time [s] that a simulated second takes, of a function that simulates so long."""
    start = time.process_time()
    advance(duration)
    return (time.process_time() - start) / duration


# Ours


def our_chain(count, length, radius, density, young, kind, collision, joint='fixed', **more):
    """Return the model of a rod of equal bodies along z."""
    import softrobot_dynamics as sd

    body = {
        'type': kind, 'length': length / count, 'radius': radius, 'density': density,
        'young_modulus': young, 'damping': DAMPING,
    }  # fmt: skip
    bodies = [
        {'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body, 'collision': collision}
        for i in range(count)
    ]
    bodies[0]['joint'] = {'type': joint}
    return sd.compile_model(sd.load_robot({'name': 'rod', 'bodies': bodies, **more}))


def our_simulator(model, step, wrenches=None):
    """Return a simulator after its first step, and a function that goes on for a duration."""
    import softrobot_dynamics as sd

    simulator = sd.Simulator(model, substep=step)
    simulator.step([], step, wrenches)
    simulator.reset()

    def advance(duration):
        for _ in range(round(duration / step)):
            simulator.step([], step, wrenches)

    return simulator, advance


def our_slide(step):
    """Slide the rod along z over a plane, x upwards."""
    from softrobot_dynamics.dynamics.wrenches import Wrench

    floor = {'name': 'floor', 'type': 'plane', 'point': [-0.025, 0, 0], 'normal': [1, 0, 0]}
    density = 1.0 / (np.pi * 0.025**2)
    model = our_chain(
        5, 1.0, 0.025, density, 1e5, 'pcc', {'type': 'rod', 'friction': MU}, joint='free',
        gravity=[-GRAVITY, 0, 0], environment=[{**floor, 'friction': MU}],
    )  # fmt: skip
    pull = Wrench([0, 0, 0, 0, 0, PULL / 5], None, 'base')
    simulator, advance = our_simulator(model, step, dict.fromkeys(model.body_names, pull))
    second = timed(advance, SPAN)
    along = simulator.qd[8::3]  # of the elongations, which the middle of a body has half of
    speed = simulator.qd[2] + np.mean(np.cumsum(along) - 0.5 * along)
    return {'second': second, 'step': step, 'value': speed}


def our_peg(step, friction=0.0, kind='pcc', count=10):
    """Let the rod along z sag across a cylinder, x downwards; the value is where its tip is."""
    import softrobot_dynamics as sd

    peg = {'name': 'peg', 'type': 'cylinder', 'radius': PEG, 'friction': friction}
    peg |= {'start': [BELOW, -0.1, PLACE], 'end': [BELOW, 0.1, PLACE]}
    model = our_chain(
        count, LENGTH, RADIUS, DENSITY, YOUNG, kind, {'type': 'rod', 'friction': friction},
        gravity=[GRAVITY, 0, 0], environment=[peg],
    )  # fmt: skip
    simulator, advance = our_simulator(model, step)
    second = timed(advance, REST)
    tip = sd.forward_kinematics(model, q=simulator.q)[-1][:3, 3]
    return {'second': second, 'step': step, 'value': tip[0], 'rate': np.abs(simulator.qd).max()}


def our_cable(step):
    """See :func:`our_peg`, with friction."""
    return our_peg(step, MU, 'planar_cc', 20)


def our_pile(step):
    """Let capsules fall; the value is their mean height, the rate their fastest in the end."""
    objects = []
    for i, (place, axis) in enumerate(zip(*capsules())):
        ends = {'start': (-HALF * axis).tolist(), 'end': (HALF * axis).tolist()}
        shape = {'type': 'capsule', 'radius': ROUND, 'friction': 0.5, **ends}
        objects.append(
            {'name': f'o{i}', 'mass': 0.5, 'shape': shape, 'pose': {'xyz': place.tolist()}}
        )
    return fallen(objects, step, lambda q, qd: (q[:, 2].mean(), np.abs(qd[:, :3]).max()))


def our_stack(step):
    """Let boxes stand on each other."""
    objects = [
        {
            'name': f'o{i}', 'mass': 0.1, 'pose': {'xyz': [0.0, 0.0, (i + 0.5) * EDGE]},
            'shape': {'type': 'box', 'edges': [EDGE] * 3, 'friction': 0.5},
        }
        for i in range(COUNT)
    ]  # fmt: skip
    top = (COUNT - 0.5) * EDGE
    return fallen(objects, step, lambda q, qd: (top - q[-1, 2], np.abs(q[:, 3:]).max()))


def fallen(objects, step, measure):
    """Return the result of 2 s of objects on a floor, its value and rate by their q and qd."""
    import softrobot_dynamics as sd

    joint = {'type': 'prismatic', 'axis': [1.0, 0.0, 0.0]}
    slide = {'name': 's', 'joint': joint, 'body': {'type': 'rigid', 'mass': 1.0}}
    around = {'objects': objects, 'environment': [{'name': 'floor', 'type': 'plane'}]}
    model = sd.compile_model(
        sd.load_robot({'name': 'pile', 'gravity': [0, 0, -GRAVITY], 'bodies': [slide], **around})
    )
    simulator, advance = our_simulator(model, step)
    second = timed(advance, 2.0)
    value, rate = measure(simulator.q[1:].reshape(-1, 6), simulator.qd[1:].reshape(-1, 6))
    deep = -sd.contacts(model, q=simulator.q).gap.min()
    return {'second': second, 'step': step, 'value': value, 'rate': rate, 'deep': deep}


# PyElastica


def their_slide(step):
    """Slide the rod along z over a plane, x upwards."""
    import elastica as ea

    simulation = _simulation(ea)
    rod = ea.CosseratRod.straight_rod(
        50, np.zeros(3), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), 1.0, 0.025,
        1.0 / (np.pi * 0.025**2), youngs_modulus=1e5, shear_modulus=1e5 / 3.0,
    )  # fmt: skip
    plane = ea.Plane(plane_origin=np.array([-0.025, 0.0, 0.0]), plane_normal=np.array([1.0, 0, 0]))
    simulation.append(rod)
    simulation.append(plane)
    pull = np.array([0.0, 0.0, PULL / 50])
    simulation.add_forcing_to(rod).using(
        ea.GravityForces, acc_gravity=np.array([-GRAVITY, 0.0, 0.0])
    )
    simulation.add_forcing_to(rod).using(ea.UniformForces, force=PULL, direction=pull / pull[2])
    simulation.detect_contact_between(rod, plane).using(
        ea.RodPlaneContactWithAnisotropicFriction, k=10.0, nu=1e-4, slip_velocity_tol=1e-4,
        static_mu_array=np.full(3, MU), kinetic_mu_array=np.full(3, MU),
    )  # fmt: skip
    simulation.finalize()
    advance = _advancing(ea, simulation, step)
    advance(step)
    second = timed(advance, SPAN - step)
    return {'second': second, 'step': step, 'value': rod.velocity_collection[2].mean()}


def their_peg(step):
    """Let the rod sag across a cylinder."""
    import elastica as ea

    simulation = _simulation(ea)
    rod = ea.CosseratRod.straight_rod(
        50, np.zeros(3), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), LENGTH, RADIUS,
        DENSITY, youngs_modulus=YOUNG, shear_modulus=YOUNG / 3.0,
    )  # fmt: skip
    peg = ea.Cylinder(
        np.array([BELOW, -0.1, PLACE]), np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]), 0.2,
        PEG, 1e6,
    )  # fmt: skip
    simulation.append(rod)
    simulation.append(peg)
    one = {'constrained_position_idx': (0,), 'constrained_director_idx': (0,)}
    simulation.constrain(rod).using(ea.OneEndFixedBC, **one)
    simulation.constrain(peg).using(ea.OneEndFixedBC, **one)
    simulation.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([GRAVITY, 0, 0]))
    simulation.detect_contact_between(rod, peg).using(ea.RodCylinderContact, k=1e3, nu=0.1)
    simulation.dampen(rod).using(
        ea.AnalyticalLinearDamper, uniform_damping_constant=5.0, time_step=step
    )
    simulation.finalize()
    advance = _advancing(ea, simulation, step)
    advance(step)
    second = timed(advance, REST - step)
    tip, rate = rod.position_collection[0, -1], np.abs(rod.velocity_collection).max()
    return {'second': second, 'step': step, 'value': tip, 'rate': rate}


def _simulation(ea):
    class Simulation(ea.BaseSystemCollection, ea.Constraints, ea.Forcing, ea.Contact, ea.Damping):
        pass

    return Simulation()


def _advancing(ea, simulation, step):
    stepper, clock = ea.PositionVerlet(), [np.float64(0.0)]

    def advance(duration):
        for _ in range(round(duration / step)):
            clock[0] = stepper.step(simulation, clock[0], step)

    return advance


# MuJoCo


def mujoco_cable(step):
    """Let a chain of capsules on hinges fall over the peg, x downwards."""
    count = 20
    link, stiffness = LENGTH / count, BENDING / (LENGTH / count)
    mass = DENSITY * np.pi * RADIUS**2 * link
    middle = f'<geom type="capsule" fromto="0 0 0 0 0 {link}" size="{RADIUS}" mass="{mass}"/>'
    damping = DAMPING * stiffness
    hinge = f'<joint type="hinge" axis="0 1 0" stiffness="{stiffness}" damping="{damping}"/>'
    text = ''.join(f'<body pos="0 0 {link if i else 0}">{hinge}{middle}' for i in range(count))
    peg = f'<geom type="cylinder" fromto="{BELOW} -0.1 {PLACE} {BELOW} 0.1 {PLACE}" size="{PEG}"/>'
    model, data, advance = _mujoco(f'{peg}{text}{"</body>" * count}', f'{GRAVITY} 0 0', MU, step)
    second = timed(advance, REST)
    tip = data.xpos[-1] + data.xmat[-1].reshape(3, 3) @ [0, 0, link]
    return {'second': second, 'step': step, 'value': tip[0], 'rate': np.abs(data.qvel).max()}


def mujoco_pile(step):
    """Let capsules fall."""
    text = '<geom type="plane" size="5 5 0.1"/>'
    for place, axis in zip(*capsules()):
        ends = ' '.join(map(str, [*(-HALF * axis), *(HALF * axis)]))
        text += f'<body pos="{place[0]} {place[1]} {place[2]}"><freejoint/>'
        text += f'<geom type="capsule" fromto="{ends}" size="{ROUND}" mass="0.5"/></body>'
    model, data, advance = _mujoco(text, f'0 0 {-GRAVITY}', 0.5, step)
    return _fallen(data, advance, step, lambda q, qd: (q[:, 2].mean(), np.abs(qd[:, :3]).max()))


def mujoco_stack(step):
    """Let boxes stand on each other."""
    text, half = '<geom type="plane" size="5 5 0.1"/>', 0.5 * EDGE
    for i in range(COUNT):
        text += f'<body pos="0 0 {(i + 0.5) * EDGE}"><freejoint/>'
        text += f'<geom type="box" size="{half} {half} {half}" mass="0.1"/></body>'
    model, data, advance = _mujoco(text, f'0 0 {-GRAVITY}', 0.5, step)
    top = (COUNT - 0.5) * EDGE
    tilt = 2.0  # times the vector of a unit quaternion
    return _fallen(data, advance, step, lambda q, qd: (top - q[-1, 2], tilt * abs(q[:, 4:]).max()))


def _fallen(data, advance, step, measure):
    second = timed(advance, 2.0)
    value, rate = measure(data.qpos.reshape(-1, 7), data.qvel.reshape(-1, 6))
    deep = -min((data.contact[i].dist for i in range(data.ncon)), default=0.0)
    return {'second': second, 'step': step, 'value': value, 'rate': rate, 'deep': deep}


def _mujoco(world, gravity, friction, step):
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" gravity="{gravity}" integrator="implicitfast"/>'
        f'<default><geom friction="{friction} 0 0"/></default>'
        f'<worldbody>{world}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)

    def advance(duration):
        mujoco.mj_step(model, data, nstep=round(duration / step))

    advance(step)
    mujoco.mj_resetData(model, data)
    return model, data, advance


CASES = {
    'slide': {'ours': our_slide, 'PyElastica': their_slide},
    'peg': {'ours': our_peg, 'PyElastica': their_peg},
    'cable': {'ours': our_cable, 'MuJoCo': mujoco_cable},
    'pile': {'ours': our_pile, 'MuJoCo': mujoco_pile},
    'stack': {'ours': our_stack, 'MuJoCo': mujoco_stack},
}


def longest(case, who):
    """Return the result of a program with the longest step by which it is right."""
    value, off = RIGHT[case]
    for step in STEPS:
        with np.errstate(all='ignore'):
            try:
                found = CASES[case][who](step)
            except ImportError:
                raise
            except Exception:  # checks of values that are no longer numbers
                continue
        if abs(found['value'] - value) < off:
            return found
    raise RuntimeError(f'{case}: {who} is not right by any step')


def main():
    """Print a table of all cases, or the result of one in this process."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--rounds', type=int, default=3, help='fresh processes of each')
    parser.add_argument('cases', nargs='*', default=list(CASES), metavar='CASE')
    parser.add_argument('--one', nargs=2, metavar=('CASE', 'WHO'), help='in this process alone')
    arguments = parser.parse_args()
    if arguments.one:
        case, who = arguments.one
        print(json.dumps({key: float(x) for key, x in longest(case, who).items()}))
        return
    print('| case | program | step [ms] | a simulated second [ms] | value | rate | deepest [mm] |')
    print('| --- | --- | --- | --- | --- | --- | --- |')
    for case in arguments.cases:
        programs = CASES[case]
        runs = {who: [] for who in programs}
        for _ in range(arguments.rounds):
            for who in programs:
                runs[who].append(_run(case, who))
        for who, found in runs.items():
            middle = {key: statistics.median(run[key] for run in found) for key in found[0]}
            rate, deep = (middle.get(key) for key in ('rate', 'deep'))
            print(
                f'| {case} | {who} | {1e3 * middle["step"]:g} | {1e3 * middle["second"]:.1f} '
                f'| {middle["value"]:.4f} | {"" if rate is None else f"{rate:.1e}"} '
                f'| {"" if deep is None else f"{1e3 * deep:.2f}"} |'
            )
        ours, theirs = runs.values()
        ratios = [b['second'] / a['second'] for a, b in zip(ours, theirs)]
        words = ', '.join(f'{ratio:.1f}' for ratio in ratios)
        print(
            f'| | time of theirs over ours | | {statistics.median(ratios):.1f} ({words}) | | | |'
        )


def _run(case, who):
    """Return the result of a case in a fresh process."""
    command = [sys.executable, '-W', 'ignore', __file__, '--one', case, who]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


if __name__ == '__main__':
    main()
