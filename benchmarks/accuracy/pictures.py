# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Pictures of what benchmarks/accuracy found."""

import equilibria
import matplotlib
import motions
import numpy as np
import references
import rods
import softrobot_dynamics as sd

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib import ticker  # noqa: E402

COLOURS = {
    '`planar_cc`': '#4477aa', '`pcc`': '#ee6677', '`cosserat` of constant': '#228833',
    '`cosserat`, Legendre': '#aa3377', '`ritz': '#b8860b',
}  # fmt: skip
"""Colour of a study by how the words of its body model begin."""

MARKS = dict(zip(COLOURS, 'osDv^'))
LABELS = dict(
    zip(
        COLOURS,
        (
            'planar_cc, N bodies',
            'pcc, N bodies',
            'cosserat of constant strain, N bodies',
            'cosserat, Legendre degree p',
            'ritz, degree p',
        ),
    )
)
TICKS = 2, 5, 10, 20, 50, 100, 200
STYLE = {
    'font.size': 9.0, 'axes.titlesize': 9.0, 'axes.grid': True, 'grid.color': '#dddddd',
    'axes.axisbelow': True, 'axes.spines.top': False, 'axes.spines.right': False,
    'legend.frameon': False, 'legend.fontsize': 8.0, 'figure.constrained_layout.use': True,
}  # fmt: skip


def statics(chapters, path):
    """Shapes of the elastica and of the closing circle; how errors fall."""
    figure, axes = plt.subplots(1, 3, figsize=(11.0, 4.0), width_ratios=(1.3, 1.0, 1.0))
    _shapes(axes[0])
    _convergence(axes[1], chapters, 'Elastica: dead load at the tip')
    _convergence(axes[2], chapters, 'Self-weight')
    _save(figure, path, axes[1:])


def _shapes(axis):
    """Rods under tip forces, and mirrored under tip moments, with the tips of the references."""
    model = rods.model(rods.gvs(*rods.THIN)(equilibria.ROD, 6))
    s = np.linspace(0.0, 1.0, 60)
    forces = [(k, f'k = {k:g}', references.elastica(k)[1:] * [-1, 1]) for k in equilibria.LOADS]
    moments = [(t, f't = {t:.3g}', references.tip_moment(t)) for t in equilibria.MOMENTS]
    for component, cases, side, colour in (
        (equilibria.FORCE, forces, 1.0, COLOURS['`cosserat`, Legendre']),
        (equilibria.MOMENT, moments, -1.0, COLOURS['`planar_cc`']),
    ):
        q = None
        for load, words, (u, w) in cases:
            q = _held(model, component, load, q)
            x, z = _backbone(model, q, s)[:, [0, 2]].T
            axis.plot(z, side * x, color=colour, lw=1.5)
            axis.plot(1.0 + u, side * w, 'k.', ms=6)
            place = (-0.05, -0.4) if words == 't = 6.28' else (1.04 + u, side * w)
            axis.annotate(words, place, fontsize=7, va='center')
    axis.set(aspect='equal', xlabel='z/L', ylabel='x/L', xlim=(-0.3, 1.3))
    axis.set_title('tip forces k and moments t; dots: references')


def vibrations(chapters, path):
    """Draw how the errors of the first three frequencies fall."""
    titles = [
        'Bending of a thin rod', 'Axial vibrations', 'Torsional vibrations',
        'Bending of a thick rod that shears',
    ]  # fmt: skip
    figure, axes = plt.subplots(1, 4, figsize=(11.0, 3.8), sharey=True)
    for axis, title in zip(axes, titles):
        _convergence(axis, chapters, title)
    for axis in axes[1:]:
        axis.set_ylabel('')
    _save(figure, path, axes)


def spin_up(chapters, path):
    """Tip of the spun rod over time."""
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6))
    times, marks = np.linspace(0.05, 20.0, 400), np.arange(1.0, 20.1, 1.0)
    model = rods.model(rods.gvs(*rods.PLANE, quadrature=40)(motions.SPUN, 6), rods.HINGE)
    tip = motions.spin_up_path(model, times) - [0.0, motions.LENGTH]
    exact = references.spin_up_tip(marks)
    steady = references.spinning_tip(motions.RATE, motions.AXIAL, motions.LINE, motions.LENGTH)
    for i, (axis, scale) in enumerate(zip(axes, (1.0, 1e3))):
        colour = COLOURS['`cosserat`, Legendre']
        axis.plot(times, scale * tip[:, i], color=colour, lw=1.2, label='cosserat, degree 6')
        axis.plot(marks, scale * exact[:, i], 'k.', ms=5, label='reference')
    axes[1].axhline(
        1e3 * steady, color='#4477aa', lw=0.8, ls='--', label='steady extension, closed form'
    )
    axes[0].set(xlabel='t [s]', ylabel='across [m]', title='tip in the turning frame')
    axes[1].set(xlabel='t [s]', ylabel='along [mm]', title='extension (below -1 mm: bent)')
    axes[1].set_ylim(-1.0, 1.0)
    _save(figure, path, axes[1:])


def flight(chapters, path):
    """Shapes of the flying rod, and what momenta and energy lack."""
    figure = plt.figure(figsize=(11.0, 4.2))
    grid = figure.add_gridspec(2, 2, width_ratios=(1.6, 1.0))
    views = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0])
    balance = figure.add_subplot(grid[:, 1])
    model = motions.flying_rod(rods.gvs(*rods.ALL, quadrature=8), 2)
    s, colours, lacking = np.linspace(0.0, 10.0, 15), plt.get_cmap('viridis'), []
    times = np.arange(0.5, 10.1, 0.5)
    for t, (q, qd, given) in zip(times, motions.fly(model, times)):
        points = _backbone(model, q, s)
        for axis, i in zip(views, (1, 2)):
            axis.plot(points[:, 0], points[:, i], color=colours(t / 10.5), lw=1.2)
        lacking.append(np.abs(motions.lacking(model, t, q, qd, given)))
    for axis, name in zip(views, 'yz'):
        axis.set(xlabel='x [m]', ylabel=f'{name} [m]', aspect='equal')
    views[0].set_title('every 0.5 s, from above and from the side')
    names = 'linear momentum', 'angular momentum', 'energy'
    for values, name, mark in zip(np.transpose(lacking), names, 'osD'):
        values = np.maximum(values, 1e-17)
        balance.semilogy(times, values, mark + '-', ms=3, lw=0.8, label=name)
    balance.axvline(motions.LOADED, color='k', lw=0.6, ls=':')
    balance.set(xlabel='t [s]', ylim=(1e-17, 1e-7), title='lacking, relative; dotted: let go')
    _save(figure, path, [balance])


PICTURES = {'statics': statics, 'vibrations': vibrations, 'spin_up': spin_up, 'flight': flight}
OF_CHAPTER = {
    'Statics': ['statics'], 'Small vibrations': ['vibrations'], 'Motion': ['spin_up', 'flight'],
}  # fmt: skip


def draw(name, chapters, path):
    """Draw one of PICTURES from the solved chapters into a file."""
    with plt.rc_context(STYLE):
        PICTURES[name](chapters, path)


def _backbone(model, q, s):
    """Points (K, 3) [m] of the backbone of a model of one body at s (K,) [m]."""
    points = np.outer(s, [0.0, 0.0, 1.0])
    return sd.material_points(model, q=q, points=points).positions


def _held(model, component, load, q):
    wrench = np.zeros(6)
    wrench[component] = load
    loaded = {'b0': sd.Wrench(wrench, frame='base')}
    return sd.equilibrium(model, u=np.zeros(0), q0=q, wrenches=loaded).q


def _convergence(axis, chapters, title):
    """Errors against coordinates of all studies of a problem."""
    solved = [pair for _, pairs in chapters for pair in pairs if pair[0].title == title]
    for result in solved[0][1]:
        body = result.study.body
        kind = next((key for key in COLOURS if body.startswith(key)), None)
        sizes = [answer.n for answer in result.answers]
        if kind and len(set(sizes)) > 1:
            options = {'color': COLOURS[kind], 'label': LABELS[kind], 'lw': 1.0}
            face = 'none' if kind == '`planar_cc`' else None  # lies under that of `cosserat`
            size = 8 if face else 4
            axis.loglog(sizes, result.errors, MARKS[kind] + '-', ms=size, mfc=face, **options)
    axis.set(xlabel='coordinates n', ylabel='relative error', title=title)
    axis.set_xticks(TICKS, [str(tick) for tick in TICKS])
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.set_xlim(1.7, 260.0)


def _save(figure, path, axes):
    """Save with one legend below, of all that the axes show."""
    entries = {}
    for axis in axes:
        entries |= dict(zip(*axis.get_legend_handles_labels()[::-1]))
    figure.legend(entries.values(), entries, loc='outside lower center', ncols=len(entries))
    figure.savefig(path, dpi=120, metadata={'Software': None})
    plt.close(figure)
