# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The counts of operations in benchmarks equal those of the sources."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.recursion.operations import inverse_dynamics
from softrobot_dynamics.recursion.passes import INERTIAL

FILE = Path(__file__).parents[2] / 'benchmarks' / 'performance' / 'operations.py'


@pytest.fixture(scope='module')
def count():
    """Return the function of the benchmarks."""
    spec = importlib.util.spec_from_file_location('operations', FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.count


@kernel
def formula(x, y):
    """Make two products, a sum, a quotient and a difference."""
    y[0] = (x[0] * x[0] + 3.0 * x[1]) / x[1] - 1.0


@kernel
def twice(x, y):
    """Do the same, and again."""
    formula(x, y)
    formula(x, y)


def test_operations_are_counted(count):
    """Operations of called functions are counted, too; nothing is written."""
    x, y = np.array([2.0, 4.0]), np.zeros(1)
    assert (count(formula, x, y), count(twice, x, y), y[0]) == (5, 10, 0.0)


def test_operations_of_a_chain_grow_linearly(count):
    """Each further body of a chain adds the same number of operations."""

    def operations(n):
        body = {
            'type': 'planar_cc', 'length': 0.3, 'radius': 0.03, 'density': 1000.0,
            'young_modulus': 1e6,
        }  # fmt: skip
        bodies = [{'name': f'b{i}', 'joint': {'type': 'fixed'}, 'body': body} for i in range(n)]
        model = sd.compile_model(sd.load_robot({'name': 'chain', 'bodies': bodies}))
        q, force, mass = np.ones(n), np.zeros(n), np.zeros((n, n))
        return count(inverse_dynamics, model.robot(), INERTIAL, False, force, mass, q, q, q)

    one, two, three = map(operations, (1, 2, 3))
    assert three - two == two - one > 500
