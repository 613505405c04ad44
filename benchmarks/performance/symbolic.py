# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Lagrange's equations of planar chains as C libraries, kept in a folder: the peers of planar_chain.

lagrange.py derives them, in a process of its own, which has LIMIT seconds with the compilation;
of FLAGS those are kept that give the fastest code among what agrees.
"""

import ctypes
import hashlib
import json
import os
from pathlib import Path
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
from timing import in_turns

OPERATIONS = {'momentum': 'M qdd', 'bias': 'c'}
LIMIT = 300.0  # [s]
FLAGS = (('-O2',), ('-O2', '-march=native'), ('-O2', '-march=native', '-ffast-math'))
STATES, ALIKE = 100, 1e-9  # random states, and the relative difference of what agrees
DERIVATION = Path(__file__).with_name('lagrange.py')


class Peer:
    """A chain's compiled equations of one operation."""

    def __init__(self, path, chain):
        self._library, self.out = ctypes.CDLL(str(path)), np.zeros(chain.n)

    def loop(self, operation, q, v):
        """Return a function of the number of repeats."""
        run = getattr(self._library, f'repeat_{operation}')
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in (q, v, self.out)]
        return lambda repeats: run(ctypes.c_long(repeats), *arrays)


class Chain(NamedTuple):
    """A chain of which equations are wanted: 'momentum' for M v, or 'bias' for c."""

    operation: str
    n: int
    length: float  # [m]
    radius: float  # [m]
    density: float  # [kg/m^3]

    def macros(self):
        """Return gcc's arguments for the numbers of the code."""
        mass = self.density * np.pi * self.radius**2 * self.length
        numbers = {'LENGTH': self.length, 'MASS': mass, 'SECTION': mass * self.radius**2 / 4}
        return [
            f'-DBODIES={self.n}',
            *(f'-D{name}={value:.17g}' for name, value in numbers.items()),
        ]


def difference(one, other, operation, n):
    """Return the largest difference in random states, relative to the largest entry."""
    rng, largest = np.random.default_rng(n), 0.0
    for _ in range(STATES):
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, n)) * [[np.pi], [10.0], [100.0]]
        for each in (one, other):
            each.loop(operation, q, qd if operation == 'bias' else qdd)(1)
        largest = max(largest, np.abs(one.out - other.out).max() / np.abs(other.out).max())
    return float(largest)


def build(folder, chain):
    """Return the time [s] of derivation and compilation, None if too long; made only once."""
    path = _path(folder, chain, '.json')
    if not path.exists():
        path.write_text(json.dumps(_built(folder, chain)))
    record = json.loads(path.read_text())
    print(f'  Lagrange, {OPERATIONS[chain.operation]}, N = {chain.n}: {record}', flush=True)
    return record['seconds']


def find(folder, chain):
    """Return the :class:`Peer` that was built and the time [s] it took, or (None, None)."""
    path = _path(folder, chain, '.json')
    seconds = json.loads(path.read_text())['seconds'] if path.exists() else None
    return (Peer(_path(folder, chain, '.so'), chain), seconds) if seconds else (None, None)


def _path(folder, chain, suffix):
    """Return the folder of a chain's equations, which is named after what they are made of."""
    made_of = DERIVATION.read_bytes() + repr((chain[2:], FLAGS, LIMIT)).encode()
    place = Path(folder) / f'planar_chain_{hashlib.sha256(made_of).hexdigest()[:12]}'
    place.mkdir(parents=True, exist_ok=True)
    return place / f'{chain.operation}_{chain.n}{suffix}'


def _built(folder, chain):
    """Derive and compile; return the time [s] and the flags that were best."""
    code, start = _path(folder, chain, '.c'), time.perf_counter()
    try:
        command = [sys.executable, DERIVATION, chain.operation, str(chain.n), code]
        subprocess.run(command, check=True, timeout=LIMIT)
        derived = time.perf_counter() - start
        times = [_compile(code, chain, k, LIMIT - derived) for k in range(len(FLAGS))]
    except subprocess.TimeoutExpired:
        return {'seconds': None}
    best = _fastest([_variant(code, k) for k in range(len(FLAGS))], chain)
    os.replace(_variant(code, best), code.with_suffix('.so'))
    return {'seconds': derived + times[best], 'flags': ' '.join(FLAGS[best])}


def _variant(code, k):
    return code.with_suffix(f'.{k}.so')


def _compile(code, chain, k, limit):
    """Compile with the k-th of FLAGS; return the time [s] it took."""
    start, shared = time.perf_counter(), ['-shared', '-fPIC', '-o', _variant(code, k)]
    command = ['gcc', *FLAGS[k], *chain.macros(), *shared, code, '-lm']
    subprocess.run(command, check=True, timeout=limit)
    return time.perf_counter() - start


def _fastest(paths, chain):
    """Return the index of the fastest library of those that agree with the first."""
    peers, ones = [Peer(path, chain) for path in paths], np.ones(chain.n)
    loops = {
        k: (peer.loop(chain.operation, ones, ones), 1)
        for k, peer in enumerate(peers)
        if difference(peer, peers[0], chain.operation, chain.n) < ALIKE
    }
    times = in_turns(loops, least=0.01)
    return min(times, key=times.get)
