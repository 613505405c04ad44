# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Names of the processors, and of the versions, that machine code was made for."""

import platform

import llvmlite.binding
import numba
import pytest
from softrobot_dynamics.compiling import targets

pytestmark = pytest.mark.quick

X86 = targets.LEVELS['x86_64']


@pytest.fixture(autouse=True)
def anew():
    """Have keys found out in each test, and after it."""
    yield
    _forget()


def _forget():
    targets.own_keys.cache_clear()
    targets.level_keys.cache_clear()


@pytest.mark.parametrize('fact', [
    'llvmlite.binding.get_host_cpu_name', 'numba.__version__', 'platform.python_version',
])  # fmt: skip
def test_code_of_another_machine_is_not_taken(monkeypatch, fact):
    """Own code has another key on another processor, by another numba, in another Python."""
    here = targets.own_keys()
    _forget()
    monkeypatch.setattr(fact, 'other' if 'version__' in fact else lambda: 'other')
    assert not set(targets.own_keys()) & set(here)


@pytest.mark.parametrize('name, value', [
    ('CPU_NAME', 'other'), ('CPU_FEATURES', '+sse2'), ('OPT', 0), ('BOUNDSCHECK', 1),
])  # fmt: skip
def test_code_of_other_options_is_not_taken(monkeypatch, name, value):
    """The key of machine code changes with the processor and the options that numba is told."""
    here = targets.own_keys()
    _forget()
    monkeypatch.setattr(numba.config, name, value)
    assert not set(targets.own_keys()) & set(here)


@pytest.mark.parametrize('missing', ['', 'avx2', 'fma'])
def test_a_processor_that_lacks_a_feature_has_no_level(monkeypatch, missing):
    """Code of a level is for processors with all of its features, whatever else they have."""
    features = {name: name != missing for name in (*X86.needed, 'avx512f')}
    monkeypatch.setattr(platform, 'machine', lambda: 'x86_64')
    monkeypatch.setattr(llvmlite.binding, 'get_host_cpu_features', lambda: features)
    _forget()
    assert (targets.level_keys() is None) == bool(missing)


@pytest.mark.parametrize('machine', ['riscv64', 'ppc64le'])
def test_other_machines_have_no_level(monkeypatch, machine):
    """On a machine for which no package is built there is no code of a level."""
    monkeypatch.setattr(platform, 'machine', lambda: machine)
    _forget()
    assert targets.level_keys() is None


def test_a_processor_that_the_user_names_has_no_level(monkeypatch):
    """Where NUMBA_CPU_NAME is set, nothing is taken that was compiled for a level."""
    monkeypatch.setattr(numba.config, 'CPU_NAME', 'generic')
    _forget()
    assert targets.level_keys() is None


@pytest.mark.parametrize('fact', ['numba.__version__', 'platform.python_version'])
def test_c_functions_of_a_level_are_for_every_numba_and_python(monkeypatch, fact):
    """Only what Python calls through numba's types belongs to one version of both."""
    here = targets.keys_of(X86)
    monkeypatch.setattr(fact, 'other' if 'version__' in fact else lambda: 'other')
    other = targets.keys_of(X86)
    assert other.code == here.code and other.program != here.program


@pytest.mark.parametrize('name, value', [('OPT', 0), ('BOUNDSCHECK', 1)])
def test_code_of_a_level_is_for_the_options_it_was_made_with(monkeypatch, name, value):
    """With other options of numba nothing is taken that was compiled with the usual ones."""
    here = targets.keys_of(X86)
    monkeypatch.setattr(numba.config, name, value)
    assert not set(targets.keys_of(X86)) & set(here)


def test_a_process_with_the_variables_of_a_level_compiles_for_its_key(monkeypatch):
    """A process with a level's variables keeps programs under the key that others look for."""
    variables = X86.variables()
    monkeypatch.setattr(numba.config, 'CPU_NAME', variables['NUMBA_CPU_NAME'])
    monkeypatch.setattr(numba.config, 'CPU_FEATURES', variables['NUMBA_CPU_FEATURES'])
    _forget()
    assert targets.own_keys().program == targets.keys_of(X86).program
