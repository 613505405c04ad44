# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Finite-element matrices of a mesh, by the package and by scikit-fem: time and memory.

    python benchmarks/elements.py
    python benchmarks/elements.py --cells 14 14 30 --runs 5

Each figure is of a new process, the median of some: processor time of the import and of the
matrices of stiffness and mass, and by how much they raise its largest memory. scikit-fem is called
twice: as its handbook has it, by vector elements and its own weak form, and in the best way found,
nine matrices of one component. Both use the package's points of quadrature and must give its
matrices.
"""

import argparse
import itertools
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
from scipy.sparse import block_array, eye, kron
from softrobot_dynamics.bodies.fem import assembly
from softrobot_dynamics.bodies.fem.elements import Elements
from softrobot_dynamics.bodies.meshes import Mesh
from softrobot_dynamics.materials.contract import lame

WAYS = 'package', 'skfem', 'skfem_by_component'
LAME, DENSITY, SIZE = lame(6e5, 0.3), 1070.0, (0.05, 0.05, 0.1)


def box(cells):
    """Mesh of a box of bricks, six tetrahedra each."""
    lines = [np.linspace(0.0, a, n + 1) for a, n in zip(SIZE, cells)]
    points = np.stack(np.meshgrid(*lines, indexing='ij'), axis=-1)
    index = np.arange(points[..., 0].size).reshape(points.shape[:3])
    tetrahedra = []
    for path in itertools.permutations(np.eye(3, dtype=int)):
        corners = np.cumsum([np.zeros(3, dtype=int), *path], axis=0)
        if np.linalg.det(corners[1:]) < 0.0:
            corners = corners[[0, 2, 1, 3]]
        parts = [tuple(slice(c, c + n) for c, n in zip(corner, cells)) for corner in corners]
        tetrahedra.append(np.stack([index[part].ravel() for part in parts], axis=-1))
    return Mesh(points.reshape(-1, 3), np.concatenate(tetrahedra))


def package(mesh):
    """Return the matrices of stiffness and mass."""
    elements = Elements(mesh)
    return assembly.stiffness_matrix(elements, LAME), assembly.mass_matrix(elements, DENSITY)


def skfem(mesh):
    """By vector elements."""
    from skfem import BilinearForm, ElementTetP2, ElementVector
    from skfem.helpers import dot
    from skfem.models.elasticity import linear_elasticity

    elastic, inertial = _bases(mesh, ElementVector(ElementTetP2()))
    mass = BilinearForm(lambda u, v, _: DENSITY * dot(u, v))
    return linear_elasticity(*LAME).assemble(elastic), mass.assemble(inertial)


def skfem_by_component(mesh):
    """By scalar elements, whose matrices are put together; unknowns component by component."""
    from skfem import BilinearForm, ElementTetP2

    elastic, inertial = _bases(mesh, ElementTetP2())
    G = [
        [_derivatives_of(BilinearForm, i, j).assemble(elastic) for j in range(3)] for i in range(3)
    ]
    laplace = LAME[1] * (G[0][0] + G[1][1] + G[2][2])
    blocks = [[LAME[0] * G[i][j] + LAME[1] * G[j][i] for j in range(3)] for i in range(3)]
    for i in range(3):
        blocks[i][i] = blocks[i][i] + laplace
    mass = BilinearForm(lambda u, v, _: DENSITY * u * v).assemble(inertial)
    return block_array(blocks, format='csc'), kron(eye(3), mass, format='csc')


def _derivatives_of(form, i, j):
    return form(lambda u, v, _: v.grad[i] * u.grad[j])


def _bases(mesh, element):
    """Bases with the package's points of quadrature, for elasticity and for inertia."""
    from skfem import Basis, MeshTet

    mesh = MeshTet(mesh.points.T.copy(), mesh.tetrahedra.T.copy())
    reference = Mesh(np.vstack([np.zeros(3), np.eye(3)]), np.arange(4)[None])
    rules = map(
        reference.quadrature, (assembly.STIFFNESS_QUADRATURE_ORDER, assembly.MASS_QUADRATURE_ORDER)
    )
    return [Basis(mesh, element, quadrature=(x.T.copy(), w)) for x, w in rules]


def measure(way, cells):
    """Print the seconds of the import and of the matrices, megabytes, and what they do."""
    mesh = box(cells)
    Elements(mesh).quadrature(assembly.MASS_QUADRATURE_ORDER)  # imports what both need
    memory, start = _peak(), time.process_time()
    if way != 'package':
        __import__('skfem')
    imported = time.process_time()
    K, M = globals()[way](mesh)
    done = time.process_time()
    trial = np.cos(np.arange(K.shape[0] // 3)[:, None] + np.arange(3))
    trial = trial.ravel(order='F' if way == 'skfem_by_component' else 'C')
    sums = [trial @ (matrix @ trial) for matrix in (K, M)]
    print(len(trial) // 3, imported - start, done - imported, _peak() - memory, *sums)


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main():
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--cells', nargs=3, type=int, default=(8, 8, 16), help='bricks of the box')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--measure', choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.cells)
    runs = {way: [] for way in WAYS}
    for way in options.runs * WAYS:
        cells = map(str, options.cells)
        command = [sys.executable, __file__, '--measure', way, '--cells', *cells]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        runs[way].append([float(number) for number in found.split()])
    for way, found in runs.items():
        nodes, imports, seconds, memory, *sums = map(statistics.median, zip(*found))
        np.testing.assert_allclose(sums, runs['package'][0][4:], rtol=1e-11)
        shown = f'import {imports:5.2f} s  matrices {seconds:5.2f} s  memory {memory:5.0f} MB'
        print(f'{way:20} {nodes:6.0f} nodes  {shown}', flush=True)


if __name__ == '__main__':
    main()
