# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Malicious robot files run no code and take little time."""

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.configuration.parameter_files import controller_values
from softrobot_dynamics.description.plant_changes import read_changes
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import DescriptionError
from softrobot_dynamics.identification.mapping import read_mapping
from softrobot_dynamics.schema.yaml_files import read_yaml

pytestmark = pytest.mark.quick

CALL = '__import__("pathlib").Path({!r}).touch()'
CODE = CALL, f"x'; {CALL} #"
TAGS = '!!python/object/apply:pathlib.Path.touch [{}]', 'name: !!python/name:os.system\nbodies: []'
ALIASES = 'a: &a [x, x, x, x, x, x, x, x, x, x]\n' + ''.join(
    f'{new}: &{new} [{", ".join([f"*{old}"] * 10)}]\n'
    for old, new in zip('abcdefghi', 'bcdefghij')
)
"""Ten billion entries, if they were counted one by one."""
MERGED = 'a: &a {x: 1}\n' + ''.join(
    f'{new}: &{new} {{<<: [{", ".join([f"*{old}"] * 10)}]}}\n'
    for old, new in zip('abcdefghi', 'bcdefghij')
)
"""As many keys, merged."""


def places(robot, text):
    """Yield descriptions in which a text stands where a name, a number or a kind should."""
    for way in (['name'], ['bodies', 0, 'name'], ['bodies', 0, 'body', 'mass'],
                ['bodies', 0, 'body', 'type'], ['bodies', 0, 'joint', 'name'],
                ['bodies', 0, 'joint', 'dh', 0], ['actuators', 0, 'joint']):  # fmt: skip
        data = read_yaml(shipped('robots')[robot])[0]
        *holders, last = way
        place = data
        for key in holders:
            place = place[key]
        place[last] = text
        yield data


def test_no_file_runs_code(tmp_path):
    """Python tags in a robot file are refused and never executed."""
    mark, file = tmp_path / 'mark', tmp_path / 'robot.yaml'
    for tag in TAGS:
        file.write_text(tag.format(mark), encoding='utf-8')
        with pytest.raises(DescriptionError, match='could not determine a constructor'):
            sd.load_robot(file)
    for code in CODE:
        for data in places('ur10e', code.format(str(mark))):
            with pytest.raises(DescriptionError, match='touch'):
                sd.load_robot(data)
    assert not mark.exists()


HOSTILE = {
    'aliases': (ALIASES, 'at most 50000 entries, aliases written out'),
    'merged': (MERGED, 'at most 50000 entries, aliases written out'),
    'brackets': ('[' * 100_000, 'at most 50 levels'),
    'dashes': ('- ' * 100_000, 'at most 50 levels'),
    'nested': ('bodies: ' + '[{a: ' * 2000, 'at most 50 levels'),
    'long': (f'bodies: [{"1.5, " * 100_000}]', 'at most 50000 entries'),
    'large': ('#' * 5_000_000, 'at most 4 MB'),
    'itself': ('bodies: &b [{a: *b}]', r'no alias within what it stands for \(bodies\[0\].a\)'),
    'key': (f'{"x" * 1000}: {"y" * 100_000}', 'name: missing'),
    'value': (f'name: {"y" * 300_000}', 'bodies: missing'),
    'unknown': (''.join(f'k{i}: 1\n' for i in range(20_000)), 'k49: 1'),
    'twice': ('a: 1\n' * 20_000, 'each key once'),
    'terminal': ('"\\e[31m\\n": 1', 'name: missing'),
    'digits': (f'name: {"9" * 5000}', 'digits'),
}
"""Texts of files, and what is said of each."""


@pytest.mark.parametrize('kind', HOSTILE)
def test_a_huge_expansion_is_refused_quickly(tmp_path, kind):
    """A file that expands without end is refused quickly, with a short message."""
    file, (text, words) = tmp_path / 'robot.yaml', HOSTILE[kind]
    file.write_text(text, encoding='utf-8')
    with pytest.raises(DescriptionError, match=words) as refusal:
        sd.load_robot(file)
    lines = str(refusal.value).splitlines()
    assert len(lines) <= 52 and max(map(len, lines)) < 400 + len(str(file))
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize('kind', ['aliases', 'brackets', 'long', 'itself'])
def test_every_reader_of_yaml_has_these_bounds(tmp_path, kind):
    """Bounds of YAML hold for controllers, estimators, views, mappings and variations."""
    file, (text, words) = tmp_path / 'file.yaml', HOSTILE[kind]
    file.write_text(text, encoding='utf-8')
    robot = sd.load_robot('double_pendulum')
    for read in (
        lambda: controller_values(robot, [file]),
        lambda: sd.load_estimator(file),
        lambda: read_mapping(file),
        lambda: read_changes([str(file)]),
    ):
        with pytest.raises(DescriptionError, match=words):
            read()


def test_a_robot_has_a_bounded_number_of_bodies():
    """A robot file with 1001 bodies is refused."""
    body = {'joint': {'type': 'revolute'}, 'body': {'type': 'rigid', 'mass': 1.0}}
    bodies = [{'name': f'b{i}', **body} for i in range(1001)]
    assert sd.load_robot({'name': 'long', 'bodies': bodies[1:]}).n == 1000
    with pytest.raises(DescriptionError, match='1001 bodies.*at most 1000'):
        sd.load_robot({'name': 'long', 'bodies': bodies})
