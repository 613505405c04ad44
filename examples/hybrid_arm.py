# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Control one robot by three laws in three phases: a rigid arm, a soft arm on it, a soft gripper.

    python examples/hybrid_arm.py

`softrobot demo --robot hybrid_arm` runs the same through the ROS 2 nodes, from the shipped
config/controllers/hybrid_arm.yaml.
"""

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.feed_forward import FeedForward
from softrobot_dynamics.controllers.pd_plus import PdPlus
from softrobot_dynamics.controllers.pfbl import PartialFeedbackLinearization
from softrobot_dynamics.controllers.phases import Phase, Program
from softrobot_dynamics.references.piecewise import constant, spline

GOAL = np.pi * np.array([1 / 2, -1 / 4, -1 / 4, -1 / 5, 1 / 8, -1 / 2])  # [rad] of the motors
SHAPE = [3.5619e-3, -41.9836e-3, -21.5784e-3]  # [m] of the tendons

model = sd.compile_model(sd.load_robot('hybrid_arm'))
motors, tendons, gripper = model.actuator_names[:6], model.actuator_names[6:9], ['p']


def law(kind, actuators, **gains):
    """Return a law for some of the actuators."""
    settings = kind.make_settings(model, actuators, **gains)
    return kind(model, period=1e-3, controlled=actuators, settings=settings)


laws = [
    law(PdPlus, tendons, p=4.0, d=2.0),  # a law accounts for those before it
    law(PartialFeedbackLinearization, motors, p=100.0, d=10.0),
    law(FeedForward, gripper, command=2e6),  # [Pa]
]
phases = [Phase('reach', 3.0, (1,)), Phase('bend', 2.0, (0, 1)), Phase('grip', 1.0, (0, 1, 2))]
cubic = spline([0.0, 3.0], np.array([0.0 * GOAL, GOAL]))  # from rest to rest
program = Program((constant(SHAPE), cubic, None), ramps=(2.0, 1.0, 0.0))
print('motors [rad], bends [rad], tensions [N]')
run = sd.closed_loop(model, Composition(laws, phases=phases), program, 8.0)
for t in range(9):
    q, u = run.q[1000 * t], run.u[1000 * t]
    print(
        f't = {t} s  motors {q[:6].round(3)}  bends {q[6:8].round(3)}  tensions {u[6:9].round(2)}'
    )
