# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Machine code of C functions as relocatable objects, kept in files and loaded through llvmlite.

A file holds the function's symbol, a newline, and the object as LLVM has emitted it. It can be
loaded by another Python and another numba than have made it, if all that it calls is there: a few
functions of the C library, of Python, and of numba where an error is to be told.
"""

import builtins
from collections.abc import Callable
import functools
import struct
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from softrobot_dynamics.compiling import cache_integrity, prebuilt
from softrobot_dynamics.compiling.targets import level_keys, own_keys

_ELF_MAGIC = b'\x7fELF\x02\x01'  # 64 bit, little endian
_SYMBOL_TABLE_TYPE, _SECTION_HEADER, _SYMBOL_ENTRY = (
    2,
    struct.Struct('<IIQQQQIIQQ'),
    struct.Struct('<IBBHQQ'),
)


class CFunction(NamedTuple):
    """A C function that is loaded."""

    address: int


def save(name: str, symbol: str, code: bytes) -> None:
    """Keep the object of the C function of an emitted module in the kernel cache."""
    own = cache_integrity.own_folder()
    if own:
        path = own / file_name(name, own_keys().code)
        cache_integrity.write(path, symbol.encode() + b'\n' + code)


def load(name: str, register_helpers: Callable[[], None]) -> int | None:
    """
    Return the address of the C function of an emitted module; None if none is kept.

    ``register_helpers`` tells LLVM of numba's functions: it is asked if the code may call one.
    """
    own, keys = cache_integrity.own_folder(), level_keys()
    content = cache_integrity.read(own / file_name(name, own_keys().code)) if own else None
    if content is None and keys:
        content = prebuilt.read(file_name(name, keys.code))
    if content is None:
        return None
    symbol, _, code = content.partition(b'\n')
    if not _finds(symbols := undefined_symbols(code)):
        register_helpers()
        if not _finds(symbols):
            return None  # LLVM would end the process
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(symbol.decode())) or None


def file_name(name: str, key: str) -> str:
    """Return the name of the file of an emitted module, for a processor that a key names."""
    return f'{name}.{key}.o'


def undefined_symbols(code: bytes) -> set[str]:
    """Return the symbols that an object takes from elsewhere, if it is one of ELF; else none."""
    if not code.startswith(_ELF_MAGIC):
        return set()
    (start,), (size, count) = (
        struct.unpack_from('<Q', code, 40),
        struct.unpack_from('<HH', code, 58),
    )
    sections = [_SECTION_HEADER.unpack_from(code, start + i * size) for i in range(count)]
    found = set()
    for _, kind, _, _, offset, length, link, _, _, _ in sections:
        if kind != _SYMBOL_TABLE_TYPE:
            continue
        names = sections[link][4]
        # but the first
        for place in range(offset + _SYMBOL_ENTRY.size, offset + length, _SYMBOL_ENTRY.size):
            name, _, _, section, _, _ = _SYMBOL_ENTRY.unpack_from(code, place)
            if not section:
                found.add(code[names + name : code.index(b'\0', names + name)].decode())
    return found


def _finds(symbols: set[str]) -> bool:
    """
    Tell whether LLVM knows where all symbols are: it looks in this process once it has an engine.

    It is told where Python's exceptions are, as numba tells it: code of numba takes
    `PyExc_TypeError` for the class, which in C is a pointer to it.
    """
    _engine()
    for symbol in symbols:
        error = getattr(builtins, symbol.removeprefix('PyExc_'), None)
        if symbol.startswith('PyExc_') and error:
            llvm.add_symbol(symbol, id(error))
    return all(map(llvm.address_of_symbol, symbols))


@functools.cache
def _engine() -> Any:
    """Return the execution engine that links objects into this process, and lasts as long."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(''), machine)
