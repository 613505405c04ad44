# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Name the targets of machine code: processor, options, and versions of numba and Python.

Code that a process compiles is for the processor it runs on, or for the one that numba is told by
NUMBA_CPU_NAME and NUMBA_CPU_FEATURES. Code that an installed package brings is for a
:class:`Level`, which many processors have.
"""

import functools
import hashlib
import os
import platform
import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding
from softrobot_dynamics.compiling.numba_versions import installed_version

_OPTIONS = {
    'OPT': 3, 'LOOP_VECTORIZE': 1, 'SLP_VECTORIZE': 0, 'ENABLE_AVX': 1, 'USING_SVML': 0,
    'BOUNDSCHECK': 0,
}  # fmt: skip
"""Settings of numba that change code, and what they are where nothing says otherwise."""
_OVERRIDING_VARIABLES = {
    *(f'NUMBA_{name}' for name in (*_OPTIONS, 'CPU_NAME', 'CPU_FEATURES')),
    'NUMBA_DISABLE_INTEL_SVML',
}
_WITHOUT_AVX = {'corei7-avx', 'core-avx-i', 'sandybridge', 'ivybridge', 'nocona'}
"""Processors for which numba leaves AVX out."""


class Level(NamedTuple):
    """Instruction sets that a group of processors has in common."""

    name: str  # in file names
    cpu: str  # as NUMBA_CPU_NAME has it
    needed: frozenset[str]  # features, as LLVM names them

    def variables(self) -> dict[str, str]:
        """Return the environment variables by which numba compiles for it."""
        return {'NUMBA_CPU_NAME': self.cpu, 'NUMBA_CPU_FEATURES': ''}


_AVX2_FEATURES = 'avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3'
LEVELS = {
    'x86_64': Level('x86-64-v3', 'x86-64-v3', frozenset(_AVX2_FEATURES.split())),
    'aarch64': Level('armv8-a', 'generic', frozenset()),
}
"""Level that packages are built for, by machine: what every one has, or since 2013 (x86)."""


class Keys(NamedTuple):
    """Parts of file names that tell machine code for one processor from that for another."""

    code: str  # of C functions, which any Python can call
    program: str  # of what only the numba and the Python that made it can load


@functools.cache
def own_keys() -> Keys:
    """Return the keys of machine code that this process compiles."""
    name, features = _settings().CPU_NAME, _settings().CPU_FEATURES
    if name is None:
        name = llvmlite.binding.get_host_cpu_name()
    if features is None:
        features = llvmlite.binding.get_host_cpu_features().flatten()
    key = _digest(name, features, *_versions(), *_options())
    return Keys(key, key)


@functools.cache
def level_keys() -> Keys | None:
    """
    Return the keys of machine code for the level of this machine.

    None where the processor lacks something of it, or where the user has named a processor.
    """
    found = LEVELS.get(platform.machine())
    if found is None or sys.platform != 'linux' or _settings().CPU_NAME is not None:
        return None
    features = llvmlite.binding.get_host_cpu_features() if found.needed else {}
    if not all(features.get(name) for name in found.needed):
        return None
    return keys_of(found)


def keys_of(found: Level) -> Keys:
    """Return the keys of machine code that this numba and this Python compile for a level."""
    code = f'{found.name}-{_digest(*_options())}'
    return Keys(code, _digest(found.cpu, '', *_versions(), *_options()))


def _versions() -> list[str]:
    python = platform.python_version().rpartition('.')[0]
    return [installed_version(), llvmlite.__version__, sys.implementation.name, python]


def _options() -> list[str]:
    return [f'{name}={int(getattr(_settings(), name, 0) or 0)}' for name in _OPTIONS]


def _settings() -> Any:
    """Return numba's settings; numba is imported for them if they are not the usual ones."""
    usual = (
        'numba' not in sys.modules
        and _OVERRIDING_VARIABLES.isdisjoint(os.environ)
        and not os.path.exists('.numba_config.yaml')
        and not getattr(llvmlite.binding.targets, 'has_svml', bool)()
        and llvmlite.binding.get_host_cpu_name() not in _WITHOUT_AVX
        and llvmlite.binding.get_host_cpu_features().get('avx', True)
    )
    if usual:
        return SimpleNamespace(CPU_NAME=None, CPU_FEATURES=None, **_OPTIONS)
    import numba

    return numba.config


def _digest(*facts: str) -> str:
    return hashlib.sha256('\0'.join(facts).encode()).hexdigest()[:12]
