# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The tables of docs/performance.md, from the figures in docs/performance.json."""

import re

from timing import ratio, spread

BLOCK = re.compile(r'(<!-- figures: (\w+) -->\n).*?(?=^<!-- end of figures -->$)', re.M | re.S)
"""Where a table stands on the page: between these comments; the name is a key of TABLES."""
DEFAULT_STEP, TOLERANCE = '0.0005', '0.001'  # of the Simulator: its sub-step [s]; of q
ABSENT = '–'


def filled(text, figures):
    """Return the page with every table made anew from the figures."""

    def replace(found):
        return f'{found[1]}\n{TABLES[found[2]](figures)}\n\n'

    return BLOCK.sub(replace, text)


def robots(figures):
    """Return a table of the times of each robot: a tick, its derivatives, a start."""
    law, start = figures['law'], figures['start']
    rows = []
    for name in dict.fromkeys([*law[0], *start[0]['robots']]):
        times = [
            _median(law, 1e-6, name, 'tick') if name in law[0] else ABSENT,
            _median(law, 1e-6, name, 'forward') if name in law[0] else ABSENT,
        ]
        starts = [ABSENT, ABSENT]
        if name in start[0]['robots']:
            starts = [_median(start, 1.0, 'robots', name, kind) for kind in ('warm', 'cold')]
        rows.append([f'`{name}`', *times, *starts])
    heads = ['robot', 'tick of `pfbl` [µs]', 'all derivatives [µs]']
    return _table([*heads, 'start, kernels cached [s]', 'start, empty cache [s]'], rows)


def peers(figures):
    """Return a table of the times of others, as multiples of this package's."""
    arm, derivatives, rods = (figures[name] for name in ('rigid_arm', 'derivatives', 'rod_arm'))
    links, rod = ('chains', '6'), ('arms', '3')
    rows = [
        _peer('UR10e, inverse dynamics', 'Pinocchio, C++', arm, links, 'rnea', 'ID'),
        _peer('the same and mass matrix', 'Pinocchio, C++', arm, links, 'rnea + crba', 'MID'),
        _peer(
            'UR10e, derivatives of inverse dynamics',
            'Pinocchio',
            derivatives,
            ('times', 'ur10e'),
            'rnea',
            'inverse',
        ),
        _peer(
            'UR10e, derivatives of forward dynamics',
            'Pinocchio',
            derivatives,
            ('times', 'ur10e'),
            'aba',
            'forward',
        ),
        _peer('three rods, inverse dynamics', 'SoRoMoX', rods, rod, 'soromox ID', 'ours ID'),
        _peer('the same and mass matrix', 'SoRoMoX', rods, rod, 'soromox MID', 'ours MID'),
    ]
    return _table(['work', 'peer', 'its time / ours'], rows)


def simulation(figures):
    """Return a table of how fast the Simulator is, and how exact, with its two methods."""
    runs = figures['integrators']
    rows = []
    for name in runs[0]:
        for kind, setting in (('simulator', DEFAULT_STEP), ('tolerance', TOLERANCE)):
            time = spread(runs, name, kind, setting, 'time').median
            error = runs[0][name][kind][setting]['error']
            words = 'sub-steps of 0.5 ms' if kind == 'simulator' else f'`tolerance={TOLERANCE}`'
            rows.append([f'`{name}`', words, f'{1.0 / time:.3g}', f'{error:.1e}'])
    return _table(['robot', 'method', 'times real time', 'error of the coordinates'], rows)


def memory(figures):
    """Return a table of the memory that a controller holds."""
    runs = [run for run in figures['start'] if 'memory' in run]
    rows = [
        ['controller of `pcc_arm` in its loop', _median(runs, 1.0, 'memory', 'controller')],
        ['bare node with numpy, numba, scipy, rclpy', _median(runs, 1.0, 'memory', 'imports')],
    ]
    return _table(['process', 'resident [MiB]'], rows)


TABLES = {'robots': robots, 'peers': peers, 'simulation': simulation, 'memory': memory}


def _median(runs, unit, *keys):
    return format(spread(runs, *keys).median / unit, '.3g')


def _peer(work, peer, runs, keys, theirs, ours):
    return [work, peer, ratio(runs, (*keys, theirs), (*keys, ours)).text()]


def _table(heads, rows):
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(row) + ' |' for row in lines)
