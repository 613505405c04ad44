# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A report and the validation of states are the same for robots of any size and stiffness."""

import functools

import numpy as np
import pytest
from softrobot_dynamics.checking.report import examine
from softrobot_dynamics.errors import MessageError
from softrobot_dynamics.loops.state_validation import bounds_of, StateValidator
from support.scaled import model_of, rigid_arm, rod, Scale, SIZES

FEW = (SIZES[5], SIZES[6], SIZES[8])
RELATIVE = ('', '-', '%')


@functools.cache
def lines(robot, scale):
    """Return the findings by name without the load, but for those on speed and on likely units."""
    model = model_of(robot(), scale)
    found = [each for each in examine(model) if each.name != 'units' and each.unit != 'us']
    return {each.name.partition(',')[0]: each for each in found}


@pytest.mark.parametrize('robot', [rod, rigid_arm])
@pytest.mark.parametrize('scale', FEW, ids=str)
def test_a_report_asks_the_same_questions_at_any_size(robot, scale):
    """Robots of any size get the same questions and the same dimensionless numbers."""
    wanted, found = (lines(robot, each) for each in (Scale(), scale))
    assert list(found) == list(wanted)
    for name, one in wanted.items():
        assert bool(found[name].question) == bool(one.question), found[name]
        if one.unit in RELATIVE and one.value is not None and abs(one.value) > 1e-7:
            assert found[name].value == pytest.approx(one.value, rel=0.05), name


@pytest.mark.parametrize('scale', FEW, ids=str)
def test_states_are_validated_at_any_size(scale):
    """At any size a motion at its rates is accepted, a jump by a twentieth refused."""
    for size in (Scale(), scale):
        bounds = bounds_of(model_of(rod(), size))
        validator, period = StateValidator(bounds), round(1e6)
        step = 0.002 / bounds.unit
        for k in range(1, 200):
            qd = step / (period * 1e-9)
            validator.check(k * step, qd, k * period, k * period)
        with pytest.raises(MessageError, match='contradiction'):
            validator.check(200 * step + 0.05 / bounds.unit, qd, 200 * period, 200 * period)
        assert np.isfinite(bounds.unit).all() and (bounds.unit > 0.0).all()
