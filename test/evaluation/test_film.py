# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The motion of a demo as an animated GIF."""

import numpy as np
import pytest
from softrobot_dynamics import cli
from support.recorded import write_demo

pytest.importorskip('matplotlib')
Image = pytest.importorskip('PIL.Image')


def test_a_demo_becomes_a_film(tmp_path):
    """A demo is animated in real time at the given frame rate, with a moving robot."""
    write_demo(tmp_path)
    path = tmp_path / 'demo.gif'
    assert cli.main(['plot', str(tmp_path), '--animate', str(path)]) == 0
    with Image.open(path) as film:
        frames = []
        for k in range(film.n_frames):
            film.seek(k)
            frames.append((np.asarray(film.convert('L'), dtype=float), film.info['duration']))
    assert len(frames) > 5
    pictures, durations = zip(*frames)
    assert set(durations[:-1]) == {80} and durations[-1] == 1000
    assert all(picture.shape == pictures[0].shape for picture in pictures)
    changed = [np.abs(b - a).max() for a, b in zip(pictures, pictures[1:])]
    assert min(changed) > 50.0
