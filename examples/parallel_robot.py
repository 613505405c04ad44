# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Simulate a plate on two rods, a parallel continuum robot in a plane, that a motor bends.

    python examples/parallel_robot.py

The robot file is a tree: a motor, a rod and the plate on it, and a second rod. A closure welds the
end of the second rod to the plate. Statics, linearised motion and simulation keep the loop closed.
"""

import numpy as np
import softrobot_dynamics as sd

ROD = {
    'type': 'cosserat', 'length': 0.3, 'density': 1200.0, 'young_modulus': 2e8, 'damping': 0.05,
    'section': {'type': 'circular', 'radius': 0.004},
    'strains': {'kappa_y': {'basis': 'legendre', 'order': 3}},
}  # fmt: skip
PLATE = {
    'type': 'rigid', 'mass': 0.05, 'com': [0.05, 0.0, 0.0],
    'inertia': {'ixx': 1e-5, 'iyy': 5e-5, 'izz': 5e-5}, 'tip': {'xyz': [0.1, 0.0, 0.0]},
}  # fmt: skip
MOTOR = {'type': 'revolute', 'axis': [0.0, 1.0, 0.0], 'armature': 1e-4, 'damping': 1e-3}
FIXED = {'type': 'fixed'}

robot = {
    'name': 'parallel_robot',
    'bodies': [
        {'name': 'left', 'joint': {'name': 'motor', **MOTOR}, 'body': ROD},
        {'name': 'plate', 'joint': FIXED, 'body': PLATE},
        {'name': 'right', 'parent': 'base', 'body': ROD,
         'joint': {'type': 'fixed', 'origin': {'xyz': [0.1, 0.0, 0.0]}}},
    ],
    'closures': [
        {'name': 'corner', 'type': 'weld', 'frames': [{'body': 'plate'}, {'body': 'right'}]}
    ],
    'actuators': [{'name': 'm', 'type': 'joint', 'joint': 'motor'}],
    'initial': {'motor': 0.2, 'left/kappa_y_0': 1.0, 'right/kappa_y_0': 2.0},
}  # fmt: skip

model = sd.compile_model(sd.load_robot(robot))
loops = sd.closures(model, q=model.q0)
print(f'mobility: {loops.mobility} of {model.n} coordinates')
print(f'redundant: {", ".join(loops.redundant)}')

rest = sd.equilibrium(model, u=[0.1])
x, _, z = sd.frame(model, q=rest.q, body='plate')[:3, 3]
print(f'the plate rests at x = {1e3 * x:.2f} mm, z = {1e3 * z:.2f} mm')

simulator = sd.Simulator(model)
for _ in range(2000):
    simulator.step([0.1], 1e-3)
found = sd.closures(model, q=simulator.q, qd=simulator.qd, u=[0.1])
x, _, z = sd.frame(model, q=simulator.q, body='plate')[:3, 3]
print(f'after 2 s it is at x = {1e3 * x:.2f} mm, z = {1e3 * z:.2f} mm')
print(f'its loop is open by {np.abs(found.residual).max():.1e} m')
held = dict(zip(found.names, found.forces))
print(f'the corner bears {np.hypot(held["corner/x"], held["corner/z"]):.3f} N')
