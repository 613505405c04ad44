# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Results of slow oracles, kept in `test/reference/derivatives.json`.

A result is found by a digest of all that it depends on: the numbers given, and values of the
formulas that are differentiated. Where there is none of that digest, as after a formula was
changed, the oracle computes it. SOFTROBOT_KEEP_ORACLES=1 in the environment of pytest adds what
was computed to the file, and `rm` of the file before it leaves out what nothing asks for any more.
"""

import fcntl
import functools
import hashlib
import json
import os
from pathlib import Path

import mpmath
import numpy as np

FILE = Path(__file__).parents[1] / 'reference' / 'derivatives.json'
DIGITS = 12  # of what a digest is made of: less than what rounding may change
_NOTHING = 1e-30  # smaller than what is not zero but for rounding


def known(given, compute):
    """
    Return ``compute()``, an array (.,) of floats, from the file if it is there.

    ``given``: texts, numbers of mpmath and others, None, and sequences of such.
    """
    digest = digest_of(given)
    found = _content().get(digest)
    if found is not None:
        return np.array(found)
    found = np.asarray(compute(), dtype=float)
    if os.environ.get('SOFTROBOT_KEEP_ORACLES'):
        _keep(digest, found)
    return found


def digest_of(given):
    """Return a digest of texts and numbers; numbers that differ by rounding have the same."""
    return hashlib.sha256(json.dumps(_texts(given)).encode()).hexdigest()[:24]


def _texts(given):
    """Return the texts in place of numbers."""
    if isinstance(given, str) or given is None:
        return given
    if isinstance(given, (list, tuple, np.ndarray)):
        return [_texts(each) for each in given]
    if isinstance(given, mpmath.mpc):  # of a formula beyond its range
        return [_texts(given.real), _texts(given.imag)]
    number = mpmath.mpf(given)
    return mpmath.nstr(number if abs(number) > _NOTHING else mpmath.mpf(0), DIGITS)


@functools.cache
def _content():
    """Return what is in the file, by digest."""
    return json.loads(FILE.read_text(encoding='utf-8')) if FILE.exists() else {}


def _keep(digest, found):
    """Add a result to the file, whatever other processes add."""
    with open(FILE, 'a+', encoding='utf-8') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content = {**json.loads(file.read() or '{}'), digest: found.tolist()}
        file.truncate(0)
        rows = [f'"{key}": {json.dumps(content[key])}' for key in sorted(content)]
        file.write('{\n' + ',\n'.join(rows) + '\n}\n')
