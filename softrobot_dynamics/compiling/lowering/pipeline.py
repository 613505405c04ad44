# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compile a function by numba's passes, faster and without wrappers that nobody calls.

:class:`KernelCompiler` leaves out passes that find nothing to do in kernels, has others in the
places of ``NativeLowering`` (:mod:`.functions`) and ``ReconstructSSA``
(:mod:`.single_assignment`), and hands numba flags and a typing context with which type inference
is faster. :class:`CFunctionCompiler` adds to the code what it would call of numba
(:mod:`.error_reports`). :class:`InlinedCompiler` stops once the code is simplified: a function
that others only link into theirs is optimised there, and no machine code is made of it alone.
"""

from collections.abc import Callable
import functools
import operator
from types import CodeType
from typing import Any

import llvmlite.binding
from numba import types as numba_types
from softrobot_dynamics.compiling.lowering.error_reports import error_reports
from softrobot_dynamics.compiling.lowering.functions import KernelLowering
from softrobot_dynamics.compiling.lowering.internals import (
    BaseFunction,
    Compiler,
    CompileResult,
    DefaultPassBuilder,
    Flags,
    InlineClosureLikes,
    JITCodeLibrary,
    MakeFunctionToJitFunction,
    NativeLowering,
    NopythonRewrites,
    ReconstructSSA,
)
from softrobot_dynamics.compiling.lowering.single_assignment import KernelSSA

_CLOSURE_PASSES = {InlineClosureLikes, MakeFunctionToJitFunction}
_OPERATORS = frozenset(x for x in vars(operator).values() if callable(x))
_LOWERED_TYPES = numba_types.Number, numba_types.Boolean, numba_types.Array, numba_types.SliceType
_RUNTIME = 'nrt'  # numba's library that every function is linked with
_SIGNATURES: dict[Any, Any] = {}  # of operators, by context, flags and types


class InlinedCode(JITCodeLibrary):
    """
    Code that callers link into their own; no machine code is made of it alone.

    Each function is simplified by itself. What is inlined, unrolled or vectorised is left to the
    outermost caller, which does so with all that it links in any case.
    """

    name_is_lasting = False  # whether its name means the same code in every process

    @classmethod
    def from_bitcode(cls, codegen: Any, name: str, bitcode: bytes) -> 'InlinedCode':
        """Return the code that :meth:`as_bitcode` has returned."""
        made = cls(codegen, name)
        made._final_module = llvmlite.binding.parse_bitcode(bitcode)
        made.name_is_lasting = made._finalized = True
        return made

    def as_bitcode(self) -> bytes | None:
        """Return the code, with that of callees; None if another process cannot use it."""
        return self._final_module.as_bitcode() if self._is_lasting else None

    @functools.cached_property
    def _is_lasting(self) -> bool:
        """Whether all names in it are those of the same code in every process."""
        return (
            self.name_is_lasting
            and not self.has_dynamic_globals  # addresses of this process
            and all(
                each.name == _RUNTIME or getattr(each, '_is_lasting', False)
                for each in self._linking_libraries
            )
        )

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class CFunctionCode(JITCodeLibrary):
    """Code that contains the functions of numba which it would call to report an exception."""

    def _optimize_final_module(self) -> None:
        self.add_ir_module(error_reports())
        super()._optimize_final_module()


class ComparedFlags(Flags):
    """
    Compiler flags that are compared by their values, where numba's compare every option.

    Numba compares flags whenever it infers what an operation means, and asks for the value of
    every option to do so, which takes an eighth of all that a compilation takes.
    """

    def __eq__(self, other: object) -> bool:
        return type(other) is ComparedFlags and bool(self._values == other._values)

    def __hash__(self) -> int:
        return hash(ComparedFlags)


class TypingContext:
    """
    Numba's typing context, with a cache of the signatures of operators on numbers and arrays.

    Numba infers types until they no longer change, and tries all that a `+` may mean each time.
    It would also compile a kernel once for each constant that callers give it. Here a constant is
    a number like others: LLVM specialises a kernel where that makes it faster.
    """

    def __init__(self, context: Any, flags: ComparedFlags) -> None:
        self._context, self._flags = context, flags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, as the context does, but of kernels for any numbers."""
        if isinstance(func, numba_types.Dispatcher):
            args = tuple(map(numba_types.unliteral, args))
            kws = {name: numba_types.unliteral(kind) for name, kind in kws.items()}
            return self._context.resolve_function_type(func, args, kws)
        chosen = None if kws else self._signature_of_choice(func, args)
        if chosen is not None:
            return chosen
        operation = isinstance(func, BaseFunction) and func.typing_key in _OPERATORS
        if kws or not operation or not all(isinstance(a, _LOWERED_TYPES) for a in args):
            return self._context.resolve_function_type(func, args, kws)
        key = self._context, self._flags, func, tuple(args)
        if key not in _SIGNATURES:
            _SIGNATURES[key] = self._context.resolve_function_type(func, args, kws)
        return _SIGNATURES[key]

    def _signature_of_choice(self, func: Any, args: Any) -> Any:
        """
        Return the signature of ``max`` or ``min`` of numbers of one type; None of all else.

        Numba compiles a function for each number of arguments, and links it. It stays so in code
        that may take no number for NaN, which that function does not.
        """
        if getattr(func, 'typing_key', None) not in (max, min) or len(args) < 2:
            return None
        kinds = {numba_types.unliteral(each) for each in args}
        number = all(isinstance(each, (numba_types.Float, numba_types.Integer)) for each in kinds)
        if len(kinds) > 1 or not number or self._flags.fastmath.flags & {'fast', 'nnan'}:
            return None
        (kind,) = kinds
        return kind(*[kind] * len(args))


class KernelCompiler(Compiler):
    """Numba's compiler, with flags, a typing context and passes that take less time."""

    def __init__(
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        locals: Any,  # noqa: A002 (numba's name)
    ) -> None:
        own = ComparedFlags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, own, locals)
        self.state.typingctx = TypingContext(typingctx, own.copy())

    def define_pipelines(self) -> list[Any]:
        """
        Return the passes of ``njit`` but for those that rewrite constructs absent from kernels.

        That is expressions of whole arrays, which would allocate, and closures, where a function
        has none. Numba renews what it knows of the liveness of all variables after each pass.
        """
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        constants = self.state.func_id.code.co_consts
        closures = any(isinstance(constant, CodeType) for constant in constants)
        unused = {NopythonRewrites} if closures else {NopythonRewrites, *_CLOSURE_PASSES}
        own = {NativeLowering: KernelLowering, ReconstructSSA: KernelSSA}
        manager.passes = [(own.get(x, x), y) for x, y in manager.passes if x not in unused]
        manager.finalize()
        return [manager]


class CFunctionCompiler(KernelCompiler):
    """Numba's compiler, for a C function that needs nothing of numba when it is loaded."""

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        """Return the code of a function."""
        self.state.library = CFunctionCode(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class InlinedCompiler(KernelCompiler):
    """Numba's compiler, without the last step to machine code that this process could run."""

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        """Return the code of a function, which its compiled callers find by ``entry_point``."""
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = InlinedCode(context.codegen(), func.__qualname__)
        self._name = self.lasting_name(func)
        self.state.library.name_is_lasting = self._name is not None
        made = super().compile_extra(func)
        made = made._replace(entry_point=object())
        context.insert_user_function(made.entry_point, made.fndesc, [made.library])
        return made

    def lasting_name(self, func: Callable[..., Any]) -> str | None:
        """Return a name that means the same code in every process; None if there is none."""
        return None

    def _compile_bytecode(self) -> CompileResult:
        """Compile under the name of the code; numba's is a count of functions."""
        self.state.func_id.unique_id = self._name or self.state.func_id.unique_id
        return super()._compile_bytecode()
