# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Short rotation vectors in place of long ones: the same pose, far from the map's singularity."""

from softrobot_dynamics.dynamics.arguments import checked


def recentred(model, *, q, qd):
    """
    Return (q, qd), (n,) each, of the same poses and velocities with short rotation vectors.

    A rotation vector r of a joint becomes r (1 - 2 pi k / |r|), at most pi long. One that a spring
    or an actuator acts along stays as it is, as for those another vector is another force.
    """
    q, qd = checked('q', q, (model.n,)).copy(), checked('qd', qd, (model.n,)).copy()
    recentre(recentring(model), q, qd)
    return q, qd


def recentring(model):
    """Return pairs (coordinates, joint) of the joints to be re-centred."""
    pairs, first = [], 0
    for module in model.description.modules:
        joint, part = module.joint, slice(first, first + len(module.joint.coordinates()))
        first += len(module.coordinate_names())
        names = {f'{module.joint_name}/{c}' for c in joint.recentres}
        if names and names.isdisjoint(model.actuator_names):
            pairs.append((part, joint))
    return pairs


def recentre(pairs, q, qd):
    """Re-centre (q, qd), in place, at the pairs of :func:`recentring`."""
    for part, joint in pairs:
        q[part], qd[part] = joint.recentre(q[part], qd[part])
