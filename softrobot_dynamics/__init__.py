# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Real-time, model-based control of serial robots made of rigid and soft bodies."""

from softrobot_dynamics.description import load_robot
from softrobot_dynamics.dynamics import (
    actuation, damping_force, elastic_force, forward_dynamics, forward_kinematics, gravity_force,
    inertial_inverse_dynamics, inverse_dynamics, jacobian, mass_inertial_inverse_dynamics,
    mass_inverse_dynamics,
)
from softrobot_dynamics.model import compile_model

__version__ = '0.1.0'
