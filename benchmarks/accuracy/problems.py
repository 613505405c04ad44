# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""All problems with known answers, by chapter; see :mod:`study` for what a problem is."""

import agreement
import equilibria
import motions
import pendulum
import tendons
import vibrations
import volumes

CHAPTERS = (
    ('Statics', (equilibria, volumes)),
    ('Routes of tendons', (tendons,)),
    ('Small vibrations', (vibrations,)),
    ('Motion', (motions,)),
    ('Agreement', (agreement, pendulum)),
)


def chapters():
    """Yield (title, problems) of each chapter."""
    for title, modules in CHAPTERS:
        yield title, [problem for module in modules for problem in module.problems()]
