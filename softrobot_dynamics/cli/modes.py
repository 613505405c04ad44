# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""`softrobot modes`."""

from argparse import Namespace

from softrobot_dynamics.cli.common import add, SubCommands


def add_to(commands: SubCommands) -> None:
    """Add the sub-command to those of a parser."""
    needed = {'type': float, 'required': True}
    add(
        commands, 'modes', run, 'reduce a tetrahedral mesh to the modes of a fem body',
        ('mesh', 'FILE', 'tetrahedral mesh that meshio reads, base on z = 0'),
        ('--young-modulus', 'PA', "Young's modulus of the material", needed),
        ('--poisson-ratio', '-', "Poisson's ratio of the material", needed),
        ('--density', 'KG/M3', 'density of the material', needed),
        ('--modes', 'N', 'number of vibration modes; default 10', {'type': int, 'default': 10}),
        ('--derivatives', 'K', 'add the modal derivatives of the first K modes, for large bends;'
         ' default 0', {'type': int, 'default': 0}),
        ('--scale', 'M', 'metres per unit of the mesh file; default 1',
         {'type': float, 'default': 1.0}),
        ('--output', 'FILE', 'write the modes to FILE, .npz', {'required': True}),
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Reduce a mesh to modes."""
    from softrobot_dynamics.bodies.fem.modes import reduced_basis, Solid
    from softrobot_dynamics.bodies.fem.modes_file import ModalBasis, save_modes
    from softrobot_dynamics.bodies.meshes import read_tetrahedra
    from softrobot_dynamics.evaluation.terminal import display

    solid = Solid(options.young_modulus, options.poisson_ratio, options.density)
    shown = display()
    with shown.stage(f'read {options.mesh}'):
        mesh = read_tetrahedra(options.mesh, options.scale)
    with shown.stage(f'modes of {len(mesh.tetrahedra)} tetrahedra'):
        basis = reduced_basis(mesh, solid, options.modes, options.derivatives)
    save_modes(options.output, ModalBasis(mesh, basis, solid, options.scale))
    shown.say('frequencies [Hz]: ' + ', '.join(f'{f:.4g}' for f in basis.frequencies))
    shown.say(f'{basis.fields.shape[2]} coordinates in {options.output}')
    return 0
