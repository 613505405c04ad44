# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Every pattern of the FTDCR predicted once, by fits of others: what no choice of a third decides.

This was added after the third that is held out (ftdcr.py) had been looked at. Nothing was chosen
by it: model, settings, folds and seed are those of the first run.
"""

from concurrent.futures import as_completed, ProcessPoolExecutor
import multiprocessing
import os
import textwrap

from arcs import Arcs
import ftdcr
import numpy as np
from softrobot_dynamics.identification.fitting import identify
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.identification.sliding_direction import ways_by_rows

TITLE = 'FTDCR, every pattern left out once'
FOLDS, SEED = 5, 1
LEAST = 1e-4  # [m] by which a displacement comes back before its tendon slides the other way
CHOSEN, FRICTION = 'nine offsets', 'friction=0..0.5'
RUBS = ('v6',)  # whose hysteresis is the larger part of what is off
GOALS = {'v4': 7.2, 'v6': 9.4}  # [mm] half of what arcs are off by, as others have found
ARCS, SLACK = 'arcs', 'arcs, slack tendons aside'
STATICS = f'statics, {CHOSEN}'
RUBBING = f'{STATICS}, friction by the order of rows'


def folds_of(patterns):
    """Return the fold (P,) of each row; a pattern is in one, drawn by the seed."""
    names = list(dict.fromkeys(patterns))
    drawn = np.random.default_rng(SEED).permutation(len(names))
    turn = {names[k]: place % FOLDS for place, k in enumerate(drawn)}
    return np.array([turn[name] for name in patterns])


def by_arcs(recording, fitted, wanted, taut):
    """Return the tips (., 3) [m] of rows that are wanted by arcs fitted to others."""
    model = Arcs(ftdcr.ANGLES, ftdcr.RADIUS, ftdcr.LENGTHS[recording.arm], taut)
    x = model.fit(recording.u[fitted], recording.tips[fitted])
    return model.predict(x, recording.u[wanted])


def by_statics(recording, fitted, wanted):
    """
    Return the same by statics, (words, tips, what was found in words), for each of the models.

    A fit with friction begins at the one without, to the same rows.
    """
    pretension, names = ftdcr.FITS[CHOSEN]
    robot, rows = ftdcr.robot_of(recording.arm, pretension), fitted[:: _every(fitted)]

    def tips(found, ways):
        data = ftdcr.held(found.parameters.description, recording, wanted, ways)
        return Predictor(found.parameters, data).points(found.x)[:, 0]

    found = identify(robot, ftdcr.held(robot, recording, rows), names, loss='linear')
    results = [(STATICS, tips(found, None), '')]
    if recording.arm in RUBS:
        ways, robot = ways_by_rows(recording.u, LEAST), found.robot
        data = ftdcr.held(robot, recording, rows, ways)
        found = identify(robot, data, [*names, FRICTION], loss='linear')
        results.append((RUBBING, tips(found, ways), f'{found.estimates[-1].value:.2g}'))
    return results


def _every(rows):
    return max(1, len(rows) // ftdcr.ROWS)


def left_out(folder, arm, fold, kind):
    """Return rows (.,) that a fold leaves out, and (words, tips (., 3), found) for each model."""
    recording = ftdcr.read(folder, arm)
    out = folds_of(recording.patterns) == fold
    fitted, wanted = np.flatnonzero(~out), np.flatnonzero(out)
    if kind == STATICS:
        return wanted, by_statics(recording, fitted, wanted)
    return wanted, [(kind, by_arcs(recording, fitted, wanted, kind == SLACK), '')]


def every_fold(folder, say):
    """Return by (arm, words) the tips (P, 3) [m] of all rows, and by fold what was found."""
    there, found = {}, {}
    tasks = [
        (arm, k, kind) for kind in (STATICS, SLACK, ARCS) for arm in GOALS for k in range(FOLDS)
    ]
    own = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(os.cpu_count(), mp_context=own) as pool:
        running = {pool.submit(left_out, folder, *task): task for task in tasks}
        for done in as_completed(running):
            (arm, fold, _), (rows, results) = running[done], done.result()
            recording = ftdcr.read(folder, arm)
            for words, tips, value in results:
                whole = there.setdefault((arm, words), np.full_like(recording.tips, np.nan))
                whole[rows] = tips
                found.setdefault((arm, words), {})[fold] = value
                error = ftdcr.error(whole, recording, rows)
                say(f'{arm}, {words}, fold {fold + 1} of {FOLDS}: {error:.2f} mm {value}')
    return there, found


def line(recording, words, there, found):
    """Return a row of the table: all rows, tendons pulled alone, others, by fold, friction."""
    alone = np.array([name.endswith('_pull') for name in recording.patterns])
    fold = folds_of(recording.patterns)
    groups = alone | ~alone, alone, ~alone, *(fold == k for k in range(FOLDS))
    errors = [ftdcr.error(there, recording, rows) for rows in groups]
    numbers = [f'{value:.1f}' for value in errors]
    if errors[0] <= GOALS[recording.arm]:
        numbers[0] = f'**{numbers[0]}**'
    cells = [recording.arm, words, *numbers[:3], ', '.join(numbers[3:]), found]
    return f'| {" | ".join(cells)} |'


TEXT = """
The third of the patterns that is held out above has in it tendons that no other pattern shows
alone. So here every pattern of a file is left out once: all of them dealt to {folds} folds by a
seed ({seed}), each fold predicted, all its rows, by fits of the others. This was added after the
held out third had been looked at; neither the model, statics with nine offsets, nor any setting
was chosen by it. Statics are fitted to about {rows} rows, arcs to all rows that are not left out.
Errors are the root mean square of the distance of the tip, in mm; bold is what is within half of
what others have found with arcs, {goals}.

| arm | model | all rows | a tendon alone | several tendons | by fold | friction by fold |
| --- | --- | --- | --- | --- | --- | --- |
{table}

{judged}
* Each tendon is pulled alone in one pattern. Where that one is left out, nothing else shows as
  well when the tendon takes up, and that is the larger error: pull each tendon alone twice.

*Friction by the order of rows*: capstan friction at rest, one coefficient for all nine tendons.
Each slid last towards the drive or away from it as its displacement rose or fell from row to row,
changes below {least:.1f} mm aside. The coefficient is fitted besides (0 to 0.5), beginning at the
fit without.
"""


def judged(recording, errors):
    """Return in words what the table says of an arm, by words and errors [mm] of its models."""
    arm, statics, arcs = recording.arm, errors[STATICS], min(errors[ARCS], errors[SLACK])
    goal = GOALS[arm]
    met = 'within' if statics <= goal else 'not within'
    text = f'* {arm}: statics are off by {statics:.1f} mm on patterns not fitted, {met} {goal} mm;'
    text += f' arcs, the better of the two, by {arcs:.1f} mm, {arcs / statics:.1f} times as much.'
    if RUBBING in errors:
        change = 100.0 * (errors[RUBBING] / statics - 1.0)
        more = f'{abs(change):.0f} % {"more" if change > 0.0 else "less"}'
        text += ' With friction by the order of rows the error is'
        text += f' {more if abs(change) >= 1.0 else "the same within 1 %"}.'
    return textwrap.fill(text, 98, subsequent_indent='  ')


def section(folder, options, say):
    """Return the text of the section."""
    there, found = every_fold(folder, say)
    table, told = [], []
    for arm in GOALS:
        recording, errors = ftdcr.read(folder, arm), {}
        for words in (ARCS, SLACK, STATICS, RUBBING):
            if (arm, words) in there:
                tips, values = there[arm, words], found[arm, words]
                errors[words] = ftdcr.error(tips, recording, slice(None))
                value = ', '.join(values[k] for k in range(FOLDS) if values[k])
                table.append(line(recording, words, tips, value))
        if options.baseline:
            tips = ftdcr.baseline(options.baseline, recording)
            table.append(line(recording, options.baseline.stem, tips, ''))
        told.append(judged(recording, errors))
    return TEXT.format(
        folds=FOLDS, seed=SEED, rows=ftdcr.ROWS, least=1e3 * LEAST, table='\n'.join(table),
        judged='\n'.join(told),
        goals=' and '.join(f'{goal} mm ({arm})' for arm, goal in GOALS.items()),
    )  # fmt: skip
