# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Import what numba does not document: the only module that does (`test/compiling`).

Classes are subclassed elsewhere and nothing in numba is replaced. It is imported for the versions
in :mod:`softrobot_dynamics.compiling.numba_versions` only; for others
:mod:`softrobot_dynamics.compiling.public_dispatchers` does without. Used are

- in :mod:`.pipeline`: ``Compiler``, ``DefaultPassBuilder``, ``JITCodeLibrary``, the steps of a
  compilation and the code that it makes; ``Flags``, ``BaseFunction``, its options and the type of
  a function; passes that are replaced (``NativeLowering``) or left out.
- in :mod:`.functions`, :mod:`.arrays`, :mod:`.variables`: ``Lower``, which turns typed operations
  (``ir``) into LLVM code, with helpers (``cgutils``, ``must_use_alloca``, ``register_pass``).
- in :mod:`.single_assignment`: ``ReconstructSSA``, the pass that renames variables, with what it
  calls (``ssa``, ``compute_cfg_from_blocks``, ``build_definitions``, ``PostProcessor``).
- in :mod:`softrobot_dynamics.compiling.dispatchers`: ``CPUDispatcher`` and ``CFunc``, the classes
  of what ``njit`` and ``cfunc`` return; ``normalize_signature``; ``cpu_target``, which tells LLVM
  of the functions that machine code calls.
- in :mod:`softrobot_dynamics.compiling.machine_code`: ``NullCache``, the interface of a cache;
  ``CompileResult``, what it keeps; ``dumps``, how that becomes bytes.

The option ``_nrt`` of ``njit`` (:data:`softrobot_dynamics.compiling.jit.OPTIONS`) is not
documented either.
"""

from numba.core import cgutils, ir, ssa
from numba.core.analysis import compute_cfg_from_blocks, must_use_alloca
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.errors import LoweringError, new_error_context  # type: ignore[attr-defined]
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.postproc import PostProcessor
from numba.core.registry import cpu_target, CPUDispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction, ReconstructSSA

__all__ = [
    'BaseFunction',
    'build_definitions',
    'cgutils',
    'CFunc',
    'Compiler',
    'CompileResult',
    'compute_cfg_from_blocks',
    'cpu_target',
    'CPUDispatcher',
    'DefaultPassBuilder',
    'dumps',
    'Flags',
    'InlineClosureLikes',
    'ir',
    'JITCodeLibrary',
    'Lower',
    'LoweringError',
    'MakeFunctionToJitFunction',
    'must_use_alloca',
    'NativeLowering',
    'new_error_context',
    'NopythonRewrites',
    'normalize_signature',
    'NullCache',
    'PostProcessor',
    'ReconstructSSA',
    'register_pass',
    'ssa',
]
