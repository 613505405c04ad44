# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Count the URDF files below a folder that can be imported, and say why the others cannot."""

import argparse
from pathlib import Path

from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.urdf import read_urdf
from softrobot_dynamics.errors import SoftRobotError


def main():
    """Try each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=Path, help='as share/example-robot-data of that package')
    files = sorted(parser.parse_args().folder.rglob('*.urdf'))
    good = 0
    for file in files:
        try:
            load_robot(read_urdf(file))
            good += 1
        except SoftRobotError as error:
            print(f'{file.name}: {str(error).splitlines()[1].strip()}')
    print(f'{good} of {len(files)} files are imported')


if __name__ == '__main__':
    main()
