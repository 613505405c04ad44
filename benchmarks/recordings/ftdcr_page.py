# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What docs/recordings.md says about the FTDCR, and its figure."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402

IMAGE = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'recordings_ftdcr.png'
FOUND = """* {arm}, of a fit to all patterns (least and largest of those without a fold): {told}.
  Offsets of tendons 1 to 9: {offsets} mm. {count} pairs of rows, at different times, have the same
  displacements to {same:.2g} mm. Their tips are {apart:.1f} mm apart (rms), less what the
  model predicts for these small differences. So a model that knows displacements only is off by at
  least {least:.1f} mm there."""
TEXT = """
A wire of nickel titanium with three segments, each pulled by three tendons that servos draw in:
nine displacements and the tip, a row about each 0.6 s while directions are pulled slowly one
after the other, 1620 rows of v4 and 1019 of v6 [ContinuumRoboticsLab/opencr-mujoco, data/sysid,
MIT]. No tension is measured.

*Statics* is the recommended model, a robot file: `cosserat` segments of constant curvature and
constant stretch with a `section` of rigidities, and tendons with `command: position`. Fitted are

* the mounting (six numbers), tendons' distance from the axis, and the bending rigidity EI of
  segments 2 and 3 beside that of the first, which is assumed: without a tension only ratios show;
* one EA. The wire alone would hardly shorten, but the arm does: EA stands for everything that
  gives way when all tendons of a segment pull. A model without it takes tendons to be softer
  instead;
* the compliance of tendons, proportional to their length in the arm: one number;
* the angle by which the three tendons of segment 2 are turned together, and likewise of segment 3:
  `--fit t4/t5/t6.path.phase=-0.3..0.3`;
* one pretension, and an offset of each tendon. That offsets are alike is known before, to a
  standard deviation of {spread:.1f} mm, against {noise:.0f} mm for a coordinate of the tip.
  Otherwise the offset of a tendon runs away where the one pattern that shows it is left out.

*Arcs* know no mechanics: each segment's curvature is the best fit to its three displacements;
fitted are the mounting, nine angles of tendons, their radius and the length of each segment.
*Slack tendons aside*: one that is paid out by more than a fitted length counts as so far.

Patterns are dealt to {folds} folds by a seed ({seed}), and all rows of each fold are predicted by
fits to the others: of statics to about {rows} rows, of arcs to all. Errors are the root mean
square of the distance of the tip, in mm; "a tendon alone" are the patterns in which one is pulled
and all others are slack. Bold is what is within the goal: {goals}, half of
the errors of a calibrated arc model on other files of these arms.

| arm | model | numbers | all rows | a tendon alone | several tendons | by fold |
| --- | --- | --- | --- | --- | --- | --- |
{table}

![Errors by pattern, each not fitted](images/recordings_ftdcr.png)

The model was chosen by these same folds, so its figures are somewhat better than those of a
model that was fixed before.

{told}

What is left:

* v6 is not within its goal: the picture shows the patterns with the largest errors. What tendons
  did before is no part of the model.
* Weight, friction and delays are not modelled. Without loads across the wire, and with tensions
  that are the same all along, constant curvature is exact: a linear one differs only with
  friction or weight.

`--baseline FILE` judges what another simulator predicts in the same table and draws it beside
ours: a CSV file with the columns arm (as v4), row (of the arm's file, from 0 on), and x, y, z,
where the tip would be [mm].
"""


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
