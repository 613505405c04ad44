# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Benchmarks, examples and scripts use names that the package has."""

import ast
import importlib
from pathlib import Path
import types

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted(
    path
    for folder in ('benchmarks', 'examples', 'docs', 'scripts')
    for path in (ROOT / folder).rglob('*.py')
)
PACKAGE = 'softrobot_dynamics'


def module_of(name):
    """Return a module of the package; skip the test if it needs what is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if (error.name or '').startswith(PACKAGE):
            raise
        pytest.skip(str(error))


def imported(tree):
    """Return {name in a script: the module, or what else of the package it stands for}."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == PACKAGE or alias.name.startswith(f'{PACKAGE}.'):
                    found[alias.asname or PACKAGE] = module_of(
                        alias.name if alias.asname else PACKAGE
                    )
        elif isinstance(node, ast.ImportFrom) and node.module.partition('.')[0] == PACKAGE:
            module = module_of(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    module_of(f'{node.module}.{alias.name}')
                found[alias.asname or alias.name] = getattr(module, alias.name)
    return found


def renamed(tree, known):
    """Yield (name, what it stands for) of assignments of a known name to another one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = zip(target.elts, value.elts)
            for to, what in pairs:
                if isinstance(to, ast.Name) and isinstance(what, ast.Name) and what.id in known:
                    yield to.id, known[what.id]


@pytest.mark.parametrize('path', SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_that_a_script_takes_from_the_package_exist(path):
    """A script imports only what exists, and uses only attributes that these modules have."""
    tree = ast.parse(path.read_text(encoding='utf-8'))
    known = imported(tree)
    known |= dict(renamed(tree, known))
    missing = [
        (node.lineno, f'{node.value.id}.{node.attr}')
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and isinstance(known.get(node.value.id), types.ModuleType)
        and not hasattr(known[node.value.id], node.attr)
    ]
    assert missing == []
