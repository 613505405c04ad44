# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compare arcs and rods for an arm of 0.3 m of silicone that stands out from a wall.

    python examples/compare_bodies.py

It prints how far the tip of each model is from that of a rod whose strains are of fourth order.
"""

import numpy as np
import softrobot_dynamics as sd

SILICONE = {'density': 1070.0, 'young_modulus': 6.0e5}  # kg/m^3, Pa


def arm(bodies):
    """Return a model of an arm of 0.3 m that stands out from a wall."""
    rows = [
        {'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': {**SILICONE, **body}}
        for i, body in enumerate(bodies)
    ]
    return sd.compile_model(
        sd.load_robot({'name': 'arm', 'gravity': [-9.81, 0, 0], 'bodies': rows})
    )


def rod(order):
    """Return a rod whose strains are polynomials of that order along it."""
    strain = {'basis': 'legendre', 'order': order}
    return {
        'type': 'cosserat',
        'length': 0.3,
        'section': {'type': 'circular', 'radius': 0.02},
        'strains': {'kappa_x': strain, 'kappa_y': strain, 'gamma_z': strain},
    }


def arcs(count):
    """Return bodies of constant curvature in a row."""
    return [{'type': 'pcc', 'length': 0.3 / count, 'radius': 0.02}] * count


candidates = {'one arc': arcs(1), 'three arcs': arcs(3)}
candidates |= {f'rod of order {order}': [rod(order)] for order in (1, 2, 4)}
tips, sizes = {}, {}
for name, bodies in candidates.items():
    model = arm(bodies)
    rest = sd.equilibrium(model, u=[])
    tips[name], sizes[name] = sd.forward_kinematics(model, q=rest.q)[-1][:3, 3], model.n
errors = {name: 1e3 * np.linalg.norm(tip - tips['rod of order 4']) for name, tip in tips.items()}
for name, error in errors.items():
    print(f'{name}: {sizes[name]} coordinates, tip off by {error:.2f} mm')
assert errors['one arc'] > 4 * errors['three arcs'] > 4 * errors['rod of order 2']
