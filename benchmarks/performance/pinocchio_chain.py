# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Pinocchio's rnea and crba on a chain, many states within one call: pinocchio_chain.cpp.

It is compiled from the headers of the wheels `pin` and `cmeel-eigen`, for this processor and for
any. To link the wheel's own library instead was not faster.
"""

import ctypes
from pathlib import Path
import subprocess

import numpy as np

BUILDS = {'native': ['-march=native'], 'any': []}
CONVENTIONS = {'none': -1, 'local': 0, 'world': 1}  # of crba, none: without it
FLAGS = '-w -std=c++17 -O3 -DNDEBUG -shared -fPIC -fvisibility=hidden'.split()
LIMITS = (  # what Pinocchio's own CMake files ask for
    'BOOST_MPL_LIMIT_LIST_SIZE=30', 'BOOST_MPL_LIMIT_VECTOR_SIZE=30',
    'BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS', 'BOOST_FUSION_INVOKE_MAX_ARITY=12',
)  # fmt: skip


def build(folder):
    """Compile the library, once for each of the BUILDS."""
    import pinocchio

    include = Path(pinocchio.__file__).parents[4] / 'include'
    includes = [f'-I{include}', f'-I{include / "eigen3"}']
    source = Path(__file__).with_suffix('.cpp')
    for name, flags in BUILDS.items():
        defined = [f'-D{limit}' for limit in LIMITS]
        target = ['-o', _library(folder, name)]
        command = ['g++', *FLAGS, *flags, *defined, *includes, source, *target]
        subprocess.run(command, check=True)


class Peer:
    """A chain in one of the BUILDS: rnea, and crba in one of the CONVENTIONS."""

    def __init__(self, folder, build, model, convention):
        library = ctypes.CDLL(str(_library(folder, build)))
        self._run, make = library.run, library.make
        make.restype = ctypes.c_void_p
        other = pinocchio_model(model)
        numbers = [
            [*placement.homogeneous[:3, :3].flat, *placement.translation, inertia.mass,
             *inertia.lever, *inertia.inertia.flat]
            for placement, inertia in zip(other.jointPlacements, other.inertias)
        ]  # fmt: skip
        gravity = np.array(model.description.gravity)
        self._arm = ctypes.c_void_p(
            make(model.n, _pointer(np.array(numbers[1:])), _pointer(gravity))
        )
        self._convention, self._n = convention, model.n

    def loop(self, q, qd, qdd, forces=None, matrices=None):
        """Return a function that runs all states (., n) a number of times."""
        arrays = [_pointer(array) for array in (q, qd, qdd)]
        results = [array if array is None else _pointer(array) for array in (forces, matrices)]

        def run(repeats):
            count = ctypes.c_long(repeats)
            self._run(self._arm, len(q), *arrays, count, self._convention, *results)

        return run

    def results(self, q, qd, qdd):
        """Return forces (., n) and mass matrices (., n, n)."""
        forces, half = np.zeros(q.shape), np.zeros((*q.shape, self._n))
        self.loop(q, qd, qdd, forces, half)(1)
        half = np.tril(half)  # columns first: Pinocchio's upper triangle
        return forces, half + np.tril(half, -1).transpose(0, 2, 1)


def pinocchio_model(model):
    """Return the chain as Pinocchio's model, the constant transforms joined to one per joint."""
    import pinocchio

    other, tip = pinocchio.Model(), pinocchio.SE3.Identity()
    other.gravity.linear = np.array(model.description.gravity)
    for i, module in enumerate(model.description.modules):
        joint, body = module.joint, module.body
        placement = tip * pinocchio.SE3(joint.before)
        moved = other.addJoint(i, pinocchio.JointModelRZ(), placement, module.joint_name)
        inertia = pinocchio.Inertia(body.mass, np.array(body.com), body.inertia.matrix())
        other.appendBodyToJoint(moved, inertia, pinocchio.SE3(joint.after))
        tip = pinocchio.SE3(joint.after) * pinocchio.SE3(body.tip.matrix())
    return other


def _library(folder, build):
    return Path(folder) / f'rigid_arm_{build}.so'


def _pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)
