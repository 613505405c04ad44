# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Keep the machine code of functions in the kernel cache, by the interface of numba's caches.

Files are checked when they are read; numba's own cache blocks every start once they are damaged,
or the disk is full. The code of C functions goes to :mod:`.c_functions`.
"""

from collections.abc import Callable
import hashlib
from pathlib import Path
import pickle
from typing import Any

import llvmlite.binding
from softrobot_dynamics.compiling import c_functions, cache_integrity, prebuilt
from softrobot_dynamics.compiling.code_names import code_name
from softrobot_dynamics.compiling.lowering.internals import (
    CompileResult,
    dumps,
    normalize_signature,
    NullCache,
)
from softrobot_dynamics.compiling.lowering.pipeline import InlinedCode
from softrobot_dynamics.compiling.targets import Keys, level_keys, own_keys

# of the types as a text among the arguments of CompileResult._rebuild, less one
_ANNOTATION_INDEX = 5


class SignatureFiles(NullCache):
    """Code of one function, in a file of the kernel cache for each signature."""

    def _read(self, sig: object) -> bytes | None:
        """Return the content of the file of a signature, of the cache or of the package."""
        path = self._path(sig)
        content = path and cache_integrity.read(path)
        return content or prebuilt.read(self._file(sig, level_keys()))

    def _path(self, sig: object) -> Path | None:
        """Return the file of a signature; None without a folder."""
        own, file = cache_integrity.own_folder(), self._file(sig, own_keys())
        return own / file if own and file else None

    def _file(self, sig: object, keys: Keys | None) -> str | None:
        """Return the name of the file of a signature; None if its code is not kept."""
        raise NotImplementedError


class MachineCode(SignatureFiles):
    """
    Machine code of one function for Python, in a file of the kernel cache for each signature.

    Numba asks for it before it compiles, and gives it after. The name of a file says of which
    module it is, and so of which sources.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._module, self._function = function.__module__, function.__qualname__

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """
        Return the machine code saved for a signature; None if there is none that can be used.

        The context is not refreshed, which would import scipy: what is loaded needs no types.
        """
        content = self._read(sig)
        if content is None:
            return None
        try:
            saved, payload = pickle.loads(content)
            found = CompileResult._rebuild(target_context, *payload)
        except (ImportError, AttributeError):  # a class of an argument has moved since
            return None
        return found if saved == repr(sig) else None

    def save_overload(self, sig: object, data: Any) -> None:
        """Save the machine code compiled for a signature."""
        path = self._path(sig)
        if path and not data.library.has_dynamic_globals:  # addresses of this process
            (name, kind, (code, _)), *others = data._reduce()
            others[_ANNOTATION_INDEX] = ''  # for people, and longer than the code
            others[-1] = tuple(each for each in others[-1] if each.consts)  # else of no use
            state = name, kind, (code, _names_alone(data.fndesc))
            cache_integrity.write(path, dumps((repr(sig), (state, *others))))

    def _file(self, sig: object, keys: Keys | None) -> str | None:
        digest = hashlib.sha256(repr(sig).encode()).hexdigest()[:16]
        return keys and f'{self._module}.{keys.program}.{self._function}-{digest}.nbc'


class InlinedBitcode(SignatureFiles):
    """
    Simplified code of a function that others inline, in a file for each signature.

    Callers that another process compiles, as those for another robot, link it; nothing of what it
    calls itself is then compiled.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self._function = function
        sets = {name: sorted(value) for name, value in options.items() if type(value) is set}
        self._options = repr(sorted({**options, **sets}.items()))

    def load_overload(self, sig: object, target_context: Any) -> Any:
        """Return the code saved for a signature; None if there is none that can be used."""
        content = self._read(sig)
        if content is None:
            return None
        try:
            description, signature, bitcode = pickle.loads(content)
        except (ImportError, AttributeError):  # a class of a result has moved since
            return None
        if signature.args != tuple(normalize_signature(sig)[0]):
            return None
        codegen, name = target_context.codegen(), self._function.__qualname__
        known = {
            'typing_context': target_context.typing_context,
            'target_context': target_context,
            'entry_point': object(),  # by which compiled callers find it
            'fndesc': description,
            'library': InlinedCode.from_bitcode(codegen, name, bitcode),
            'signature': signature,
            'objectmode': False,
        }
        return CompileResult(**{**dict.fromkeys(CompileResult._fields), **known})

    def save_overload(self, sig: object, data: Any) -> None:
        """Save the code compiled for a signature."""
        path = self._path(sig)
        bitcode = data.library.as_bitcode() if path else None
        if path and bitcode:
            description = data.fndesc
            description.typemap = description.calltypes = None  # nobody needs them any more
            cache_integrity.write(path, dumps((description, data.signature, bitcode)))

    def _file(self, sig: object, keys: Keys | None) -> str | None:
        arguments, wanted = normalize_signature(sig)
        name = code_name(self._function, arguments)
        if name is None or wanted is not None or keys is None:
            return None
        digest = hashlib.sha256(f'{name}{self._options}'.encode()).hexdigest()[:24]
        return f'{self._function.__name__}_{digest}.{keys.program}.bc'


class ObjectCode(NullCache):
    """
    Machine code of a C function, which :mod:`.c_functions` keeps, and loads without numba.

    So nothing is looked for here, where numba is about to compile.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._module = function.__module__

    def save_overload(self, sig: object, data: Any) -> None:
        """Save the machine code."""
        if not data.library.has_dynamic_globals:  # addresses of this process
            code = data.library._get_compiled_object()
            c_functions.save(self._module, data.fndesc.llvm_cfunc_wrapper_name, code)


def _names_alone(description: Any) -> bytes:
    """
    Return the bitcode of a module that only has the names of the functions that Python calls.

    Numba would keep all of it for others to link, which nobody does, and read it at every start.
    """
    names = description.llvm_func_name, description.llvm_cpython_wrapper_name
    text = '\n'.join(f'define void @"{name}"() {{ ret void }}' for name in names)
    return bytes(llvmlite.binding.parse_assembly(text).as_bitcode())
