# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The ASL Trunk of StanfordASL/trunk-stack: a hanging hose with three discs and six motors.

FOLDER/trunk has observations_controlled_1.csv.gz, the same run with 100 g at the tip
(..._1_100g.csv.gz) and the angles that were commanded in both
(control_inputs_controlled_1.csv.gz): discs [m], y up, and angles [deg]. Of every three blocks of
500 rows the last is held out; that was fixed before any fit.
"""

import csv
import gzip
import math
from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
from scipy.optimize import minimize_scalar
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fit_parameters import read_parameters
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.motion_prediction import MotionPredictor
from softrobot_dynamics.identification.motions import motion
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.validation import cross_validate

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402

TITLE = 'ASL Trunk, a hose with three discs'
LENGTHS = (0.105, 0.095, 0.115)  # [m] of the segments, as the discs hang apart
BASE = 0.10, 0.106  # [m] x and z of the origin, about where the hose hangs from
AROUND = 0.035  # [m] of the tendons from the axis, not published: spools come out in proportion
MOTORS = {1: (2, -47.0), 2: (3, 254.0), 3: (1, 179.0), 4: (3, 163.0), 5: (1, 114.0), 6: (2, 43.0)}
"""Of each motor: the segment at whose end its pair ends, and where to it bends that [deg].

As a straight line through angles and discs has it, of rows that are not held out.
"""
BLOCK, EVERY, ROWS, FOLDS = 500, 3, 100, 4
RATE = 100.0  # [Hz] supposed, where the motion is simulated
MOVED = slice(0, 2 * BLOCK)  # rows to which damping is fitted
SEEN = 10  # rows from one that is judged to the next
PAYLOAD = 0.1  # [kg]
TIP = {'name': 'tip', 'type': 'markers', 'points': [{'body': 'segment3'}], 'noise': 1e-3}
UNKNOWN = (0.1, 0.001), (0.5, 0.005), (0.5, 0.05), (2.0, 0.02)  # [N], [N m]
"""Deviations that each segment may have (force, moment); those that fit best are taken."""
IMAGE = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'recordings_trunk.png'


class Run(NamedTuple):
    """Angles (P, 6) [rad], measured and commanded, and discs (P, 3, 3) [m], z down."""

    angles: np.ndarray
    commanded: np.ndarray
    discs: np.ndarray

    @property
    def held_out(self):
        """Return which rows (P,) nothing is fitted to."""
        return np.arange(len(self.angles)) // BLOCK % EVERY == EVERY - 1


def table(path):
    """Return the columns of a file by their names."""
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        names = next(csv.reader(file))
        return dict(zip(names, np.loadtxt(file, delimiter=',').T))


def read(folder, payload=''):
    """Return the :class:`Run` without a payload, or with one."""
    seen = table(folder / 'trunk' / f'observations_controlled_1{payload}.csv.gz')
    told = table(folder / 'trunk' / 'control_inputs_controlled_1.csv.gz')
    discs = np.stack(
        [[seen[f'x{k}'] - BASE[0], seen[f'z{k}'] - BASE[1], -seen[f'y{k}']] for k in (1, 2, 3)]
    ).transpose(2, 0, 1)
    count = len(told['u1'])
    angles, commanded = (
        np.deg2rad(np.stack([each[f'{name}{k}'][:count] for k in MOTORS], axis=1))
        for each, name in ((seen, 'phi'), (told, 'u'))
    )
    return Run(angles, commanded, discs[:count])


def trunk(payload=0.0):
    """Return the description: three segments, of which each bends by a constant curvature."""
    still = {'type': 'fixed', 'origin': {'xyz': [0.0, 0.0, 0.0]}}
    bodies = [{'name': 'mount', 'joint': still, 'body': {'type': 'rigid', 'mass': 0.0}}]
    for k, length in enumerate(LENGTHS):
        hose = {
            'type': 'pcc', 'length': length, 'radius': 0.025, 'density': 300.0, 'damping': 0.05,
            'young_modulus': 2e5, 'poisson_ratio': 0.3,
        }  # fmt: skip
        bodies.append({'name': f'segment{k + 1}', 'joint': {'type': 'fixed'}, 'body': hose})
    weight = {'type': 'rigid', 'mass': payload}
    bodies.append({'name': 'payload', 'joint': {'type': 'fixed'}, 'body': weight})
    actuators = [pair(k, *MOTORS[k]) for k in MOTORS]
    return sd.load_robot(
        {'name': 'trunk', 'gravity': [0.0, 0.0, 9.81], 'bodies': bodies, 'actuators': actuators}
    )


def pair(motor, last, degrees):
    """Return the two tendons of a motor, one drawn in as the other is paid out."""

    def path(phase):
        offset = {'radius': AROUND, 'phase': phase}
        return [{'body': f'segment{k + 1}', 'offset': offset} for k in range(last)]

    phase, drive = math.radians(degrees), {'radius': 0.0125, 'compliance': 1e-3}
    return {
        'name': f'm{motor}', 'type': 'tendon', 'command': 'position', 'path': path(phase),
        'opposite': path(phase + math.pi), 'drive': {**drive, 'pretension': 10.0},
    }  # fmt: skip


MARKERS = [Marker(f'disc{k}', f'segment{k}', (0.0, 0.0, LENGTHS[k - 1])) for k in (1, 2, 3)]
FRAME = [f'mount.origin.xyz.{k}=-0.03..0.03' for k in range(3)]
FRAME += [f'mount.origin.rpy.{k}=-0.5..0.5' for k in range(3)]
STIFF = [f'segment{k}.young_modulus' for k in (1, 2, 3)] + ['pretension']
PHASES = [
    f'm{k}.path.phase={math.radians(a) - 0.5}..{math.radians(a) + 0.5}'
    for k, (_, a) in MOTORS.items()
]
SPOOLS = [f'm{k}.drive.radius' for k in MOTORS]
FITS = {
    'one spool radius': [*FRAME, *STIFF, 'drive.radius'],
    'one spool radius, six directions': [*FRAME, *STIFF, 'drive.radius', *PHASES],
    'six spool radii, six directions': [*FRAME, *STIFF, *SPOOLS, *PHASES],
}


def held(robot, run, rows):
    """Return rows as postures under measured angles; those of a block have one name."""
    names = [str(row // BLOCK) for row in rows]
    return postures(robot, run.angles[rows], MARKERS, run.discs[rows], names)


def predicted(robot, angles):
    """Return the discs (P, 3, 3) [m] at rest under angles, one posture after the other."""
    model, q, found = sd.compile_model(robot), None, []
    for command in angles:
        q = sd.equilibrium(model, command=command, q0=q).q
        found.append([T[:3, 3] for T in sd.forward_kinematics(model, q=q)[1:4]])
    return np.array(found)


def moving(robot, run, rows):
    """Return successive rows as a motion, which begins at rest."""
    t = np.arange(len(run.angles[rows])) / RATE
    return motion(robot, t, run.angles[rows], markers=MARKERS, positions=run.discs[rows])


def rolled(robot, run, rows):
    """Return the discs in rows of blocks, each of which is simulated from its beginning on."""
    found, one = np.full_like(run.discs, np.nan), read_parameters(robot, ['density'])
    for block in np.unique(rows // BLOCK):
        own = slice(block * BLOCK, (block + 1) * BLOCK)
        points = MotionPredictor(one, moving(robot, run, own)).points(np.zeros(1))
        found[own] = points.reshape(-1, 3, 3)
    return found[rows]


def shaped(robot, run, rows, unknown):
    """Return the discs that the tip and the angles tell, as an estimator at rest finds them."""
    model, allowed = sd.compile_model(robot), dict(zip(('force', 'moment'), unknown))
    fit, q, found = sd.ShapeFit(model, {'sensors': [TIP], 'disturbance': allowed}), None, []
    for row in rows:
        try:
            q = fit({'tip': run.discs[row, 2:]}, u=run.angles[row], q0=q).q
        except sd.SoftRobotError:  # what fits the tip is far off: as statics have it
            q = sd.equilibrium(model, command=run.angles[row], q0=q).q
        found.append([T[:3, 3] for T in sd.forward_kinematics(model, q=q)[1:4]])
    return np.array(found)


def errors(there, run, rows):
    """Return root mean squares of distances [mm] of the three discs."""
    return 1e3 * np.sqrt(((there - run.discs[rows]) ** 2).sum(axis=2).mean(axis=0))


def told_by_rates(there, run, rows):
    """Return the share of the tip's error that a line through rates of the angles takes away."""
    rates = np.gradient(run.angles, axis=0)
    smooth = np.stack([np.convolve(r, np.ones(9) / 9.0, 'same') for r in rates.T], axis=1)[rows]
    off = (run.discs[rows] - there)[:, 2]
    left = off - smooth @ np.linalg.lstsq(smooth, off, rcond=None)[0]
    return 1.0 - math.sqrt((left**2).sum() / (off**2).sum())


def behind(run):
    """Return by how many rows measured angles trail the commanded ones, best on fitted rows."""
    own = np.flatnonzero(~run.held_out)

    def miss(late):
        rows = own[own >= late]
        return ((run.angles[rows] - run.commanded[rows - late]) ** 2).mean()

    return min(range(60), key=miss)


def scaled(robot, found, share):
    """Return a robot with all forces of the fitted one times a share, and its weight."""
    return sd.vary(
        robot,
        {
            **{e.name: float(e.value) for e in found.estimates},
            **{e.name: share * float(e.value) for e in found.estimates if e.name in STIFF},
            'density': 300.0 * share,
            'compliance': 1e-3 / share,
        },
    )


def weighed(found, run):
    """Return by how much all forces are to be multiplied, by rows with the known payload."""
    rows = np.flatnonzero(~run.held_out)[::200]

    def miss(logarithm):
        robot = scaled(trunk(PAYLOAD), found, math.exp(logarithm))
        return np.square(errors(predicted(robot, run.angles[rows]), run, rows)).sum()

    return math.exp(minimize_scalar(miss, bounds=(-3.0, 3.0), options={'xatol': 0.02}).x)


TEXT = """
A vacuum hose of {length:.0f} mm hangs, with three discs and two tendons on each of six motors
[StanfordASL/trunk-stack, MIT]: 15,000 rows of a motion, and of the same with 100 g at the tip.
Spools, routes of tendons, stiffness, mass and sample rate are not published. Model: three segments
of constant curvature that stretch, tendons that are told positions. Fitted: mounting, a modulus of
each segment, pretension, spools, directions of tendons.

{rows} rows of two blocks of 500 out of three are fitted; "not seen" leaves one of {folds} groups
of these blocks out. {judged} rows of the third blocks are predicted. Errors: root mean squares of
distances [mm], over discs 1, 2 and the tip.

| fitted | numbers | rms | not seen |
| --- | --- | --- | --- |
{fits}

| discs of blocks that are held out, from | disc 1 | disc 2 | tip | tip, of the length |
| --- | --- | --- | --- | --- |
{table}

![The tip in blocks that are held out](images/recordings_trunk.png)

* Each block is a roll-out of 500 rows from the angles alone, at rest in every row. "Simulated":
  with a damping of {damping:.3f} s ({low:.3f} to {high:.3f}), fitted to two blocks at an assumed
  {rate:g} rows a second.
* A line through rates of the angles takes at most {rates:.0f} % of the tip's error away.
* "Angles and the tip": discs 1 and 2 by `sd.ShapeFit`, with {force:g} N and {moment:g} N m allowed
  on each segment, the best of four for fitted rows.
* Not determined: the scale of all forces ({share:.2f} times the assumed 300 kg/m³ fits the payload
  best); the tendons' distance ({around:.0f} mm assumed) beside the spools' radii; their compliance
  beside the hose's stiffness. Not modelled: friction, and stretch apart from bending.
"""


def draw(rows, run, there):
    """Draw where the tip was, and where it is predicted, along x and y."""
    figure, axes = plt.subplots(2, figsize=(8.0, 4.0), sharex=True)
    for axis, name, k in zip(axes, 'xy', range(2)):
        axis.plot(1e3 * run.discs[rows, 2, k], color='0.6', lw=2.5, label='measured')
        axis.plot(1e3 * there[:, 2, k], color='C3', lw=1.0, label='from angles of the motors')
        axis.set_ylabel(f'tip, {name} [mm]')
        axis.spines[['top', 'right']].set_visible(False)
    ends = np.flatnonzero(np.diff(rows) > SEEN) + 0.5
    for axis in axes:
        for end in ends:
            axis.axvline(end, color='0.8', lw=0.7)
    axes[1].set_xlabel(f'rows held out, every {SEEN}th; lines between blocks')
    axes[0].legend(frameon=False, fontsize=8, loc='upper right', ncols=2)
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)
    plt.close(figure)


def section(folder, options, say):
    """Return the text of the section."""
    run, heavy = read(folder), read(folder, '_100g')
    rows = np.flatnonzero(~run.held_out)
    rows = rows[:: len(rows) // ROWS]
    fits = []
    for words, names in FITS.items():
        found = identify(trunk(), held(trunk(), run, rows), names, loss='linear')
        checked = cross_validate(found, loss='linear', folds=FOLDS)
        fits.append((words, found, checked))
        say(f'{words}: {1e3 * found.rms:.2f}, not seen {1e3 * checked.rms:.2f} mm')
    words, found, _ = min(fits, key=lambda fit: fit[2].rms)
    share, late = weighed(found, heavy), behind(run)
    say(f'forces times {share:.3f}; angles trail by {late} rows')
    real = scaled(trunk(), found, share)
    damped = identify(real, moving(real, run, MOVED), ['damping=0.001..1'], loss='linear')
    (damping,) = damped.estimates
    say(f'damping {damping.value:.3g} s, rms {1e3 * damped.rms:.2f} mm')
    test = np.flatnonzero(run.held_out)[::SEEN]
    unknown = min(
        UNKNOWN, key=lambda each: errors(shaped(found.robot, run, rows, each), run, rows)[:2].sum()
    )
    lines = {
        'angles of the motors': (predicted(found.robot, run.angles[test]), run),
        f'the same, simulated at {RATE:g} rows a second': (
            rolled(damped.robot, run, test), run
        ),
        f'angles commanded {late} rows before': (
            predicted(found.robot, run.commanded[test - late]), run
        ),
        'angles and the tip': (shaped(found.robot, run, test, unknown), run),
        'angles, with 100 g known': (
            predicted(scaled(trunk(PAYLOAD), found, share), heavy.angles[test]), heavy
        ),
        'angles, with 100 g not known': (predicted(found.robot, heavy.angles[test]), heavy),
    }  # fmt: skip
    told = []
    for line, (there, real) in lines.items():
        off = errors(there, real, test)
        told.append(
            f'| {line} | {off[0]:.1f} | {off[1]:.1f} | {off[2]:.1f}'
            f' | {100.0 * off[2] / (1e3 * sum(LENGTHS)):.1f} % |'
        )
        say(told[-1])
    draw(test, run, lines['angles of the motors'][0])
    return TEXT.format(
        length=1e3 * sum(LENGTHS), rows=len(rows), folds=FOLDS, judged=len(test),
        fits='\n'.join(
            f'| {name} | {len(f.x)} | {1e3 * f.rms:.2f} | {1e3 * c.rms:.2f} |'
            for name, f, c in fits
        ),
        table='\n'.join(told), share=share, around=1e3 * AROUND,
        rates=100.0 * told_by_rates(lines['angles of the motors'][0], run, test),
        damping=damping.value, low=damping.lower, high=damping.upper, rate=RATE,
        force=unknown[0], moment=unknown[1],
    )  # fmt: skip
