# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
A tree with joints of 2, 3, 1 and 1 coordinates: its checks, in words.

    python examples/tree.py

The commented text is softrobot_dynamics/reproduce/systems/tree.py; `softrobot reproduce tree` runs
and draws it.
"""

from softrobot_dynamics.reproduce.systems import tree

for check in tree.run().checks:
    print(f'{check.what}: {check.in_words()}')
