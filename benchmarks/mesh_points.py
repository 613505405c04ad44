# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Time per material point of `trimmed_helicoid`: of a mesh, and of a rule of sections.

    python benchmarks/mesh_points.py --operations

All terms in a compiled loop, as in benchmarks/performance, with its count of floating-point
operations. Sections share a frame, its derivatives and their products among their points; a point
of a mesh has them interpolated for itself, from 16 nodes along the body.
"""

import argparse
from pathlib import Path
import sys

import numpy as np
import softrobot_dynamics as sd
from softrobot_dynamics.bodies.lvp.volumes import Cylinder
from softrobot_dynamics.reproduce.tetrahedra import Bricks

sys.path.insert(0, str(Path(__file__).with_name('performance')))
from helicoid import BODIES, prepared  # noqa: E402
from operations import count  # noqa: E402
from timing import in_turns  # noqa: E402

RULES = {'tetrahedra': Bricks(), 'sections': Cylinder(16, 4, 43)}
POSTURE = np.array([0.05, 0.2, -1.0, 0.1, 1.0, 0.5, 0.02, -0.03])


def main():
    """Print time, and operations if asked, of each rule."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--operations', action='store_true', help='count them; takes a minute')
    counting = parser.parse_args().operations
    arm = sd.load_robot('trimmed_helicoid')
    body, q = arm.modules[0].body, np.tile(POSTURE, BODIES)
    size = body.length, body.outer_radius, body.inner_radius
    made = {}
    for name, rule in RULES.items():
        made[name] = prepared('all', arm, body, rule, q, q, 0.0 * q)
    calls = {name: (lambda n, p=p, a=a: p(*a, n), 1) for name, (p, a) in made.items()}
    for name, seconds in in_turns(calls).items():
        program, arguments = made[name]
        points = BODIES * len(RULES[name].points(*size)[1])
        words = f'{name:10} {points // BODIES} points a body: {1e6 * seconds:6.0f} us'
        words += f', a point {1e9 * seconds / points:5.0f} ns'
        if counting:
            operations = count(program, *arguments, 1)
            words += f' and {operations / points:5.0f} operations'
            words += f', {1e-9 * operations / seconds:4.1f} of them a ns'
        print(words, flush=True)


if __name__ == '__main__':
    main()
