# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Two tendon-driven continuum robots of ContinuumRoboticsLab/opencr-mujoco (data/sysid): v4 and v6.

FOLDER/ftdcr has v4_train.csv.gz and v6_train.csv.gz: nine tendon displacements and the tip [mm],
three tendons a segment, base first, in motions ("patterns") that are named. Which patterns are
held out was fixed before any fit: every third, in the order of the file.
"""

import csv
import gzip
import math
import textwrap
from typing import NamedTuple

from arcs import Arcs
from ftdcr_page import draw, FOUND, TEXT
import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.omitted_in_fit import doubts
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.identification.validation import cross_validate

TITLE = 'FTDCR, two tendon-driven continuum robots'
LENGTHS = {'v4': (0.060, 0.0625, 0.064), 'v6': (0.100, 0.100, 0.022)}  # [m] of the segments
RADIUS, WIRE, BEYOND = 4.5e-3, 0.5e-3, 8e-3  # [m] of tendons, of the backbone; disc to tip
ANGLES = [
    math.radians((180 + 30 * (t // 3) + 120 * (t % 3)) % 360) for t in range(9)
]  # nominal: by which tendons a direction in a pattern's name pulls, and where the tip goes then
EVERY = 3  # one pattern of so many is held out
ROWS = 150  # of the others, evenly, that are fitted
FOLDS = 4
REPEATED = 1.5e-4  # [m] between displacements that count as the same
NOISE = 5e-3  # [m] of a coordinate of the tip, what the model leaves out included
LOOSE = -3e-3  # [m] below which all tendons are slack: how far does not matter
GAP = 3  # rows between two that count as another time
OTHERS = {'v4': 14.4, 'v6': 18.7}  # [mm] of a calibrated arc model, as others have found


class Recording(NamedTuple):
    """Rows of a file: displacements u (P, 9) [m], tips (P, 3) [m], the pattern of each."""

    arm: str
    u: np.ndarray
    tips: np.ndarray
    patterns: list

    @property
    def held_out(self):
        """Return which rows (P,) nothing is fitted to."""
        order = list(dict.fromkeys(self.patterns))
        return np.array([order.index(name) % EVERY == EVERY - 1 for name in self.patterns])

    @property
    def together(self):
        """Return the rows (P,) held out in which no tendon is pulled alone."""
        return self.held_out & np.array([not name.endswith('_pull') for name in self.patterns])


def read(folder, arm):
    """Return the :class:`Recording` of an arm; what is held still belongs to its pattern."""
    with gzip.open(folder / 'ftdcr' / f'{arm}_train.csv.gz', 'rt', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    motors = [name for name in rows[0] if name.startswith('servo_')]
    numbers = np.array([[float(r[c]) for c in (*motors, 'tip_x', 'tip_y', 'tip_z')] for r in rows])
    patterns = [row['pattern_label'].removesuffix('_hold') for row in rows]
    return Recording(arm, 1e-3 * numbers[:, :9], 1e-3 * numbers[:, 9:], patterns)


def robot_of(arm, pretension):
    """Return the description: a wire of three segments, nine tendons that are told positions."""
    still = {'type': 'fixed', 'origin': {'xyz': [0.0, 0.0, 0.0]}}
    point = {'type': 'rigid', 'mass': 1e-6, 'com': [0.0, 0.0, 0.0]}
    bodies = [{'name': 'mount', 'joint': still, 'body': {'type': 'rigid', 'mass': 0.0}}]
    bodies += [
        {'name': f'segment{k + 1}', 'joint': {'type': 'fixed'}, 'body': wire(length)}
        for k, length in enumerate(LENGTHS[arm])
    ]
    last = {'type': 'fixed', 'origin': {'xyz': [0.0, 0.0, BEYOND]}}
    bodies.append({'name': 'tip', 'joint': last, 'body': point})
    actuators = [tendon(t, pretension) for t in range(9)]
    return sd.load_robot(
        {'name': f'ftdcr_{arm}', 'gravity': [0.0] * 3, 'bodies': bodies, 'actuators': actuators}
    )


def wire(length):
    """Return a segment of nickel titanium that bends, by one curvature in each direction."""
    constant = {'basis': 'legendre', 'order': 0}
    return {
        'type': 'cosserat', 'length': length, 'section': {'type': 'circular', 'radius': WIRE},
        'density': 6450.0, 'young_modulus': 5e10, 'poisson_ratio': 0.33,
        'strains': {'kappa_x': constant, 'kappa_y': constant},
    }  # fmt: skip


def tendon(t, pretension):
    """Return one of the nine tendons, from the base to the end of its segment."""
    path = [
        {'body': f'segment{k + 1}', 'offset': {'radius': RADIUS, 'phase': ANGLES[t]}}
        for k in range(t // 3 + 1)
    ]
    drive = {'compliance': 1.5e-4, 'pretension': pretension, 'offset': -1e-4 * (pretension == 0.0)}
    return {
        'name': f't{t + 1}', 'type': 'tendon', 'command': 'position', 'path': path, 'drive': drive,
    }  # fmt: skip


FRAME = [f'mount.origin.xyz.{k}=-0.03..0.03' for k in range(3)]
FRAME += [f'mount.origin.rpy.{k}=-0.5..0.5' for k in range(3)]
WIRES = ['segment2.young_modulus', 'segment3.young_modulus', 'compliance']
WIRES += ['path.radius=0.003..0.006']
OFFSETS = [f't{t + 1}.drive.offset=-0.003..0.003' for t in range(9)]
TURNED = [f't{t + 1}.path.phase={a - 0.4}..{a + 0.4}' for t, a in enumerate(ANGLES)]
FITS = {  # words: initial pretension [N], names
    'one pretension': (1.0, [*FRAME, *WIRES, 'pretension']),
    'nine offsets': (0.0, [*FRAME, *WIRES, *OFFSETS]),
    'nine offsets, nine angles': (0.0, [*FRAME[:-1], *WIRES, *OFFSETS, *TURNED]),
}


class Statics(NamedTuple):
    """A fit of numbers of the robot, and that of patterns left out in turn."""

    words: str
    found: object
    checked: object


def statics(recording, say):
    """Return the :class:`Statics` of each set of numbers, fitted to patterns not held out."""
    rows = np.flatnonzero(~recording.held_out)
    rows = rows[:: max(1, len(rows) // ROWS)]
    fits = []
    for words, (pretension, names) in FITS.items():
        robot = robot_of(recording.arm, pretension)
        data = held(robot, recording, rows)
        found = identify(robot, data, names, loss='linear')
        checked = cross_validate(found, loss='linear', folds=FOLDS)
        fits.append(Statics(words, found, checked))
        say(
            f'{recording.arm}, {words}: {1e3 * found.rms:.2f}, not seen {1e3 * checked.rms:.2f} mm'
        )
    return fits


def held(robot, recording, rows, sliding=None):
    """
    Return rows of a recording as postures; those of a pattern have its name.

    ``sliding`` (P, 9) is which way tendons slid last in all rows of the recording, if they rub.
    """
    there = recording.tips[rows][:, None]
    names = [recording.patterns[row] for row in rows]
    ways = None if sliding is None else sliding[rows]
    tip = [Marker('tip', 'tip', (0, 0, 0), NOISE)]
    return postures(robot, recording.u[rows], tip, there, names, ways)


def predicted(fit, recording):
    """Return the tips (P, 3) [m] of all rows by a :class:`Statics`."""
    found = fit.found
    data = held(found.parameters.description, recording, range(len(recording.u)))
    return Predictor(found.parameters, data).points(found.x)[:, 0]


def baseline(file, recording):
    """
    Return tips (P, 3) [m] that another simulator predicts, NaN for rows that it leaves out.

    Raises ArgumentError for a file that is not as the command's help says.
    """
    there, count = np.full_like(recording.tips, np.nan), len(recording.tips)
    expected = f'lines of arm, row (0 to {count - 1} of {recording.arm}), x, y, z [mm]'
    with open(file, encoding='utf-8', newline='') as lines:
        for number, line in enumerate(csv.DictReader(lines), 2):
            try:
                if line['arm'] != recording.arm:
                    continue
                row, tip = int(line['row']), [1e-3 * float(line[axis]) for axis in 'xyz']
            except (KeyError, TypeError, ValueError):
                raise ArgumentError(f'{file}, line {number}', line, expected) from None
            if not 0 <= row < count:
                raise ArgumentError(f'{file}, line {number}', line, expected)
            there[row] = tip
    return there


def error(there, recording, rows):
    """Return the root mean square [mm] of distances over rows, those predicted."""
    off = np.linalg.norm(there - recording.tips, axis=1)[rows]
    return 1e3 * math.sqrt(np.nanmean(off**2)) if np.isfinite(off).any() else math.nan


def repeated(recording, there):
    """
    Return how many pairs of rows have the same displacements, and how far apart tips are [mm].

    What predicted tips differ by, as displacements do a little, is taken off.
    """
    u, off = np.maximum(recording.u, LOOSE), recording.tips - there
    i, j = np.nonzero(np.triu(np.abs(u[:, None] - u).max(axis=2) < REPEATED, GAP + 1))
    return len(i), 1e3 * math.sqrt(np.mean(((off[i] - off[j]) ** 2).sum(axis=1)))


def section(folder, options, say):
    """Return the text of the section, and draw its figure."""
    table, told, panels = [], [], {}
    for arm in LENGTHS:
        recording = read(folder, arm)
        out, fits, models = recording.held_out, statics(recording, say), {}
        best = min(fits, key=lambda fit: fit.checked.rms)
        for words, taut in (('arcs', False), ('arcs, slack tendons aside', True)):
            model = Arcs(ANGLES, RADIUS, LENGTHS[arm], taut)
            x = model.fit(recording.u[~out], recording.tips[~out])
            models[words] = model.predict(x, recording.u)
            table.append(entry(arm, words, model.count, models[words], recording))
        for fit in fits:
            line = [arm, f'statics, {fit.words}', str(len(fit.found.x))]
            line += [f'{1e3 * fit.found.rms:.1f}', f'{1e3 * fit.checked.rms:.1f}', '', '']
            if fit is best:
                models['statics'] = predicted(fit, recording)
                line[3] = f'{error(models["statics"], recording, ~out):.1f}'
                line[5] = f'**{error(models["statics"], recording, out):.1f}**'
                line[6] = f'{error(models["statics"], recording, recording.together):.1f}'
            table.append(line)
        if options.baseline:
            models[options.baseline.stem] = baseline(options.baseline, recording)
            table.append(
                entry(arm, options.baseline.stem, '', models[options.baseline.stem], recording)
            )
        panels[arm] = (recording, models)
        told.append(findings(recording, best, models['statics']))
        say(' | '.join(map(str, table[-1])))
    draw(panels, error)
    lines = '\n'.join('| ' + ' | '.join(map(str, line)) + ' |' for line in table)
    return TEXT.format(
        every=EVERY, rows=ROWS, folds=FOLDS, table=lines, told='\n'.join(told),
        others=' and '.join(f'{value} ({arm})' for arm, value in OTHERS.items()),
    )  # fmt: skip


def entry(arm, words, count, there, recording):
    """Return a row of the table, of a model that is not cross-validated."""
    out = recording.held_out
    parts = ~out, out, recording.together
    errors = [f'{error(there, recording, rows):.1f}' for rows in parts]
    return [arm, words, str(count), errors[0], '', *errors[1:]]


def left_out(found):
    """Return the strain that would move the tip most of those that the rods leave out."""
    worst = max(doubts(found), key=lambda doubt: doubt.rms)
    strain = f'{worst.omitted.name} of {worst.omitted.body}'
    return {'strain': strain, 'shift': 1e3 * worst.rms, 'at_most': 1e3 * worst.omitted.shift}


def findings(recording, best, there):
    """Return in words what was found of an arm, and what bounds it."""
    names = best.found.parameters.names
    intervals = dict(zip(names, best.checked.intervals))
    values = {e.name: e.value for e in best.found.estimates}
    numbers = {
        'tendons from the axis': ('path.radius', 1e3, 'mm'),
        'compliance of each': ('compliance', 1e3, 'mm/N'),
        'modulus of segment 2': ('segment2.young_modulus', 1e-9, 'GPa'),
        'modulus of segment 3': ('segment3.young_modulus', 1e-9, 'GPa'),
    }
    told = []
    for words, (name, factor, unit) in numbers.items():
        low, high = factor * intervals[name]
        told.append(f'{words} {factor * values[name]:.3g} {unit} ({low:.3g} to {high:.3g})')
    bounds = [e.name for e in best.found.estimates if e.at_bound]
    if bounds:
        told.append(f'at the bounds given: {", ".join(bounds)}')
    count, apart = repeated(recording, there)
    found = FOUND.format(
        arm=recording.arm,
        words=best.words,
        told='; '.join(told),
        count=count,
        same=1e3 * REPEATED,
        apart=apart,
        least=0.5 * apart,
        **left_out(best.found),
    )
    return textwrap.fill(' '.join(found.split()), 98, subsequent_indent='  ')
