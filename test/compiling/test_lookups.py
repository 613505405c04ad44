# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fast lookups of types and methods give the same as numba's own."""

import operator

from numba import types
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.core.targetconfig import TargetConfig
import pytest
from softrobot_dynamics.compiling import lookups


def flags(**options):
    """Return flags with some options set."""
    made = Flags()
    for name, value in options.items():
        setattr(made, name, value)
    return made


@pytest.fixture
def fast():
    """Let numba look up fast."""
    with lookups.fast_lookups():
        yield


def test_numba_is_restored_afterwards():
    """Numba's methods are restored when the last of several contexts has ended."""
    own, plain = [getattr(cls, name) for cls, name, _ in lookups._FAST], flags()
    hashed = hash(plain)
    with lookups.fast_lookups():
        with lookups.fast_lookups():
            pass
        assert TargetConfig.values is lookups._values and hash(plain) == hashed
    assert [getattr(cls, name) for cls, name, _ in lookups._FAST] == own == list(lookups._OWN)


def test_flags_are_equal_where_all_options_are(fast):
    """One that is set to its default is as one that is not; hashes agree then."""
    plain, same, other = flags(), flags(nrt=Flags().nrt), flags(nrt=not Flags().nrt)
    assert plain == same and hash(plain) == hash(same)
    assert plain != other and plain != 'flags'
    for each in plain, same, other:
        assert each.values() == {name: getattr(each, name) for name in each.options}


@pytest.mark.parametrize('operation', [operator.add, operator.truediv, operator.lt])
@pytest.mark.parametrize('kinds', [('float64',) * 2, ('int64', 'float64'), ('uint32', 'int64')])
def test_operations_keep_their_results(fast, operation, kinds):
    """Operations on mixed numbers give numba's results, the first time and again."""
    context, given = cpu_target.typing_context, tuple(getattr(types, kind) for kind in kinds)
    context.refresh()
    function = context.resolve_value_type(operation)
    wanted = lookups._tried(function, context, given, {})
    for _ in range(2):
        found = function.get_call_type(context, given, {})
        assert (found.return_type, found.args) == (wanted.return_type, wanted.args)
        assert function.get_impl_key(found) == function.get_impl_key(wanted)
