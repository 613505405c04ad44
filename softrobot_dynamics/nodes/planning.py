# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Plan a reference in a process of its own, beside a running loop.

Planning is Python for a second or more; in the node's own process it would hold up the loop's
thread again and again. The other process has ordinary priority and finds all kernels compiled.
"""

import os
from pathlib import Path
import pickle
import shutil
import sys
import tempfile

from softrobot_dynamics import references
from softrobot_dynamics.errors import SoftRobotError
from softrobot_dynamics.model import compile_model
from softrobot_dynamics.nodes.realtime import anywhere


def plan_elsewhere(description, controlled, settings, q):
    """
    Return ``references.from_settings`` for a robot, worked out in another process.

    Arguments as there, with the RobotDescription in place of its model; raises what it raises.
    """
    with tempfile.TemporaryDirectory(prefix='softrobot_dynamics_') as folder:
        task, answer = Path(folder) / 'task', Path(folder) / 'answer'
        task.write_bytes(pickle.dumps((description, controlled, settings, q)))
        status = _run([sys.executable, '-m', __spec__.name, str(task), str(answer)])
        if status != 0:
            raise SoftRobotError(f'the planning process ended with status {status}')
        planned = pickle.loads(answer.read_bytes())
    if isinstance(planned, SoftRobotError):
        raise planned
    return planned


def _run(command):
    """
    Run a command at ordinary priority, on any processor; return its exit status.

    Until the new process runs a program of its own it keeps us waiting, with the lock of the
    interpreter in our hands. So it starts at our real-time priority, and gives it up by itself:
    lowered any earlier, on a busy machine it would hold up the loop's thread.
    """
    lower = shutil.which('chrt')
    if lower:
        command = [lower, '--other', '0', *command]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    with anywhere():
        process = os.posix_spawn(command[0], command, environment)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main(task, answer):
    """Read a task from a file and write its result, or our error, to another."""
    description, controlled, settings, q = pickle.loads(Path(task).read_bytes())
    try:
        planned = references.from_settings(compile_model(description), controlled, settings, q)
    except SoftRobotError as error:
        planned = error
    Path(answer).write_bytes(pickle.dumps(planned))


if __name__ == '__main__':
    main(*sys.argv[1:])
