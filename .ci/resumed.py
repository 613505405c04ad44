# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Plugin of pytest for runs that take hours: a run that was cut goes on where it stopped.

`pytest -p resumed --passed FILE` notes in a file which tests pass or are skipped, and leaves out
those that it names already.
"""

import json
from pathlib import Path

import pytest


def pytest_addoption(parser):
    """Add the option that names the file."""
    parser.addoption('--passed', type=Path, required=True, help='file of tests that have passed')


def pytest_configure(config):
    """Read the file before any test runs; note what passes in one process, not in workers."""
    file = config.getoption('passed')
    before = getattr(config, 'workerinput', {}).get('passed_before')
    if before is None:
        lines = file.read_text(encoding='utf-8').splitlines() if file.exists() else []
        config.passed_before = sorted(map(json.loads, lines))
        config.pluginmanager.register(_Notes(file))
    else:
        config.passed_before = before


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Give a worker of xdist what this process has read: all workers must collect the same."""
    node.workerinput['passed_before'] = node.config.passed_before


def pytest_collection_modifyitems(config, items):
    """Leave out the tests that have passed before."""
    before = set(config.passed_before)
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in before])
    items[:] = [item for item in items if item.nodeid not in before]


class _Notes:
    """Appends the ids of tests to a file as they pass."""

    def __init__(self, file):
        self._file = file

    def pytest_runtest_logreport(self, report):
        """Note a test that has passed, or is skipped."""
        if report.when == 'call' and report.passed or report.skipped:
            with self._file.open('a', encoding='utf-8') as file:
                file.write(json.dumps(report.nodeid) + '\n')
