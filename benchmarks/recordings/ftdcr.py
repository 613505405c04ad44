# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Two tendon-driven continuum robots of ContinuumRoboticsLab/opencr-mujoco (data/sysid): v4 and v6.

FOLDER/ftdcr has v4_train.csv.gz and v6_train.csv.gz: nine tendon displacements and the tip [mm],
three tendons a segment, base first, in motions ("patterns") that are named. Each pattern is
predicted by a fit to others.
"""

import csv
import gzip
import math
from typing import NamedTuple

from arcs import Arcs
from ftdcr_page import by_arm, draw, TEXT
import numpy as np
from regression import predicted, with_change
import softrobot_dynamics as sd
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.identification.fitting import fitted, identify
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor

TITLE = 'FTDCR, two tendon-driven continuum robots'
LENGTHS = {'v4': (0.060, 0.0625, 0.064), 'v6': (0.100, 0.100, 0.022)}  # [m] of the segments
RADIUS, BEYOND = 4.5e-3, 8e-3  # [m] of tendons; from the last disc to the tip
BENDING = 2.45e-3  # [N m^2] of segment 1, assumed: a wire of 1 mm with 50 GPa
STRETCHING = 4e3  # [N] to begin with
COMPLIANCE = 1.5e-3  # [1/N] of a tendon, per metre of its length in the arm, to begin with
ANGLES = [
    math.radians((180 + 30 * (t // 3) + 120 * (t % 3)) % 360) for t in range(9)
]  # nominal: by which tendons a direction in a pattern's name pulls, and where the tip goes then
FOLDS, SEED = 5, 1  # patterns are dealt to so many folds by a seed
ROWS = 150  # of those that are fitted, evenly
REPEATED = 1.5e-4  # [m] between displacements that count as the same
NOISE = 5e-3  # [m] of a coordinate of the tip, what the model leaves out included
SPREAD = 2e-4  # [m] standard deviation between the offsets of tendons
LOOSE = -3e-3  # [m] below which all tendons are slack: how far does not matter
GAP = 3  # rows between two that count as another time
ARCS, SLACK, STATICS = 'arcs', 'arcs, slack tendons aside', 'statics'
STRAIGHT = 'statics, segments not turned'
MAP, PATH = 'statics and a map of displacements', 'statics and a map, row before known'
TURNS = ['segment2.origin.rpy.2=-1..1', 'segment3.origin.rpy.2=-1..1']  # beside the one before
GOALS = {'v4': 6.8, 'v6': 7.9}  # [mm] half of a calibrated arc model's errors on other files


class Recording(NamedTuple):
    """Rows of a file: displacements u (P, 9) [m], tips (P, 3) [m], the pattern of each."""

    arm: str
    u: np.ndarray
    tips: np.ndarray
    patterns: list

    @property
    def folds(self):
        """Return the fold (P,) of each row; a pattern is in one, drawn by the seed."""
        names = list(dict.fromkeys(self.patterns))
        drawn = np.random.default_rng(SEED).permutation(len(names))
        turn = {names[k]: place % FOLDS for place, k in enumerate(drawn)}
        return np.array([turn[name] for name in self.patterns])

    @property
    def alone(self):
        """Return the rows (P,) in which one tendon is pulled and all others are slack."""
        return np.array([name.endswith('_pull') for name in self.patterns])


def read(folder, arm):
    """Return the :class:`Recording` of an arm; what is held still belongs to its pattern."""
    with gzip.open(folder / 'ftdcr' / f'{arm}_train.csv.gz', 'rt', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    motors = [name for name in rows[0] if name.startswith('servo_')]
    numbers = np.array([[float(r[c]) for c in (*motors, 'tip_x', 'tip_y', 'tip_z')] for r in rows])
    patterns = [row['pattern_label'].removesuffix('_hold') for row in rows]
    return Recording(arm, 1e-3 * numbers[:, :9], 1e-3 * numbers[:, 9:], patterns)


def robot_of(arm):
    """Return the description: a wire of three segments, nine tendons that are told positions."""
    still = {'type': 'fixed', 'origin': {'xyz': [0.0, 0.0, 0.0]}}
    point = {'type': 'rigid', 'mass': 1e-6, 'com': [0.0, 0.0, 0.0]}
    bodies = [{'name': 'mount', 'joint': still, 'body': {'type': 'rigid', 'mass': 0.0}}]
    bodies += [
        {'name': f'segment{k + 1}', 'joint': turned(), 'body': wire(length)}
        for k, length in enumerate(LENGTHS[arm])
    ]
    last = {'type': 'fixed', 'origin': {'xyz': [0.0, 0.0, BEYOND]}}
    bodies.append({'name': 'tip', 'joint': last, 'body': point})
    actuators = [tendon(t, sum(LENGTHS[arm][: t // 3 + 1])) for t in range(9)]
    return sd.load_robot(
        {'name': f'ftdcr_{arm}', 'gravity': [0.0] * 3, 'bodies': bodies, 'actuators': actuators}
    )


def turned():
    """Return a joint that a fit may turn about the wire."""
    return {'type': 'fixed', 'origin': {'rpy': [0.0] * 3}}


def wire(length):
    """Return a segment with one curvature in each direction, which tendons also shorten."""
    constant = {'basis': 'legendre', 'order': 0}
    section = {'type': 'rigidities', 'EI': BENDING, 'EA': STRETCHING, 'rhoA': 5e-3}
    return {
        'type': 'cosserat', 'length': length, 'section': section,
        'strains': {'kappa_x': constant, 'kappa_y': constant, 'gamma_z': constant},
    }  # fmt: skip


def tendon(t, length):
    """Return one of the nine tendons, from the base to the end of its segment; length [m]."""
    path = [
        {'body': f'segment{k + 1}', 'offset': {'radius': RADIUS, 'phase': ANGLES[t]}}
        for k in range(t // 3 + 1)
    ]
    drive = {'compliance': COMPLIANCE * length, 'pretension': 1.0}
    return {
        'name': f't{t + 1}', 'type': 'tendon', 'command': 'position', 'path': path, 'drive': drive,
    }  # fmt: skip


FIT = [f'mount.origin.xyz.{k}=-0.03..0.03' for k in range(3)]
FIT += [f'mount.origin.rpy.{k}=-0.5..0.5' for k in range(3)]
FIT += ['segment2.EI', 'segment3.EI', 'EA', 'compliance', 'path.radius=0.003..0.006']
FIT += ['t4/t5/t6.path.phase=-0.3..0.3', 't7/t8/t9.path.phase=-0.3..0.3']  # all three alike
FIT += ['pretension=0.01..50']
FIT += [f't{t + 1}.drive.offset=-0.004..0.004+-{SPREAD}' for t in range(9)]


class Statics(NamedTuple):
    """A fit to rows of all patterns; fits without a fold, tips (F, P, 3) [m] by these; folds."""

    found: object
    others: list
    all_tips: np.ndarray
    fold: np.ndarray

    @property
    def tips(self):
        """Return the tips (P, 3) [m], each by the fit without its fold."""
        return self.all_tips[self.fold, np.arange(len(self.fold))]


def statics(recording, say, numbers):
    """Return the :class:`Statics` of a recording; fits without a fold begin at that of all."""
    fold, there, others = recording.folds, [], []
    robot = robot_of(recording.arm)
    found = identify(robot, held(robot, recording, some(fold >= 0)), numbers, loss='linear')
    say(f'{recording.arm}, all patterns: {1e3 * found.rms:.2f} mm')
    predictor = Predictor(found.parameters, held(robot, recording, np.arange(len(fold))))
    for k in range(FOLDS):
        data = held(robot, recording, some(fold != k))
        others.append(fitted(found.parameters, data, [found.x], 'linear'))
        there.append(predictor.points(others[-1].x)[:, 0])
        say(f'{recording.arm}, fold {k + 1}: {error(there[-1], recording, fold == k):.2f} mm')
    return Statics(found, others, np.array(there), fold)


def mapped(recording, fit, features):
    """Return the tips (P, 3) [m] by statics and what features (P, n) [m] say of its errors."""
    return fit.tips + predicted(recording.tips - fit.all_tips, features, fit.fold)


def some(rows):
    """Return about ROWS of the rows (P,) that are true, evenly."""
    rows = np.flatnonzero(rows)
    return rows[:: max(1, len(rows) // ROWS)]


def arcs(recording, taut):
    """Return the tips (P, 3) [m] by arcs, of each fold by a fit to all rows of others."""
    fold, there = recording.folds, np.full_like(recording.tips, np.nan)
    model = Arcs(ANGLES, RADIUS, LENGTHS[recording.arm], taut)
    for k in range(FOLDS):
        x = model.fit(recording.u[fold != k], recording.tips[fold != k])
        there[fold == k] = model.predict(x, recording.u[fold == k])
    return there


def held(robot, recording, rows):
    """Return rows of a recording as postures; those of a pattern have its name."""
    there = recording.tips[rows][:, None]
    names = [recording.patterns[row] for row in rows]
    tip = [Marker('tip', 'tip', (0, 0, 0), NOISE)]
    return postures(robot, recording.u[rows], tip, there, names)


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
    table, found, panels, missed, halved = [], {}, {}, [], []
    for arm in LENGTHS:
        recording = read(folder, arm)
        straight, fit = (statics(recording, say, numbers) for numbers in (FIT, FIT + TURNS))
        models = {STATICS: fit.tips, SLACK: arcs(recording, True), ARCS: arcs(recording, False)}
        drawn, u = dict(models), np.maximum(recording.u, LOOSE)
        models[STRAIGHT] = straight.tips
        models[MAP] = mapped(recording, fit, u)
        models[PATH] = mapped(recording, fit, with_change(u))
        counts = len(fit.found.x), 22, 21, len(straight.found.x), '', ''
        if options.baseline:
            models[options.baseline.stem] = baseline(options.baseline, recording)
            drawn[options.baseline.stem] = models[options.baseline.stem]
        for words, count in zip(models, [*counts, '']):
            table.append(line(recording, words, count, models[words]))
            say(table[-1])
        panels[arm] = (recording, drawn)
        found[arm] = findings(recording, fit)
        known = fit.fold >= 0
        if (excess := error(fit.tips, recording, known) - GOALS[arm]) > 0.0:
            missed.append(f'{arm} (by {excess:.1f} mm)')
        if error(fit.tips, recording, known) <= 0.5 * error(models[SLACK], recording, known):
            halved.append(arm)
    draw(panels, error)
    return TEXT.format(
        folds=FOLDS, seed=SEED, rows=ROWS, table='\n'.join(table), found=by_arm(found),
        spread=1e3 * SPREAD, noise=1e3 * NOISE, loose=1e3 * LOOSE,
        verdict=f'Above its goal, from other files: {", ".join(missed)}.' if missed else '',
        halved=' and '.join(halved) or 'no arm',
        goals=' and '.join(f'{goal} mm ({arm})' for arm, goal in GOALS.items()),
    )  # fmt: skip


def line(recording, words, count, there):
    """Return a row of the table: all rows, tendons pulled alone, others, and each fold."""
    alone, fold = recording.alone, recording.folds
    groups = alone | ~alone, alone, ~alone, *(fold == k for k in range(FOLDS))
    errors = [error(there, recording, rows) for rows in groups]
    numbers = [f'{value:.1f}' for value in errors]
    if errors[0] <= GOALS[recording.arm]:
        numbers[0] = f'**{numbers[0]}**'
    cells = [recording.arm, words, str(count), *numbers[:3], ', '.join(numbers[3:])]
    return f'| {" | ".join(cells)} |'


def findings(recording, fit):
    """Return {quantity: value} of an arm, with the range of the fits without one fold."""
    quantities = {
        'tendons from the axis': ('path.radius', 1e3, 'mm'),
        'compliance of tendons': ('compliance', 1e3 * COMPLIANCE, 'mm/N per metre'),
        'EI of segment 2': ('segment2.EI', 1e6, 'N mm²'),
        'EI of segment 3': ('segment3.EI', 1e6, 'N mm²'),
        'EA': ('EA', 1.0, 'N'),
        'pretension': ('pretension', 1.0, 'N'),
        'angle of tendons of segment 2': ('t4/t5/t6.path.phase', 180.0 / math.pi, '°'),
        'angle of tendons of segment 3': ('t7/t8/t9.path.phase', 180.0 / math.pi, '°'),
        'segment 2 turned beside segment 1': ('segment2.origin.rpy.2', 180.0 / math.pi, '°'),
        'segment 3 turned beside segment 2': ('segment3.origin.rpy.2', 180.0 / math.pi, '°'),
    }
    values = {e.name: e.value for e in fit.found.estimates}
    each = [{e.name: e.value for e in other.estimates} for other in fit.others]
    rows = {}
    for words, (name, factor, unit) in quantities.items():
        ends = [factor * other[name] for other in each]
        between = f'{min(ends):.3g} to {max(ends):.3g}'
        rows[f'{words} [{unit}]'] = f'{factor * values[name]:.3g} ({between})'
    offsets = [1e3 * values[f't{t + 1}.drive.offset'] for t in range(9)]
    rows['offsets of tendons 1 to 9 [mm]'] = ', '.join(f'{o:.1f}' for o in offsets)
    count, distance = repeated(recording, fit.tips)
    rows[f'pairs of rows with displacements equal to {1e3 * REPEATED:.2g} mm'] = str(count)
    rows['distance of their tips, less the predicted one [mm rms]'] = f'{distance:.1f}'
    rows['so least error of a model of displacements alone [mm]'] = f'{0.5 * distance:.1f}'
    return rows
