# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The `softrobot` command, without any ROS communication."""

import json
import subprocess
import sys

import pytest
from softrobot_dynamics import cli
from softrobot_dynamics.compiling import numba_versions
from softrobot_dynamics.description.shipped import shipped
from support.closures import four_bar
from support.recorded import write_demo
import yaml

CONTROLLER = """
/**:
  controller:
    ros__parameters:
      gains: {{p: {p}}}
      reference: {{type: circle, circle: {{center: [{x}, 0.0, -1.4], normal: [0.0, 1.0, 0.0]}}}}
"""


@pytest.fixture
def demo(tmp_path):
    """Return a function that runs `softrobot demo`, perhaps with a controller file."""
    pytest.importorskip('rclpy')

    def run(*arguments, controller=None):
        if controller is not None:
            file = tmp_path / 'controller.yaml'
            file.write_text(controller, encoding='utf-8')
            arguments = [*arguments, '--controller', str(file)]
        return cli.main(['demo', *arguments, '--out', str(tmp_path / 'out')])

    return run


@pytest.fixture
def nothing_starts(monkeypatch):
    """Make the start of a process an error."""
    session = pytest.importorskip('softrobot_dynamics.demo.session')

    def start(*arguments):
        raise AssertionError('a process was started')

    monkeypatch.setattr(session, 'Child', start)


@pytest.mark.parametrize('arguments', [
    [], ['fly'], ['check'], ['plot'], ['demo', '--rate', '0'], ['demo', '--rate', 'fast'],
    ['demo', '--duration', 'nan'], ['demo', '--duration', '-1'], ['robots', 'all'],
], ids=str)  # fmt: skip
def test_wrong_arguments_are_refused(arguments, capsys):
    """Wrong arguments end a command with status 2 and the usage."""
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert 'usage: softrobot' in capsys.readouterr().err


def test_help_needs_nothing_heavy():
    """The help imports neither ROS nor matplotlib nor a terminal library."""
    code = (
        'import sys; from softrobot_dynamics import cli\n'
        'try: cli.main(["--help"])\n'
        'except SystemExit: pass\n'
        'print([m for m in ("rclpy", "matplotlib", "rich") if m in sys.modules])'
    )
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert 'demo' in run.stdout
    assert run.stdout.splitlines()[-1] == '[]'


def test_shipped_robots_are_listed(capsys):
    """`robots` lists each shipped robot with coordinates, actuators and description."""
    assert cli.main(['robots']) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert set(lines) == set(shipped('robots'))
    assert 'n =  9  m =  9' in lines['pcc_arm'] and 'soft arm' in lines['pcc_arm']


def test_check_accepts_good_files(capsys):
    """Shipped names and paths; status 0."""
    assert cli.main(['check', 'ur10e', str(shipped('robots')['pcc_arm'])]) == 0
    assert 'ur10e, 6 coordinates, 6 actuators' in capsys.readouterr().out


def test_check_says_mobility_and_redundant_directions(tmp_path, capsys):
    """`check` prints mobility and redundant directions, and refuses a robot that cannot close."""
    robot = four_bar()
    good, bad = tmp_path / 'good.yaml', tmp_path / 'bad.yaml'
    good.write_text(json.dumps(robot))
    robot['closures'][0]['frames'][1]['pose']['xyz'] = [1.0, 0.2, 0.0]
    bad.write_text(json.dumps(robot))
    assert cli.main(['check', '--report', str(good), str(bad)]) == 1
    shown = capsys.readouterr().out
    assert 'mobility 1 = 3 coordinates - rank 2' in shown
    assert 'loop/rx, loop/ry, loop/z' in shown
    assert 'assembled near the initial posture' in shown
    assert 'no report' in shown
    assert 'closure loop is open by 0.2 m' in shown


def test_check_asks_for_an_initial_posture_where_limits_exclude_zero(tmp_path, capsys):
    """A given one outside of the limits is refused by its coordinate."""
    text = shipped('robots')['double_pendulum'].read_text(encoding='utf-8')
    robot = yaml.safe_load(text)
    robot['bodies'][1]['joint']['limits'] = {'position': [0.5, 2.0]}
    for name, start in ('open', {}), ('good', {'elbow': 0.5}), ('bad', {'elbow': 0.4}):
        robot['initial'] = start
        (tmp_path / name).write_text(json.dumps(robot))
    assert cli.main(['check', str(tmp_path / 'open')]) == 0
    assert 'initial.elbow is not given' in capsys.readouterr().out
    assert cli.main(['check', str(tmp_path / 'good')]) == 0
    assert 'initial.elbow' not in capsys.readouterr().out
    assert cli.main(['check', str(tmp_path / 'bad')]) == 1
    shown = capsys.readouterr().out
    assert 'initial.elbow: 0.4, expected a position within its limits, 0.5 to 2' in shown


def test_check_shows_every_problem_of_every_file(tmp_path, capsys):
    """A wrong file does not hide the next one; status 1."""
    text = shipped('robots')['double_pendulum'].read_text(encoding='utf-8')
    wrong = tmp_path / 'wrong.yaml'
    wrong.write_text(text.replace('mass: 1.0', 'mass: -1.0').replace('joint: elbow', 'joint: x'))
    assert cli.main(['check', str(wrong), 'nobody', 'ur10e']) == 1
    shown = capsys.readouterr().out
    assert 'bodies[0].body.mass: -1.0' in shown and 'actuators[1].joint' in shown
    assert "unknown robot 'nobody'" in shown and 'ur10e, 6 coordinates' in shown


def test_compile_fills_the_cache(capsys):
    """`compile` fills the cache and prints its folder."""
    assert cli.main(['compile', 'double_pendulum']) == 0
    shown = capsys.readouterr().out
    assert 'double_pendulum' in shown and 'kernels are in' in shown


def test_compile_refuses_what_it_cannot_do(capsys, monkeypatch, tmp_path):
    """Laws that do not exist are refused, and to share kernels of a numba that keeps none."""
    assert cli.main(['compile', '--laws', 'pfbl,none', 'double_pendulum']) == 2
    assert "'none', expected some of computed_torque, " in capsys.readouterr().err
    monkeypatch.setattr(numba_versions, 'installed_version', lambda: '0.58.1')
    assert cli.main(['compile', '--shared', str(tmp_path / 'made'), 'double_pendulum']) == 2
    assert "'0.58.1', expected numba>=" in capsys.readouterr().err
    assert not (tmp_path / 'made').exists()


def test_plot_draws_a_recorded_demo(tmp_path, capsys):
    """`plot` draws into the demo's folder unless another file is named."""
    pytest.importorskip('matplotlib')
    write_demo(tmp_path)
    assert cli.main(['plot', str(tmp_path)]) == 0
    assert (tmp_path / 'demo.png').stat().st_size > 20_000
    assert cli.main(['plot', str(tmp_path), '--out', str(tmp_path / 'other.png')]) == 0
    assert (tmp_path / 'other.png').exists()


def test_plot_draws_a_recording_of_either_node(tmp_path, capsys):
    """`plot` draws beside a recording of either node, and refuses other files."""
    pytest.importorskip('matplotlib')
    write_demo(tmp_path)
    for node in ('controller', 'simulation'):
        assert cli.main(['plot', str(tmp_path / f'{node}.mcap')]) == 0
        assert (tmp_path / f'{node}.png').stat().st_size > 20_000
    assert cli.main(['plot', str(tmp_path / 'demo.json')]) == 2
    assert 'demo.json' in capsys.readouterr().err


def test_a_replay_refuses_what_does_not_hold_enough(tmp_path, capsys):
    """A recording without orders, of the simulation, or none ends with status 2."""
    write_demo(tmp_path)
    for node in ('controller', 'simulation'):
        assert cli.main(['replay', str(tmp_path / f'{node}.mcap')]) == 2
        assert "holds the loop's orders" in capsys.readouterr().err
    assert cli.main(['replay', str(tmp_path / 'demo.json')]) == 2
    assert 'an MCAP file that a node has recorded' in capsys.readouterr().err


def test_plot_without_matplotlib_names_the_extra(tmp_path, capsys, monkeypatch):
    """`plot` without matplotlib ends with status 2 and what to install."""
    write_demo(tmp_path)
    monkeypatch.setitem(sys.modules, 'softrobot_dynamics.evaluation.picture', None)
    assert cli.main(['plot', str(tmp_path)]) == 2
    assert "pip install 'softrobot_dynamics[demo]'" in capsys.readouterr().err


def test_plot_of_no_demo_is_refused(tmp_path, capsys):
    """`softrobot plot` of a folder without a demo ends with status 2 and names it."""
    assert cli.main(['plot', str(tmp_path)]) == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_a_demo_without_ros_says_what_to_install(monkeypatch, capsys):
    """A demo without ROS ends with status 2 and what to install."""
    for name in list(sys.modules):
        if name.startswith('softrobot_dynamics.demo'):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, 'rclpy', None)
    assert cli.main(['demo']) == 2
    assert "pip install 'softrobot_dynamics[ros,demo]'" in capsys.readouterr().err


@pytest.mark.parametrize('arguments, controller, words', [
    (['--robot', 'nobody'], None, "unknown robot 'nobody'"),
    (['--controller', 'none.yaml'], None, 'none.yaml'),
    ([], 'a: [', 'expected YAML (while parsing'),
    ([], CONTROLLER.format(p=-1.0, x=0.3), 'gains.p: -1.0'),
    (['--rate', '1e6'], None, 'rate: 1000000.0'),
    (['--json', 'none/figures.json'], None, 'a file to write to'),
], ids=str)  # fmt: skip
def test_wrong_input_is_refused_before_anything_starts(
    demo, nothing_starts, capsys, arguments, controller, words
):
    """Wrong input ends a command with status 2 and the reason before anything starts."""
    assert demo(*arguments, controller=controller) == 2
    assert words in capsys.readouterr().err


def test_an_unreachable_reference_is_refused_before_anything_starts(demo, nothing_starts, capsys):
    """A point out of reach ends the demo with status 2 before anything starts."""
    controller = CONTROLLER.format(p=100.0, x=3.0)
    assert demo('--robot', 'double_pendulum', controller=controller) == 2
    shown = capsys.readouterr()
    assert 'no admissible actuation holds the point (3.1, 0, -1.4) m' in shown.err
    assert 'loading double_pendulum' in shown.out


def test_a_demo_passes_absolute_paths_to_its_nodes(tmp_path, demo, nothing_starts, monkeypatch):
    """A demo passes absolute paths to its nodes, which run in another folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'motion.csv').write_text('t, shoulder, elbow\n0, 0, 0\n2, 0.2, 0.1\n')
    reference = '{type: file, file: {path: motion.csv}}'
    controller = f'/**: {{controller: {{ros__parameters: {{reference: {reference}}}}}}}'
    with pytest.raises(AssertionError, match='a process was started'):
        demo('--robot', 'double_pendulum', controller=controller)
    own = json.loads((tmp_path / 'out' / 'parameters.yaml').read_text(encoding='utf-8'))
    found = own['/**']['controller']['ros__parameters']['reference.file.path']
    assert found == str(tmp_path / 'motion.csv')


def test_an_unwritable_folder_is_refused(tmp_path, capsys):
    """A folder that cannot be written to ends a command with status 2."""
    pytest.importorskip('rclpy')
    (tmp_path / 'file').touch()
    assert cli.main(['demo', '--out', str(tmp_path / 'file' / 'out')]) == 2
    assert 'a folder to write to' in capsys.readouterr().err


@pytest.mark.quick
@pytest.mark.parametrize('port', ['99999', '65536', '1e3', '-1', '٣'])
def test_view_refuses_a_port_that_no_server_has(port, capsys):
    """`softrobot view` refuses a port outside 0 to 65535, in words."""
    with pytest.raises(SystemExit) as stopped:
        cli.main(['view', 'toy', f'--port={port}'])
    assert stopped.value.code == 2 and 'expected a port, 0 to 65535' in capsys.readouterr().err


@pytest.mark.quick
def test_a_file_name_with_a_newline_is_shown_on_one_line(capsys):
    """Control characters of a file's name are escaped in the report on it."""
    assert cli.main(['check', 'rob\not.yaml']) == 1
    assert capsys.readouterr().out.startswith('rob\\not.yaml: 1 problem\n')
