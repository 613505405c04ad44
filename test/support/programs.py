# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Run small compiling programs in processes with caches of their own."""

import os
from pathlib import Path
import shutil
import subprocess
import sys
import textwrap

import softrobot_dynamics as sd

PACKAGE = Path(sd.__file__).parent
SMALL = """
    from softrobot_dynamics.compiling.cache import load_module
    module = load_module('''
    @for_python()
    def twice(x):
        return 2.0 * x
    ''', 'small')
    print(module.twice(21.0), module.__name__)
"""
"""A program that compiles one small module."""

BY_ADDRESS = """
    import ctypes
    import numpy as np
    from softrobot_dynamics.compiling.binding import address
    from softrobot_dynamics.compiling.cache import load_module
    module = load_module('''
    from softrobot_dynamics.compiling.jit import kernel
    @kernel
    def double(x, y):
        y[0] = 2.0 * x[0]
    ''', 'double')
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        address(module.__name__, 'double', 'x, y')
    )
    x, y = np.array([21.0]), np.zeros(1)
    call(x.ctypes.data, y.ctypes.data)
    print(y[0])
"""
"""A program that calls an emitted kernel by its address."""


def start(program, folder, first='', **options):
    """Start a program in another process with its cache; modules in ``first`` come first."""
    path = os.pathsep.join([str(first), str(PACKAGE.parent)])
    environment = {k: v for k, v in os.environ.items() if k != 'NUMBA_CACHE_DIR'}
    return subprocess.Popen(
        [sys.executable, '-W', 'always', '-c', textwrap.dedent(program)],
        env={**environment, 'SOFTROBOT_CACHE_DIR': str(folder), 'PYTHONPATH': path},
        cwd=PACKAGE.anchor,  # nothing to import there
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process):
    """Return what a process printed and what it complained of; it must have succeeded."""
    out, err = process.communicate(timeout=900)
    assert process.returncode == 0, err
    return out, err


def copied(folder, *edited):
    """Copy the package into a folder, with a comment more at the end of the files ``edited``."""
    shutil.copytree(PACKAGE, folder / PACKAGE.name)
    for file in edited:
        with open(folder / PACKAGE.name / file, 'a') as opened:
            opened.write('# edited\n')
    return folder
