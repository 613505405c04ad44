# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What numba looks up fast is what it looks up by itself."""

import operator

from numba import types
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
import pytest
from softrobot_dynamics.compiling import lookups


def flags(**options):
    """Return flags with some options set."""
    made = Flags()
    for name, value in options.items():
        setattr(made, name, value)
    return made


def test_flags_are_equal_where_all_options_are():
    """One that is set to its default is as one that is not; hashes agree then."""
    lookups.look_up_fast()
    plain, same, other = flags(), flags(nrt=Flags().nrt), flags(nrt=not Flags().nrt)
    assert plain == same and hash(plain) == hash(same)
    assert plain != other and plain != 'flags'
    for each in plain, same, other:
        assert each.values() == {name: getattr(each, name) for name in each.options}


@pytest.mark.parametrize('operation', [operator.add, operator.truediv, operator.lt])
@pytest.mark.parametrize('kinds', [('float64',) * 2, ('int64', 'float64'), ('uint32', 'int64')])
def test_operations_mean_what_they_mean(operation, kinds):
    """The first time and again; mixed numbers as numba has it."""
    lookups.look_up_fast()
    context, given = cpu_target.typing_context, tuple(getattr(types, kind) for kind in kinds)
    context.refresh()
    function = context.resolve_value_type(operation)
    wanted = lookups._tried(function, context, given, {})
    for _ in range(2):
        found = function.get_call_type(context, given, {})
        assert (found.return_type, found.args) == (wanted.return_type, wanted.args)
        assert function.get_impl_key(found) == function.get_impl_key(wanted)
