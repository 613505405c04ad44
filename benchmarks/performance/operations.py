# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Count floating-point operations of compiled functions, and measure the machine's peak rate.

Run by itself the file prints the speed [1/s] of numpy's matrix product.
"""

import linecache
import os
import subprocess
import sys
import time
import types

from numba.core.ccallback import CFunc
import numpy as np
from softrobot_dynamics.compiling.addresses import array_at, call
from softrobot_dynamics.compiling.c_functions import CFunction
from softrobot_dynamics.compiling.cache import PREFIX


class Counted(float):
    """A number that counts its sums, differences, products and quotients; all in ``made``."""

    made = 0

    def __neg__(self):
        return Counted(-float(self))


def _counting(name):
    def operation(self, other):
        Counted.made += 1
        return Counted(getattr(float, name)(self, other))

    return operation


for _name in ('add', 'sub', 'mul', 'truediv'):
    for _side in ('', 'r'):
        setattr(Counted, f'__{_side}{_name}__', _counting(f'__{_side}{_name}__'))


def count(function, *arguments):
    """
    Return the operations of a compiled function's call, as its source and all it calls have them.

    Arrays of floats, also within named tuples, are replaced by such that count; they are not
    written to.
    """
    before = Counted.made
    _plain(function.py_func)(*map(_counted, arguments))
    return Counted.made - before


def _counted(argument):
    if isinstance(argument, tuple):
        return type(argument)(*map(_counted, argument))
    if isinstance(argument, np.ndarray) and argument.dtype == float:
        numbers = [Counted(x) for x in argument.ravel()]
        return np.array(numbers, dtype=object).reshape(argument.shape)
    return argument


def _plain(source):
    """Return a function, and all compiled ones that it calls, as plain Python."""
    used = {name: source.__globals__.get(name) for name in source.__code__.co_names}
    plain = {
        name: _plain(value.py_func) for name, value in used.items() if hasattr(value, 'py_func')
    }
    plain |= {name: _call for name, value in used.items() if value is call}
    plain |= {name: _as_it_is for name, value in used.items() if value is array_at}
    return types.FunctionType(source.__code__, source.__globals__ | plain)


def _call(address, *arrays):
    """Call by its address the kernel that an emitted module has made a C function of."""
    for name, module in list(sys.modules.items()):
        for label, value in list(vars(module).items()) if name.startswith(PREFIX) else ():
            if isinstance(value, (CFunc, CFunction)) and value.address == address:
                _plain(_source(name, label, value))(*arrays)
                return
    raise LookupError(f'no C function at {address}')


def _source(name, label, function):
    """Return the Python function of which a C function was made, or loaded from the cache."""
    if isinstance(function, CFunc):
        return function.__wrapped__
    namespace = {'by_address': lambda signature, **options: lambda source: source}
    exec(''.join(linecache.getlines(f'<{name}>')), namespace)
    return namespace[label]


def _as_it_is(array):
    return array


def fastest():
    """Operations per second [1/s] of numpy's matrix product, in a process of one thread."""
    alone = os.environ | {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
    done = subprocess.run(
        [sys.executable, __file__], env=alone, stdout=subprocess.PIPE, check=True
    )
    return float(done.stdout)


def _product(size=512, turns=30):
    a, b = np.random.default_rng(0).random((2, size, size))
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return 2.0 * size**3 / float(np.median(times))


if __name__ == '__main__':
    print(_product())
