# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Simulate a double pendulum under a PID law written in Python, for 10 s.

    python examples/double_pendulum.py

The law measures the second bar's angle from the vertical, and its moment acts between the bars. A
moment is held for a millisecond, as a controller would hold it.
"""

import numpy as np
import softrobot_dynamics as sd

TARGET = np.pi / 3  # [rad] of the second bar, from the vertical
GAINS = 30.0, 3.0, 2.0  # P [N m/rad], I [N m/(rad s)], D [N m s/rad]
DT = 1e-3  # [s]

model = sd.compile_model(sd.load_robot('double_pendulum'))
theta, rate = np.array([np.pi / 6, np.pi / 3]), np.array([np.pi, -2.0 * np.pi])
robot = sd.Simulator(model, q=np.diff(theta, prepend=0.0), qd=np.diff(rate, prepend=0.0))
integral = 0.0
for k in range(10001):
    theta, rate = np.cumsum(robot.q), np.cumsum(robot.qd)  # joint angles to the vertical
    error = TARGET - theta[1]
    integral += error * DT
    moment = float(np.dot(GAINS, [error, integral, -rate[1]]))
    if k % 1000 == 0:
        print(f't = {k * DT:4.1f} s  theta {theta[0]:+.4f} {theta[1]:+.4f}  moment {moment:+.2f}')
    robot.step([0.0, moment], DT)
