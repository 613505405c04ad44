# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Benchmarks and scripts with a command line explain it."""

from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = [
    path
    for folder in ('benchmarks', 'examples', 'docs')
    for path in sorted((ROOT / folder).rglob('*.py'))
    if 'ArgumentParser(' in path.read_text(encoding='utf-8')
]
FORKING = """
import contextlib, gc, importlib, os, runpy, signal, sys

# most scripts import these, which takes longer than all else that they do before they print
for name in (
    'scipy.optimize', 'scipy.sparse.linalg', 'matplotlib.pyplot', 'numba', 'pytest', 'rclpy.node',
    'softrobot_dynamics.identification.fitting', 'softrobot_dynamics.offline.closed_loop',
):
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
gc.freeze()
for line in sys.stdin:
    path, out, errors = line.rstrip('\\n').split('\\t')
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
# a child, which from here on does what `python path --help` does
signal.alarm(120)
for stream, name in enumerate((os.devnull, out, errors)):
    os.dup2(os.open(name, os.O_WRONLY if stream else os.O_RDONLY), stream)
sys.argv[:], sys.path[0] = [path, '--help'], os.path.dirname(path)
try:
    runpy.run_path(path, run_name='__main__')
except SystemExit as end:
    if end.code:
        raise
sys.stdout.flush()
os._exit(0)  # to tear down all that was imported would take longer than the script
"""
"""A program that runs each script it is told in a fork, when what they share is imported."""


@pytest.fixture(scope='module')
def helped(tmp_path_factory):
    """Return a function that runs a script with --help; it returns status, output and errors."""
    folder = tmp_path_factory.mktemp('help')
    out, errors = folder / 'out', folder / 'errors'
    with subprocess.Popen(
        [sys.executable, '-c', FORKING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,  # not that of the sources, whose package it would import
    ) as forking:

        def run(path):
            for file in (out, errors):
                file.write_text('')
            forking.stdin.write('\t'.join(map(str, (path, out, errors))) + '\n')
            forking.stdin.flush()
            status = int(forking.stdout.readline())
            return status, out.read_text(), errors.read_text()

        yield run


@pytest.mark.parametrize('path', SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_prints_its_help(path, helped):
    """``--help`` prints the usage and ends without an error."""
    status, out, errors = helped(path)
    missing = 'ModuleNotFoundError: No module named'
    if missing in errors and "'softrobot_dynamics" not in errors:
        pytest.skip(errors.strip().splitlines()[-1])  # an extra that is not installed
    assert status == 0, errors
    assert path.name in out or 'usage:' in out
