# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Programs of the package end in one line and with the right status, also while they start."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import textwrap

import pytest
from softrobot_dynamics import cli
from softrobot_dynamics.cli import robots
from softrobot_dynamics.compiling import program_exit

SCRIPTS = Path(__file__).parents[2] / 'scripts'
COMMAND = [sys.executable, '-m', 'softrobot_dynamics.cli']

LOOPS = 'softrobot_dynamics.loops'
INTERRUPTED = """
import importlib.abc, os, runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background


class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = [{program!r}]
{start}
"""
"""A program that gets SIGINT when a module is about to be imported for the first time."""

LOST = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
from softrobot_dynamics.compiling.program_exit import running

class Callback:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

with running():
    try:
        Callback()
        time.sleep(60.0)
    except KeyboardInterrupt:
        print('interrupted')
"""


def ended(command, **options):
    """Run a command to its end; return (status, what it said on stderr)."""
    options = {'stdout': subprocess.DEVNULL, **options}
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=300, **options)
    return done.returncode, done.stderr


@pytest.mark.parametrize('arguments', [['robots'], ['--help'], ['check', 'ur10e'], ['view', '-h']])
@pytest.mark.parametrize('buffered', ['', '1'])
def test_output_that_nobody_reads_ends_a_command_in_silence(arguments, buffered):
    """A closed output pipe, as of `head`, ends a command with status 141 and no message."""
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, 'PYTHONUNBUFFERED': buffered}
    with open(writing, 'wb') as pipe:
        assert ended([*COMMAND, *arguments], stdout=pipe, env=environment) == (141, '')


@pytest.mark.skipif(not Path('/dev/full').exists(), reason='there is no /dev/full')
@pytest.mark.parametrize('arguments', [['robots'], ['--help']])
def test_output_to_a_full_disk_ends_in_one_line(arguments):
    """Output to a full disk ends a command with status 1 and one line."""
    with open('/dev/full', 'wb') as full:
        status, said = ended([*COMMAND, *arguments], stdout=full)
    assert status == 1 and said == 'softrobot: No space left on device\n'


@pytest.mark.quick
@pytest.mark.parametrize('arguments', [
    ['plot', 'x' * 300], ['excite', 'ur10e', '--output', f'{"x" * 300}.csv'],
    ['import', 'x' * 300], ['check', f'/{"x" * 300}'],
])  # fmt: skip
def test_a_file_name_that_is_too_long_is_refused_in_one_line(arguments, capsys):
    """A file name that is too long is refused with status 1 or 2, in one shortened line."""
    assert cli.main(arguments) in (1, 2)
    shown = capsys.readouterr()
    words = shown.err + shown.out
    assert 'File name too long' in words and max(map(len, words.splitlines())) < 400


def test_a_failed_start_is_reported_in_one_line():
    """A failure of numba's import ends a command with one line."""
    status, said = ended([*COMMAND, 'robots'], env={**os.environ, 'NUMBA_NUM_THREADS': '0'})
    assert status == 1 and len(said.splitlines()) == 1
    assert "NUMBA_NUM_THREADS is '0', expected a number > 0" in said


@pytest.mark.parametrize('program, module, start', [
    ('softrobot', 'argparse', 'from softrobot_dynamics.cli import main'),
    (str(SCRIPTS / 'controller'), 'numpy', None),
    (str(SCRIPTS / 'controller'), 'rclpy', None),
    (str(SCRIPTS / 'visualizer'), 'rclpy', None),
    (f'{LOOPS}.planning', LOOPS, f'import {LOOPS}.planning'),
])  # fmt: skip
def test_ctrl_c_while_a_program_starts_ends_it_in_silence(program, module, start):
    """Ctrl-C during the start ends a command with status 130 and no traceback."""
    if module == 'rclpy':
        pytest.importorskip('rclpy')
    start = start or f'runpy.run_path({program!r}, run_name="__main__")'
    code = INTERRUPTED.format(name=module, program=program, start=start)
    assert ended([sys.executable, '-c', code]) == (130, '')


def test_a_program_of_the_user_is_interrupted_as_any_other():
    """Ctrl-C raises a KeyboardInterrupt in a user's program, which may catch it."""
    start = textwrap.dedent("""
        try:
            from softrobot_dynamics import compile_model
        except KeyboardInterrupt:
            sys.exit(7)
    """)
    code = INTERRUPTED.format(name='numpy', program='mine.py', start=start)
    assert ended([sys.executable, '-c', code])[0] == 7


@pytest.mark.quick
def test_ctrl_c_ends_a_command_with_130(monkeypatch, capsys):
    """Ctrl-C ends a command with status 130 in any phase."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(robots, 'run', lambda options: signal.raise_signal(signal.SIGINT))
    try:
        assert cli.main(['robots']) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == ''


def test_an_interrupt_that_got_lost_comes_again():
    """An interrupt that Python lost in a callback is raised again."""
    done = subprocess.run(
        [sys.executable, '-c', LOST], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ('interrupted\n', '')


@pytest.mark.parametrize('arguments', [['robots'], ['--help'], ['check', 'toy']])
def test_closed_output_ends_a_command_as_a_closed_pipe_does(arguments):
    """Standard output that is closed before the start (`>&-`) gives status 141 and no message."""
    assert ended(['sh', '-c', '"$@" >&-', 'sh', *COMMAND, *arguments]) == (141, '')


def test_a_variable_that_numba_cannot_read_is_one_line():
    """An environment variable of numba that is no number is warned of in one line."""
    environment = {**os.environ, 'NUMBA_NUM_THREADS': 'abc'}
    status, said = ended([*COMMAND, 'check', 'toy'], env=environment)
    assert status == 0 and len(said.splitlines()) == 1
    assert "'NUMBA_NUM_THREADS'" in said and "'abc' could not be parsed" in said


def test_a_failed_start_blames_no_variable_that_is_right(capsys, monkeypatch):
    """The line of a failed start names NUMBA_NUM_THREADS only if that is no number > 0."""
    monkeypatch.setenv('NUMBA_NUM_THREADS', '2')
    program_exit._say_in_a_line(ValueError, ValueError('a reason'), None)
    assert capsys.readouterr().err == 'softrobot: cannot start: ValueError: a reason\n'
