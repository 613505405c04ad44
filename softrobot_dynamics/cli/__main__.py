# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`python -m softrobot_dynamics.cli`, where the `softrobot` command is not on the path."""

import sys

from softrobot_dynamics.cli import main

if __name__ == '__main__':
    sys.exit(main())
