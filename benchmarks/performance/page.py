# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The page docs/figures_performance.md while it is being written."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
import platform
from typing import NamedTuple

import matplotlib

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
OURS, PEER, OTHER, FAINT = '#4477aa', '#ee6677', '#228833', '#999999'
STYLE = {
    'font.size': 9.0, 'axes.titlesize': 9.0, 'axes.grid': True, 'grid.color': '#dddddd',
    'axes.axisbelow': True, 'axes.spines.top': False, 'axes.spines.right': False,
    'legend.frameon': False, 'legend.fontsize': 8.0, 'figure.constrained_layout.use': True,
    'figure.dpi': 120,
}  # fmt: skip


class Target(NamedTuple):
    """A goal, the figure measured for it, and whether the goal is met."""

    work: str
    aim: str
    found: str
    met: bool


class Page:
    """Sections are written one after the other; the targets of all become one table at the top."""

    def __init__(self):
        self.targets, self._parts = [], []

    def section(self, title):
        """Begin a section."""
        self._parts.append(f'\n## {title}\n')

    def text(self, words):
        """Add paragraphs in Markdown."""
        self._parts.append(f'\n{words.strip()}\n')

    def table(self, headers, rows):
        """Add a table of words; the first column holds what each row is about."""
        lines = [headers, ['---'] * len(headers), *rows]
        self._parts.append('\n' + '\n'.join('| ' + ' | '.join(row) + ' |' for row in lines) + '\n')

    def target(self, work, aim, found, met):
        """Enter a target of the table at the top."""
        self.targets.append(Target(work, aim, found, bool(met)))

    def figure(self, name, draw, caption, size=(7.0, 3.6), columns=1):
        """Add a picture: ``draw(axes)`` draws on one axis, or on an array of ``columns``."""
        with plt.rc_context(STYLE):
            figure, axes = plt.subplots(1, columns, figsize=size)
            draw(axes)
            path = ROOT / 'docs' / 'images' / f'performance_{name}.png'
            figure.savefig(path)
            plt.close(figure)
        self._parts.append(f'\n![{caption}](images/{path.name})\n\n*{caption}*\n')

    def document(self, introduction):
        """Return the whole page."""
        met = sum(target.met for target in self.targets)
        rows = [
            f'| {t.work} | {t.aim} | {t.found} | {"yes" if t.met else "**no**"} |'
            for t in self.targets
        ]
        table = '\n'.join(['| work | target | measured | met |', '| --- ' * 4 + '|', *rows])
        count = f'{met} of {len(self.targets)} targets are met.'
        return f'{introduction}\n{table}\n\n{count}\n' + ''.join(self._parts)


def machine(packages):
    """Return, in words, this machine and the versions of Python and of packages."""
    cpu = platform.processor() or platform.machine()
    for line in Path('/proc/cpuinfo').read_text().splitlines():
        if line.startswith('model name'):
            cpu = line.split(':', 1)[1].strip()
            break
    found = [f'Python {platform.python_version()}']
    for package in packages:
        try:
            found.append(f'{package} {version(package)}')
        except PackageNotFoundError:
            found.append(f'{package} absent')
    return f'{cpu}, {_cores()} processors, {platform.system()}; ' + ', '.join(found)


def _cores():
    text = Path('/proc/cpuinfo').read_text()
    return text.count('processor\t:')
