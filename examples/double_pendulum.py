# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The double pendulum of the matrix formalism with its PID moment: 10 s in the simulator.

    python examples/double_pendulum.py

Here the moment is held for a millisecond at a time, as a controller would; `softrobot reproduce
double_pendulum` integrates the continuous one, and says how far both are from the notebook's own
equations (softrobot_dynamics/reproduce/systems/double_pendulum.py).
"""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.reproduce.systems.double_pendulum import START, TARGET, TO_JOINTS

model = sd.compile_model(sd.load_robot('double_pendulum'))
robot = sd.Simulator(model, q=TO_JOINTS @ START[:2], qd=TO_JOINTS @ START[2:])
integral, dt = 0.0, 1e-3
for k in range(10001):
    theta, rate = np.cumsum(robot.q), np.cumsum(robot.qd)  # from the vertical
    error = TARGET - theta[1]
    integral += error * dt
    moment = 30.0 * error - 2.0 * rate[1] + 3.0 * integral
    if k % 1000 == 0:
        print(f't = {k * dt:4.1f} s  theta {theta[0]:+.4f} {theta[1]:+.4f}   M12 {moment:+.2f}')
    robot.step([0.0, moment], dt)
