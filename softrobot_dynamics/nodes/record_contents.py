# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Choose the records of the nodes: file, columns, and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib.util import find_spec
import os
from pathlib import Path
from types import ModuleType
from typing import Any, TYPE_CHECKING

from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.loops import simulation_loop, watchdog
from softrobot_dynamics.loops.contracts import TickRecord
from softrobot_dynamics.loops.solution_thread import predictive_names, RECORDED_FIGURES
from softrobot_dynamics.recordings.reading import INSTALL_MCAP

if TYPE_CHECKING:
    from rclpy.impl.rcutils_logger import RcutilsLogger
    from rclpy.node import Node
    from softrobot_dynamics.configuration.build import Controlled, Simulated
    from softrobot_dynamics.nodes.record import Record
    from softrobot_dynamics.nodes.record_topics import Topic

RECORD_SUFFIX = '.mcap'


def prepare(record: str) -> None:
    """
    Make the folder that a record goes to; '' is no record.

    ArgumentError if there can be none, for want of a folder that can be written to or of mcap.
    """
    if not record:
        return
    if find_spec('mcap') is None:
        raise ArgumentError('record', record, f'an environment with mcap: {INSTALL_MCAP}')
    folder = _folder(record)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise ArgumentError('record', record, 'a file in a folder that can be written to')


def new_path(record: str, node: str) -> Path:
    """
    Return the path of a file that does not exist yet.

    `record` is a file, numbered (run.mcap, run_2.mcap, ...) where it exists already, or a folder,
    in which the file is named after the node and the time.
    """
    folder = _folder(record)
    if folder == Path(record).expanduser():
        first = folder / f'{node}_{datetime.now():%Y%m%d_%H%M%S}{RECORD_SUFFIX}'
    else:
        name = Path(record).name
        first = folder / (name if name.endswith(RECORD_SUFFIX) else name + RECORD_SUFFIX)
    path, number = first, 1
    while path.exists():
        number += 1
        path = first.with_stem(f'{first.stem}_{number}')
    return path


def _folder(record: str) -> Path:
    path = Path(record).expanduser()
    return path if str(record).endswith(os.sep) or path.is_dir() else path.parent


def of_controller(node: Node, plant: Controlled, values: Mapping[str, Any]) -> Record | None:
    """Return the Record of one activation, None if there shall be none; see :func:`_start`."""
    model, controlled = plant.model, plant.controller.controlled
    followed = [model.actuator_names[i] for i in controlled]
    predictive = predictive_names(plant.controller)

    def topics(record_topics: ModuleType) -> tuple[Topic, ...]:
        """Return the topics of the record."""
        coordinates, actuators = model.coordinate_names, model.actuator_names
        return (
            record_topics.joint_state('joint_states', coordinates, position='q', velocity='qd'),
            record_topics.joint_state('joint_commands', actuators, effort='u'),
            record_topics.joint_state(
                '~/controller_state', actuators, position='y', velocity='y_rate'
            ),
            record_topics.trajectory_point(
                '~/reference',
                followed,
                positions='y_d',
                velocities='y_d_rate',
                accelerations='y_d_acceleration',
            ),
            record_topics.number('~/time', 't'),
            record_topics.number('~/mode', 'mode', whole=True),
            record_topics.number('~/orders', 'orders', whole=True),
            record_topics.joint_state('~/command_before', actuators, effort='u_before'),
            *(
                record_topics.numbers(topic, column, len(predictive))
                for topic, column in RECORDED_FIGURES.items()
                if predictive
            ),
        )

    facts = {'modes': watchdog.MODES, 'controlled': followed, 'predictive': predictive}
    return _start(node, plant, values, topics, facts)


def of_simulation(node: Node, plant: Simulated, values: Mapping[str, Any]) -> Record | None:
    """Return the Record of a simulation, None if there shall be none; see :func:`_start`."""
    model = plant.model

    def topics(record_topics: ModuleType) -> tuple[Topic, ...]:
        """Return the topics of the record."""
        coordinates, actuators = model.coordinate_names, model.actuator_names
        return (
            record_topics.joint_state('joint_states', coordinates, position='q', velocity='qd'),
            record_topics.joint_state('~/applied', actuators, effort='u'),
            record_topics.number('~/time', 't'),
            record_topics.number('~/round_trip', 'round_trip'),
            record_topics.number('~/lateness', 'late'),
            record_topics.number('~/mode', 'mode', whole=True),
            record_topics.number('~/asked', 'asked', whole=True),
        )

    facts = {
        'modes': simulation_loop.MODES,
        'command_timing': values['command_timing'],
        'bus_rate': values['bus.rate'],
    }
    return _start(node, plant, values, topics, facts)


def _start(
    node: Node,
    plant: Controlled | Simulated,
    values: Mapping[str, Any],
    topics: Callable[[ModuleType], tuple[Topic, ...]],
    facts: dict[str, Any],
) -> Record | None:
    """
    Start the Record that the parameter `record` asks for.

    It holds what `topics(record_topics)` returns, with names as of the node. Raises ArgumentError
    if its file cannot be made.
    """
    if not values['record']:
        return None
    from softrobot_dynamics.nodes import record_topics  # what follows needs mcap
    from softrobot_dynamics.nodes.record import Record

    model, log, name = plant.model, node.get_logger(), node.get_name()
    path = new_path(values['record'], name)
    facts = {
        'node': name,
        'robot': values['robot'],
        'digest': model.description.digest,
        'period': 1.0 / values['rate'],
        'coordinate_names': model.coordinate_names,
        'actuator_names': model.actuator_names,
        'command_units': [quantity.unit for quantity in model.commands],
        'output_units': [quantity.unit for quantity in model.outputs],
        **facts,
    }
    resolved = [t._replace(name=node.resolve_topic_name(t.name)) for t in topics(record_topics)]
    parameters = node.resolve_topic_name('~/parameters'), values
    try:
        record = Record(
            path, resolved, facts, parameters, lambda what, error: log.error(f'{what}: {error}')
        )
    except OSError as error:
        raise ArgumentError('record', str(path), f'a file that can be made ({error})') from error
    log.info(f'recording in {path}')
    return record


def note(record: TickRecord | None, values: Mapping[str, Any], changed: Iterable[str]) -> None:
    """Note the parameters of these names in a Record, if there is one."""
    if record is not None:
        record.note({name: values[name] for name in sorted(changed)})


def close(record: TickRecord | None, log: RcutilsLogger) -> None:
    """Close a Record, if there is one, and log its contents."""
    if record is None:
        return
    record.close()
    lost = f', {record.lost} lost' if record.lost else ''
    log.info(f'{len(record)} ticks recorded in {record.path}{lost}')


def words(record: TickRecord | None) -> str:
    """Return in words the fault of a record, '' if there is none."""
    if record is None or not record.lost and record.error is None:
        return ''
    cause = f' ({record.error})' if record.error else ''
    return f'{record.lost} ticks were not recorded{cause}'
