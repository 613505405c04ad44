# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write the section of docs/recordings.md about the FTDCR, and its figure."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402

IMAGE = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'recordings_ftdcr.png'
TEXT = """
A nickel titanium wire with three segments, three tendons each, drawn in by servos: nine
displacements and the tip, 1620 rows of v4 and 1019 of v6 [ContinuumRoboticsLab/opencr-mujoco,
data/sysid, MIT]. No tension is measured.

* *Statics*: `cosserat` segments of constant curvature and stretch, `section` of rigidities,
  tendons with `command: position`. Fitted: mounting (six numbers), distance of tendons, EI of
  segments 2 and 3 beside the first, one EA, one compliance, pretension, an offset of each tendon
  (known to {spread:.1f} mm before, against {noise:.0f} mm for a coordinate), the angle of the
  tendons of segments 2 and 3 (`t4/t5/t6.path.phase`), how far these segments are turned about the
  wire beside the one before (`segment2.origin.rpy.2`). *Segments not turned*: without the last.
* *Arcs*: the curvature that fits three displacements best. Fitted: mounting, nine angles of
  tendons, their radius, lengths of segments.
* *Slack tendons aside*: also a length, beyond which a tendon counts as slack.
* *Map*: a Gaussian process of what the statics leave, by the displacements (those below
  {loose:.0f} mm count as that); *row before known*: also by their change since then. Its scale and
  noise are chosen by folds that are not judged. What it takes off, a better model of the same
  inputs could take off too.

Patterns are dealt to {folds} folds by a seed ({seed}). All rows of a fold are predicted by fits to
the others: statics to about {rows} rows, arcs to all. Errors: root mean square of the distance of
the tip [mm]. "A tendon alone": one is pulled, all others are slack. Bold: within the goal of
{goals}, half of the errors of a calibrated arc model on other files of these arms. The
model was chosen by the same folds, which favours it somewhat.

| arm | model | numbers | all rows | a tendon alone | several tendons | by fold |
| --- | --- | --- | --- | --- | --- | --- |
{table}

![Errors by pattern, each not fitted](images/recordings_ftdcr.png)

Of a fit to all patterns, with the range of the fits without one fold in brackets:

| quantity | v4 | v6 |
| --- | --- | --- |
{found}

Without a tension only ratios of rigidities are determined. EA stands for everything that gives way
when all tendons of a segment pull. {verdict} On these rows the statics have less than
half of the error of the better arcs for {halved}. `--baseline FILE` (columns
arm, row, x, y, z [mm]) judges another simulator in the same table.
"""


def by_arm(found):
    """Return the rows of a table of {arm: {quantity: value}}."""
    return '\n'.join(
        f'| {words} | {" | ".join(each[words] for each in found.values())} |'
        for words in next(iter(found.values()))
    )


def draw(panels, error):
    """Draw errors by pattern not fitted, a panel for each arm: (recording, tips by model)."""
    figure, axes = plt.subplots(len(panels), figsize=(12.0, 3.4 * len(panels)))
    for axis, (arm, (recording, models)) in zip(axes, panels.items()):
        patterns = np.array(recording.patterns)
        names = list(dict.fromkeys(patterns))
        at, width = np.arange(len(names)), 0.8 / len(models)
        for k, (words, there) in enumerate(models.items()):
            errors = [error(there, recording, patterns == name) for name in names]
            axis.bar(at + k * width, errors, width, label=words)
        labels = [name.removeprefix('rep1_') for name in names]
        axis.set_xticks(at + 0.4, labels, rotation=60, ha='right', fontsize=6)
        axis.set_ylabel(f'{arm}: tip off [mm rms]')
        axis.spines[['top', 'right']].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)
    plt.close(figure)
