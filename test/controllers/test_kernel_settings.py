# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The record that a law's kernel reads is derived from the settings that the law declares."""

from dataclasses import dataclass, fields

import numpy as np
import pytest
from softrobot_dynamics.controllers.contract import CONTROLLERS
from softrobot_dynamics.controllers.pd_plus import PdPlusSettings
from softrobot_dynamics.controllers.sampled_data_law import SampledDataLaw
from softrobot_dynamics.controllers.settings import as_number, kernel_settings
from softrobot_dynamics.schema.fields import number, text, vector
from softrobot_dynamics.schema.parameters import parameter
from support.robots import compiled

LAWS = [name for name in CONTROLLERS.names() if issubclass(CONTROLLERS.get(name), SampledDataLaw)]


@dataclass(frozen=True)
class Extended(PdPlusSettings):
    """Settings of a law, with three that no other law has."""

    weight: float = parameter(number('-', default=2.0), 'A number')
    along: tuple[float, ...] = parameter(vector('-', 3, default=(1.0, 2.0, 3.0)), 'Numbers')
    frame: str = parameter(text(default=''), 'A text')


def test_a_setting_is_declared_once():
    """Numbers and lists that a law declares are in its kernel's record, and texts are not."""
    record = kernel_settings('ExtendedKernelSettings', Extended, 'gains', 'weight')
    assert {'lower', 'upper', 'rate', 'feed_forward', 'p', 'd'} <= set(record._fields)
    assert {'weight', 'along', 'gains'} <= set(record._fields)
    assert 'frame' not in record._fields
    assert len(set(record._fields)) == len(record._fields)
    assert (record.__module__, record.__name__) == (__name__, 'ExtendedKernelSettings')


def test_kernels_read_arrays_for_lists():
    """A list among the settings is an array of floats for kernels, a number stays what it is."""
    found = as_number((1, 2, 3))
    assert found.dtype == float
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])
    assert as_number(2.5) == 2.5


@pytest.mark.parametrize('name', LAWS)
def test_every_setting_reaches_the_kernel(name):
    """The record of a law's kernel has the values of all of its settings but texts."""
    model, law = compiled('double_pendulum'), CONTROLLERS.get(name)
    made = law(model, period=1e-3)
    told = made.make_kernel_settings(made.settings)
    own = {
        each.name for each in fields(law.Settings) if each.metadata.get('kind') != 'string'
    } - set(made.prepared(made.settings, None))
    own -= {'tasks', 'bounds'}  # they are in the workspace that is made of them
    assert {'lower', 'upper', 'rate', 'feed_forward'} <= own
    for each in own:
        np.testing.assert_array_equal(getattr(told, each), getattr(made.settings, each))
