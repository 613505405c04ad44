# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Lead the tips of three trimmed helicoids along circles by partial feedback linearization, for 5 s.

    python examples/helicoid.py

The same over ROS 2 is `softrobot demo --robot trimmed_helicoid`.
"""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.references.tips import tip_path

PERIOD = 5.0  # [s]
RADII, HEIGHTS = np.array([0.020, 0.025, 0.030]), np.array([0.08, 0.15, 0.24])  # [m]


def circles(times):
    """Return the targets (T, 3, 3) [m] of the three tips at times (T,) [s]."""
    angle = 2.0 * np.pi * np.asarray(times)[:, None] / PERIOD
    x, y = RADII * np.cos(angle), RADII * np.sin(angle)
    return np.stack([x, y, np.broadcast_to(HEIGHTS, x.shape)], axis=-1)


model = sd.compile_model(sd.load_robot('trimmed_helicoid'))
times = np.linspace(0.0, PERIOD, 25)
points = circles(times)
points[-1] = points[0]  # not rounded, as a periodic path ends where it begins
motion = tip_path(model, model.body_names, times, points, periodic=True, samples=48)
q, u = motion.postures.q, motion.postures.u
loop = sd.closed_loop(
    model,
    sd.Law('pfbl', parameters={'p': 10.0, 'd': 1.0}),  # [1/s^2], [1/s]
    motion.reference,
    PERIOD,
    # on the circles at their speed
    start=sd.Start(q=q[0], qd=(q[1] - q[-2]) / (2.0 * PERIOD / 48), u=u[0]),
)
for k in range(0, len(loop.t), 500):
    tips = sd.forward_kinematics(model, q=loop.q[k])[:, :3, 3]
    off = np.linalg.norm(tips - circles(loop.t[[k]])[0], axis=1)
    print(f't = {loop.t[k]:.1f} s  tips are off their circles by {1e3 * off.max():.3f} mm')
