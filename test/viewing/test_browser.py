# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The view in a real headless browser: drawings and sliders.

Chromium is a package of the system; the gate installs it, and runs this apart from other tests.
"""

import contextlib
import io
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys
import time

from matplotlib.image import imread
import numpy as np
import pytest

pytest.importorskip('viser')
browsers = pytest.importorskip('playwright.sync_api')
CHROMIUM = shutil.which('chromium') or shutil.which('chromium-browser')
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason='no chromium: apt install chromium'),
    pytest.mark.filterwarnings('ignore'),  # of viser's own
]
FLAGS = (
    '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-sync',
    '--disable-background-networking', '--disable-component-update', '--no-first-run',
)  # fmt: skip
SIZE = {'width': 1060, 'height': 500}
ROBOT = slice(400, 640)  # columns where it is
PATIENCE = 300.0  # [s] for what takes some seconds, drawn by the processor
PICTURES = os.environ.get('SOFTROBOT_TEST_PICTURES')  # a folder to keep them in


@pytest.fixture(scope='module')
def chromium():
    """Return a browser."""
    with browsers.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@contextlib.contextmanager
def page_of(chromium, *arguments):
    """Within this context a page shows what `softrobot view` serves with these arguments."""
    command = [
        sys.executable,
        '-m',
        'softrobot_dynamics.cli',
        'view',
        *arguments,
        '--port',
        '8230',
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as view:
        try:
            address = next(line for line in view.stdout if 'http' in line).split()[2].strip(',')
            page = chromium.new_page(viewport=SIZE)
            page.goto(address)
            page.get_by_text('Show', exact=True).wait_for(timeout=1e3 * PATIENCE)
            yield page
            page.close()
        finally:
            view.send_signal(signal.SIGINT)
            view.stdout.read()
            assert view.wait(PATIENCE) == 130


def until(condition, what):
    """Wait for a condition."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.2)
    return found


def picture(page, name=None):
    """Return the pixels (rows, columns, 3) of the part where the robot is; kept under a name."""
    keep = {'path': Path(PICTURES, f'{name}.png')} if PICTURES and name else {}
    return imread(io.BytesIO(page.screenshot(timeout=1e3 * PATIENCE, **keep)))[:, ROBOT, :3]


def bluish(pixels):
    """Return the rows and columns of what has the colour of soft bodies."""
    return np.argwhere(
        (pixels[..., 2] > pixels[..., 0] + 0.12) & (pixels[..., 1] > pixels[..., 0])
    )


def reddish(pixels):
    """Return how much has the colour of pulled tendons, more or less."""
    return int(((pixels[..., 0] > pixels[..., 2] + 0.1) & (pixels[..., 1] < 0.6)).sum())


def lean(page):
    """Return how far the low end of the arm is from its high end [pixels], to the right."""
    found = bluish(picture(page))
    if len(found) < 100:
        return None
    rows, columns = found.T
    low, high = rows > np.quantile(rows, 0.9), rows < np.quantile(rows, 0.1)
    return columns[low].mean() - columns[high].mean()


def fill(page, place, value):
    """Type a value beside the slider of that place among those shown."""
    inputs = page.locator('input[inputmode=decimal]')
    shown = [i for i in range(inputs.count()) if inputs.nth(i).is_visible()]
    box = inputs.nth(shown[place])
    box.fill(str(value), force=True)
    box.press('Enter')


def test_names_of_sliders_stand_on_one_line(chromium):
    """The label of a joint with a long name is as high as one line of text."""
    with page_of(chromium, 'hybrid_arm') as page:
        label = page.get_by_text('shoulder_lift_joint', exact=True)
        label.wait_for(timeout=1e3 * PATIENCE)
        assert 5.0 < label.bounding_box()['height'] < 24.0  # [px]; two lines have 36


def test_sliders_move_what_is_drawn(chromium):
    """A coordinate slider bends the drawn arm, and a tendon's also turns it red."""
    with page_of(chromium, 'pcc_arm') as page:
        straight = until(lambda: lean(page), 'an arm')
        assert abs(straight) < 6
        picture(page, 'pcc_arm_sliders')
        fill(page, 0, 1.0)
        bent = until(lambda: (x := lean(page)) and abs(x) > 30 and x, 'a bend')
        fill(page, 0, -1.0)
        until(lambda: (x := lean(page)) and x * bent < -(60.0**2), 'the other bend')
        page.get_by_role('button', name='Back to the start').click(force=True)
        until(lambda: (x := lean(page)) and abs(x) < 6, 'the start')
        pale = reddish(picture(page))
        page.get_by_role('combobox', name='Sliders for').click(force=True)
        page.get_by_text('commands, at rest').last.click(force=True)
        until(lambda: page.get_by_text('t1 [N]').is_visible(), 'the commands')
        fill(page, 6, 30.0)
        until(lambda: (x := lean(page)) and abs(x) > 30, 'a bend by a tendon')
        assert reddish(picture(page, 'pcc_arm')) > pale + 20
