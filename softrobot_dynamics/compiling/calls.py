# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Calls from Python of compiled functions found by their address."""

import ctypes

from softrobot_dynamics.annotations import Vector


def invoke(address: int, *arrays: Vector) -> None:
    """
    Call the C function at an address with pointers to where contiguous ``arrays`` begin.

    Nothing is checked, and nothing compiled: for what is called a few times, while a model is
    made. See :func:`~softrobot_dynamics.compiling.addresses.call` for compiled callers.
    """
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
    prototype(int(address))(*(array.ctypes.data for array in arrays))
