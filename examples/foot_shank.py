# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Inverse dynamics of foot and shank on a force plate: what ankle and knee transmit.

    python examples/foot_shank.py

The commented text, with robot, motion, ground reaction and the 12 x 12 system that it is compared
with, is softrobot_dynamics/reproduce/systems/foot_shank.py; `softrobot reproduce foot_shank` runs
and draws it.
"""

from softrobot_dynamics.reproduce.systems import foot_shank

outcome = foot_shank.run(share=0.2)
for t, joints in zip(outcome.data['t'], outcome.data['found']):
    for name, wrench in zip(foot_shank.JOINTS, joints):
        force, moment = wrench.round(1).tolist()[:3], wrench.round(1).tolist()[3:]
        print(f't = {t:.3f} s   {name:5}   force {force} N   moment {moment} N m')
