# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Call kernels of bodies, joints and fibres by their addresses, as a robot does.

The compiled code comes from the cache, so that no test compiles again what a robot has compiled;
calling a kernel from Python would compile it once more in every session.
"""

import ctypes

import numpy as np
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import address, cached, entry
from softrobot_dynamics.kernels import layout

BEYOND = 64  # numbers behind the scratch a kernel asked for, which it must not touch


def call(kernel, arguments, *arrays):
    """Call a kernel (:class:`Kernel`) of these arguments with arrays (.,) behind its numbers."""
    arrays = [np.require(a, dtype=float, requirements='C') for a in (kernel.parameters, *arrays)]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arrays))
    function(address(kernel.module, kernel.function, arguments))(*(a.ctypes.data for a in arrays))


def by_address(kernel, **given):
    """Return a function of two arrays (.,) that calls a kernel that is ``given`` all others."""
    return cached(run, 'VECTOR, VECTOR', entry=entry(kernel, **given))


def body_slab(kernel, q, qd, w=(0.0, 0.0, 0.0)):
    """Return the slab that a body's kernel fills at q, qd (n,), turning at w (3,) [rad/s]."""
    return _filled(kernel, 'P, q, qd, w, W, S', layout.slab(len(q)).size, q, qd, w)


def joint_slab(kernel, q, qd):
    """Return the frame slab that a joint's kernel fills at q, qd (n,)."""
    W = np.full(layout.frame_size(len(q)), np.nan)
    call(kernel, 'P, q, qd, W', q, qd, W)
    return W


def fibre(kernel, q, qd):
    """Return the length of a fibre [m], its gradient (n,) and its bias, in one array (n + 2,)."""
    return _filled(kernel, 'P, q, qd, out, S', len(q) + 2, q, qd)


def _filled(kernel, arguments, size, *arrays):
    out, scratch = np.full(size, np.nan), np.full(kernel.scratch + BEYOND, np.nan)
    call(kernel, arguments, *arrays, out, scratch)
    assert np.isnan(scratch[kernel.scratch :]).all()
    return out
