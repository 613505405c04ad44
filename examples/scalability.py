# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Measure how the time of inverse dynamics grows with the number N of soft bodies in a chain.

    python examples/scalability.py

The call, from Python, computes the inertial forces M(q) qdd of a chain of planar bodies of
constant curvature.
"""

import timeit

import numpy as np
import softrobot_dynamics as sd

BODY = sd.load_robot('scalability').modules[0].body  # the shipped link

for n in (1, 2, 4, 8, 16, 32, 64):
    bodies = [{'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': BODY} for i in range(n)]
    model = sd.compile_model(sd.load_robot({'name': 'chain', 'bodies': bodies}))
    state = {'q': np.ones(n), 'qd': np.zeros(n), 'qdd': np.ones(n)}
    timer = timeit.Timer(lambda: sd.inertial_inverse_dynamics(model, **state))  # noqa: B023
    print(f'N = {n:3}   {1e6 * min(timer.repeat(5, 200)) / 200:6.1f} us')
