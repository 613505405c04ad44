# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Small networks with random weights, and a file of one."""

import atexit
import functools
from pathlib import Path
import tempfile

import numpy as np
from softrobot_dynamics.bodies.learned.networks import Network, write_network

FEW = 3, 2  # units of two layers, for tests that compile the formula


def network(n=2, hidden=(5, 4), activation='tanh', length=0.25, seed=0):
    """Return a Network whose displacements are some millimetres."""
    rng = np.random.default_rng(seed)
    sizes = [3 + n, *hidden, 3]
    layers = [
        (rng.normal(0.0, a**-0.5, (b, a)), rng.normal(size=b)) for a, b in zip(sizes, sizes[1:])
    ]
    layers[-1] = tuple(0.002 * part for part in layers[-1])
    names = tuple(f'shape_{j}' for j in range(n))
    q_scale = tuple(1.0 + 0.2 * j for j in range(n))
    rows = tuple((tuple(map(tuple, W.tolist())), tuple(b.tolist())) for W, b in layers)
    return Network(length, names, activation, (0.02, 0.018, length), q_scale, rows)


@functools.cache
def weights_file():
    """Path of a file of few such weights, which is there until the session ends."""
    folder = tempfile.TemporaryDirectory(prefix='softrobot_dynamics_weights_')
    atexit.register(folder.cleanup)
    path = Path(folder.name, 'weights.npz')
    write_network(path, network(hidden=FEW))
    return str(path)
