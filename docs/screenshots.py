# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Take the picture of docs/viewing.md: every shipped robot as a browser shows it, at rest.

Needs the extra `browser` and Chromium: `python docs/screenshots.py`; some minutes without a GPU.
"""

import io
from pathlib import Path
import shutil

from matplotlib.image import imread, imsave
import numpy as np
from playwright.sync_api import sync_playwright
import softrobot_dynamics as sd
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.viewing.browser import Browser
from softrobot_dynamics.viewing.shapes import RobotShape

FLAGS = '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'
POSTURES = {'hybrid_arm': (0.4, -1.2, 1.4, -0.5, -1.3, 0.0, 0.9, 0.3, 0.01, 0.0, 0.6),
            'ur10e': (0.4, -1.2, 1.4, -0.5, -1.3, 0.0), 'double_pendulum': (0.6, 0.8),
            'foot_shank': (0.0, 0.0, 0.48, 0.0, 0.5, 0.1, 0.0, -0.3, 0.0), 'toy': (1.2,),
            'tree': (0.2, -0.3, 0.5, 0.6, 0.2, 0.7, -0.5)}  # fmt: skip
SHARES = {'pcc_arm': {0: 0.5, 4: 0.4, 8: 0.6}, 'pneumatic_arm': {1: 0.7, 5: 0.8},
          'trimmed_helicoid': {0: 0.1, 4: 0.06, 8: 0.08}, 'planar_cc_chain': {0: 0.3, 2: 0.1},
          'soft_hand': {2: 0.7, 5: 0.7, 8: 0.7}, 'hybrid_arm': {8: 0.6, 9: 0.7},
          'scalability': {0: 0.1, 4: 0.2, 7: 0.1}, 'servo_arm': {0: 0.5, 3: -0.4}}  # fmt: skip
SIZE, COLUMNS = {'width': 620, 'height': 460}, 5


def main() -> None:
    """Take them all."""
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=shutil.which('chromium'), args=FLAGS)
        shots = [_shot(chromium, name) for name in sorted(shipped('robots'))]
        chromium.close()
    shots += [np.ones_like(shots[0])] * (-len(shots) % COLUMNS)
    rows = [np.hstack(shots[k : k + COLUMNS]) for k in range(0, len(shots), COLUMNS)]
    imsave(Path(__file__).parent / 'images' / 'view.png', np.vstack(rows))


def _shot(chromium, name: str):
    """Return the pixels of one robot."""
    model = sd.compile_model(sd.load_robot(name))
    u = np.zeros(model.m)
    for k, share in SHARES.get(name, {}).items():
        u[k] = share * model.upper[k]
    q = POSTURES[name] if name in POSTURES else sd.equilibrium(model, u=u).q
    browser = Browser(RobotShape(model), '127.0.0.1', 8400)
    browser.show(np.array(q), u)
    page = chromium.new_page(viewport=SIZE)
    page.goto(browser.address)
    page.get_by_text('Show', exact=True).wait_for(timeout=120e3)
    page.wait_for_timeout(4e3)
    page.add_style_tag(content='.mantine-Notification-root, .mantine-Paper-root {display: none}')
    page.wait_for_timeout(2e3)
    shot = imread(io.BytesIO(page.screenshot(timeout=120e3)))[..., :3]
    page.close()
    browser.close()
    return shot


if __name__ == '__main__':
    main()
