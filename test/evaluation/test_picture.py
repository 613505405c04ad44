# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The picture of a demo from artificial records."""

import numpy as np
import pytest
from softrobot_dynamics.evaluation import report
from softrobot_dynamics.evaluation.terminal import PlainDisplay
from support.recorded import write_demo

PNG = b'\x89PNG\r\n\x1a\n'


@pytest.mark.parametrize('kind', ['circle', 'hold'])
def test_the_picture_is_written(tmp_path, kind):
    """A tip path or outputs alone: either makes a picture of some size."""
    pytest.importorskip('matplotlib')
    write_demo(tmp_path, kind=kind)
    result = report.load(tmp_path)
    assert (result.tips is None) == (kind == 'hold')
    assert report.draw(result, tmp_path / 'picture.png')
    content = (tmp_path / 'picture.png').read_bytes()
    assert content.startswith(PNG) and len(content) > 20_000


@pytest.mark.parametrize('ticks', [1, 20])
def test_a_short_record_with_a_gap_is_drawn(tmp_path, ticks):
    """Less than the ramp, and outputs that are not known: still a picture."""
    pytest.importorskip('matplotlib')
    write_demo(tmp_path)
    result = report.load(tmp_path)
    run = result.run
    short = run._replace(**{key: getattr(run, key)[:ticks] for key in
                            ('t', 'q', 'u', 'y', 'y_d', 'round_trip')})  # fmt: skip
    short.y[ticks // 2] = np.nan
    tips = type(result.tips)(*(x[:ticks] for x in result.tips[:2]), result.tips.sizes)
    figures = result.figures._replace(tip_rms_m=None)
    result = result._replace(run=short, tips=tips, figures=figures)
    assert report.draw(result, tmp_path / 'picture.png')
    assert (tmp_path / 'picture.png').stat().st_size > 20_000


def test_a_robot_that_does_not_follow_is_reported(tmp_path, capsys):
    """The demo fails with the tip's error and the last warnings, each once."""
    write_demo(tmp_path)
    log = '[INFO] [1.0] [c]: running\n' + '[WARN] [2.0] [c]: the law is lost: u\n' * 2
    (tmp_path / 'controller.log').write_text(log, encoding='utf-8')
    result = report.load(tmp_path)
    assert not report.conclude(tmp_path, PlainDisplay(), result, picture=False)
    shown = capsys.readouterr().out
    assert 'the robot did not follow' in shown and 'the tip does not follow: RMS' in shown
    assert shown.count('controller.log: the law is lost: u') == 1


def test_an_overloaded_demo_begins_with_the_cause_and_what_to_do(tmp_path, capsys):
    """The report of an overloaded demo starts with one line on cause and remedy."""
    trips = np.full(400, 2e-4)
    trips[60:200] = np.nan
    write_demo(tmp_path, round_trip=trips)
    assert not report.conclude(tmp_path, PlainDisplay(), report.load(tmp_path), picture=False)
    shown = capsys.readouterr().out
    assert shown.startswith('this machine did not keep up with 100 Hz')
    assert 'try --rate' in shown.splitlines()[0] and shown.count('did not keep up') == 1
    assert 'the machine was too slow for it' in shown


@pytest.mark.parametrize('estimated', [False, True])
def test_the_title_is_whole_and_names_the_plant(tmp_path, estimated):
    """The title fits the picture, names the plant and has round numbers."""
    pytest.importorskip('matplotlib')
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from softrobot_dynamics.evaluation import picture

    write_demo(tmp_path)
    result = report.load(tmp_path)
    trip = {'p50': 231.46, 'p99': 12345.6, 'max': 99999.9}
    figures = result.figures._replace(
        tip_rms_m=1.23456e-3, round_trip_us=trip, command_timing='arrival', bus_rate_hz=123.4567
    )
    result = result._replace(
        figures=figures, plant='density=×1.2, 50 g at tip', estimated=estimated
    )
    figure = Figure(figsize=picture.SIZE, dpi=picture.DPI)
    canvas = FigureCanvasAgg(figure)
    figure.add_axes((0.0, 0.0, 0.5, 0.8))
    picture._draw_title(figure, result)
    canvas.draw()
    texts = [*figure.texts, *figure.axes[-1].texts]
    for text in texts:
        box = text.get_window_extent()
        assert 0.0 <= box.x0 and box.x1 <= figure.bbox.width and box.y1 <= figure.bbox.height
    words = ' '.join(text.get_text() for text in texts)
    assert 'the simulated robot differs: density=×1.2, 50 g at tip' in words
    assert 'tip error 1.2 mm RMS' in words and 'round trip 230 µs, p99 12 ms' in words
    assert '123.5 Hz' in words and ('three processes' in words) is estimated


def test_a_plant_is_described():
    """A plant is described by its file or payload, and not at all if it is the model."""
    same = {'plant': (), 'payload.body': '', 'payload.mass': 0.0}
    assert report.plant_in_words(same) == ''
    other = {'plant': ('density=×1.2', __file__), 'payload.body': 'tip', 'payload.mass': 0.05}
    words = 'density=×1.2, test_picture.py, 0.05 kg at tip'
    assert report.plant_in_words(other) == words


def test_a_demo_keeps_the_one_before_it(tmp_path):
    """A demo whose folder has other records writes to a numbered folder."""
    first = tmp_path / 'out'
    assert report.prepare_folder(first) == first and report.prepare_folder(first) == first
    write_demo(first)
    before = (first / 'controller.mcap').read_bytes()
    second = report.prepare_folder(first)
    assert second == tmp_path / 'out_2' and second.is_dir()
    assert (first / 'controller.mcap').read_bytes() == before


@pytest.mark.parametrize('robot', ['soft_hand', 'double_pendulum'])
def test_each_quantity_has_a_panel_of_its_own(tmp_path, robot):
    """Each quantity has a panel with name and unit, and no legend covers a curve."""
    pytest.importorskip('matplotlib')
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from softrobot_dynamics.evaluation.curves import draw_curves

    write_demo(tmp_path, robot=robot, kind='hold')
    figure = Figure(figsize=(13.0, 7.3))
    canvas = FigureCanvasAgg(figure)
    draw_curves(figure, report.load(tmp_path))
    canvas.draw()
    assert [axes.get_ylabel().replace('\n', ' ') for axes in figure.axes] == {
        'soft_hand': ['output error [of its travel]', 'angle [rad]', 'elongation [mm]',
                      'torque [N m]', 'tension [N]'],
        'double_pendulum': ['output error [rad]', 'angle [rad]', 'torque [N m]'],
    }[robot]  # fmt: skip
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    assert len(legends) == (3 if robot == 'soft_hand' else 2)
    for legend in legends:
        box = legend.get_window_extent()
        assert not any(
            text.get_window_extent().overlaps(axes.get_window_extent())
            for text in legend.get_texts()
            for axes in figure.axes
        )
        assert box.x0 > 0.45 * figure.bbox.width
