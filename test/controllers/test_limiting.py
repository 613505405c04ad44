# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The limits that every command passes before it is sent."""

from numba.core import event
import numpy as np
import pytest
from softrobot_dynamics.controllers.limiting import Limiter
from softrobot_dynamics.schema.parameters import frozen

pytestmark = pytest.mark.quick


def test_nothing_is_compiled_once_commands_go_out():
    """Read-only arrays cause no compilation after the first command."""
    limiter = Limiter(np.array([0.0, 0.0]), np.array([10.0, 10.0]))
    with event.install_recorder('numba:compile') as compiled:
        first = limiter.apply(np.array([3.0, 4.0]), frozen([1.0, 1e3]), 0.5)[0].copy()
        then, changed = limiter.apply(frozen([5.0, 5.0]), frozen([1.0, 1e3]), 0.5)
    assert not compiled.buffer
    assert changed and first == pytest.approx([3.0, 4.0]) and then == pytest.approx([3.5, 5.0])
