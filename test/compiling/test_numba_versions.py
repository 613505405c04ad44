# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Numba's internals: imported by one module, for tested versions only, and never changed."""

import ast
import json
import os
from pathlib import Path

import numba
import pytest
from softrobot_dynamics.compiling.numba_versions import is_tested, keeps_machine_code, TESTED_RANGE
from support.programs import finish, PACKAGE, start
from support.syntax import imported_names, syntax_of

USERS = {'dispatchers', 'machine_code'}
"""Modules of `compiling` that import from `compiling.lowering`, beside those in it."""
PUBLIC = {
    'numba', 'numba.types', 'numba.extending', 'llvmlite', 'llvmlite.ir', 'llvmlite.binding',
}  # fmt: skip
"""Modules of numba and llvmlite that their documentation describes."""

NUMBERS = """
    import json
    import numba
    {before}
    import numpy as np
    import softrobot_dynamics as sd
    from softrobot_dynamics.configuration import build
    from softrobot_dynamics.simulation.simulator import Simulator
    values = {{'robot': 'double_pendulum', 'controller': 'pfbl', 'rate': 1e3, 'controlled': ()}}
    plant = build.controlled(values)
    model, q, qd = plant.model, np.array([0.3, -0.2]), np.array([0.1, 0.4])
    Q, M = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=np.array([0.5, -0.6]))
    qdd = sd.forward_dynamics(model, q=q, qd=qd, u=np.zeros(model.m))
    u = plant.controller.compute(0.0, q, qd).u
    simulator = Simulator(model)
    simulator.reset(q, qd)
    simulator.step(np.zeros(model.m), 0.02)
    found = Q, M, qdd, u, simulator.q, simulator.qd
    print(json.dumps([np.ravel(x).tolist() for x in found]))
"""
"""A program that prints dynamics, the command of a tick and a simulated state."""


def imported():
    """Yield (path, the dotted names that it imports, and what from them) of the package."""
    for path in sorted(PACKAGE.rglob('*.py')):
        yield path, [x for node in syntax_of(path).imports for x in imported_names(node)]


def is_private(name):
    """Tell whether an imported name of numba or llvmlite is in no documented module of theirs."""
    if name.partition('.')[0] not in ('numba', 'llvmlite'):
        return False
    module, _, last = name.rpartition('.')
    return name not in PUBLIC and (module not in PUBLIC or last.startswith('_') or last == 'core')


@pytest.mark.quick
def test_one_module_imports_private_parts_of_numba():
    """Only `internals` imports undocumented names of numba; few modules import from its folder."""
    folder = PACKAGE / 'compiling' / 'lowering'
    found = {path for path, names in imported() if any(map(is_private, names))}
    assert found == {folder / 'internals.py'}
    users = {path for path, names in imported() if any('.compiling.lowering.' in x for x in names)}
    others = {path for path in users if path.parent != folder}
    assert others == {PACKAGE / 'compiling' / f'{name}.py' for name in USERS}


@pytest.mark.quick
def test_untested_versions_import_no_private_parts_of_numba():
    """Only the branch for tested versions in `compiler` imports the modules that use internals."""
    users = {
        path.stem
        for path, names in imported()
        if any(not USERS.isdisjoint(name.split('.')) for name in names)
    }
    assert users == {'compiler', 'dispatchers'}


@pytest.mark.quick
def test_no_attribute_of_numba_is_changed():
    """No module assigns to an attribute of what it has imported from numba, or by setattr."""
    users = 0
    for path in sorted(PACKAGE.rglob('*.py')):
        names = {name.rpartition('.')[2] for name in _aliases(syntax_of(path).imports)}
        if names:  # few modules
            users += 1
            for node in ast.walk(ast.parse(path.read_text())):
                assert not _root_assigned(node) & names, (path, node.lineno)
    assert users > 5


def _aliases(nodes):
    """Names under which a module knows what it has imported from numba or llvmlite."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition('.')[0] in ('numba', 'llvmlite'):
                    yield alias.asname or alias.name.partition('.')[0]
        if isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition('.')[0] in ('numba', 'llvmlite'):
                yield from (alias.asname or alias.name for alias in node.names)


def _root_assigned(node):
    """Return the names of which a statement assigns to an attribute, or deletes one."""
    targets = list(getattr(node, 'targets', []))
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        targets.append(node.target)
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ''
    if called in ('setattr', 'delattr'):
        targets.append(ast.Attribute(node.args[0], ''))
    roots = set()
    for target in targets:
        attribute = isinstance(target, ast.Attribute)
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        if attribute and isinstance(target, ast.Name):
            roots.add(target.id)
    return roots


@pytest.mark.quick
def test_the_version_in_use_is_a_tested_one():
    """This test run uses numba's internals, with a version that the package allows."""
    assert is_tested(numba.__version__) and keeps_machine_code()


@pytest.mark.quick
@pytest.mark.parametrize('version', ['0.60.0', '0.69.0', '0.69.0rc1', '1.0', '10.60', 'unknown'])
def test_other_versions_are_not_tested_ones(version):
    """Versions before and after the range, and what is no version, are not in it."""
    assert not is_tested(version)


@pytest.mark.quick
@pytest.mark.parametrize('name', ['setup.py', 'pyproject.toml'])
def test_the_tested_range_is_what_an_installation_takes(name):
    """The numba versions that are installed, also to build, are those whose internals are used."""
    assert repr(TESTED_RANGE) in (Path(__file__).parents[2] / name).read_text()


@pytest.mark.quick
def test_a_disabled_compiler_is_refused_in_words(tmp_path):
    """With NUMBA_DISABLE_JIT the first use of a kernel says that it has to be unset."""
    text = (
        "import os; os.environ['NUMBA_DISABLE_JIT'] = '1';"
        ' from softrobot_dynamics import compile_model'
    )
    process = start(text, tmp_path)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert 'ArgumentError: argument NUMBA_DISABLE_JIT: 1, expected 0' in err.splitlines()[-1]


def test_an_untested_version_gives_the_same_numbers(tmp_path, monkeypatch):
    """With an untested numba, kernels of plain njit give equal results, after one warning."""
    untested = "numba.__version__ = '99.0.0'"
    with monkeypatch.context() as patch:
        patch.setenv('NUMBA_OPT', '0')  # the same functions and numbers, sooner
        public, warned = finish(start(NUMBERS.format(before=untested), tmp_path))
    # with what other tests have compiled: that others need not is tested elsewhere
    out, err = finish(start(NUMBERS.format(before=''), os.environ['SOFTROBOT_CACHE_DIR']))
    assert 'Warning' not in err
    assert warned.count('Warning') == 1 and '99.0.0 is not one of the tested versions' in warned
    assert TESTED_RANGE in warned
    for found, wanted in zip(json.loads(public), json.loads(out)):
        assert found == pytest.approx(wanted, rel=1e-10, abs=1e-12)
