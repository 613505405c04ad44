# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The `softrobot` command where the locale and the output know ASCII only."""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.cli import COMMANDS
from support.recorded import write_demo

ASCII = {
    'LC_ALL': 'C', 'PYTHONIOENCODING': 'ascii', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0',
    'MPLBACKEND': 'Agg',
}  # fmt: skip
RUN = """
import io, json, sys
from softrobot_dynamics import cli
assert sys.stdout.encoding.lower() == 'ascii' and open('x', 'w').encoding != 'UTF-8'
for line in json.load(sys.stdin):
    try:
        status = cli.main(line)
    except SystemExit as end:
        status = end.code
    print(json.dumps(['status', line, status]), flush=True)
"""
URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
NAMES = {'importing': 'import'}  # of modules whose command has another
MAPPING = """
commands: {shoulder: {column: u}}
markers: [{name: hand, body: lower_bar, point: [0, 0, -1], columns: [x, y, z]}]
"""


def postures(path):
    """Write a table of a double pendulum at rest under torques of its shoulder, and a mapping."""
    model = sd.compile_model(sd.load_robot('double_pendulum'))
    lines = ['u,x,y,z']
    for torque in np.linspace(-3.0, 3.0, 7):
        u = np.array([torque, 0.0])
        hand = sd.forward_kinematics(model, q=sd.equilibrium(model, u=u).q)[-1][:3, 3]
        lines.append(','.join(map(repr, map(float, [torque, *hand]))))
    (path / 'postures.csv').write_text('\n'.join(lines), encoding='utf-8')
    (path / 'mapping.yaml').write_text(MAPPING, encoding='utf-8')


def commands(path):
    """Return a cheap line for each sub-command whose needs are met, and how each has to end."""
    write_demo(path)
    (path / 'r.urdf').write_text(URDF, encoding='utf-8')
    (path / 'wrong.yaml').write_text('name: é\nbodies: [{name: ö}]\n', encoding='utf-8')
    postures(path)
    rng = np.random.default_rng(0)
    x, q = rng.uniform(0.0, 0.1, (60, 3)), rng.uniform(-0.1, 0.1, (60, 2))
    np.savez(path / 'samples.npz', x=x, q=q, p=x + 0.01 * q[:, :1])
    robot = 'double_pendulum'
    found = {
        'robots': (['robots'], 0),
        'check': (['check', robot, '--report', '--json', 'check.json'], 0),
        'excite': (['excite', robot, '--duration', '1', '--output', 'excite.csv'], 0),
        'compile': (['compile', robot], 0),
        'reproduce': (['reproduce', 'toy', '--no-plot', '--page', 'toy.md', '--out', 'toy'], 0),
        'study': (['study', robot, '--vary', 'mass=0.9..1.1', '--runs', '1',
                   '--seconds', '2', '--output', 'study'], 0),
        'import': (['import', 'r.urdf'], 0),
        'fit': (['fit', 'samples.npz', '--hidden', '3', '--iterations', '2',
                 '--output', 'weights.npz'], 0),
        'identify': (['identify', robot, 'postures.csv', '--mapping', 'mapping.yaml',
                      '--fit', 'upper_bar.mass,lower_bar.mass',
                      '--output', 'found.yaml'], 0),
        'replay': (['replay', 'controller.mcap'], 2),  # these records have no orders
        'view': (['view', 'nobody'], 2),  # it would serve without end
        'demo': (['demo', '--robot', 'nobody'], 2),  # or 0, which needs ROS and some seconds
        'modes': (['modes', 'none.vtk', '--young-modulus', '1', '--poisson-ratio', '0.3',
                   '--density', '1', '--output', 'modes.npz'], 2),
    }  # fmt: skip
    if importlib.util.find_spec('matplotlib'):
        found['plot'] = ['plot', 'controller.mcap'], 0
    return found


def test_every_command_writes_what_an_ascii_terminal_can_show(tmp_path):
    """With LC_ALL=C and no UTF-8, every command and its help end as they do elsewhere."""
    lines = commands(tmp_path)
    wanted = [*lines.values(), (['check', 'wrong.yaml'], 1)]
    modules = [command.__name__.rpartition('.')[2] for command in COMMANDS]
    names = {NAMES.get(module, module) for module in modules}
    assert set(lines) | {'plot'} == names
    wanted += [([name, '--help'], 0) for name in sorted(names)] + [(['--help'], 0)]
    environment = {k: v for k, v in os.environ.items() if k not in ('LANG', 'LANGUAGE')}
    done = subprocess.run(
        [sys.executable, '-c', RUN],
        input=json.dumps([line for line, _ in wanted]).encode(),
        capture_output=True,
        cwd=tmp_path,
        env={**environment, **ASCII},
        timeout=900,
    )
    said, errors = done.stdout.decode('ascii'), done.stderr.decode('ascii')
    assert done.returncode == 0, said + errors
    ended = [json.loads(line)[1:] for line in said.splitlines() if line.startswith('["status"')]
    for (line, status), (own, found) in zip(wanted, ended, strict=True):
        assert own == line and found == status, f'{line}: {found}\n{errors}'
    assert 'Unicode' not in errors and 'codec' not in errors


@pytest.mark.parametrize('name', ['excite.csv', 'é.csv'])
def test_a_file_is_written_under_any_name_that_the_shell_gives(name, tmp_path):
    """A file is written under any name, also beyond ASCII, with the bytes that the shell gave."""
    line = [sys.executable, '-m', 'softrobot_dynamics.cli', 'excite', 'double_pendulum']
    done = subprocess.run(
        [*line, '--duration', '1', '--output', os.fsencode(name)],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, **ASCII},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert os.fsencode(name) in os.listdir(os.fsencode(tmp_path))
