# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The terminal output of a demo."""

import io
import re

import numpy as np
import pytest
from softrobot_dynamics.compiling import progress
from softrobot_dynamics.evaluation import terminal
from softrobot_dynamics.evaluation.terminal import (
    bar,
    error_of,
    fill,
    loop_rows,
    LoopSnapshot,
    sparkline,
)

pytestmark = pytest.mark.quick

SUBJECT = terminal.Subject(
    'arm at 1000 Hz',
    10.0,
    2.0,
    ('t1', 't2'),
    ('N', 'N'),
    ('m', 'm'),
    np.zeros(2),
    np.full(2, 40.0),
)
DIAGNOSTICS = {
    'simulation': {'rate [Hz]': '999.96', 'missed ticks': '3',
                   'round trip p50 / p99 / max [us]': '230 / 400 / 900'},
    'controller': {'mode': 'running'},
}  # fmt: skip
NOTHING = LoopSnapshot(None, None, None, {})
SEEN = LoopSnapshot(np.array([10.0, 20.0]), np.array([1e-4, 2e-5]), 3.6e-4, DIAGNOSTICS)


@pytest.mark.parametrize('share, filled', [(0.0, 0), (0.5, 5), (1.0, 10), (1.7, 10), (-1.0, 0)])
def test_a_bar_is_filled_up_to_its_share(share, filled):
    """A bar is filled up to its share, and never beyond its width."""
    text = bar(share, 10)
    assert len(text) == 10
    assert text.count('█') == filled


def test_a_sparkline_rises_with_its_values():
    """A sparkline rises from the lowest to the highest block, and is empty without values."""
    assert sparkline([0.0, 0.5, 1.0]) == '▁▅█'
    assert sparkline([]) == ''


def test_commands_fill_up_to_the_limit_of_their_side():
    """Bars show commands relative to the limit of their sign, and cope without limits."""
    u, lower, upper = [10.0, -30.0, 5.0], [0.0, -60.0, -np.inf], [40.0, 30.0, np.inf]
    assert fill(u, lower, upper) == pytest.approx([0.25, 0.5, 0.0])


@pytest.mark.parametrize('sight, units, words', [
    (SEEN, ('m', 'm'), '0.360 mm'),
    (SEEN._replace(tip_error=None), ('m', 'm'), '0.1 mm'),
    (SEEN._replace(tip_error=None), ('rad', 'rad'), '0.0001 rad'),
    (SEEN._replace(tip_error=None), ('m', 'rad'), '0.1 mm, 2e-05 rad'),
    (NOTHING, ('m', 'm'), ''),
])  # fmt: skip
def test_the_error_shown(sight, units, words):
    """The error shown is the tip's, else the largest of each unit, else none."""
    assert error_of(sight, units)[2] == words


def test_the_rows_are_what_the_nodes_report():
    """The rows show the diagnostics of both nodes, and are empty until they come."""
    assert [value for _, value, _ in loop_rows(DIAGNOSTICS)] == [
        '1000.0 Hz', '3', '230 / 400 / 900 us']  # fmt: skip
    assert [value for _, value, _ in loop_rows({})] == ['', '', '']


def test_plain_lines_say_everything(capsys):
    """Without rich, stages and a table are printed without control characters."""
    shown = terminal.PlainDisplay()
    with shown.stage('compiling'):
        pass
    with shown.live(SUBJECT) as show:
        show(1.0, SEEN)
    shown.table('the loop held', [('rate', '1000 Hz'), ('missed', '3')])
    text = capsys.readouterr().out
    assert 'compiling ...' in text and 'the loop held' in text and 'rate    1000 Hz' in text
    assert '\r' not in text


def compiled_half(shown, monkeypatch):
    """Show a stage in which one of two kernels is compiled."""
    monkeypatch.setattr(progress, '_PACE', progress._CompilationPace())
    with shown.compilation('loading arm'):
        work = progress.CompilationProgress({'a': 1, 'b': 1}, processes=1)
        work.advance('a', 6.0, ['b'])


def test_plain_lines_say_how_far_a_compilation_is(monkeypatch, capsys):
    """Without rich, lines say how many kernels are compiled."""
    monkeypatch.setattr(progress, '_REPORT_PERIOD', 0.0)
    compiled_half(terminal.PlainDisplay(), monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'loading arm ...' and lines[1].startswith('compiling 2 kernels')
    assert re.fullmatch(r'compiled 1 of 2 kernels, about \d+ s left', lines[2])
    assert lines[3].startswith('  done in')


def test_a_bar_shows_how_far_a_compilation_is(monkeypatch):
    """With rich, a bar shows the share, and the stage is left as it was named."""
    rich = pytest.importorskip('rich.console')
    console = rich.Console(file=io.StringIO(), force_terminal=True, width=140, color_system=None)
    compiled_half(terminal.RichDisplay(console), monkeypatch)
    text = console.file.getvalue()
    assert 'loading arm: compiling 2 kernels' in text and '━' * 10 in text
    assert text.rpartition('✓')[2].startswith(' loading arm ━')


def test_the_live_picture_shows_what_is_known():
    """The live picture shows the last known values, before and between polls too."""
    rich = pytest.importorskip('rich.console')
    console = rich.Console(file=io.StringIO(), force_terminal=True, width=100)
    with terminal.RichDisplay(console).live(SUBJECT) as show:
        for t, sight in ((0.0, NOTHING), (3.0, SEEN), (4.0, SEEN._replace(u=None))):
            show(t, sight)
    last = console.file.getvalue().rpartition('4.0 of 10 s')[2]
    for words in ('0.360 mm', '1000.0 Hz', '230 / 400 / 900 us', 't2', '20.00 N'):
        assert words in last


def test_without_rich_the_extra_is_named(monkeypatch, capsys):
    """Without rich the demo goes on and names the extra to install."""
    monkeypatch.setattr(terminal, 'Console', None)
    assert isinstance(terminal.display(), terminal.PlainDisplay)
    assert "pip install 'softrobot_dynamics[demo]'" in capsys.readouterr().out
