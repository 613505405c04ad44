# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""References from files: outputs or tips, and every mistake with its line and column."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, DescriptionError
from softrobot_dynamics.references.contract import trajectory
from softrobot_dynamics.references.file import MAX_PROBLEMS, read_table
from support.references import at
from support.robots import compiled

OUTPUTS = 't, elbow, shoulder\n0, 0.1, 0.2\n\n0.5, 0.3, 0.1\n2.0, -0.1, 0.4\n'


def made(path, **given):
    """Return the reference of a node's parameters."""
    given = {f'reference.file.{name}': value for name, value in {'path': path, **given}.items()}
    return trajectory({'reference.type': 'file', **given})


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a file into the working directory and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(text, name='motion.csv'):
        (tmp_path / name).write_text(text, encoding='utf-8')
        return name

    return write


@pytest.mark.quick
def test_columns_are_found_by_name(write, tmp_path):
    """Columns are found by name, and a spline through the lines is at rest at its ends."""
    model = compiled('double_pendulum')
    assert model.actuator_names == ('shoulder', 'elbow')
    wanted = made(write(OUTPUTS))
    assert wanted.given()['reference.file.path'] == str(tmp_path / 'motion.csv')
    reference, _ = wanted.plan(model, [0, 1], model.q0)
    assert reference.breaks.tolist() == [0.0, 0.5, 2.0]
    assert at(reference, 0.5)[0] == pytest.approx([0.1, 0.3])
    assert at(reference, 2.0)[0] == pytest.approx([0.4, -0.1])
    assert at(reference, 2.0)[1] == pytest.approx([0.0, 0.0], abs=1e-12)
    closed = OUTPUTS + '3.0, 0.1, 0.2\n'
    reference, _ = made(write(closed), periodic=True).plan(model, [0, 1], model.q0)
    assert reference.period == 3.0
    assert made('motion.csv').targets() is None


@pytest.mark.quick
@pytest.mark.parametrize(
    'text, words',
    [
        ('', 'line 1: [], expected names, one of them t'),
        ('elbow, shoulder\n0, 1\n', 'line 1:'),
        ('t, elbow, elbow\n0, 1, 1\n1, 2, 2\n', "line 1, column 3: 'elbow', expected a name that"),
        ('t, elbow, \n0, 1, 1\n1, 2, 2\n', "line 1, column 3: ''"),
        ('t, elbow, shoulder\n0, 0, 0\n1, x, 0\n', "line 3, column elbow: 'x', expected a finite"),
        ('t, elbow, shoulder\n0, 0, 0\n1, 0, nan\n', "line 3, column shoulder: 'nan'"),
        ('t, elbow, shoulder\n0, 0, 0\n1, 0\n', "line 3: '1, 0', expected 3 numbers, not 2"),
        ('t, elbow, shoulder\n0, 0, 0\n', 'two or more'),
        ('t, elbow, shoulder\n1, 0, 0\n2, 0, 0\n', 'line 2, column t: 1.0, expected 0'),
        ('t, elbow, shoulder\n0, 0, 0\n2, 0, 0\n\n1.5, 0, 0\n', 'line 5, column t: 1.5'),
        ('t, elbow, shoulder\n0, 0, 0\n2, 0, 0\n2, 0, 0\n', 'expected a time after 2 [s]'),
        ('t, elbow\n0, 0\n1, 0\n', 'expected also shoulder'),
        ('t, elbow, shoulder, wrist\n0, 0, 0, 0\n1, 0, 0, 0\n', "line 1, column wrist: 'wrist'"),
        ('t, elbow, sholder\n0, 0, 0\n1, 0, 0\n', "'sholder', expected t or one of shoulder"),
        ('t, elbow, tip.x\n0, 0, 0\n1, 0, 0\n', "line 1, column elbow: 'elbow'"),
        ('t, tip.x, tip.y\n0, 0, 0\n1, 0, 0\n', 'expected also tip.z'),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_line_and_column(write, text, words):
    """A mistake in a file is an error that names line and column."""
    model = compiled('double_pendulum')
    with pytest.raises(DescriptionError) as caught:
        made(write(text)).plan(model, [0, 1], model.q0)
    assert words in str(caught.value) and 'motion.csv' in str(caught.value)


@pytest.mark.quick
def test_all_mistakes_are_named_at_once_up_to_a_number(write):
    """All mistakes of a file are named at once; of very many the first ones and their number."""
    wrong = 't, a\n0, x\n1, y\n2, 0\n'
    with pytest.raises(DescriptionError) as caught:
        read_table('path', write(wrong))
    assert [problem.value for problem in caught.value.problems] == ['x', 'y']
    lines = ''.join(f'{k}, x\n' for k in range(MAX_PROBLEMS + 7))
    with pytest.raises(DescriptionError, match='7 more mistakes') as caught:
        read_table('path', write('t, a\n' + lines))
    assert len(caught.value.problems) == MAX_PROBLEMS + 1


@pytest.mark.quick
def test_a_file_that_cannot_be_read_is_named(write, tmp_path):
    """A missing path, a folder, a file of other bytes, or a lap that does not close is refused."""
    model = compiled('double_pendulum')
    (tmp_path / 'bytes.csv').write_bytes(b't, a\n\xff\xfe\x00, 1\n')
    with pytest.raises(ArgumentError, match='reference.file.path: .*a CSV file that can be'):
        made('bytes.csv').plan(model, [0, 1], model.q0)
    for path in ('', 'nowhere.csv', str(tmp_path)):
        with pytest.raises(DescriptionError, match='reference.file.path: .* the path of a CSV'):
            made(path)
    with pytest.raises(ArgumentError, match='its first but for the time'):
        made(write(OUTPUTS), periodic=True).plan(model, [0, 1], model.q0)


def test_tips_follow_the_points_of_a_file(write):
    """Points of a body in a file give postures that hold them, and targets of the demo."""
    arm = compiled('pcc_arm')
    times, angle = np.linspace(0.0, 4.0, 13), np.linspace(0.0, 2.0 * np.pi, 13)
    points = np.column_stack([0.06 * np.cos(angle), 0.06 * np.sin(angle), 0.58 + 0.0 * angle])
    points[-1] = points[0]
    lines = [','.join(f'{x:.9g}' for x in row) for row in np.column_stack([times, points])]
    path = write('t, segment3.x, segment3.y, segment3.z\n' + '\n'.join(lines), 'circle.csv')
    wanted = made(path, periodic=True)
    motion = wanted.plan(arm, np.array([4, 1]), arm.q0)
    assert motion.reference.period == 4.0 and motion.reference.coefficients.shape[2] == 2
    targets = wanted.targets()
    assert targets.bodies == ('segment3',) and targets.duration == 4.0
    np.testing.assert_allclose(targets.points(times)[:, 0], points, atol=1e-8)
    tips = [sd.forward_kinematics(arm, q=q)[-1, :3, 3] for q in motion.postures.q[::16]]
    fine = motion.reference.breaks[: len(motion.postures.q) : 16]
    np.testing.assert_allclose(tips, targets.points(fine)[:, 0], atol=1e-5)
