# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The versions of numba with which this package is tested.

pip keeps to the range, which `setup.py` states too. Where another package manager has installed
numba, as apt does for a ROS distribution, nothing does: :mod:`.compiler` asks here. Numba is not
imported for it.
"""

import functools
from importlib.util import find_spec
import os
import re
import sys

TESTED_VERSIONS = (0, 61), (0, 69)  # the oldest, and the first that is too new
# as pip writes it
TESTED_RANGE = 'numba>={}.{},<{}.{}'.format(*TESTED_VERSIONS[0], *TESTED_VERSIONS[1])


def is_tested(version: str) -> bool:
    """Tell whether a version of numba, such as '0.61.2', is in the tested range."""
    found = re.match(r'(\d+)\.(\d+)', version)
    return (
        found is not None
        and TESTED_VERSIONS[0] <= (int(found[1]), int(found[2])) < TESTED_VERSIONS[1]
    )


def installed_version() -> str:
    """Return numba's version, by the name of the folder that pip describes it in, if it can."""
    found = None if 'numba' in sys.modules else _described_version()
    if found is None:
        import numba

        found = str(numba.__version__)
    return found


@functools.cache
def _described_version() -> str | None:
    spec = find_spec('numba')
    if spec and spec.origin:
        folder = os.path.dirname(os.path.dirname(spec.origin))
        found = [re.fullmatch(r'numba-([^-]+)\.(dist|egg)-info', x) for x in os.listdir(folder)]
        versions = {match[1] for match in found if match}
        return versions.pop() if len(versions) == 1 else None
    return None


def keeps_machine_code() -> bool:
    """Tell whether machine code is kept for other processes: by a tested version."""
    return is_tested(installed_version())
