# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Real-time, model-based control of serial robots made of rigid and soft bodies."""

from softrobot_dynamics.description import load_robot
from softrobot_dynamics.dynamics import (
    actuation,
    damping_force,
    elastic_force,
    forward_dynamics,
    forward_kinematics,
    gravity_force,
    inertial_inverse_dynamics,
    inverse_dynamics,
    jacobian,
    mass_inertial_inverse_dynamics,
    mass_inverse_dynamics,
)
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.model import compile_model
from softrobot_dynamics.simulation import Simulator
from softrobot_dynamics.statics import equilibrium

__all__ = [
    'SoftRobotError',
    'Simulator',
    'actuation',
    'compile_model',
    'damping_force',
    'elastic_force',
    'equilibrium',
    'forward_dynamics',
    'forward_kinematics',
    'gravity_force',
    'inertial_inverse_dynamics',
    'inverse_dynamics',
    'jacobian',
    'load_robot',
    'mass_inertial_inverse_dynamics',
    'mass_inverse_dynamics',
]
__version__ = '0.1.0'
