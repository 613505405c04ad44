# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The cache of compiled kernels: where it is, when it is used, and when it must not be."""

from concurrent.futures import ThreadPoolExecutor
import fcntl
import functools
import importlib
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from robots import compiled, rod
import softrobot_dynamics as sd
from softrobot_dynamics.kinematics import cache
from softrobot_dynamics.simulation import Simulator

PACKAGE = Path(sd.__file__).parent
SMALL = """
    from softrobot_dynamics.kinematics.cache import load_module
    module = load_module('''
    from numba import njit
    CACHE = True
    @njit(cache=CACHE)
    def twice(x):
        return 2.0 * x
    ''', 'small')
    print(module.twice(21.0), module.__name__)
"""
"""A program that compiles one small module."""

BY_ADDRESS = """
    import ctypes
    import numpy as np
    from softrobot_dynamics.kinematics.binding import address
    from softrobot_dynamics.kinematics.cache import load_module
    module = load_module('''
    from softrobot_dynamics.kernels.jit import kernel
    @kernel
    def double(x, y):
        y[0] = 2.0 * x[0]
    ''', 'double')
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(
        address(module.__name__, 'double', 'x, y')
    )
    x, y = np.array([21.0]), np.zeros(1)
    call(x.ctypes.data, y.ctypes.data)
    print(y[0])
"""
"""A program that calls an emitted kernel by its address."""

CONTROLLED = """
    from contextlib import suppress
    from softrobot_dynamics.errors import SoftRobotError
    from softrobot_dynamics.kinematics.cache import cache_folder
    from softrobot_dynamics.nodes import plants
    from softrobot_dynamics.references import Circle, tip_circle
    made = lambda: {file.name for file in cache_folder().glob('**/*.nbc')}
    values = {'robot': 'double_pendulum', 'controller': 'pfbl', 'rate': 1e3, 'controlled': ()}
    plant = plants.controlled(values)
    before = made()
    with suppress(SoftRobotError):  # whether it can be held does not matter
        tip_circle(plant.model, Circle('tip', (0.0, 0.0, 0.5), (0.0, 1.0, 0.0), 0.1, 1.0))
    print(len(before), len(made() - before))
"""
"""A program that plans a circle once a controller is ready."""

PENDULUM = """
    import softrobot_dynamics as sd
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    print(sd.gravity_force(model, q=[0.1, 0.2]))
"""
"""A program that compiles a robot."""


def start(program, folder, first=''):
    """Start a program in another process with its cache; modules in ``first`` come first."""
    path = os.pathsep.join([str(first), str(PACKAGE.parent)])
    environment = {k: v for k, v in os.environ.items() if k != 'NUMBA_CACHE_DIR'}
    return subprocess.Popen(
        [sys.executable, '-W', 'always', '-c', textwrap.dedent(program)],
        env={**environment, 'SOFTROBOT_CACHE_DIR': str(folder), 'PYTHONPATH': path},
        cwd=PACKAGE.anchor,  # nothing to import there
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    """Return what a process printed and what it complained of; it must have succeeded."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def emitted(folder):
    """Names of the emitted modules in a folder."""
    return {path.name for path in Path(folder).glob(f'{cache.PREFIX}*.py')}


def test_folder_is_chosen_by_the_environment(tmp_path):
    """SOFTROBOT_CACHE_DIR names the folder, which is made; machine code is kept beside sources."""
    folder = tmp_path / 'not' / 'there' / 'yet'
    out, err = finish(start(SMALL, folder))
    value, name = out.split()
    assert value == '42.0' and 'Warning' not in err
    assert emitted(folder) == {f'{name}.py'}
    assert list(folder.glob('**/*.nbc'))


def test_default_folder_is_the_users_cache(monkeypatch, tmp_path):
    """Without SOFTROBOT_CACHE_DIR it is in XDG_CACHE_HOME, else in .cache of the home folder."""
    monkeypatch.delenv('SOFTROBOT_CACHE_DIR')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert cache.cache_folder() == tmp_path / 'softrobot_dynamics'
    monkeypatch.delenv('XDG_CACHE_HOME')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert cache.cache_folder() == tmp_path / '.cache' / 'softrobot_dynamics'


@pytest.mark.parametrize('program', [SMALL, BY_ADDRESS], ids=['for Python', 'by address'])
def test_a_folder_that_cannot_be_made_is_done_without(tmp_path, program):
    """Where no folder can be made, kernels are compiled in memory and a warning says so."""
    (tmp_path / 'file').write_text('')
    out, err = finish(start(program, tmp_path / 'file' / 'kernels'))
    assert out.startswith('42.0') and 'cannot be written' in err and 'SOFTROBOT_CACHE_DIR' in err
    assert [path.name for path in tmp_path.iterdir()] == ['file']


@pytest.mark.skipif(os.name != 'posix' or os.getuid() == 0, reason='root may write everywhere')
def test_a_read_only_folder_is_done_without(tmp_path):
    """In a read-only folder, kernels are compiled in memory and a warning says so."""
    tmp_path.chmod(0o555)
    out, err = finish(start(SMALL, tmp_path))
    assert out.startswith('42.0') and 'cannot be written' in err
    assert not emitted(tmp_path)


def test_a_reference_compiles_nothing_that_a_controller_has_not(tmp_path):
    """So it can be planned beside a running loop."""
    before, new = map(int, finish(start(CONTROLLED, tmp_path))[0].split())
    assert before > 0 and new == 0


def test_another_source_is_another_file(tmp_path):
    """Two sources give two modules, and equal sources the same one."""
    source = 'x = {}\n'.format
    first, second = (cache.load_module(source(i), 'test') for i in (1, 2))
    assert (first.x, second.x) == (1, 2)
    assert first.__name__ != second.__name__
    assert cache.load_module(source(1), 'test') is first


def test_a_changed_package_is_another_file(tmp_path):
    """After an edit of any kernel source of the package nothing old is used."""
    names = []
    for edit in ('', '# edited\n'):
        copy = tmp_path / f'copy{len(edit)}'
        shutil.copytree(PACKAGE, copy / 'softrobot_dynamics')
        with open(copy / 'softrobot_dynamics' / 'kernels' / 'spatial.py', 'a') as file:
            file.write(edit)
        out, _ = finish(start(SMALL, tmp_path / 'kernels', first=copy))
        names.append(out.split()[1])
    assert names[0] != names[1]


def test_a_second_robot_of_the_same_parts_compiles_nothing():
    """A robot of the same body, joint and tendon types reuses every emitted module."""
    arm = compiled('pcc_arm')
    use(arm)
    before = emitted(cache.cache_folder())
    bodies = [
        {'name': name, 'joint': {'type': 'fixed'}, 'body': rod(0.3, [0.03, 0.01], 0.01)}
        for name in 'abcd'
    ]
    path = [{'body': 'b', 'offset': {'radius': 0.01, 'turns': 2.0}}]
    tendon = {'name': 't', 'type': 'tendon', 'path': path}
    other = sd.compile_model(
        sd.load_robot({'name': 'other', 'bodies': bodies, 'actuators': [tendon]})
    )
    use(other)
    assert emitted(cache.cache_folder()) == before
    kernels = [m.body.kernel() for model in (arm, other) for m in model.description.modules]
    assert len({(kernel.module, kernel.function) for kernel in kernels}) == 1


def test_a_robot_of_other_parts_compiles_only_these():
    """Recursion, transmission and integrator are the same machine code for all robots."""
    names = ('inverse_dynamics', 'transmit', 'evaluate_terms', 'fixed_steps')
    programs = tuple(f'{cache.PREFIX}{name}_' for name in names)
    loaded = []
    for name in ('pcc_arm', 'ur10e', 'soft_hand'):
        use(compiled(name))
        Simulator(compiled(name))
        loaded.append({x for x in sys.modules if x.startswith(programs)})
    assert len(loaded[0]) >= len(programs) and loaded[0] == loaded[1] == loaded[2]


def test_threads_load_the_same_module():
    """Threads that need a module at once get one and the same, whole."""
    source = 'import time\ntime.sleep(0.2)\nx = object()\n'
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: cache.load_module(source, 'threads').x, range(4)))
    assert all(each is found[0] for each in found)


def test_processes_that_start_together_share_the_work():
    """What another process has begun is left until the rest is done."""
    done = []
    jobs = [functools.partial(done.append, i) for i in range(3)]
    cache.share(*jobs)
    cache.cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache.cache_folder() / 'share_1.lock', 'w') as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        cache.share(*jobs)
    assert done == [0, 1, 2, 0, 2, 1]


def use(model):
    """Call what compiles a robot's programs."""
    zero = np.zeros(model.n)
    sd.forward_dynamics(model, q=zero, qd=zero, u=np.zeros(model.m))
    sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)


def test_two_processes_that_compile_at_the_same_time_both_succeed(tmp_path):
    """Processes that start together with no cache agree; a third one compiles nothing."""
    both = [start(PENDULUM, tmp_path) for _ in range(2)]
    results = [finish(process) for process in both]
    files = sorted(path for path in tmp_path.rglob('*.nbc'))
    third = finish(start(PENDULUM, tmp_path))
    assert len({out for out, _ in (*results, third)}) == 1
    assert sorted(path for path in tmp_path.rglob('*.nbc')) == files and files
    assert not any('Warning' in err for _, err in (*results, third))


def test_an_edited_kernel_of_another_package_is_another_source(tmp_path, monkeypatch):
    """What imports a kernel by hand changes with the file the kernel is in, wherever that is."""
    monkeypatch.syspath_prepend(tmp_path)
    lines = []
    for factor in (2, 3):
        (tmp_path / 'kernels_of_a_user.py').write_text(f'FACTOR = {factor}')
        importlib.import_module('kernels_of_a_user')
        lines.append(cache.import_line('kernels_of_a_user', 'terms', 'terms_0'))
    assert lines[0] != lines[1]
    assert all(x.startswith('from kernels_of_a_user import terms as terms_0') for x in lines)


def test_emitted_modules_import_by_such_lines():
    """Dispatchers and bound functions name the state of every file that they import from."""
    use(compiled('pcc_arm'))
    files = [m.__file__ for name, m in sys.modules.items() if name.startswith(cache.PREFIX)]
    lines = [line for file in files for line in Path(file).read_text().splitlines()]
    imports = [x for x in lines if x.startswith('from softrobot_dynamics.') and ' as ' in x]
    assert imports and all(re.search(r'# [0-9a-f]{16}$', line) for line in imports)
