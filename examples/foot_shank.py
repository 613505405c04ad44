# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Compute forces and moments in ankle and knee from a motion and a ground reaction.

    python examples/foot_shank.py

The robot is a shank whose knee moves freely in space, and a foot on a ball joint. Inverse dynamics
returns what the joints transmit if the wrench of a force plate acts on the foot.
"""

import numpy as np
import softrobot_dynamics as sd

STANCE = 0.66  # [s]

model = sd.compile_model(sd.load_robot('foot_shank'))
pitch = model.coordinate_names.index('knee/pitch')
for share in np.linspace(0.0, 1.0, 6):
    q, qd, qdd = model.q0.copy(), np.zeros(model.n), np.zeros(model.n)
    phase = np.pi * share
    q[pitch] = 0.25 * np.cos(phase)  # the shank swings over the foot
    qd[pitch] = -0.25 * np.pi / STANCE * np.sin(phase)
    qdd[pitch] = -0.25 * (np.pi / STANCE) ** 2 * np.cos(phase)
    reaction = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 690.0 * np.sin(phase)])  # moment, force; base
    pressure = np.array([-0.05 + 0.22 * share, 0.0, -0.07])  # [m], centre of pressure on the foot
    wrenches = {'foot': sd.Wrench(reaction, pressure, 'base')}
    _, (knee, ankle) = sd.inverse_dynamics(
        model, q=q, qd=qd, qdd=qdd, wrenches=wrenches, joint_wrenches=True
    )
    for name, wrench in (('ankle', ankle), ('knee', knee)):
        moment, force = wrench.round(1)[:3], wrench.round(1)[3:]
        print(f't = {share * STANCE:.2f} s  {name:5}  force {force} N  moment {moment} N m')
