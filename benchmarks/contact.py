# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time simulated steps with contact, and compare the two ways in which they are made.

    python benchmarks/contact.py

A soft arm of three rods hangs beside nothing, beside two walls, pressed on one of them, and with
contact of its own parts. Printed are the pairs of elements, those that touch, the median time of a
sub-step of 0.5 ms, and the real-time factor; time is that of the processor, so that other load
counts little. Then the same arm, pulled against a wall, is followed for 2 s in steps of equal
length and within a tolerance: how fast it still moves, how far both are apart, and the force on
the wall beside statics. Then the time of contact for more and more pairs. Last, what chose the
scheme: an arm swings against a wall by steps that solve for the forces at their end, and by the
same law as a penalty, either explicit in the same steps, or implicit in those of the method with a
tolerance, held at the same length. Energy that the arm gains is of what it has at first; its way
is compared with one in steps of 10 us.
"""

import statistics
import time

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import EMPTY_ENTRY
from softrobot_dynamics.errors import SimulationDivergedError
from softrobot_dynamics.simulation.integrators.contract import register
from softrobot_dynamics.simulation.integrators.exponential import ExponentialIntegrator

GRAVITY, SUBSTEP, PERIOD = 9.81, 5e-4, 1e-3
TURNS, STEPS = 7, 400
SWING, STIFF = 1.0, 1e4  # [s] of the comparison of schemes, and [N/m] of its wall
LOOSE = 1e6  # a tolerance that never shortens a step


@register('explicit_penalty')
class ExplicitPenalty(ExponentialIntegrator):
    """The steps of equal length with forces of contact as they are at the states of its stages."""

    solves_contact = False

    def prepare(self, model):
        """Make the steps without what solves for forces."""
        super().prepare(model)
        self._work = self._work._replace(begin_contact=EMPTY_ENTRY, end_contact=EMPTY_ENTRY)
        self.advance = self.bind(self.entry)


def arm(environment=(), own=False, friction=0.5, **more):
    """Return the model of an arm of three pcc segments with a tendon, along +z."""
    shape = {'type': 'rod', 'friction': friction, **more}
    if own:
        shape['collides_with'] = ['robot', 'environment', 'object']
    body = {
        'type': 'pcc', 'length': 0.2, 'radius': 0.02, 'density': 1070.0, 'young_modulus': 6e5,
        'poisson_ratio': 0.5, 'damping': 0.08,
    }  # fmt: skip
    names = [f'segment{i}' for i in range(3)]
    bodies = [
        {'name': name, 'joint': {'type': 'fixed'}, 'body': body, 'collision': shape}
        for name in names
    ]
    path = [{'body': name, 'offset': {'radius': 0.015, 'phase': 0.0}} for name in names]
    robot = {'name': 'arm', 'gravity': [0.0, 0.0, GRAVITY], 'bodies': bodies}
    robot['actuators'] = [{'name': 't', 'type': 'tendon', 'path': path}]
    robot['environment'] = list(environment)
    return sd.compile_model(sd.load_robot(robot))


def wall(x, side=1.0, friction=0.5):
    """Return a wall at x [m], which the arm is on the inner side of."""
    return {
        'name': 'right' if side > 0.0 else 'left', 'type': 'plane', 'point': [side * x, 0.0, 0.0],
        'normal': [-side, 0.0, 0.0], 'friction': friction,
    }  # fmt: skip


def timed(model, u):
    """Return the median time [s] of a sub-step after the arm has come to rest."""
    simulator = sd.Simulator(model, substep=SUBSTEP)
    for _ in range(1500):
        simulator.step([u], PERIOD)
    times = []
    for _ in range(TURNS):
        before, start = simulator.substeps, time.process_time()
        for _ in range(STEPS):
            simulator.step([u], PERIOD)
        times.append((time.process_time() - start) / (simulator.substeps - before))
    return statistics.median(times), sd.contacts(model, q=simulator.q, qd=simulator.qd)


def followed(model, u, **options):
    """Return the simulator after 2 s, and the time [s] that it took."""
    simulator, start = sd.Simulator(model, **options), time.process_time()
    for _ in range(2000):
        simulator.step([u], PERIOD)
    return simulator, time.process_time() - start


def grown():
    """Print the time of a sub-step for more and more pairs, none near and all along a wall."""
    print()
    head('pairs', 'touching', 'sub-step, apart [us]', 'pressed flat [us]')
    for capsules in (2, 5, 10, 20, 40, 66):
        tolerance = 0.2 * np.pi / (8.0 * capsules**2) * 1.0001
        models = [arm([wall(x), wall(0.5, -1.0)], tolerance=tolerance) for x in (0.2, 0.0199)]
        (apart, _), (pressed, found) = (timed(model, 0.1) for model in models)
        pairs, touching = len(models[0].contact_plan.pairs), int((found.gap < 0.0).sum())
        print(f'| {pairs} | {touching} | {1e6 * apart:.1f} | {1e6 * pressed:.1f} |')


def swung(model, **options):
    """Return the tip's way (T, 3) [m], and the energy [J] on it, from a bent posture."""
    simulator = sd.Simulator(model, q=np.tile([0.5, 0.0, 0.0], 3), **options)
    tips, energies = [], []
    for _ in range(round(SWING / PERIOD)):
        q, qd = simulator.q, simulator.qd
        stored = sd.potential_energy(model, q=q) + sd.elastic_energy(model, q=q)
        energies.append(stored + sd.kinetic_energy(model, q=q, qd=qd))
        tips.append(sd.forward_kinematics(model, q=q)[-1][:3, 3])
        simulator.step([0.0], PERIOD)
    return np.array(tips), np.array(energies)


def compared():
    """Print energy gained and error of each scheme and step."""
    print()
    head('scheme', 'step [ms]', 'energy gained', 'tip off, mean [mm]', 'time [s]')
    model = arm([{**wall(0.03, -1.0), 'stiffness': STIFF}], stiffness=STIFF, friction=0.5)
    right, _ = swung(model, substep=1e-5)
    for step in (1e-3, 5e-4, 2e-4):
        for words, options in (
            ('solved at the end of the step', {}),
            ('penalty, explicit', {'integrator': 'explicit_penalty'}),
            ('penalty, implicit', {'tolerance': LOOSE}),
        ):
            start = time.process_time()
            try:
                tips, energies = swung(model, substep=step, **options)
            except SimulationDivergedError as error:
                print(f'| {words} | {1e3 * step:g} | diverged at {error.time:.3f} s | | |')
                continue
            seconds = time.process_time() - start
            gain = (energies - np.minimum.accumulate(energies)).max() / np.ptp(energies[:2000])
            off = 1e3 * np.linalg.norm(tips - right, axis=1).mean()
            print(f'| {words} | {1e3 * step:g} | {gain:.1e} | {off:.2g} | {seconds:.2f} |')


def head(*names):
    """Print the head of a table."""
    print('|', ' | '.join(names), '|')
    print('|', ' | '.join('---' for _ in names), '|')


def main():
    """Print both tables."""
    between = [wall(0.06), wall(0.06, -1.0)]
    head('arm', 'pairs', 'touching', 'sub-step [us]', 'real-time factor')
    for words, model, u in (
        ('beside nothing', arm(), 15.0),
        ('between walls it does not reach', arm(between), 1.0),
        ('pressed on a wall', arm(between), 15.0),
        ('between walls, with itself', arm(between, own=True), 1.0),
        ('pressed on a wall, with itself', arm(between, own=True), 15.0),
    ):
        plan = model.contact_plan
        seconds, found = timed(model, u)
        pairs, touching = 0 if plan is None else len(plan.pairs), int((found.gap < 0.0).sum())
        factor = SUBSTEP / seconds
        print(f'| {words} | {pairs} | {touching} | {1e6 * seconds:.1f} | {factor:.0f} |')
    model = arm([wall(0.06, friction=0.0)], friction=0.0)
    rest = sd.equilibrium(model, u=[15.0])
    force = sd.contacts(model, q=rest.q).force.sum()
    print()
    head('steps', 'time for 2 s [s]', 'sub-steps', 'off statics', 'force, of statics')
    for words, options in (
        ('equal, 0.5 ms', {'substep': 5e-4}),
        ('equal, 0.1 ms', {'substep': 1e-4}),
        ('tolerance 1e-4', {'tolerance': 1e-4}),
        ('tolerance 1e-6', {'tolerance': 1e-6}),
    ):
        simulator, seconds = followed(model, 15.0, **options)
        off = np.abs(simulator.q - rest.q).max()
        share = sd.contacts(model, q=simulator.q).force.sum() / force
        print(f'| {words} | {seconds:.2f} | {simulator.substeps} | {off:.1e} | {share:.4f} |')
    grown()
    compared()


if __name__ == '__main__':
    main()
