# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
The versions of numba with which this package is tested.

pip keeps to the range, which `setup.py` states too. Where another package manager has installed
numba, as apt does for a ROS distribution, nothing does: :mod:`.compiler` asks here.
"""

import re

TESTED = (0, 61), (0, 69)  # the oldest, and the first that is too new
TESTED_RANGE = 'numba>={}.{},<{}.{}'.format(*TESTED[0], *TESTED[1])  # as pip writes it


def is_tested(version: str) -> bool:
    """Tell whether a version of numba, such as '0.61.2', is in the tested range."""
    found = re.match(r'(\d+)\.(\d+)', version)
    return found is not None and TESTED[0] <= (int(found[1]), int(found[2])) < TESTED[1]
