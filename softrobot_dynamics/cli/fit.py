# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot fit`."""

from argparse import Namespace
from collections.abc import Callable, Iterator
import contextlib
from pathlib import Path

from softrobot_dynamics.cli.common import add, positive, say, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    add(
        commands, 'fit', run, 'fit the network of a learned body to sampled deformations',
        ('samples', 'FILE', '.npz archive of x (S, 3), q (S, n), p (S, 3) [m]'),
        ('--hidden', 'UNITS', 'units of each hidden layer; default 16 16',
         {'type': int, 'nargs': '+', 'default': [16, 16]}),
        ('--activation', 'NAME', 'activation function; default tanh', {'default': 'tanh'}),
        ('--length', 'M', 'length of the body at rest; default: the largest x3',
         {'type': positive}),
        ('--iterations', 'N', 'largest number of iterations; default 200',
         {'type': int, 'default': 200}),
        ('--decay', 'D', 'weight decay, for a smooth network; default 1e-6',
         {'type': float, 'default': 1e-6}),
        ('--seed', 'N', 'seed of random numbers; default 0', {'type': int, 'default': 0}),
        ('--output', 'FILE', 'write the network to FILE, .npz', {'required': True}),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Fit a network."""
    from softrobot_dynamics.bodies.learned import fit
    from softrobot_dynamics.bodies.learned.networks import write_network
    from softrobot_dynamics.bodies.learned.samples import read_samples
    from softrobot_dynamics.errors import ArgumentError

    if not Path(options.output).absolute().parent.is_dir():
        raise ArgumentError('--output', options.output, 'a file in a folder that exists')
    samples = read_samples(options.samples)
    with _counting(f'fit to {len(samples.x)} samples', options.iterations) as count:
        found = fit.fit(
            samples,
            options.hidden,
            activation=options.activation,
            length=options.length,
            training=fit.Training(options.iterations, options.decay, seed=options.seed),
            progress=lambda step, rms: count(step, f'rms {rms:.3g} m'),
        )
    write_network(options.output, found.network)
    for name, errors in (('fitted', found.fitted), ('held out', found.held_out)):
        say(f'{name:8}  rms {errors.rms:.3g} m, largest {errors.largest:.3g} m')
    say(f'held out: {found.count} samples, all those of postures that the fit has not seen')
    if not found.converged:
        say(f'still improving after {found.iterations} iterations: --iterations allows for more')
    return 0


@contextlib.contextmanager
def _counting(text: str, total: int) -> Iterator[Callable[[int, str], object]]:
    """Show a bar if `rich` is there; yield a function (steps done, words)."""
    try:
        from rich.progress import Progress
    except ImportError:
        say(f'{text} ...')
        yield lambda step, words: None
        return
    with Progress() as bar:
        task = bar.add_task(text, total=total)
        yield lambda step, words: bar.update(task, completed=step, description=f'{text}, {words}')
