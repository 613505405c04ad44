# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Physical effects that the statics of the FTDCR v6 leave out, fitted one at a time.

Segments have constant curvature and tendons run parallel to the wire. So the energy of the statics
of :mod:`ftdcr` is quadratic in nine strains, while no tendon gets slack. A Newton method of these
strains minimises it much faster than the general one.
"""

import math
from typing import NamedTuple

from arcs import tips
from ftdcr import (
    ANGLES,
    BENDING,
    BEYOND,
    FOLDS,
    GOALS,
    LENGTHS,
    LOOSE,
    NOISE,
    RADIUS,
    read,
    SPREAD,
)
from numba import njit
import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

TITLE = 'FTDCR v6, effects that were tried'
ARM, EVERY = 'v6', 4  # one row in so many is fitted
UNIT = 0.01  # [m] of shortening, so that it counts about as much as a bend of 1 rad
STEP, TOLERANCE, NEWTONS, HALVINGS, FITS = 1e-3, 1e-17, 60, 25, 40
WIDTH, CREEP = 0.3e-3, 0.03  # [m] of backlash; part of what is left that creeps in a row
SEGMENT = np.arange(9) // 3  # of each tendon
FREE = math.inf
TEXT = """
*Statics* of v6 as above, fitted to one row in {every}, with one effect more at a time; "±" is the
standard deviation before. *Fitted*: a fit to all folds. *Inside*: each of four folds by a
fit to the other three, mean over the fold kept out. *Held out*: each fold by a fit to the other
four. Root mean square of the distance of the tip [mm].

| effect | numbers more | fitted | inside | held out | of it, a tendon alone | by fold |
| --- | --- | --- | --- | --- | --- | --- |
{table}

* The effect with the least *inside*, which does not see the fold: {picks}. Held out so:
  {chosen:.2f} mm; the goal is {goal} mm.
* Mean of the distance, not its root mean square: {mean:.2f} mm held out without an effect.
* Fitted to others of the same rows (one in {every}, from the second, third, fourth on):
  {others} mm held out.
* Fitted only to patterns of a tendon alone: {alone[0]:.1f} mm on these, {alone[1]:.1f} mm on the
  others. Fitted only to the others: {several[0]:.1f} mm and {several[1]:.1f} mm.
"""


def alike(pattern, keys, scale, spread=FREE):
    """Return numbers {name: (start, scale, standard deviation before)}, one for each key."""
    return {pattern.format(k): (0.0, scale, spread) for k in keys}


BASE = {
    **alike('place{}', range(3), 0.01), **alike('turn{}', range(3), 0.1),
    **alike('EI{}', (1, 2), 0.3),
    'EA': (math.log(4e3), 0.3, FREE), 'compliance': (math.log(1.5e-3), 0.3, FREE),
    'radius': (math.log(RADIUS), 0.1, FREE), 'pretension': (0.0, 0.3, FREE),
    **alike('phase{}', (1, 2), 0.1), **alike('twist{}', (1, 2), 0.1),
    **alike('offset{}', range(9), 4e-4, SPREAD),
}  # fmt: skip
EFFECTS = {
    'none': {},
    'EA of each segment': alike('EA{}', (1, 2), 0.3),
    'compliance of each segment': alike('soft{}', (1, 2), 0.3),
    'tendons outside the arm': alike('outside', [0], 0.05),
    'tendons that push: stiffness': alike('push', [0], 0.01),
    'pretension of each tendon ± 50 %': alike('tight{}', range(9), 0.3, 0.5),
    'spool of each tendon ± 5 %': alike('spool{}', range(9), 0.05, 0.05),
    'angle of each tendon ± 0.1 rad': alike('angle{}', range(9), 0.1, 0.1),
    'radius in each segment': alike('radius{}', (1, 2), 0.1),
    'length of each segment ± 5 %': alike('length{}', range(3), 0.05, 0.05),
    'EI that differs by direction': alike('uneven{}', range(3), 0.1),
    'bent at rest ± 0.1 rad': alike('bend{}', range(6), 0.1, 0.1),
    'tip off the axis ± 5 mm': alike('tip{}', range(2), 3e-3, 5e-3),
    'backlash': alike('backlash', [0], 0.3),
    'friction, by direction': alike('friction', [0], 0.1),
    'creep': alike('creep', [0], 0.3),
    'tip measured later or earlier': alike('delay', [0], 0.3),
    'loss: soft L1': {},
}
LOSSES = {'loss: soft L1': 'soft_l1'}


class Inputs(NamedTuple):
    """Displacements (P, 9) [m]: as told, after backlash, after creep, and change in a row."""

    told: np.ndarray
    played: np.ndarray
    crept: np.ndarray
    change: np.ndarray

    def of(self, rows):
        """Return these inputs in some rows."""
        return Inputs(*(each[rows] for each in self))


def inputs(recording):
    """Return the :class:`Inputs` of a recording."""
    played, crept = recording.u.copy(), np.maximum(recording.u, LOOSE)
    for row in range(1, len(played)):
        played[row] = np.clip(played[row - 1], played[row] - WIDTH, played[row] + WIDTH)
        crept[row] = crept[row - 1] + CREEP * (crept[row] - crept[row - 1])
    change = np.gradient(recording.u, axis=0)
    names = np.array(recording.patterns)
    change[1:][names[1:] != names[:-1]] = change[:-1][names[1:] != names[:-1]] = 0.0
    return Inputs(recording.u, played, crept, change)


@njit(cache=True)
def solve(q, A, K, q0, k, T0, u, push):
    """Minimise the energy over strains q (P, 9), in place; a tension is T0 + k (u - A q) [N]."""
    for p in range(len(q)):
        for _ in range(NEWTONS):
            T = T0[p] + k[p] * (u[p] - A @ q[p])
            part = np.where(T > 0.0, 1.0, push)
            slope = K * (q[p] - q0) - (part * T) @ A
            step = np.linalg.solve(np.diag(K) + (A.T * (part * k[p])) @ A, slope)
            gain, share = slope @ step, 1.0
            if gain < TOLERANCE:
                break
            before = energy(q[p], A, K, q0, k[p], T0[p], u[p], push)
            for _ in range(HALVINGS):
                after = energy(q[p] - share * step, A, K, q0, k[p], T0[p], u[p], push)
                if after <= before - 0.1 * share * gain + 1e-18:
                    break
                share *= 0.5
            q[p] -= share * step


@njit(cache=True)
def energy(q, A, K, q0, k, T0, u, push):
    """Return the energy [J] of strains q (9,) and tendons."""
    T = T0 + k * (u - A @ q)
    return 0.5 * np.sum(K * (q - q0) ** 2) + 0.5 * np.sum(np.where(T > 0.0, 1.0, push) * T**2 / k)


def predict(d, given, q):
    """Return the tips (P, 3) [m] for numbers {name: value}; q (P, 9) become their strains."""

    def each(name, count=9):
        return np.array([d.get(f'{name}{k}', 0.0) for k in range(count)])

    def one(name):
        return d.get(name, 0.0)

    lengths = np.array(LENGTHS[ARM]) * np.exp(each('length', 3))
    EI, EA = BENDING * np.exp(each('EI', 3)), UNIT**2 * np.exp(one('EA') + each('EA', 3))
    K = np.column_stack([EI, EI * np.exp(each('uneven', 3)), EA]) / lengths[:, None]
    phases, twists = ANGLES + each('phase', 3)[SEGMENT] + each('angle'), each('twist', 3)
    radii = np.exp(one('radius') + each('radius', 3))
    A = np.zeros((9, 3, 3))
    for k in range(3):
        through, angles = SEGMENT >= k, phases + twists[k]
        sections = [radii[k] * np.cos(angles), radii[k] * np.sin(angles), np.full(9, UNIT)]
        A[through, k] = np.column_stack(sections)[through]
    reach = np.maximum(np.cumsum(lengths)[SEGMENT] + one('outside'), 1e-3)
    stiff = 1.0 / (reach * np.exp(one('compliance') + each('soft', 3)[SEGMENT]))
    sense = np.clip((given.told - given.played) / WIDTH, -1.0, 1.0)
    kept = np.exp(-one('friction') * sense)  # of the tension that would be without friction
    u = given.told + one('backlash') * (given.played - given.told) + one('delay') * given.change
    u = u + one('creep') * (given.crept - np.maximum(given.told, LOOSE))
    u = u * (1.0 + each('spool')) - each('offset')
    q0 = np.column_stack([each('bend', 6).reshape(3, 2), np.zeros(3)]).ravel()
    T0 = np.exp(one('pretension') + each('tight'))
    push = min(max(one('push'), 0.0), 1.0)
    solve(q, A.reshape(9, 9), K.ravel(), q0, kept * stiff, kept * T0, u, push)
    bends, shorter = q.reshape(-1, 3, 3)[:, :, :2], UNIT * q.reshape(-1, 3, 3)[:, :, 2]
    there = tips(bends, (lengths - shorter).T[:, :, None], [*each('tip', 2), BEYOND])
    return Rotation.from_rotvec(each('turn', 3)).apply(there) + each('place', 3)


def fit(words, recording, given, rows, begin):
    """Return numbers {name: value} of an effect by least squares over rows, from others known."""
    numbers = {**BASE, **EFFECTS[words]}
    start, scale, spread = np.array(list(numbers.values())).T
    given, there, q = given.of(rows), recording.tips[rows], np.zeros((len(rows), 9))
    robust = LOSSES.get(words, 'linear')

    def off(x, q=q):
        errors = (predict(dict(zip(numbers, x)), given, q) - there) / NOISE
        if robust == 'soft_l1':  # of a row, whose three coordinates share one weight
            squares = (errors**2).sum(axis=1, keepdims=True) + 1e-12
            errors = errors * np.sqrt(2.0 * (np.sqrt(1.0 + squares) - 1.0) / squares)
        return np.append(errors, (x - start) / spread)

    def slope(x):
        here, columns = off(x), []
        for k, step in enumerate(STEP * scale):
            columns.append((off(x + step * (np.arange(len(x)) == k), q.copy()) - here) / step)
        return np.array(columns).T

    x = [begin.get(name, value) for name, value in zip(numbers, start)]
    end = least_squares(off, x, slope, x_scale=scale, max_nfev=FITS, xtol=1e-6, ftol=1e-6)
    return dict(zip(numbers, end.x))


def rms(off):
    """Return the root mean square [mm] of distances, of off (P, 3) [m]."""
    return 1e3 * math.sqrt((off**2).sum(axis=1).mean())


class Study:
    """Fits without one fold or two, to one row in EVERY from the ``first`` on."""

    def __init__(self, recording, first=0):
        self.recording, self.fold, self.given = recording, recording.folds, inputs(recording)
        self.rows, self.begins = np.arange(first, len(recording.u), EVERY), {}

    def off(self, words, without):
        """Return errors (P, 3) [m] in all rows by a fit without some folds."""
        rows = self.rows[~np.isin(self.fold[self.rows], without)]
        found = fit(words, self.recording, self.given, rows, self.begins.get(without, {}))
        self.begins.setdefault(without, found)
        return self.everywhere(found)

    def everywhere(self, found):
        """Return errors (P, 3) [m] in all rows by numbers."""
        q = np.zeros_like(self.given.told)
        return self.recording.tips - predict(found, self.given, q)

    def held_out(self, words):
        """Return errors (P, 3) [m] of each row by a fit without its fold."""
        there = np.array([self.off(words, (k,)) for k in range(FOLDS)])
        return there[self.fold, np.arange(len(self.fold))]

    def inside(self, words):
        """Return for each fold the error [mm] over the others, each by a fit without both."""
        squares, counts = np.zeros(FOLDS), np.bincount(self.fold, minlength=FOLDS)
        for j in range(FOLDS):
            for k in range(j):
                off = (self.off(words, (k, j)) ** 2).sum(axis=1)
                squares[j] += off[self.fold == k].sum()
                squares[k] += off[self.fold == j].sum()
        return 1e3 * np.sqrt(squares / (counts.sum() - counts))

    def across(self, rows):
        """Return errors [mm] of a fit to rows (P,) only: on these, and on the others."""
        off = self.everywhere(fit('none', self.recording, self.given, np.flatnonzero(rows), {}))
        return rms(off[rows]), rms(off[~rows])


def section(folder, options, say):
    """Return the text of the section."""
    recording = read(folder, ARM)
    study, alone, table, inside, out = Study(recording), recording.alone, [], {}, {}
    for words, numbers in EFFECTS.items():
        fitted, out[words] = study.off(words, ()), study.held_out(words)
        inside[words] = study.inside(words)
        by_fold = ', '.join(f'{rms(out[words][study.fold == k]):.1f}' for k in range(FOLDS))
        figures = rms(fitted), inside[words].mean(), rms(out[words]), rms(out[words][alone])
        cells = [words, str(len(numbers)), *(f'{each:.2f}' for each in figures), by_fold]
        table.append(f'| {" | ".join(cells)} |')
        say(table[-1])
    picks = [min(inside, key=lambda words, k=k: inside[words][k]) for k in range(FOLDS)]
    chosen = np.array([out[words] for words in picks])[study.fold, np.arange(len(study.fold))]
    others = [rms(Study(recording, first).held_out('none')) for first in range(1, EVERY)]
    mean = 1e3 * np.linalg.norm(out['none'], axis=1).mean()
    return TEXT.format(
        every=EVERY, table='\n'.join(table), picks=', '.join(picks), chosen=rms(chosen),
        goal=GOALS[ARM], mean=mean, others=', '.join(f'{each:.2f}' for each in others),
        alone=study.across(alone), several=study.across(~alone),
    )  # fmt: skip
