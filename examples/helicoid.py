# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Simulation 1 of [P]: the trimmed helicoids' tips on circles under the sampled law, for 5 s.

    python examples/helicoid.py

The equilibria, the continuous law and the comparisons are in
softrobot_dynamics/reproduce/systems/helicoid.py, which `softrobot reproduce helicoid` runs; the
same over ROS 2 is `softrobot demo --robot trimmed_helicoid`.
"""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.reproduce.circles import circle, circles, tips_of

model = sd.compile_model(sd.load_robot('trimmed_helicoid'))
reference, postures = circle(model, 72)  # y_d(t), and the equilibria that it goes through
loop = sd.closed_loop(
    model,
    sd.Law('pfbl', parameters={'p': 10.0, 'd': 1.0}),
    reference,
    5.0,
    start=sd.Start(q=postures.q[0], u=postures.u[0]),
)
for k in range(0, len(loop.t), 500):
    off = np.linalg.norm(tips_of(model, loop.q[k : k + 1])[0] - circles([loop.t[k]])[0], axis=1)
    print(f't = {loop.t[k]:.1f} s   tips off their circles by {1e3 * off.max():.3f} mm')
