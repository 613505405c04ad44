# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
One soft arm as this package, MuJoCo and PyElastica solve it: orders of magnitude, not a contest.

The arm of :mod:`pcs` hangs askew under its weight. All find the same posture at rest; what they
solve on the way there differs.
"""

import numpy as np
import pcs
import softrobot_dynamics as sd
from softrobot_dynamics.compiling.addresses import run
from softrobot_dynamics.compiling.binding import cached
from softrobot_dynamics.compiling.jit import kernel
from softrobot_dynamics.kernels.linalg import cholesky, solve_lower, solve_lower_transposed
from timing import in_turns, ratio, spread

TITLE = 'For scale: other ways to simulate an arm'
PACKAGES = ('mujoco', 'pyelastica')

_WORDS = """
A soft arm of {length:g} m hangs askew under its weight, without actuators. The three programs do
not solve the same equations: compare orders of magnitude only.

* ours: {segments} segments of constant strain (PCS: all six; PCC: bends and elongation), implicit
  steps of second order, {step:g} ms;
* MuJoCo: rigid cylinders on elastic balls, no stretch or shear, first order, {step:g} ms,
  implicit in damping; contacts switched off;
* PyElastica: a Cosserat rod with all strains, explicit steps, the longest stable ones of {tried}
  ms; it resolves waves along the rod, and can do contacts.

Last column: distance of the tip at rest from that of {fine} segments of ours, of the length. A
second of simulation from there is driven from Python: a call for each step of ours and of
PyElastica, one call for all steps of MuJoCo.
"""
_CLOSE = """
MuJoCo's chain of as many coordinates as our PCS arm (n = {n}) takes {steps} times as long as that
for a simulated second, and {forward} times for an acceleration; PyElastica's rods take {rods}
times as long for a simulated second. {verdict}
"""

SEGMENTS, FINE = 3, 24  # of the arm, and where its posture should be right
LINKS = 3, 6, 12, 20  # balls of MuJoCo's chains
ELEMENTS = 50, 100  # of PyElastica's rods
STEP = 5e-4  # [s] of ours and of MuJoCo
STEPS = 8e-4, 4e-4, 2e-4, 1e-4, 5e-5  # [s] of which PyElastica takes the longest stable one
SETTLED, TRIAL = 4.0, 0.5  # [s] simulated until all is at rest, and until a step proves unstable
FRICTION, DAMPED = 8.0, 10.0  # [1/s] of PyElastica's rod; times MuJoCo's damping while it settles
SAME = 0.03  # of the length: how far tips may be apart
LENGTH = SEGMENTS * pcs.LENGTH
AREA = np.pi * pcs.RADIUS**2
BENDING = pcs.YOUNG_MODULUS * AREA * pcs.RADIUS**2 / 4.0  # E I [N m^2]


@kernel
def accelerate(evaluate, q, qd, terms, repeats):
    """Forward dynamics without actuators, many times: -M^-1 h takes the place of ``terms.h``."""
    for _ in range(repeats):
        run(evaluate, q, qd)
        cholesky(terms.M)
        solve_lower(terms.M, terms.h)
        solve_lower_transposed(terms.M, terms.h)


def measure(folder):
    """
    Return {'kinds', 'sizes', 'n', 'misses', 'steps', 'second', 'forward'}, a list each.

    The last two are seconds: for a simulated second, and for an acceleration (None: has none).
    """
    models = [_Ours('PCC', _pcc_arm()), _Ours('PCS', pcs.arm(SEGMENTS))]
    models += [_Mujoco(links) for links in LINKS] + [_Pyelastica(count) for count in ELEMENTS]
    right = _tip(pcs.arm(FINE, length=LENGTH / FINE))
    misses = [float(np.linalg.norm(model.rest() - right)) / LENGTH for model in models]
    assert max(misses) <= SAME, misses
    functions = {}
    for i, model in enumerate(models):
        functions[i, 'step'] = model.advance, 1
        if hasattr(model, 'forward'):
            functions[i, 'forward'] = model.forward, 1
    found = in_turns(functions)
    return {
        'kinds': [model.kind for model in models],
        'sizes': [model.size for model in models],
        'n': [model.n for model in models],
        'misses': misses,
        'steps': [model.step for model in models],
        'second': [found[i, 'step'] / model.step for i, model in enumerate(models)],
        'forward': [found.get((i, 'forward')) for i in range(len(models))],
    }


def _pcc_arm():
    rod = {
        'type': 'pcc', 'length': pcs.LENGTH, 'radius': pcs.RADIUS, 'density': pcs.DENSITY,
        'young_modulus': pcs.YOUNG_MODULUS, 'damping': pcs.DAMPING,
    }  # fmt: skip
    bodies = [
        {'name': f'segment{i}', 'joint': {'type': 'fixed'}, 'body': rod} for i in range(SEGMENTS)
    ]
    given = {'name': 'arm', 'gravity': list(pcs.GRAVITY), 'bodies': bodies}
    return sd.compile_model(sd.load_robot(given))


def _tip(model):
    """Return where the tip of our model is at rest, (3,) [m]."""
    return sd.forward_kinematics(model, q=_rest(model))[-1, :3, 3]


def _rest(model):
    return sd.equilibrium(model, u=np.zeros(0)).q


class _Ours:
    """An arm of our bodies in our simulator."""

    step = STEP

    def __init__(self, name, model):
        self.kind, self.size, self.n = 'ours', f'{SEGMENTS} segments, {name}', model.n
        self._model, self._simulator = model, sd.Simulator(model)
        self._program, self._evaluator = cached(accelerate), model.evaluator()
        self._still = np.zeros(model.n)

    def rest(self):
        """Come to rest; return where the tip is then, (3,) [m]."""
        self._simulator.reset(_rest(self._model))
        return _tip(self._model)

    def advance(self, steps):
        """Simulate as many steps."""
        for _ in range(steps):
            self._simulator.step([], STEP)

    def forward(self, repeats):
        """Find the acceleration many times."""
        own = self._evaluator
        self._program(own.entry, self._still, self._still, own.terms, repeats)


class _Mujoco:
    """Rigid cylinders on elastic ball joints, each in the middle of an element of the rod."""

    kind, step = 'MuJoCo', STEP

    def __init__(self, links):
        import mujoco

        self._library, self.size, self.n = mujoco, f'{links} links on balls', 3 * links
        self._model = mujoco.MjModel.from_xml_string(_chain(links))
        self._data = mujoco.MjData(self._model)

    def rest(self):
        """See :class:`_Ours`."""
        self._model.dof_damping *= DAMPED
        self.advance(round(SETTLED / STEP))
        self._model.dof_damping /= DAMPED
        return self._data.site('tip').xpos.copy()

    def advance(self, steps):
        """See :class:`_Ours`."""
        self._library.mj_step(self._model, self._data, nstep=steps)

    def forward(self, repeats):
        """See :class:`_Ours`."""
        for _ in range(repeats):
            self._library.mj_forward(self._model, self._data)


def _chain(links):
    """Return MuJoCo's description of the arm; the first half element stands still."""
    length, square = LENGTH / links, pcs.RADIUS**2
    inside, stiffness = '<site name="tip" pos="0 0 {half}"/>', BENDING / length
    for i in range(links):
        own = length if i else 0.5 * length  # from the tip on
        mass = pcs.DENSITY * AREA * own
        across = mass * (square / 4.0 + own**2 / 12.0)
        inside = (
            f'<body pos="0 0 {length if i < links - 1 else 0.5 * length}">'
            f'<joint type="ball" stiffness="{stiffness}" damping="{pcs.DAMPING * stiffness}"/>'
            f'<inertial pos="0 0 {0.5 * own}" mass="{mass}" '
            f'diaginertia="{across} {across} {0.5 * mass * square}"/>{inside}</body>'
        )
    inside = inside.format(half=0.5 * length)
    gravity = ' '.join(map(str, pcs.GRAVITY))
    return (
        f'<mujoco><option timestep="{STEP}" integrator="implicitfast" gravity="{gravity}">'
        f'<flag contact="disable"/></option><worldbody>{inside}</worldbody></mujoco>'
    )


class _Pyelastica:
    """A Cosserat rod of finite elements, all its waves followed by explicit steps."""

    kind = 'PyElastica'

    def __init__(self, elements):
        import elastica

        self._library, self._elements = elastica, elements
        self.size, self.n = f'{elements} elements', 6 * elements
        self.step = next(step for step in STEPS if self._stable(step))
        self._start(self.step)

    def _start(self, step):
        """Begin anew with the rod straight."""
        library, self._stepper = self._library, self._library.PositionVerlet()

        class Simulation(
            library.BaseSystemCollection, library.Constraints, library.Forcing, library.Damping
        ):
            pass

        self._simulation, self._time = Simulation(), np.float64(0.0)
        self._rod = library.CosseratRod.straight_rod(
            self._elements, np.zeros(3), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]),
            LENGTH, pcs.RADIUS, pcs.DENSITY, youngs_modulus=pcs.YOUNG_MODULUS,
            shear_modulus=pcs.YOUNG_MODULUS / 3.0,
        )  # fmt: skip
        self._simulation.append(self._rod)
        self._simulation.constrain(self._rod).using(
            library.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
        )
        self._simulation.add_forcing_to(self._rod).using(
            library.GravityForces, acc_gravity=np.array(pcs.GRAVITY)
        )
        self._simulation.dampen(self._rod).using(
            library.AnalyticalLinearDamper, uniform_damping_constant=FRICTION, time_step=step
        )
        self._simulation.finalize()

    def _stable(self, step):
        """Tell whether the rod's motion remains one with steps [s]."""
        self._start(step)
        with np.errstate(all='ignore'):
            self._run(round(TRIAL / step), step)
        tip = self._rod.position_collection[:, -1]
        return bool(np.isfinite(tip).all() and np.linalg.norm(tip) < 1.5 * LENGTH)

    def _run(self, steps, step):
        for _ in range(steps):
            self._time = self._stepper.step(self._simulation, self._time, step)

    def rest(self):
        """See :class:`_Ours`."""
        self._run(round(SETTLED / self.step), self.step)
        return self._rod.position_collection[:, -1].copy()

    def advance(self, steps):
        """See :class:`_Ours`."""
        self._run(steps, self.step)


def report(page, runs):
    """Write the section: a table, and what it says."""
    first = runs[0]
    page.text(_WORDS.format(
        length=LENGTH, segments=SEGMENTS, step=STEP * 1e3, fine=FINE,
        tried=', '.join(f'{step * 1e3:g}' for step in STEPS),
    ))  # fmt: skip
    rows = [
        [f'{kind}, {first["sizes"][i]}', str(first['n'][i])]
        + [', '.join(sorted({f'{run["steps"][i] * 1e3:g}' for run in runs}))]
        + [spread(runs, 'second', i).text(1e-3), _acceleration(runs, i)]
        + [f'{100.0 * first["misses"][i]:.2g} %']
        for i, kind in enumerate(first['kinds'])
    ]
    headers = [
        '',
        'n',
        'step [ms]',
        'a simulated second [ms]',
        'an acceleration [µs]',
        'tip off by',
    ]
    page.table(headers, rows)
    ours = first['sizes'].index(f'{SEGMENTS} segments, PCS')
    chain = next(i for i, n in enumerate(first['n']) if n == first['n'][ours] and i != ours)
    rods = [i for i, kind in enumerate(first['kinds']) if kind == 'PyElastica']
    shares = {key: ratio(runs, (key, chain), (key, ours)) for key in ('second', 'forward')}
    others = [ratio(runs, ('second', i), ('second', ours)) for i in rods]
    page.text(_CLOSE.format(
        n=first['n'][ours], steps=shares['second'].text(), forward=shares['forward'].text(),
        rods=' and '.join(share.text() for share in others),
        verdict=_verdict(MuJoCo=shares['second'], PyElastica=min(others)),
    ))  # fmt: skip


def _verdict(**shares):
    faster = [name for name, share in shares.items() if share.median < 1.0]
    return f'{" and ".join(faster)} can be faster than ours.' if faster else 'Ours is the fastest.'


def _acceleration(runs, i):
    return spread(runs, 'forward', i).text(1e-6) if runs[0]['forward'][i] else '–'
