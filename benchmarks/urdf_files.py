# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Import the URDF files below a folder, and compare each with what Pinocchio makes of it.

    python benchmarks/urdf_files.py FOLDER            # of the package example-robot-data

For each file: the options of `softrobot import` that it needs, and by how much inverse dynamics
and mass matrix are not Pinocchio's, relative to their greatest entry, in three states. An inertia
that was repaired is repaired in Pinocchio's model, too. Joints that follow others move there by
themselves, and what belongs to them is added to that of their leaders. What is refused has its
first reason. Floating and planar joints, whose coordinates are others in Pinocchio, are not
compared here but in test/joints/test_joints_pinocchio.py.
"""

import argparse
from pathlib import Path
import re
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import softrobot_dynamics as sd
from softrobot_dynamics.description.urdf import read_urdf
from softrobot_dynamics.description.urdf_trees import name_of
from softrobot_dynamics.errors import DescriptionError

_COMPARED = 'revolute', 'prismatic', 'fixed'


def imported(file):
    """Return the mapping of a file, the options that it needed, and the links repaired."""
    options, lines, mapping = {}, [], None
    while mapping is None:
        try:
            mapping = read_urdf(file, **options, report=lines.append)
        except DescriptionError as error:
            problems = error.problems
            joints, held = (
                {
                    problem.path.split('.')[0].partition(' ')[2]
                    for problem in problems
                    if option in problem.expected
                }
                for option in ('--unlimited', '--lock')
            )
            repair = any('--repair' in problem.expected for problem in problems)
            if not joints and not held and (not repair or options.get('repair')):
                raise
            options = {
                'unlimited': joints | set(options.get('unlimited', ())),
                'locked': options.get('locked', {}) | dict.fromkeys(held, 0.0),
                'repair': repair or options.get('repair', False),
            }
    needed = ['--repair'] if options.get('repair') else []
    for option, key in (('--unlimited', 'unlimited'), ('--lock', 'locked')):
        needed += [f'{option} ({len(options[key])})'] if options.get(key) else []
    repaired = re.findall('^link (.*): principal', '\n'.join(lines), re.MULTILINE)
    return mapping, ' '.join(needed), repaired


def apart(file, mapping, repaired):
    """Return by how much inverse dynamics and mass matrix differ, relative, in three states."""
    model = sd.compile_model(sd.load_robot(mapping))
    bodies = {body['name']: body['body'] for body in mapping['bodies']}
    peer = pin.buildModelFromXML(repaired_text(file, bodies, repaired))
    G, c, damping = follow(mapping, [name_of(name) for name in peer.names[1:]], model)
    data, rng, worst = peer.createData(), np.random.default_rng(0), np.zeros(2)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, model.n))
        tau, mass = sd.mass_inverse_dynamics(model, q=q, qd=qd, qdd=qdd)
        at = _as_pin(peer, G @ q + c)
        wanted = G.T @ (pin.rnea(peer, data, at, G @ qd, G @ qdd) + damping * (G @ qd))
        crba = pin.crba(peer, data, at)
        crba = G.T @ (np.triu(crba) + np.triu(crba, 1).T) @ G
        worst = np.maximum(
            worst,
            [
                np.abs(tau - wanted).max() / max(np.abs(wanted).max(), 1e-300),
                np.abs(mass - crba).max() / np.abs(crba).max(),
            ],
        )
    return worst


def follow(mapping, names, model):
    """
    Return G and c of the joints' coordinates x = G q + c, and their damping.

    Pinocchio moves each joint by itself, in the order of ``names``; the joints of the ``model``
    that follow others have no coordinate in q, nor have those that are locked, at 0.
    """
    joints = {body['joint']['name']: body['joint'] for body in mapping['bodies']}
    G, c, damping = np.zeros((len(names), model.n)), np.zeros(len(names)), np.zeros(len(names))
    for i, name in enumerate(names):
        multiplier, leader = 1.0, joints[name]
        damping[i] = leader.get('damping', 0.0)
        while 'mimic' in leader:
            c[i] += multiplier * leader['mimic']['offset']
            multiplier *= leader['mimic']['multiplier']
            leader = joints[leader['mimic']['joint']]
        if leader['type'] != 'fixed':
            G[i, model.coordinate_names.index(leader['name'])] = multiplier
    return G, c, damping


def _as_pin(peer, x):
    """Return coordinates as Pinocchio has them: (cos, sin) of joints that turn without end."""
    found = pin.neutral(peer)
    for value, joint in zip(x, list(peer.joints)[1:]):
        if joint.nq == 2:
            found[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            found[joint.idx_q] = value
    return found


def repaired_text(file, bodies, repaired):
    """Return the text of a file with the inertias that were repaired."""
    root = ElementTree.parse(file).getroot()
    for link in root.findall('link'):
        if link.get('name') in repaired:
            inertial, body = link.find('inertial'), bodies[name_of(link.get('name'))]
            if (origin := inertial.find('origin')) is not None:
                origin.set('rpy', '0 0 0')
            for name, value in body['inertia'].items():
                inertial.find('inertia').set(name, repr(value))
    return ElementTree.tostring(root, encoding='unicode')


def main():
    """Try each file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('folder', type=Path, help='as share/example-robot-data of that package')
    files = sorted(parser.parse_args().folder.rglob('*.urdf'))
    good = plain = 0
    print('| file | coordinates | ID | M | options, or the first reason |\n|---|---|---|---|---|')
    for file in files:
        try:
            mapping, options, repaired = imported(file)
            n = sd.load_robot(mapping).n
        except DescriptionError as error:
            reason = str(error).splitlines()[1].strip()
            print(f'| {file.name} | | | | refused: {reason} |', flush=True)
            continue
        good, plain = good + 1, plain + (not options)
        compared = '- | -'
        if all(body['joint']['type'] in _COMPARED for body in mapping['bodies']):
            compared = ' | '.join(f'{each:.1e}' for each in apart(file, mapping, repaired))
        print(f'| {file.name} | {n} | {compared} | {options} |', flush=True)
    print(f'\n{good} of {len(files)} files are imported, {plain} of them without options')


if __name__ == '__main__':
    main()
