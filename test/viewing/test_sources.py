# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Sources of a view: sliders, equilibria and recordings, without a browser."""

import numpy as np
import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError, SoftRobotError
from softrobot_dynamics.recordings.reading import Recording
from softrobot_dynamics.viewing import sources
from softrobot_dynamics.viewing.sources import MODES, Player, Sliders
from support.robots import compiled, SHIPPED

pytest.importorskip('viser')
from softrobot_dynamics.viewing.browser import Browser  # noqa: E402
from softrobot_dynamics.viewing.shapes import RobotShape  # noqa: E402


@pytest.fixture
def page():
    """Return a function that serves a page of a shipped robot."""
    open_ones = []

    def serve(name):
        open_ones.append(Browser(RobotShape(compiled(name)), '127.0.0.1', 8300))
        return open_ones[-1]

    yield serve
    for each in open_ones:
        each.close()


def moved(slider, value):
    """Move a slider as a hand would."""
    slider.value = value
    for callback in slider._impl.update_cb:
        callback(None)


@pytest.mark.parametrize('name', SHIPPED)
def test_every_shipped_robot_can_be_shown(page, name):
    """Every shipped robot is drawn in two postures, with and without commands."""
    browser, model = page(name), compiled(name)
    browser.show(model.q0)
    middle = np.clip(0.5 * model.upper, model.lower, model.upper)
    browser.show(model.q0 + 0.01, np.where(np.isfinite(middle), middle, 1.0))
    browser.show(np.full(model.n, np.nan))  # as a broken sensor might say: nothing changes
    shown = [np.array(handle.vertices) for handle in browser._bodies]
    assert all(np.isfinite(vertices).all() for vertices in shown)
    look = browser.shape.at(model.q0 + 0.01)
    for vertices, points in zip(shown, look.surfaces, strict=True):
        assert vertices == pytest.approx(points, abs=1e-6)


def test_commands_bring_the_robot_to_rest(page):
    """Command sliders bring the robot to its `equilibrium`, or report why not."""
    browser, model = page('pcc_arm'), compiled('pcc_arm')
    sliders = Sliders(browser)
    q, u, _ = sliders.poll()
    assert q.tolist() == model.q0.tolist() and u is None and sliders.poll() is None
    sliders._mode.value = MODES[1]
    moved(sliders._sliders[1][6], 20.0)
    q, u, _ = sliders.poll()
    assert u.tolist() == [0.0] * 6 + [20.0, 0.0, 0.0]
    assert q == pytest.approx(sd.equilibrium(model, u=u).q, abs=1e-8)
    assert sliders.poll() is None
    sliders._reset(None)
    assert sliders.poll()[1].tolist() == [0.0] * 9


def test_a_missing_equilibrium_is_reported(page, monkeypatch):
    """A command without an equilibrium is reported, and the robot stays."""
    browser = page('pcc_arm')
    sliders = Sliders(browser)

    def fail(*args, **given):
        raise SoftRobotError('it buckles')

    monkeypatch.setattr(sources, 'equilibrium', fail)
    sliders._mode.value = MODES[1]
    assert sliders.poll() is None and 'it buckles' in sliders._words.content


def recording(q, t=None, u=None):
    """Return a Recording of states."""
    t = 0.5 * np.arange(len(q)) if t is None else t
    u = np.zeros((len(q), 9)) if u is None else u
    return Recording({'t': np.asarray(t), 'q': np.asarray(q), 'u': u}, {}, (), True)


def test_a_recording_is_played(page, monkeypatch):
    """A recording is played in its time and repeated, from a chosen time, without nan rows."""
    clock = [100.0]
    monkeypatch.setattr(sources.time, 'monotonic', lambda: clock[0])
    q = np.outer([0.1, np.nan, 0.3, 0.4], np.ones(9))
    player = Player(page('pcc_arm'), recording(q))
    assert player.poll()[0][0] == 0.1
    clock[0] += 0.9
    assert player.poll()[0][0] == 0.3
    player._time.value = 1.5
    assert player.poll()[0][0] == 0.4
    clock[0] += 0.1
    assert player.poll()[0][0] == 0.1
    player._play.value = False
    clock[0] += 10.0
    assert player.poll() is None


@pytest.mark.parametrize('q, facts, words', [
    (np.zeros((5, 2)), {}, 'a recording of this robot, of segment1/bend_x'),
    (np.zeros((5, 9)), {'coordinate_names': list('abcdefghi')}, 'of a, b, .* of segment1/bend_x'),
    (np.zeros((0, 9)), {}, 'states that are numbers'),
    (np.full((5, 9), np.nan), {}, 'states that are numbers'),
])  # fmt: skip
def test_the_recording_of_another_robot_is_refused(page, q, facts, words):
    """A recording of another robot is refused."""
    given = recording(q)
    given.facts.update(facts)
    with pytest.raises(ArgumentError, match=words):
        Player(page('pcc_arm'), given)
