# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Every script in examples/ runs as it stands and prints the results it promises."""

from pathlib import Path
import re
import runpy

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / 'examples'


@pytest.fixture
def printed(capsys):
    """Return a function that runs an example, and returns each printed line's numbers."""

    def run(name):
        runpy.run_path(str(FOLDER / f'{name}.py'), run_name='__main__')
        lines = capsys.readouterr().out.splitlines()
        number = r'(?<![\w^])[+-]?\d+(?:\.\d*)?(?:e[+-]\d+)?(?![\w^])'
        return [[float(each) for each in re.findall(number, line)] for line in lines]

    return run


def test_every_example_is_tested():
    """Each script of the folder has a test here that names it."""
    source = Path(__file__).read_text(encoding='utf-8')
    assert {file.stem for file in FOLDER.glob('*.py')} == set(
        re.findall(r"printed\('(\w+)'", source)
    )


def test_the_double_pendulum_reaches_its_target(printed):
    """The second bar is within 0.05 rad of its target of 60 degrees after 10 s."""
    rows = printed('double_pendulum')
    assert len(rows) == 11
    assert rows[-1][2] == pytest.approx(1.0472, abs=0.05)
    assert max(abs(row[2] - 1.0472) for row in rows[1:5]) > 0.1


def test_the_foot_and_shank_balance_ground_and_weight(printed):
    """Ankle and knee carry the ground reaction less the weight of the limb below them."""
    rows = printed('foot_shank')
    assert len(rows) == 12
    ankle, knee = rows[4:6]
    for row, mass in ((ankle, 1.02), (knee, 4.28)):
        force = sum(x**2 for x in row[1:4]) ** 0.5
        assert force == pytest.approx(690.0 * 0.951 - 9.81 * mass, abs=10.0)


def test_the_helicoid_stays_on_its_circles(printed):
    """The tips of the helicoids stay within 0.5 mm of their circles."""
    rows = printed('helicoid')
    assert len(rows) == 11
    assert max(row[1] for row in rows) < 0.5


def test_the_hybrid_arm_reaches_its_goal(printed):
    """Motors and bends are within 3 mrad of their goals after all phases, and tendons pull."""
    rows = printed('hybrid_arm')
    assert len(rows) == 10
    goal = [1.571, -0.785, -0.785, -0.628, 0.393, -1.571, -1.571, 0.785]
    assert rows[-1][1:9] == pytest.approx(goal, abs=3e-3)
    assert min(rows[-1][9:12]) > 1.0


def test_every_chain_is_timed(printed):
    """Chains of each size are timed, and every time is positive."""
    rows = printed('scalability')
    assert [row[0] for row in rows] == [1, 2, 4, 8, 16, 32, 64]
    assert all(row[1] > 0.0 for row in rows)


def test_the_toy_has_the_mass_of_its_formula(printed):
    """The recursion's mass agrees with the closed formula to 1e-9 at every bend."""
    rows = printed('toy')
    assert len(rows) == 6
    for _, found, formula in rows:
        assert found == pytest.approx(formula, rel=1e-9)


def test_the_tree_balances_power(printed):
    """Forward dynamics, rates and power of the tree agree with their counterparts."""
    (acceleration,), (rates,), (power, change) = printed('tree')
    assert acceleration < 1e-9 and rates < 1e-12
    assert change == pytest.approx(power, rel=1e-4)


def test_arcs_and_rods_come_nearer_with_their_number_and_order(printed):
    """A tip is off by a quarter at most with three arcs, and with a rod of second order."""
    arc, arcs, _, rod, finest = [row[-1] for row in printed('compare_bodies')]
    assert arc > 4.0 * arcs > 16.0 * rod
    assert finest == 0.0


def test_the_parallel_robot_comes_to_rest_with_its_loop_closed(printed):
    """After 2 s the plate is within 0.1 mm of its equilibrium, which the motor has moved."""
    rows = printed('parallel_robot')
    assert rows[0] == [6, 9]
    rest, last = np.array(rows[2][:2]), np.array(rows[3][1:3])
    np.testing.assert_allclose(last, rest, atol=0.1)
    assert rest[0] > 5.0
    assert rows[4][0] < 1e-9
