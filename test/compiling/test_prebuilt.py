# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Machine code that an installed package brings: when it is used, and when it must not be."""

import ctypes
import math
import os
from pathlib import Path
import subprocess
import sys
import textwrap

import llvmlite.binding as llvm
import numpy as np
import pytest
from softrobot_dynamics.compiling import c_functions, cache, cache_integrity, prebuilt
from softrobot_dynamics.compiling.compiler import register_helpers
from softrobot_dynamics.compiling.targets import level_keys, LEVELS
from support.programs import BY_ADDRESS, finish, PACKAGE, SMALL, start

pytestmark = pytest.mark.skipif(level_keys() is None, reason='no level has this processor')

NOTING = """
    from pathlib import Path
    import softrobot_dynamics.compiling
    from softrobot_dynamics.compiling import cache_integrity, prebuilt
    prebuilt.FOLDER = Path({place!r})
    made, write = [], cache_integrity.write
    cache_integrity.write = lambda path, content: made.append(path.suffix) or write(path, content)
"""
ENDING = """
    print(sorted(set(made) - {'.code'}))
"""


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Return a folder of kernels, compiled for the level of this machine in another process."""
    made, place = tmp_path_factory.mktemp('made'), tmp_path_factory.mktemp('installed')
    level = level_of_this_machine()
    program = NOTING.format(place=str(place / 'none')) + SMALL + BY_ADDRESS
    variables = {**os.environ, **level.variables()}
    run(program, made, variables)
    assert prebuilt.collect(made, place, level) == 2
    return place


def level_of_this_machine():
    """Return the level for which packages are built on this machine."""
    return next(x for x in LEVELS.values() if level_keys().code.startswith(x.name))


def run(program, cache_folder, variables):
    """Run a program with a kernel cache; return what it prints."""
    own = {'SOFTROBOT_CACHE_DIR': str(cache_folder), 'PYTHONPATH': str(PACKAGE.parent)}
    return subprocess.run(
        [sys.executable, '-c', textwrap.dedent(program)],
        env={**variables, **own}, cwd=PACKAGE.anchor, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def test_nothing_is_compiled_that_the_package_brings(tmp_path, installed):
    """With kernels for its level a process makes no machine code, and gets the same numbers."""
    program = NOTING.format(place=str(installed)) + SMALL + BY_ADDRESS + ENDING
    out, err = finish(start(program, tmp_path))
    assert out.split()[0] == '42.0' and out.split()[2:] == ['42.0', '[]'] and not err


def test_a_user_may_do_without(tmp_path, installed, monkeypatch):
    """With SOFTROBOT_PREBUILT=0 a process compiles for its own processor."""
    monkeypatch.setenv('SOFTROBOT_PREBUILT', '0')
    program = NOTING.format(place=str(installed)) + SMALL + BY_ADDRESS + ENDING
    assert finish(start(program, tmp_path))[0].endswith("42.0\n['.nbc', '.o']\n")


def test_the_users_cache_comes_first(tmp_path, installed):
    """The kernel cache is for this processor, and is taken before the package's kernels."""
    noting = """
    asked, read = [], prebuilt.read
    prebuilt.read = lambda name: asked.append(name) or read(name)
    """
    program = NOTING.format(place=str(installed / 'none')) + SMALL + BY_ADDRESS
    finish(start(program, tmp_path))
    program = NOTING.format(place=str(installed)) + noting + SMALL + BY_ADDRESS + ENDING
    assert finish(start(program + '    print(asked)', tmp_path))[0].endswith('[]\n[]\n')


@pytest.mark.parametrize('way', ['cut', 'changed', 'renamed'])
def test_damaged_files_of_a_package_are_ignored(tmp_path, installed, way):
    """A damaged file of the package is ignored silently, and its kernel compiled."""
    damaged = tmp_path / 'damaged'
    damaged.mkdir()
    for path in installed.iterdir():
        data = path.read_bytes()
        name = path.name
        if way == 'cut':
            data = data[:-1]
        elif way == 'changed':
            data = data[:-1] + bytes([data[-1] ^ 1])
        else:  # the seal holds the name, so that code of another source is never taken for it
            data = cache_integrity.with_checksum(Path('other'), data[32:])
        (damaged / name).write_bytes(data)
    program = NOTING.format(place=str(damaged)) + SMALL + BY_ADDRESS + ENDING
    out, err = finish(start(program, tmp_path / 'cache'))
    assert out.endswith("42.0\n['.nbc', '.o']\n") and not err


@pytest.mark.quick
def test_a_package_without_kernels_brings_none(tmp_path, monkeypatch):
    """A package without prebuilt kernels, as installed from sources, offers none."""
    monkeypatch.setattr(prebuilt, 'FOLDER', tmp_path / 'none')
    prebuilt._files.cache_clear()
    try:
        assert prebuilt._files() == frozenset()
    finally:
        prebuilt._files.cache_clear()


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Return a function that brings an object under the name of an emitted module."""
    register_helpers()
    monkeypatch.setattr(prebuilt, 'FOLDER', tmp_path)

    def bring(name, symbol, code):
        path = tmp_path / c_functions.file_name(name, level_keys().code)
        cache_integrity.write(path, symbol.encode() + b'\n' + code)
        prebuilt._files.cache_clear()

    yield bring
    prebuilt._files.cache_clear()


CALLING = """
declare double @{outside}(double)
define void @c_calling(POINTER %x, POINTER %y) {{
    %a = load double, POINTER %x
    %b = call double @{outside}(double %a)
    store double %b, POINTER %y
    ret void
}}
"""


def object_of(text):
    """Return the object that LLVM makes of a module."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        codemodel='large', reloc='static', jit=True
    )
    pointer = 'double*' if llvm.llvm_version_info[0] < 17 else 'ptr'
    return machine.emit_object(llvm.parse_assembly(text.replace('POINTER', pointer)))


@pytest.mark.quick
def test_an_object_is_loaded_by_its_name(shipped):
    """A C function that the package brings is called at the address that is returned."""
    shipped('emitted_sine', 'c_calling', object_of(CALLING.format(outside='sin')))
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        c_functions.load('emitted_sine', register_helpers)
    )
    x, y = np.array([0.5]), np.zeros(1)
    call(x.ctypes.data, y.ctypes.data)
    assert y[0] == math.sin(0.5)  # numpy's own may round otherwise
    assert c_functions.load('emitted_cosine', register_helpers) is None


@pytest.mark.quick
def test_an_object_that_calls_what_is_not_there_is_not_loaded(shipped):
    """An object that calls a missing function is not loaded, as LLVM would abort."""
    code = object_of(CALLING.format(outside='not_in_this_process'))
    shipped('emitted_lacking', 'c_calling', code)
    assert c_functions.undefined_symbols(code) == {'not_in_this_process'}
    assert c_functions.load('emitted_lacking', register_helpers) is None


@pytest.mark.quick
def test_symbols_are_read_from_objects_of_elf_alone():
    """No symbols are read of bytes that are no ELF object."""
    assert c_functions.undefined_symbols(b'\xcf\xfa\xed\xfe' + bytes(100)) == set()


@pytest.mark.quick
def test_names_of_modules_are_the_same_on_every_processor(monkeypatch):
    """A module is named after its sources alone; keys of files tell processors apart."""
    name = cache._name.__wrapped__('x = 1\n', 'test')
    monkeypatch.setattr('llvmlite.binding.get_host_cpu_name', lambda: 'other')
    assert cache._name.__wrapped__('x = 1\n', 'test') == name
