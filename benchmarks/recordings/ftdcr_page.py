# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""What docs/recordings.md says about the FTDCR, and its figure."""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402

IMAGE = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'recordings_ftdcr.png'
FOUND = """* {arm}, {words} (95 % by jackknife): {told}.
  {count} pairs of rows, at different times, have the same displacements to {same:.2g} mm. Their
  tips are {apart:.1f} mm apart (rms), less what little displacements differ by: a model that knows
  nothing else is off by {least:.1f} mm there, at the least. Of strains that the rods leave out,
  {strain} would move the tip most, by {shift:.2g} mm rms, {at_most:.2g} mm at the most."""
TEXT = """
A wire of nickel titanium with three segments, each pulled by three tendons that servos draw in:
nine displacements and the tip, a row about each 0.6 s while directions are pulled slowly one
after the other, 1620 rows of v4 and 1019 of v6 [ContinuumRoboticsLab/opencr-mujoco, data/sysid,
MIT]. No tension is measured. Every third pattern of a file is held out; that was fixed before
anything was fitted. Errors are the root mean square of the distance of the tip, in mm.

* *Arcs* know no mechanics: each segment's curvature is the best fit to its three displacements;
  fitted are the mounting, nine angles of tendons, their radius and the length of each segment.
  *Slack tendons aside*: one that is paid out by more than a fitted length counts as so far.
  Others have found {others} mm with arcs.
* *Statics* is a robot file: `cosserat` segments of constant curvature, tendons with `command:
  position`, each a spring that goes slack. Fitted are the mounting, the moduli of segments 2 and
  3 against that of the first, one compliance, one radius, and what the table says; to about
  {rows} rows. "Left out": each pattern, not held out, predicted by a fit of others, in {folds}
  folds. That chooses among the three; only the chosen one was tried on what was held out.

| arm | model | numbers | fitted | left out | held out | of that, several tendons |
| --- | --- | --- | --- | --- | --- | --- |
{table}

![Errors by pattern held out](images/recordings_ftdcr.png)

{told}

Half of what others have found with arcs was the goal, on patterns not fitted: 7.2 mm (v4) and
9.4 mm (v6). The held out patterns were looked at once, after all fits and the choice. Every
third pattern, in this order of the file, holds out tendons 3, 6 and 9 pulled alone, all others
slack: when such a tendon takes up depends on its own offset and nothing else, and no pattern
that is fitted pulls one of these alone. In v6 that is the error: offsets of tendons 6 and 9 that
serve well as long as all are taut are off by millimetres when they are alone (33 and 32 mm of
tip). The last column is without these; the next section leaves out every pattern once.

`--baseline FILE` judges what another simulator predicts in the same table and draws it beside
ours: a CSV file with the columns arm (as v4), row (of the arm's file, from 0 on), and x, y, z,
where the tip would be [mm].

What the data cannot tell:

* Forces: without a tension only ratios of stiffnesses show. The modulus of the first segment is
  taken to be 50 GPa.
* Offsets of tendons from patterns in which all are taut: one that is drawn in while its
  neighbours give way moves the tip little. Each has to be pulled alone.
* Angles of single tendons: they lower the error where they are fitted, not on patterns left out.
* What the tendons did before: where rows repeat their displacements, tips do not repeat. What
  friction along the tendons makes of that, by the order of rows, is in the next section. Play of
  the drives, friction before the base, weight and delays are none of the statics here.
"""


def draw(panels, error):
    """Draw errors by pattern held out, a panel for each arm: (recording, tips by model)."""
    figure, axes = plt.subplots(len(panels), figsize=(8.0, 3.2 * len(panels)))
    for axis, (arm, (recording, models)) in zip(axes, panels.items()):
        out, patterns = recording.held_out, np.array(recording.patterns)
        names = list(dict.fromkeys(patterns[out]))
        at, width = np.arange(len(names)), 0.8 / len(models)
        for k, (words, there) in enumerate(models.items()):
            errors = [error(there, recording, patterns == name) for name in names]
            axis.bar(at + k * width, errors, width, label=words)
        labels = [name.removeprefix('rep1_') for name in names]
        axis.set_xticks(at + 0.4, labels, rotation=60, ha='right', fontsize=7)
        axis.set_ylabel(f'{arm}: tip off [mm rms]')
        axis.spines[['top', 'right']].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110)
    plt.close(figure)
