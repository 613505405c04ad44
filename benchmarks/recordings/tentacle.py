# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The conical tentacle of tud-phi/soromox: two tendons with measured tensions, four markers.

FOLDER/tentacle/tentacle.json is as its authors publish it (geometry, tensions, four markers, held
postures). --others FILE has other postures of the same arm in the same form: each model of the
table is then judged on them, too.
"""

import json
import math

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.identification.fitting import fitted, identify, rms
from softrobot_dynamics.identification.model_selection import choose
from softrobot_dynamics.identification.omitted_in_fit import omitted_strain_questions
from softrobot_dynamics.identification.postures import Marker, postures
from softrobot_dynamics.identification.prediction import Predictor
from softrobot_dynamics.identification.strains import read_strains, with_strains
from softrobot_dynamics.identification.validation import cross_validate

TITLE = 'Tentacle'

CONE, END = 0.305, 0.055  # [m]
ALONG = 0.008  # [m] of the fourth marker beyond the tip
NOISE, PLACES = 5e-3, 3e-3  # [m] of a coordinate, what the model lacks included; of places
HIGH = 5.0  # [N] from which tensions are left out at once
BOTH = 4.0  # [N] of both tendons, of which nothing was measured here
FRICTION = 'friction=0..1'
ENDS = ('path.x.1', 'path.y.1')
STRETCH = ('cone.gamma_z=2', 'end.gamma_z=0')
DENSITIES = ('cone.density', 'end.density')
ROWS = (  # strains besides bending and twist, whether markers' places are fitted, numbers
    ((), False, ('young_modulus',)),
    (STRETCH, False, ('young_modulus',)),
    (STRETCH, False, ('young_modulus', *DENSITIES)),
    (STRETCH, False, ('young_modulus', FRICTION)),
    ((), True, ('young_modulus', *ENDS)),
    (STRETCH, True, ('young_modulus',)),
    (STRETCH, True, ('young_modulus', *ENDS)),
)
CANDIDATES = ('young_modulus', 'density', FRICTION, *ENDS)


def rod(length, radius, order):
    """Return a conical rod that bends, and twists."""
    bases = {'kappa_x': order, 'kappa_y': order, 'kappa_z': min(order, 1)}
    strains = {name: {'basis': 'legendre', 'order': k} for name, k in bases.items()}
    return {
        'type': 'cosserat', 'length': length, 'section': {'type': 'circular', 'radius': radius},
        'density': 1100.0, 'young_modulus': 3e5, 'poisson_ratio': 0.49, 'strains': strains,
    }  # fmt: skip


def tentacle(strains=()):
    """Return the description: two rods, with these strains besides, two tendons, z down."""
    parts = (('cone', rod(CONE, [0.01541, 0.00642], 3)), ('end', rod(END, [0.00642, 0.0048], 0)))
    bodies = [{'name': n, 'joint': {'type': 'fixed'}, 'body': body} for n, body in parts]
    cap = {
        'type': 'rigid', 'mass': 1e-6, 'com': [0.0, 0.0, 0.0],
        'inertia': {'ixx': 1e-12, 'iyy': 1e-12, 'izz': 1e-12},
    }  # fmt: skip
    bodies.append({'name': 'cap', 'joint': {'type': 'fixed'}, 'body': cap})
    actuators = [tendon(name, math.radians(f)) for name, f in (('t1', 30.0), ('t2', 150.0))]
    robot = {'name': 'tentacle', 'gravity': [0.0, 0.0, 9.81], 'base': {'rpy': [math.pi, 0.0, 0.0]}}
    robot = sd.load_robot({**robot, 'bodies': bodies, 'actuators': actuators})
    return with_strains(robot, {each: each.order for each in read_strains(robot, strains)})


def tendon(name, f):
    """Return a tendon at an angle f [rad] from world y to world x."""
    distance = np.array([0.0114, -0.0295 * CONE])
    x, y = math.sin(f) * distance, -math.cos(f) * distance
    offset = {'x': x.tolist(), 'y': y.tolist()}
    path = [{'body': 'cone', 'offset': offset}]
    return {
        'name': name, 'type': 'tendon', 'path': path, 'friction': 0.0, 'limits': [0.0, 8.0]
    }  # fmt: skip


def held(robot, data, places=False, sliding=None):
    """Return the postures; those of like tensions have one name, whichever tendon pulled."""
    known = {'noise': NOISE, 'deviation': PLACES * places}
    markers = [
        Marker(f'{m["s_m"]} m', 'cone', (m['offset_m']['b'], 0.0, m['s_m']), **known)
        for m in data['markers'][:3]
    ]
    markers.append(Marker('tip', 'cap', (0.0, 0.0, ALONG), **known))
    u = [p['tensions_N'] for p in data['postures']]
    there = np.array([p['markers_m'] for p in data['postures']])
    there = there * [1.0, -1.0, -1.0]  # world z is up
    names = ['{:.2f}, {:.2f} N'.format(*sorted(row)) for row in u]
    return postures(robot, u, markers, there, names, sliding)


def off(found, data):
    """Return what is left (P, 4, 3) [m] of postures by a fit to others."""
    points = Predictor(found.parameters, data).points(np.r_[found.x, found.states])
    return data.positions - points


class ParameterSpec:
    """A model of the table, fitted."""

    def __init__(self, data, strains, places, names):
        """Fit numbers of these names to published data, with strains besides bending and twist."""
        self.strains, self.places, self.robot = strains, places, tentacle(strains)
        self._ways = 'in' if FRICTION in names else None  # drawn in last: the file does not say
        self.data = held(self.robot, data, places, self._ways)
        self.found = identify(self.robot, self.data, names, loss='linear')
        self.checked = cross_validate(self.found, loss='linear')

    def higher(self):
        """Return what is left (., 4, 3) [m] of high tensions by a fit to the others."""
        high = self.data.commands.max(axis=1) > HIGH
        low = self.data.only(np.flatnonzero(~high))
        trial = fitted(self.found.parameters, low, [self.found.x], 'linear')
        return off(trial, self.data.only(np.flatnonzero(high)))

    def others(self, data):
        """Return what is left (P, 4, 3) [m] of other postures as published."""
        return off(self.found, held(self.robot, data, self.places, self._ways))

    def line(self, others):
        """Return the row."""
        pairs = zip(self.found.estimates, self.checked.intervals)
        values = ', '.join(number(*pair) for pair in pairs)
        each = [self.found.residuals, self.checked.residuals, self.higher()]
        each += [self.others(others)] if others else []
        errors = ' | '.join(f'{1e3 * rms(e):.1f} ({mean(e):.1f})' for e in each)
        strains = ', '.join(self.strains) or 'none'
        places = 'fitted' if self.places else 'as the file'
        names = ', '.join(self.found.parameters.names)
        return f'| {strains} | {places} | {names} | {values} | {errors} |'


def mean(residuals):
    """Return the mean distance [mm]."""
    return 1e3 * float(np.linalg.norm(residuals, axis=-1).mean())


def number(estimate, interval):
    """Return an estimate in words, with its interval unless it is at its bound."""
    times = '×' if estimate.factor else ''
    if estimate.at_bound:
        return f'{abs(round(estimate.value, 3)):.3g}, at its bound'
    return f'{times}{estimate.value:.4g} ({interval[0]:.4g} to {interval[1]:.4g})'


TEXT = """
A conical silicone tentacle, 0.36 m long, hangs: {count} held postures, four markers, one of two
converging tendons pulls with a measured tension [tud-phi/soromox,
paper_results/secVa_system_identification, MIT]. Model: a `cosserat` rod of 0.305 m (Legendre
order 3 for both curvatures, linear twist) and one of 0.055 m with constant curvature.

The first model has no stretch. `identify` asks about it
([strains left out](identification_reference.md#strains-that-the-model-leaves-out)) after a fit of
the modulus alone:

{questions}

| column | meaning |
| --- | --- |
| rms | root mean square of distances over all markers, in brackets their mean [mm] |
| not seen | both postures of one tension left out of the fit, in turn [mm] |
| higher | tensions above {high:.0f} N, by a fit to the others [mm] |
| places | of markers; fitted: known to {places:.0f} mm, coordinates to {noise:.0f} mm |

| strains besides | places | fitted | values (95 % by jackknife) | rms | not seen | higher |{head}
| --- | --- | --- | --- | --- | --- | --- |{rule}
{rows}

* `choose`, of {candidates} and the strains {strains}, by "not seen", places fitted, takes
  {chosen}: {least:.1f} mm.
* Both tendons at {both:.0f} N (not measured): the tips of the models with and without stretch (the
  last row, and the one two above it) are {apart:.0f} mm apart.
* Two densities: {densities}.
* Friction, each posture reached by drawing in: {friction}.
{placed}
* The scale of all forces is not determined: modulus, density and tensions may be multiplied by one
  number. 1100 kg/m³ is assumed; the stretch then follows from the modulus.
{judged}"""
PLACED = """* Places of markers by the last row: {each} mm along x, y, z of the section there, from
  where the file has them.
"""
JUDGED = (
    """* The last column is on {count} other postures of the arm, to which nothing was fitted."""
)


def section(folder, options, say):
    """Return the text of the section."""
    data = json.loads((folder / 'tentacle' / 'tentacle.json').read_text(encoding='utf-8'))
    others = options.others and json.loads(options.others.read_text(encoding='utf-8'))
    rows, lines = [], []
    for each in ROWS:
        rows.append(ParameterSpec(data, *each))
        lines.append(told(rows[-1].line(others), say))
    questions = [
        doubt.question for doubt in omitted_strain_questions(rows[0].found) if doubt.question
    ]
    picked = chosen(data, say)
    return TEXT.format(
        count=len(data['postures']), high=HIGH, places=1e3 * PLACES, noise=1e3 * NOISE, both=BOTH,
        questions='\n'.join(f'> {words}' for words in questions), rows='\n'.join(lines),
        head=' others |' if others else '', rule=' --- |' if others else '',
        candidates=', '.join(name.split('=')[0] for name in CANDIDATES),
        strains=' and '.join(STRETCH), chosen=', '.join(picked.names),
        least=1e3 * picked.errors[-1], apart=1e3 * apart(rows[-3], rows[-1]),
        densities=compared(rows[2], rows[1]), friction=compared(rows[3], rows[1]),
        placed=placed(rows[-1]),
        judged=JUDGED.format(count=len(others['postures'])) if others else '',
    )  # fmt: skip


def compared(row, without):
    """Say in words what numbers of a row are, and what they change of what is not seen."""
    errors = [1e3 * each.checked.rms for each in (without, row)]
    each = ', '.join(
        f'{e.name} {number(e, i)}'
        for e, i in zip(row.found.estimates, row.checked.intervals)
        if e.name != 'young_modulus'
    )
    return f'{each}; {errors[1]:.1f} mm not seen, {errors[0]:.1f} mm without'


def placed(row):
    """Say in words where the markers of a row are."""
    each = '; '.join(
        f'{name} {", ".join(f"{1e3 * v:.1f}" for v in at)}'
        for name, at in row.found.placed.items()
    )
    return PLACED.format(each=each).rstrip()


def apart(row, other):
    """Return how far the tips of two models are apart [m] where both tendons pull."""
    models = [sd.compile_model(each.found.robot) for each in (row, other)]
    tips = []
    for model in models:
        q = sd.equilibrium(model, u=[BOTH, BOTH]).q
        tips.append(sd.forward_kinematics(model, q=q)[-1][:3, 3])
    return float(np.linalg.norm(tips[0] - tips[1]))


def chosen(data, say):
    """Return the :class:`ModelSelection` among numbers and strains."""
    robot = tentacle()
    found = identify(robot, held(robot, data, True), CANDIDATES, loss='linear')
    return choose(found, strains=read_strains(robot, STRETCH), loss='linear', progress=say)


def told(line, say):
    """Say a line, and return it."""
    say(line)
    return line
