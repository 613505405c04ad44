# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fields of public classes that have another name now are still read by the former one."""

from dataclasses import fields

import pytest
from softrobot_dynamics import errors
from softrobot_dynamics.controllers.composition import Composition
from softrobot_dynamics.controllers.contract import Controller
from softrobot_dynamics.controllers.phases import Program
from softrobot_dynamics.controllers.tasks.contract import BoundRows, Rows, TickState
from softrobot_dynamics.dynamics.contacts import NearPoint
from softrobot_dynamics.estimation.external_wrench import Contact, Push
from softrobot_dynamics.estimation.momentum_observer import ObservedContact
from softrobot_dynamics.estimation.sensors.contract import BoundRobot
from softrobot_dynamics.identification.confidence import Confidence
from softrobot_dynamics.identification.fitting import Identification
from softrobot_dynamics.identification.validation import Validation
from softrobot_dynamics.model.model import CompiledModel
from softrobot_dynamics.offline.closed_loop import ClosedLoop
from softrobot_dynamics.references.tip_following import ReachableTip
from softrobot_dynamics.simulation.integrators.contract import Clock
from softrobot_dynamics.studies.study import Study
from softrobot_dynamics.studies.trial import Outcome
from softrobot_dynamics.viewing.animation import Film

pytestmark = pytest.mark.quick

FORMER_NAMES = {
    ClosedLoop: {'told': 'commands_sent'},
    Program: {'beginning': 'run_id'},
    TickState: {'ahead': 'prediction'},
    BoundRows: {'least': 'lower', 'most': 'upper'},
    Contact: {'push': 'wrench', 'other': 'touched_shape'},
    ObservedContact: {'other': 'touched_shape'},
    BoundRobot: {'still': 'at_rest'},
    Identification: {
        'off': 'all_residuals',
        'off_before': 'all_initial_residuals',
        'unseen': 'unidentifiable',
    },
    Confidence: {'unseen': 'unidentifiable'},
    Push: {'chance': 'probability'},
    Rows: {'beyond': 'excess_aim'},
    NearPoint: {'other': 'near_shape'},
    Film: {'wanted': 'tip_paths'},
    ReachableTip: {'off': 'position_error', 'turn': 'rotation_error'},
    Validation: {'off': 'all_residuals', 'counts': 'sample_counts'},
    Clock: {'passed': 'elapsed', 'next': 'next_step', 'since': 'time_since_jacobian'},
    Study: {'share': 'error_ratio'},
    Outcome: {'share': 'error_ratio'},
    errors.NotConvergedError: {'what': 'operation'},
    errors.CancelledError: {'what': 'operation', 'by': 'requested_by'},
}


@pytest.mark.parametrize('kind', FORMER_NAMES, ids=lambda kind: kind.__name__)
def test_a_field_is_read_by_its_former_name(kind):
    """The former name gives the very value of the field, with a warning, of every such class."""
    names = getattr(kind, '_fields', None) or [field.name for field in fields(kind)]
    instance = kind(**{name: object() for name in names})
    for former, name in FORMER_NAMES[kind].items():
        with pytest.warns(DeprecationWarning, match=f'{former} is {name} now'):
            assert getattr(instance, former) is getattr(instance, name)


def test_limits_of_a_model_are_read_by_their_former_names():
    """``told_lower`` and ``told_upper`` of a model are ``sent_lower`` and ``sent_upper``."""
    model = CompiledModel.__new__(CompiledModel)  # the names need no kernels
    model.sent_lower, model.sent_upper = object(), object()
    for former, name in {'told_lower': 'sent_lower', 'told_upper': 'sent_upper'}.items():
        with pytest.warns(DeprecationWarning, match=f'{former} is {name} now'):
            assert getattr(model, former) is getattr(model, name)


def test_a_law_says_by_the_former_name_what_is_pickled():
    """``kept`` of a law's class counts as its ``pickled_attributes``."""

    class Law(Controller):
        kept = *Controller.kept, 'phase'

    class Other(Composition):
        kept = *Composition.kept, 'phase'

    assert Law.pickled_attributes == ('settings', 'plan', 'phase')
    assert Other.pickled_attributes == (*Composition.pickled_attributes, 'phase')
