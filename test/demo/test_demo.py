# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot demo` as a user runs it: two processes over real DDS."""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.evaluation.overload import CANDIDATE_RATES
from support.held_rates import held_rate

pytest.importorskip('rclpy')

COMMAND = [sys.executable, '-m', 'softrobot_dynamics.cli', 'demo']
ENVIRONMENT = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}  # as here
LIMIT = 900.0  # [s] with nothing compiled, on a slow and busy machine


def demo(folder, *given):
    """Return what a demo printed and its figures; those of the machine's pace are its own."""
    figures = folder / 'figures.json'
    run = subprocess.run(
        [*COMMAND, '--duration', '3', '--json', figures, '--out', folder / 'out', *given],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stdout + run.stderr
    content = json.loads(figures.read_text(encoding='utf-8'))
    assert content['held'] is (run.returncode == 0), run.stdout + run.stderr
    return run.stdout, content


@pytest.mark.realtime
def test_the_demo_holds_and_tracks_its_circle(tmp_path):
    """The loop holds, the tip is within a millimetre, and all that was promised is written."""
    rate = held_rate(2)
    said, content = demo(tmp_path, '--rate', f'{rate:g}')
    assert content['held'] is True, said
    assert content['tip_rms_m'] < 1e-3
    assert content['tip_rms_m'] <= content['tip_peak_m'] < 5e-3
    assert 2.85 * rate <= content['ticks'] <= 3.0 * rate
    assert content['missed_ticks'] < 0.05 * content['ticks']
    assert content['saturated_share'] == pytest.approx(0.0, abs=0.01)
    assert 0.0 < content['round_trip_us']['p50'] <= content['round_trip_us']['p99'] \
        <= content['round_trip_us']['max']  # fmt: skip
    with open(tmp_path / 'out' / 'demo.csv', encoding='utf-8') as file:
        assert sum(1 for _ in csv.reader(file)) == content['ticks'] + 1
    assert 'tip error, RMS and peak' in said


@pytest.mark.realtime
def test_a_demo_chooses_and_reports_a_rate_that_the_machine_holds(tmp_path):
    """Without `--rate` a demo picks a rate that the machine holds, and reports an overload."""
    said, content = demo(tmp_path, '--no-plot')
    (rate,) = [float(each) for each in re.findall(r'the demo runs at (\d+) Hz', said)]
    assert rate in CANDIDATE_RATES and f'pcc_arm at {rate:g} Hz' in said
    if content['held']:
        assert content['tip_rms_m'] < 1e-3
    else:
        assert f'this machine did not keep up with {rate:g} Hz' in content['lapses'][0], said


@pytest.mark.realtime
def test_ctrl_c_ends_both_processes_and_keeps_the_record(tmp_path):
    """Ctrl-C ends with a safe command, status 130 and a complete record."""
    folder = tmp_path / 'out'
    with open(tmp_path / 'shown.txt', 'wb') as shown:
        process = subprocess.Popen(
            [*COMMAND, '--duration', '600', '--no-plot', '--rate', '100', '--out', str(folder)],
            cwd=tmp_path, env=ENVIRONMENT, stdout=shown, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        _wait_for(folder / 'controller.log', 'running', process)
        _wait_for(tmp_path / 'shown.txt', 'at 100 Hz', process)
        _wait_for_ticks(folder / 'controller.mcap', 150, process)
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 130
    finally:
        process.kill()
        process.wait()
    assert 'interrupted' in (tmp_path / 'shown.txt').read_text(encoding='utf-8')
    with open(folder / 'demo.csv', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 100
    for name in ('simulation', 'controller'):
        assert 'ticks recorded' in (folder / f'{name}.log').read_text(encoding='utf-8')
    assert _last_commands(folder) == [1.0] * 9


def _last_commands(folder):
    """Return the commands that the simulation applied last."""
    return sd.read_recording(folder / 'simulation.mcap')['u'][-1].tolist()


def _wait_for(log, word, process):
    end = time.monotonic() + LIMIT
    while not (log.exists() and word in log.read_text(encoding='utf-8')):
        assert process.poll() is None and time.monotonic() < end, f'no {word!r} in {log}'
        time.sleep(0.1)


def _wait_for_ticks(record, count, process):
    """Wait until a record that is being written has so many ticks."""
    end, ticks = time.monotonic() + LIMIT, 0
    while ticks < count:
        assert process.poll() is None and time.monotonic() < end, f'{ticks} ticks in {record}'
        time.sleep(0.1)
        with contextlib.suppress(ArgumentError):  # its beginning is not written yet
            ticks = len(sd.read_recording(record))


@pytest.mark.realtime
def test_a_hand_lifts_a_ball_that_its_law_does_not_know(tmp_path):
    """In the scene lift_ball the ball is 80 mm higher at the end, held by three fingers."""
    said, _ = demo(tmp_path, '--scene', 'lift_ball', '--duration', '5', '--no-plot')
    (rise, holders) = re.search(r'ball: moved .* across and ([-+.\d]+) mm up; held by (.*), slip',
                                said).groups()  # fmt: skip
    assert float(rise) == pytest.approx(80.0, abs=5.0)
    assert holders == 'index2, middle2, thumb2'
