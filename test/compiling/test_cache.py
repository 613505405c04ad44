# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The cache of compiled kernels: its place, when it is used, and when it must not be."""

from concurrent.futures import ThreadPoolExecutor
import importlib
import os
from pathlib import Path
import sys
import types

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.compiling import cache, sources
from softrobot_dynamics.compiling.cache_folder import cache_folder
from softrobot_dynamics.simulation.simulator import Simulator
from support.programs import BY_ADDRESS, copied, finish, SMALL, start
from support.robots import compiled, rod

PACKAGE = Path(sd.__file__).parent
NOTING = """
    from softrobot_dynamics.compiling import cache_integrity
    read, write, asked, made = cache_integrity.read, cache_integrity.write, set(), set()
    cache_integrity.read = lambda path: asked.add(path.name) or read(path)
    cache_integrity.write = lambda path, content: made.add(path.name) or write(path, content)
    machine_code = lambda names: {name for name in names if name.endswith(('.nbc', '.o'))}
"""
"""The beginning of a program that notes which files of the cache it looks for, and makes."""

CONTROLLED = f"""{NOTING}
    from contextlib import suppress
    from softrobot_dynamics.errors import SoftRobotError
    from softrobot_dynamics.configuration import build
    from softrobot_dynamics.references.circle import Circle, tip_circle
    values = {{'robot': 'double_pendulum', 'controller': 'pfbl', 'rate': 1e3, 'controlled': ()}}
    plant = build.controlled(values)
    before = machine_code(asked)
    with suppress(SoftRobotError):  # whether it can be held does not matter
        tip_circle(plant.model, Circle('tip', (0.0, 0.0, 0.5), (0.0, 1.0, 0.0), 0.1, 1.0))
    print(len(before), len(machine_code(asked | made) - before))
"""
"""A program that plans a circle once a controller is ready."""

TICKS = f"""{NOTING}
    import numpy as np
    from softrobot_dynamics.configuration import build
    for name in 'pfbl', 'task', 'predictive':
        values = {{'robot': 'double_pendulum', 'controller': name, 'rate': 1e3, 'controlled': ()}}
        plant = build.controlled(values)
        law, q, qd = plant.controller, plant.model.q0, np.zeros(plant.model.n)
        before = machine_code(asked)
        for k in range(100):  # more than an interval between two solutions
            if k % 50 == 0:
                law.follow(law.stay(q, qd), k * 1e-3, 0.01)
                law.start(q, qd, k * 1e-3)
            assert law.compute(k * 1e-3, q, qd).ok
        law.use(law.settings.replace())
        law.growth(q, law.settings.feed_forward, law.settings)
        print(name, len(before), *machine_code(asked | made) - before)
"""
"""A program that runs warm laws for some ticks."""

PENDULUM = f"""{NOTING}
    import softrobot_dynamics as sd
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    print(sd.gravity_force(model, q=[0.1, 0.2]))
    print(len(machine_code(asked)), len(machine_code(made)))
"""
"""A program that compiles a robot."""


def together(place):
    """Return a program that compiles two kernels, once another one is about to do so as well."""
    waiting = f"""{NOTING}
    import os, pathlib, time
    import numba
    pathlib.Path({str(place)!r}, str(os.getpid())).touch()
    while len(os.listdir({str(place)!r})) < 2:
        time.sleep(1e-3)
    """
    return f'{waiting}{SMALL}{BY_ADDRESS}    print(len(machine_code(made)))\n'


def machine_code(folder):
    """Return the files of machine code in a folder."""
    return sorted(path for path in Path(folder).iterdir() if path.suffix in ('.nbc', '.o'))


def emitted(folder):
    """Names of the emitted modules in a folder."""
    return {path.name for path in Path(folder).glob(f'{cache.PREFIX}*.py')}


def loaded(*names):
    """Names of the emitted modules, or of those of some names, that this process has loaded."""
    programs = tuple(f'{cache.PREFIX}{name}_' for name in names) or (cache.PREFIX,)
    return {name for name in sys.modules if name.startswith(programs)}


def test_folder_is_chosen_by_the_environment(tmp_path):
    """SOFTROBOT_CACHE_DIR names the folder for machine code and sources."""
    folder = tmp_path / 'not' / 'there' / 'yet'
    out, err = finish(start(SMALL, folder))
    value, name = out.split()
    assert value == '42.0' and 'Warning' not in err
    assert emitted(folder) == {f'{name}.py'}
    assert list(folder.glob('**/*.nbc'))


def test_default_folder_is_the_users_cache(monkeypatch, tmp_path):
    """Without SOFTROBOT_CACHE_DIR the folder is in XDG_CACHE_HOME, else in ~/.cache."""
    monkeypatch.delenv('SOFTROBOT_CACHE_DIR')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    assert cache_folder() == tmp_path / 'softrobot_dynamics'
    monkeypatch.delenv('XDG_CACHE_HOME')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert cache_folder() == tmp_path / '.cache' / 'softrobot_dynamics'


@pytest.mark.parametrize('program', [SMALL, BY_ADDRESS], ids=['for Python', 'by address'])
def test_kernels_compile_without_a_folder(tmp_path, program):
    """If no folder can be made, kernels are compiled in memory and a warning says so."""
    (tmp_path / 'file').write_text('')
    out, err = finish(start(program, tmp_path / 'file' / 'kernels'))
    assert out.startswith('42.0') and 'cannot be written' in err and 'SOFTROBOT_CACHE_DIR' in err
    assert err.count('RuntimeWarning') == 1  # however many modules there are
    assert [path.name for path in tmp_path.iterdir()] == ['file']


@pytest.mark.skipif(os.name != 'posix' or os.getuid() == 0, reason='root may write everywhere')
def test_kernels_compile_beside_a_read_only_folder(tmp_path):
    """With a read-only folder kernels are compiled in memory and a warning says so."""
    tmp_path.chmod(0o555)
    out, err = finish(start(SMALL, tmp_path))
    assert out.startswith('42.0') and 'cannot be written' in err
    assert not emitted(tmp_path)


def test_planning_compiles_nothing_new():
    """Planning a reference beside a running loop compiles nothing, whatever is in the cache."""
    before, new = map(int, finish(start(CONTROLLED, cache_folder()))[0].split())
    assert before > 0 and new == 0


def test_no_tick_waits_for_a_kernel():
    """Once a law is built, no tick looks for a kernel, neither its first plan nor a new target."""
    lines = [line.split() for line in finish(start(TICKS, cache_folder()))[0].splitlines()]
    assert [name for name, *_ in lines] == ['pfbl', 'task', 'predictive']
    for name, before, *new in lines:
        assert int(before) > 0 and new == [], name


def test_another_source_is_another_file(tmp_path):
    """Two sources give two modules, and equal sources the same one."""
    source = 'x = {}\n'.format
    first, second = (cache.load_module(source(i), 'test') for i in (1, 2))
    assert (first.x, second.x) == (1, 2)
    assert first.__name__ != second.__name__
    assert cache.load_module(source(1), 'test') is first


@pytest.fixture(scope='module')
def unedited(tmp_path_factory):
    """Return a folder with a copy of the package."""
    return copied(tmp_path_factory.mktemp('before'))


def test_an_edit_elsewhere_compiles_nothing_anew(unedited, tmp_path):
    """An edit of command line, nodes, plots or statics compiles no kernel again."""
    edited = (
        'cli/check.py',
        'evaluation/picture.py',
        'dynamics/statics.py',
        'loops/control_loop.py',
        '__init__.py',
    )
    first, second = (
        finish(start(PENDULUM, cache_folder(), first=each))[0].splitlines()
        for each in (unedited, copied(tmp_path / 'after', *edited))
    )
    used, made = map(int, second[-1].split())
    assert used > 0 and made == 0 and first[0] == second[0]


def emitted_name(folder):
    """Return the name of a module that imports kernels of the package in a folder."""
    source = 'from softrobot_dynamics.recursion.operations import inverse_dynamics as run'
    program = f"""
        from softrobot_dynamics.compiling.cache import load_module
        print(load_module('{source}', 'test').__name__)
    """
    return finish(start(program, folder.parent / 'kernels', first=folder))[0]


@pytest.fixture(scope='module')
def name_of_unedited(unedited):
    """Return the name of a module that imports kernels of the package, from its copy."""
    return emitted_name(unedited)


@pytest.mark.parametrize(
    'edited', ['kernels/spatial.py', 'recursion/passes.py', 'kernels/layout.py']
)
def test_an_edit_of_a_kernel_is_another_module(name_of_unedited, tmp_path, edited):
    """After an edit no kernel that imports the file, directly or not, is used again."""
    assert emitted_name(copied(tmp_path / 'after', edited)) != name_of_unedited


def test_kernels_in_folders_of_folders_count(tmp_path, monkeypatch):
    """Imports are followed to any depth: in brackets, in other packages; not those of types."""
    deep = tmp_path / 'arms' / 'soft' / 'deep'
    deep.mkdir(parents=True)
    (deep / 'numbers.py').write_text('')
    types_only = 'if TYPE_CHECKING:\n    from arms import plots\n\n'
    (deep / 'kernels.py').write_text(
        types_only + 'from arms.soft.deep import (  # here\n    numbers,\n)\n'
    )
    (tmp_path / 'arms' / 'plots.py').write_text('')
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module('arms')
    digests = [sources.digest_of('from arms.soft.deep.kernels import f', 'x')]
    for file in (tmp_path / 'arms' / 'plots.py', deep / 'numbers.py', deep / 'kernels.py'):
        file.write_text(file.read_text() + '# edited\n')
        sources._read.cache_clear()
        digests.append(sources.digest_of('from arms.soft.deep.kernels import f', 'x'))
    assert digests[0] == digests[1] and len(set(digests)) == 3


def test_a_second_robot_of_the_same_parts_compiles_nothing():
    """A robot of the same body, joint and tendon types reuses every emitted module."""
    arm = compiled('pcc_arm')
    use(arm)
    before = loaded()  # and not what other processes add to the folder meanwhile
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
    assert loaded() == before
    kernels = [m.body.kernel() for model in (arm, other) for m in model.description.modules]
    assert len({(kernel.module, kernel.function) for kernel in kernels}) == 1


def test_a_robot_of_other_parts_compiles_only_these():
    """Recursion, transmission and integrator are the same machine code for all robots."""
    names = ('inverse_dynamics', 'transmit', 'evaluate_terms', 'fixed_steps')
    found = []
    for name in ('pcc_arm', 'ur10e', 'soft_hand'):
        use(compiled(name))
        Simulator(compiled(name))
        found.append(loaded(*names))
    assert len(found[0]) >= len(names) and found[0] == found[1] == found[2]


def test_threads_load_the_same_module():
    """Threads that need a module at once get one and the same, whole."""
    source = 'import time\ntime.sleep(0.2)\nx = object()\n'
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: cache.load_module(source, 'threads').x, range(4)))
    assert all(each is found[0] for each in found)


def use(model):
    """Call what compiles a robot's programs."""
    zero = np.zeros(model.n)
    sd.forward_dynamics(model, q=zero, qd=zero, u=np.zeros(model.m))
    sd.mass_inverse_dynamics(model, q=zero, qd=zero, qdd=zero)


def test_two_processes_that_compile_at_the_same_time_both_succeed(tmp_path):
    """Processes that start together with no cache agree; a third one compiles nothing."""
    folder, place = tmp_path / 'kernels', tmp_path / 'place'
    place.mkdir()
    both = [start(together(place), folder) for _ in range(2)]
    results = [finish(process) for process in both]
    files = machine_code(folder)
    third = finish(start(together(place), folder))
    assert len({tuple(out.split()[:3]) for out, _ in (*results, third)}) == 1
    assert third[0].split()[-1] == '0'
    assert machine_code(folder) == files and files
    assert not any('Warning' in err for _, err in (*results, third))


def test_a_kernel_without_a_source_file_is_compiled_again():
    """A kernel without a source file gets a new module, and is compiled, every time."""
    sys.modules['kernels_of_no_file'] = types.ModuleType('kernels_of_no_file')
    lines = [cache.import_line('kernels_of_no_file', 'terms', 'terms_0') for _ in range(2)]
    assert lines[0] != lines[1]
    assert all(x.startswith('from kernels_of_no_file import terms as terms_0') for x in lines)
