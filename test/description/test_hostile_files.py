# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Robot files by somebody who means harm: nothing of them is run, and none takes long."""

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.errors import DescriptionError
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
    """Neither as a tag, nor where a name, a number or a kind is expected."""
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


@pytest.mark.parametrize('text', [ALIASES, '[' * 100_000, 'bodies: ' + '[{a: ' * 2000])
def test_a_file_without_end_is_refused_in_a_moment(tmp_path, text):
    """What is said of it is short, too."""
    file = tmp_path / 'robot.yaml'
    file.write_text(text, encoding='utf-8')
    with pytest.raises(DescriptionError) as refusal:
        sd.load_robot(file)
    assert len(str(refusal.value)) < 100_000
