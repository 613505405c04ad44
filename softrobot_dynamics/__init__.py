# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Real-time, model-based control of serial robots made of rigid and soft bodies."""

from importlib import import_module
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.compiling.garbage_collection import rarely_collected
from softrobot_dynamics.compiling.program_exit import is_program, start_quietly

if is_program():  # before what takes a while is imported
    start_quietly()

from softrobot_dynamics.errors import SoftRobotError

if TYPE_CHECKING:
    from softrobot_dynamics.bodies.custom import CustomBody
    from softrobot_dynamics.bodies.lvp.quadrature_accuracy import (
        converged_quadrature,
        quadrature_error,
    )
    from softrobot_dynamics.configuration.controllers import load_controller, LoadedController
    from softrobot_dynamics.description.add_surroundings import surround
    from softrobot_dynamics.description.robot import load_robot
    from softrobot_dynamics.description.variation import vary
    from softrobot_dynamics.dynamics.calls import (
        actuation,
        damping_force,
        elastic_force,
        forward_dynamics,
        forward_kinematics,
        frame,
        gravity_force,
        jacobian,
        material_points,
    )
    from softrobot_dynamics.dynamics.closures import (
        assemble,
        closed_inverse_dynamics,
        Closures,
        closures,
    )
    from softrobot_dynamics.dynamics.command_conversion import commands, efforts
    from softrobot_dynamics.dynamics.contacts import Contacts, contacts
    from softrobot_dynamics.dynamics.conversions import generalized_velocities, joint_torques
    from softrobot_dynamics.dynamics.derivatives import (
        forward_dynamics_derivatives,
        inverse_dynamics_derivatives,
    )
    from softrobot_dynamics.dynamics.energies import (
        elastic_energy,
        kinetic_energy,
        potential_energy,
    )
    from softrobot_dynamics.dynamics.inverse import (
        inertial_inverse_dynamics,
        inverse_dynamics,
        mass_inertial_inverse_dynamics,
        mass_inverse_dynamics,
    )
    from softrobot_dynamics.dynamics.jacobians import jacobian_derivatives
    from softrobot_dynamics.dynamics.regressor import torque_regressor
    from softrobot_dynamics.dynamics.statics import equilibrium
    from softrobot_dynamics.dynamics.wrenches import Wrench
    from softrobot_dynamics.dynamics.zero_dynamics import zero_dynamics
    from softrobot_dynamics.estimation.estimator import Estimator
    from softrobot_dynamics.estimation.momentum_observer import MomentumObserver
    from softrobot_dynamics.estimation.settings import load_estimator
    from softrobot_dynamics.estimation.shape_fit import ShapeFit
    from softrobot_dynamics.model.model import compile_model
    from softrobot_dynamics.offline.arguments import Feedback, Law, Plant, Start
    from softrobot_dynamics.offline.closed_loop import closed_loop, ClosedLoop
    from softrobot_dynamics.recordings.reading import read_recording, Recording
    from softrobot_dynamics.simulation.rotation_vector_wrapping import recentred
    from softrobot_dynamics.simulation.simulator import Simulator
    from softrobot_dynamics.simulation.state_space import linearise

__all__ = [
    'ClosedLoop',
    'Closures',
    'Contacts',
    'CustomBody',
    'Estimator',
    'Feedback',
    'Law',
    'LoadedController',
    'MomentumObserver',
    'Plant',
    'Recording',
    'ShapeFit',
    'SoftRobotError',
    'Simulator',
    'Start',
    'Wrench',
    'actuation',
    'assemble',
    'closed_inverse_dynamics',
    'closed_loop',
    'closures',
    'commands',
    'compile_model',
    'contacts',
    'converged_quadrature',
    'damping_force',
    'efforts',
    'elastic_energy',
    'elastic_force',
    'equilibrium',
    'forward_dynamics',
    'forward_dynamics_derivatives',
    'forward_kinematics',
    'frame',
    'generalized_velocities',
    'gravity_force',
    'inertial_inverse_dynamics',
    'inverse_dynamics',
    'inverse_dynamics_derivatives',
    'jacobian',
    'jacobian_derivatives',
    'joint_torques',
    'kinetic_energy',
    'linearise',
    'load_controller',
    'load_estimator',
    'load_robot',
    'mass_inertial_inverse_dynamics',
    'mass_inverse_dynamics',
    'material_points',
    'potential_energy',
    'quadrature_error',
    'read_recording',
    'recentred',
    'surround',
    'torque_regressor',
    'vary',
    'zero_dynamics',
]
__version__ = '0.1.0'

_NAMES = {
    'bodies.custom': 'CustomBody',
    'bodies.lvp.quadrature_accuracy': 'converged_quadrature quadrature_error',
    'configuration.controllers': 'load_controller LoadedController',
    'description.robot': 'load_robot',
    'description.add_surroundings': 'surround',
    'description.variation': 'vary',
    'dynamics.calls': (
        'actuation damping_force elastic_force forward_dynamics forward_kinematics frame '
        'gravity_force jacobian material_points'
    ),
    'dynamics.closures': 'assemble closed_inverse_dynamics Closures closures',
    'dynamics.command_conversion': 'commands efforts',
    'dynamics.contacts': 'Contacts contacts',
    'dynamics.conversions': 'generalized_velocities joint_torques',
    'dynamics.derivatives': 'forward_dynamics_derivatives inverse_dynamics_derivatives',
    'dynamics.energies': 'elastic_energy kinetic_energy potential_energy',
    'dynamics.inverse': (
        'inertial_inverse_dynamics inverse_dynamics mass_inertial_inverse_dynamics '
        'mass_inverse_dynamics'
    ),
    'dynamics.jacobians': 'jacobian_derivatives',
    'dynamics.regressor': 'torque_regressor',
    'dynamics.statics': 'equilibrium',
    'dynamics.wrenches': 'Wrench',
    'dynamics.zero_dynamics': 'zero_dynamics',
    'estimation.estimator': 'Estimator',
    'estimation.momentum_observer': 'MomentumObserver',
    'estimation.settings': 'load_estimator',
    'estimation.shape_fit': 'ShapeFit',
    'model.model': 'compile_model',
    'offline.arguments': 'Feedback Law Plant Start',
    'offline.closed_loop': 'closed_loop ClosedLoop',
    'recordings.reading': 'read_recording Recording',
    'simulation.state_space': 'linearise',
    'simulation.rotation_vector_wrapping': 'recentred',
    'simulation.simulator': 'Simulator',
}
"""The public names in each module, which is imported when one of them is first used."""

_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Return a public name; its module is imported now, with what else it takes."""
    if name not in _MODULES:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    with rarely_collected():
        value = getattr(import_module(f'{__name__}.{_MODULES[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all public names, those included that were not used yet."""
    return sorted({*globals(), *__all__})
