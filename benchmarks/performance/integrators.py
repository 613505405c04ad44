# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Speed and accuracy of the simulation: the Simulator beside two plain methods.

The plain ones, the classical explicit method of Runge and Kutta and a linearly implicit step of
first order, are loops compiled over the same terms; the Simulator is called as users call it.
"""

from energy import changes
from matplotlib.ticker import NullFormatter
import numpy as np
from page import FAINT, OTHER, OURS, PEER
from scipy.integrate import solve_ivp
import softrobot_dynamics as sd
from softrobot_dynamics.dynamics.derivatives import Differentiator
from softrobot_dynamics.errors import SimulationDivergedError
from steppers import explicit, first_order, Loop, Shipped
from timing import in_turns, Spread, spread

TITLE = 'Simulation: error against real time'
PACKAGES = ('scipy',)

ROBOTS = 'trimmed_helicoid', 'pcc_arm'
HELD = np.array([30.0, 0.0, 0.0, 0.0, 20.0, 0.0, 0.0, 0.0, 20.0])  # [N] in the tendons before
THEN = np.array([0.0, 0.0, 20.0, 20.0, 0.0, 0.0, 0.0, 30.0, 0.0])  # and from time zero on
EVERY, SAMPLES = 0.01, 30  # [s] between samples of a path, and their number
STEPS = 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4  # [s]
TOLERANCES = 3e-3, 1e-3, 3e-4, 1e-4, 3e-5
STABLE = 2.785  # h |lambda| up to which the explicit method is, on the negative axis
ENOUGH, FACTOR = 1e-3, 10.0  # what is aimed at: times real time at this error
FREE, FREE_STEPS = 2.0, (1e-3, 5e-4, 2.5e-4, 1.25e-4)  # [s] without damping

LOOKS = {
    'simulator': ('o-', OURS, 'Simulator, fixed step'),
    'tolerance': ('s--', OURS, 'Simulator, tolerance'),
    'first order': ('v-', OTHER, 'linearly implicit, first order'),
    'explicit': ('D', PEER, 'Runge-Kutta 4 at its limit'),
}
SHADES = '#bbccee', '#77aadd', OURS, '#224466'
WORK = 'Error and speed of a manoeuvre; star: what is aimed at for trimmed_helicoid.'
ENERGY = 'Energy of a robot without damping, by the step of the Simulator.'


def prepare(folder):
    """Keep the exact paths."""
    for name in ROBOTS:
        model = sd.compile_model(sd.load_robot(name))
        path, fastest = exact_path(model, sd.equilibrium(model, u=HELD).q)
        np.savez(folder / f'integrators_{name}.npz', path=path, fastest=fastest)


def exact_path(model, start):
    """Coordinates (SAMPLES + 1, n) by Radau's method, and the fastest rate [1/s] on the way."""
    n, evaluator, differentiator = model.n, model.evaluator(), Differentiator(model)

    def rate(t, y):
        terms = evaluator(y[:n], y[n:])
        force = terms.J.T @ (model.signs * THEN) - terms.h
        return np.append(y[n:], np.linalg.solve(terms.M, force))

    def derivative(t, y):
        found = differentiator.forward(y[:n], y[n:], THEN)
        return np.block([[np.zeros((n, n)), np.eye(n)], [found.by_q, found.by_qd]])

    states, span = [np.append(start, np.zeros(n))], (0.0, EVERY)
    for _ in range(SAMPLES):
        done = solve_ivp(rate, span, states[-1], 'Radau', rtol=1e-9, atol=1e-12, jac=derivative)
        states.append(done.y[:, -1])
    fastest = max(np.abs(np.linalg.eigvals(derivative(0.0, y))).max() for y in states)
    return np.array(states)[:, :n], fastest


def measure(folder):
    """Error and time [s] for a simulated second, by robot, method and setting; energies."""
    figures, functions = {}, {}
    for name in ROBOTS:
        model, exact = sd.compile_model(sd.load_robot(name)), _kept(folder, name)
        figures[name] = {'energy': changes(model, HELD, FREE_STEPS, FREE, EVERY)}
        for kind, movers in methods(model, float(exact['fastest'])).items():
            figures[name][kind] = {}
            for setting, mover in movers.items():
                try:
                    found = path(mover, exact['path'][0])
                except SimulationDivergedError:
                    continue
                error = difference(model, found, exact['path'])
                figures[name][kind][str(setting)] = {
                    'error': error,
                    'setting': setting,
                    'steps': mover.substeps,
                }
                functions[name, kind, str(setting)] = _timed(mover, exact['path'][0], kind)
    for (name, kind, setting), time in in_turns(functions, turns=5).items():
        figures[name][kind][setting]['time'] = time
    return figures


def _kept(folder, name):
    return np.load(folder / f'integrators_{name}.npz')


def methods(model, fastest):
    """Return {kind: {setting: mover}}: a setting is a step [s] or a tolerance."""
    limit = EVERY / np.ceil(EVERY * fastest / STABLE)
    return {
        'simulator': {h: Shipped(model, THEN, substep=h) for h in STEPS},
        'tolerance': {t: Shipped(model, THEN, substep=EVERY, tolerance=t) for t in TOLERANCES},
        'first order': {h: Loop(model, first_order, THEN, h) for h in STEPS},
        'explicit': {float(limit): Loop(model, explicit, THEN, limit)},
    }


def path(mover, start, samples=SAMPLES):
    """Coordinates (samples + 1, n) from rest at ``start`` (n,)."""
    mover.reset(start)
    found = [start]
    for _ in range(samples):
        mover.advance(EVERY)
        found.append(mover.q.copy())
    return np.array(found)


def difference(model, found, wanted):
    """
    Largest difference of two paths, of any coordinate at any sample.

    It is relative to the largest value that coordinates of that name take, in any body.
    """
    names = [name.split('/')[-1] for name in model.coordinate_names]
    largest = np.abs(wanted).max(axis=0)
    scale = [max(x for x, other in zip(largest, names) if other == name) for name in names]
    return float((np.abs(found - wanted) / scale).max())


def _timed(mover, start, kind):
    """Return what :func:`in_turns` takes for simulated seconds; explicit steps take long."""
    samples = 1 if kind == 'explicit' else SAMPLES
    return lambda repeats: [path(mover, start, samples) for _ in range(repeats)], samples * EVERY


# -- report -------------------------------------------------------------------------------------


def report(page, runs):
    """Write the target, texts, table and figures."""
    found, sign = _factors(runs, ROBOTS[0], ('simulator', 'tolerance'))
    work = f'{ROBOTS[0]}, nonlinear stress, simulated with an error of {ENOUGH:.0e}'
    met = sign != '<' and found.median >= FACTOR
    page.target(work, f'≥ {FACTOR:.0f} × real time', f'{sign}{found.text()} × real time', met)
    page.text(_text(runs))
    page.table(
        ['robot, method', 'step or tolerance', 'error', 'steps', 'µs a step', '× real time'],
        [
            _row(runs, name, kind, setting)
            for name in ROBOTS
            for kind in LOOKS
            for setting in runs[0][name][kind]
        ],
    )
    page.figure('integrators', lambda axes: _draw(axes, runs), WORK, columns=2)
    page.text(_energy_text(runs))
    page.figure('energy', lambda axes: _draw_energy(axes, runs), ENERGY, columns=2)


def factor_at(results, error):
    """
    Return how many times real time an error allows, by straight lines in logarithms, and a sign.

    '>' where even the longest step that was taken has a smaller error, '<' where even the
    shortest has a larger one; the factor is then theirs.
    """
    errors, factors = np.log(sorted((r['error'], 1.0 / r['time']) for r in results.values())).T
    sign = '>' if np.log(error) > errors[-1] else '<' if np.log(error) < errors[0] else ''
    return float(np.exp(np.interp(np.log(error), errors, factors))), sign


def _factors(runs, name, kinds):
    """Return the :class:`Spread` of the factors at ENOUGH, each of the best kind, and the sign."""
    found = [
        max((factor_at(run[name][kind], ENOUGH) for kind in kinds), key=lambda f: (f[1] != '<', f))
        for run in runs
    ]
    factors = [factor for factor, _ in found]
    return Spread(float(np.median(factors)), min(factors), max(factors)), found[0][1]


def _order(results):
    """Order of convergence between the two shortest steps."""
    (near, few), (far, many) = sorted((r['setting'], r['error']) for r in results.values())[:2]
    return np.log(many / few) / np.log(far / near)


def _text(runs):
    order, first = (
        ', '.join(f'{_order(runs[0][name][kind]):.1f} for {name}' for name in ROBOTS)
        for kind in ('simulator', 'first order')
    )
    return f"""
The robot, in equilibrium under three tendons of 20 to 30 N, is let go and pulled by three others,
and swings for {EVERY * SAMPLES:.1f} s. Error: the largest of any coordinate at {SAMPLES} samples,
relative to its largest value in any body, against scipy's Radau with exact derivatives at 1e-9.
Stress and damping of `trimmed_helicoid` are nonlinear. The Simulator is called from Python every
{1e3 * EVERY:.0f} ms; the others are compiled loops. Steps with which a method diverges are left
out.

Measured order with a fixed step: {order}; of the linearly implicit step: {first}.
Times real time at an error of {ENOUGH:.0e}, interpolated (> and <: all errors are smaller or
larger):

{chr(10).join(_comparison(runs, name) for name in ROBOTS)}
"""


def _comparison(runs, name):
    cells = []
    for kind, (_, _, label) in LOOKS.items():
        found, sign = _factors(runs, name, (kind,))
        cells.append(f'{label} {sign}{found.text()}')
    return f'- {name}: {"; ".join(cells)}.'


def _row(runs, name, kind, setting):
    result = runs[0][name][kind][setting]
    time, step = spread(runs, name, kind, setting, 'time'), result['setting']
    factor = Spread(*(1.0 / t for t in (time.median, time.high, time.low)))
    duration = EVERY * SAMPLES
    return [
        f'{name}, {LOOKS[kind][2]}',
        f'{step:.0e}' if kind == 'tolerance' else f'{step * 1e3:.3g} ms',
        f'{result["error"]:.1e}',
        f'{result["steps"]}',
        f'{time.median * duration / result["steps"] * 1e6:.1f}',
        factor.text(),
    ]


def _draw(axes, runs):
    for axis, name in zip(axes, ROBOTS):
        for kind, (look, color, label) in LOOKS.items():
            results = runs[0][name][kind]
            factors = [1.0 / spread(runs, name, kind, s, 'time').median for s in results]
            errors = [r['error'] for r in results.values()]
            axis.plot(factors, errors, look, color=color, markersize=4, label=label)
        axis.set(xscale='log', yscale='log', xlabel='times real time', title=name)
        axis.xaxis.set_minor_formatter(NullFormatter())
    axes[0].plot([FACTOR], [ENOUGH], '*', color=FAINT, markersize=10)
    axes[0].set_ylabel('error')
    axes[1].legend()


def _energy_text(runs):
    lost = {}
    for name in ROBOTS:
        kept = runs[0][name]['energy']
        lost[name] = ', '.join(_lost(h, kept['times'], c) for h, c in kept['changes'].items())
    return f"""
Without damping and tension a robot keeps its energy. Share of the free energy gained or lost
after {FREE:.0f} s, by the step:
{'; '.join(f'{name}, {words}' for name, words in lost.items())}. The method damps motions that are
fast for its step, by design; slower ones may gain or lose. It is made for robots with some
damping.
"""


def _lost(h, times, change):
    ends = '' if len(change) == len(times) else f' at {times[len(change) - 1]:.2f} s, it diverges'
    return f'{1e3 * float(h):.3g} ms: {change[-1]:+.1e}{ends}'


def _draw_energy(axes, runs):
    for axis, name in zip(axes, ROBOTS):
        kept = runs[0][name]['energy']
        for color, (h, change) in zip(SHADES, kept['changes'].items()):
            times = kept['times'][: len(change)]
            axis.plot(times, change, color=color, label=f'{1e3 * float(h):.3g} ms')
        axis.set(xlabel='time [s]', title=name)
        axis.set_ylim(top=min(0.5, axis.get_ylim()[1]))  # one that diverges would hide the rest
    axes[0].set_ylabel('energy gained, of what was free')
    axes[1].legend()
