# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Use numba's internals, but for those of the step to LLVM code (:mod:`.numba_lowering`).

Classes of numba are extended here, and nothing in numba is replaced. It is imported for tested
versions only (:mod:`.numba_versions`); :mod:`.numba_public` does the same without. Used are

- ``CPUDispatcher``: the class of what ``njit`` returns. :class:`_Inner` compiles for compiled
  callers, without what lets Python call it; :class:`_KeptFunction` keeps its machine code.
- ``Compiler``, ``JITCodeLibrary``: the steps of a compilation, and the code that it makes.
  :class:`_ForCallers` and :class:`_Linked` stop once the code is simplified: a function that
  others only link into theirs is optimised there, and no machine code is made of it alone.
- ``DefaultPassBuilder``: the passes of a compilation. :class:`_Compiler` leaves out those that
  find nothing to do in kernels, and has another one in the place of ``NativeLowering``.
- ``Flags``, ``BaseFunction``: options of a compilation, and the type of a function.
  :class:`_Flags` and :class:`_Typing`, which :class:`_Compiler` hands to numba, make type
  inference faster.
- ``CFunc``, ``normalize_signature``: the class of what ``cfunc`` returns, and how it reads its
  signature. :class:`_KeptCFunc` keeps its machine code, in which :class:`_ForC` puts what it would
  call of numba (:mod:`.error_reports`).
- ``NullCache``, ``CompileResult``, ``dumps``: the interface of a cache, what it keeps, and how
  that becomes bytes. :class:`MachineCode` keeps it in the kernel cache, whose files are checked
  when they are read; numba's own block every start once they are damaged, or the disk is full.
  :class:`ObjectCode` hands the machine code of C functions to :mod:`.c_functions`.
- ``cpu_target``: :func:`register_helpers` makes it, which tells LLVM of what machine code calls.
- the option ``_nrt`` of ``njit`` (:data:`softrobot_dynamics.compiling.jit.OPTIONS`), passed on.
"""

from collections.abc import Callable
import functools
import hashlib
import operator
from pathlib import Path
import pickle
from types import CodeType
from typing import Any

import llvmlite.binding
from numba import njit
from numba import types as numba_types
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, DefaultPassBuilder, Flags
from numba.core.registry import cpu_target, CPUDispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.untyped_passes import InlineClosureLikes, MakeFunctionToJitFunction
from softrobot_dynamics.compiling import c_functions, folder, prebuilt
from softrobot_dynamics.compiling.error_reports import error_reports
from softrobot_dynamics.compiling.numba_lowering import KernelLowering
from softrobot_dynamics.compiling.targets import Keys, level_keys, own_keys

_FOR_COMPILED_CALLERS = {'nopython': True, 'no_cpython_wrapper': True, 'no_cfunc_wrapper': True}
_OF_CLOSURES = {InlineClosureLikes, MakeFunctionToJitFunction}
_OPERATORS = frozenset(x for x in vars(operator).values() if callable(x))
_PLAIN = numba_types.Number, numba_types.Boolean, numba_types.Array, numba_types.SliceType
_ANNOTATION = 5  # place of the types as a text among what CompileResult._rebuild takes, less one
_MEANINGS: dict[Any, Any] = {}  # signatures of operations


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function that compiled functions call: ``numba.njit`` for these.

    If Python calls it, it is compiled once more.
    """
    given = {**options, **_FOR_COMPILED_CALLERS}
    return functools.partial(_Inner, targetoptions=given, pipeline_class=_ForCallers)


def for_python(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function of an emitted module that Python calls: ``numba.njit``.

    It is compiled at the first call. Its machine code is kept in the kernel cache.
    """
    return lambda function: _KeptFunction(function, {'nopython': True, **options})


def by_address(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """
    Return a decorator for a function of an emitted module that is called by its ``address``.

    As ``numba.cfunc``. Its machine code is kept in the kernel cache.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        program = _KeptCFunc(function, signature, options)
        program.compile()
        return program

    return compiled


class _Linked(JITCodeLibrary):
    """
    Code that callers link into their own; no machine code is made of it alone.

    Each function is simplified by itself. What is inlined, unrolled or vectorised is left to the
    outermost caller, which does so with all that it links in any case.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _Alone(JITCodeLibrary):
    """Code with what it would call of numba where an exception leaves it."""

    def _optimize_final_module(self) -> None:
        self.add_ir_module(error_reports())
        super()._optimize_final_module()


class _Flags(Flags):
    """
    Flags that are compared by what was set of them.

    Numba compares flags whenever it infers what an operation means, and asks for the value of
    every option to do so, which takes an eighth of all that a compilation takes.
    """

    def __eq__(self, other: object) -> bool:
        return type(other) is _Flags and bool(self._values == other._values)

    def __hash__(self) -> int:
        return hash(_Flags)


class _Typing:
    """
    Numba's typing context, which remembers what operators on plain numbers and arrays mean.

    Numba infers types until they no longer change, and tries all that a `+` may mean each time.
    """

    def __init__(self, context: Any, flags: _Flags) -> None:
        self._context, self._flags = context, flags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a call, as the context does."""
        operation = isinstance(func, BaseFunction) and func.typing_key in _OPERATORS
        if kws or not operation or not all(isinstance(a, _PLAIN) for a in args):
            return self._context.resolve_function_type(func, args, kws)
        key = self._context, self._flags, func, tuple(args)
        if key not in _MEANINGS:
            _MEANINGS[key] = self._context.resolve_function_type(func, args, kws)
        return _MEANINGS[key]


class _Compiler(Compiler):
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
        own = _Flags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, own, locals)
        self.state.typingctx = _Typing(typingctx, own.copy())

    def define_pipelines(self) -> list[Any]:
        """
        Return the passes of ``njit`` but for those that rewrite what kernels do not contain.

        That is expressions of whole arrays, which would allocate, and closures, where a function
        has none. Numba renews what it knows of the liveness of all variables after each pass.
        """
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        constants = self.state.func_id.code.co_consts
        closures = any(isinstance(constant, CodeType) for constant in constants)
        unused = {NopythonRewrites} if closures else {NopythonRewrites, *_OF_CLOSURES}
        own = {NativeLowering: KernelLowering}
        manager.passes = [(own.get(x, x), y) for x, y in manager.passes if x not in unused]
        manager.finalize()
        return [manager]


class _ForC(_Compiler):
    """Numba's compiler, for a C function that needs nothing of numba when it is loaded."""

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        """Return the code of a function."""
        self.state.library = _Alone(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class _ForCallers(_Compiler):
    """Numba's compiler, but for what it makes ready to run in this process."""

    def compile_extra(self, func: Callable[..., Any]) -> CompileResult:
        """Return the code of a function, which its compiled callers find by ``entry_point``."""
        context = self.state.targetctx
        self.state.flags.no_compile = True
        self.state.library = _Linked(context.codegen(), func.__qualname__)
        made = super().compile_extra(func)
        made = made._replace(entry_point=object())
        context.insert_user_function(made.entry_point, made.fndesc, [made.library])
        return made


class _Inner(CPUDispatcher):
    """A function as numba compiles it, but not for Python until Python calls it."""

    def add_overload(self, cres: CompileResult) -> None:
        """Keep what was compiled, for compiled callers."""
        self.overloads[cres.signature.args] = cres

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    @functools.cached_property
    def _for_python(self) -> Any:
        options = self.targetoptions.items()
        own = {name: value for name, value in options if name not in _FOR_COMPILED_CALLERS}
        return njit(**own)(self.py_func)


class _KeptFunction(CPUDispatcher):
    """A function that Python calls; its machine code is in the kernel cache."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = {**options, 'no_cfunc_wrapper': True}  # only Python calls it
        super().__init__(function, targetoptions=options, pipeline_class=_Compiler)
        self._cache = MachineCode(function)


class _KeptCFunc(CFunc):
    """A function that is called by its address; its machine code is in the kernel cache."""

    def __init__(
        self, function: Callable[..., Any], signature: Any, options: dict[str, Any]
    ) -> None:
        super().__init__(
            function,
            normalize_signature(signature),
            locals={},
            options=options,
            pipeline_class=_ForC,
        )
        self._cache = ObjectCode(function)


class MachineCode(NullCache):
    """
    Machine code of one function for Python, in a file of the kernel cache for each signature.

    Numba asks for it before it compiles, and gives it after. The name of a file says of which
    module it is, and so of which sources.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._module, self._function = function.__module__, function.__qualname__

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """
        Return what was saved for a signature; None if there is nothing that can be used.

        The context is not refreshed, which would import scipy: what is loaded needs no types.
        """
        path = self._path(sig)
        content = path and folder.read(path) or prebuilt.read(self._file(sig, level_keys()))
        if content is None:
            return None
        try:
            saved, payload = pickle.loads(content)
            found = CompileResult._rebuild(target_context, *payload)
        except (ImportError, AttributeError):  # a class of an argument has moved since
            return None
        return found if saved == repr(sig) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled for a signature."""
        path = self._path(sig)
        if path and not data.library.has_dynamic_globals:  # addresses of this process
            (name, kind, (code, _)), *others = data._reduce()
            others[_ANNOTATION] = ''  # for people, and longer than the code
            others[-1] = tuple(each for each in others[-1] if each.consts)  # else of no use
            state = name, kind, (code, _names_alone(data.fndesc))
            folder.write(path, dumps((repr(sig), (state, *others))))

    def _path(self, sig: Any) -> Path | None:
        """Return the file of a signature; None without a folder."""
        own, file = folder.own_folder(), self._file(sig, own_keys())
        return own / file if own and file else None

    def _file(self, sig: Any, keys: Keys | None) -> str | None:
        digest = hashlib.sha256(repr(sig).encode()).hexdigest()[:16]
        return keys and f'{self._module}.{keys.program}.{self._function}-{digest}.nbc'


class ObjectCode(NullCache):
    """
    Machine code of a C function, which :mod:`.c_functions` keeps, and loads without numba.

    So nothing is looked for here, where numba is about to compile.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._module = function.__module__

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled."""
        if not data.library.has_dynamic_globals:  # addresses of this process
            code = data.library._get_compiled_object()
            c_functions.save(self._module, data.fndesc.llvm_cfunc_wrapper_name, code)


def _names_alone(description: Any) -> bytes:
    """
    Return the bitcode of a module that only has the names of what Python calls.

    Numba would keep all of it for others to link, which nobody does, and read it at every start.
    """
    names = description.llvm_func_name, description.llvm_cpython_wrapper_name
    text = '\n'.join(f'define void @"{name}"() {{ ret void }}' for name in names)
    return bytes(llvmlite.binding.parse_assembly(text).as_bitcode())


def register_helpers() -> None:
    """Have LLVM find the functions of numba and Python that machine code may call."""
    cpu_target.target_context  # noqa: B018 (making it registers them)
