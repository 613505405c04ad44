# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compiled functions called by their address, and arrays found by theirs.

Both are data. So what calls bodies, joints and actuators needs no compilation of its own for each
robot, and what has been compiled is not compiled again as part of what calls it. Nothing is
checked here: whoever makes an address keeps what it belongs to.
"""

from typing import NamedTuple

import numpy as np
from softrobot_dynamics.annotations import Integers
from softrobot_dynamics.compiling.jit import intrinsic, kernel


class Entry(NamedTuple):
    """A compiled function of arrays (.,) that knows its other arguments."""

    address: int
    table: Integers  # of what it was given


EMPTY_ENTRY = Entry(0, np.zeros(0, dtype=np.int64))  # in place of an entry that is not needed


@intrinsic
def call(address, *arrays):
    """
    Call the C function at an ``address``, an integer, with pointers to where ``arrays`` begin.

    The function returns nothing and takes as many pointers.
    """


@intrinsic
def array_at(pointer):
    """Return the array (.,), of unknown length, that begins at a pointer."""


@intrinsic
def matrix_at(array, rows, columns):
    """
    Return the array (rows, columns) of the first numbers of a contiguous one.

    As `reshape`, which takes longer and needs numba when a kernel is loaded.
    """


@intrinsic
def bound_array(table, index, dtype, dimensions):
    """Return the array, contiguous, of which table[index] and on hold the address and shape."""


@intrinsic
def bound_float(table, index):
    """Return the float of which table[index] holds the bits."""


@kernel
def run(entry, a, b):
    """Call an :class:`Entry` of two arrays."""
    call(entry.address, entry.table, a, b)


@kernel
def run_three(entry, a, b, c):
    """Call an :class:`Entry` of three arrays."""
    call(entry.address, entry.table, a, b, c)
