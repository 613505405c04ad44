# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Write records of an artificial motion in the format of both nodes."""

import json
import shutil
import struct

import numpy as np
from softrobot_dynamics.description.robot import load_robot
from softrobot_dynamics.description.shipped import shipped
from softrobot_dynamics.recordings.mcap_content import METADATA_NAME
from softrobot_dynamics.recordings.mcap_file import McapFile, message_head, MESSAGE_HEADER
from softrobot_dynamics.recordings.reading import Recording

PERIOD, EPOCH = 0.01, 1_700_000_000_000_000_000  # [s], [ns]
RADIUS, TURN = 0.2, 1.0  # of the circle [m], [s]
SIMULATION_MODES = ('idle', 'driven by commands', 'stale')
CONTROLLER_MODES = ('waiting', 'running', 'no valid state')


def recordings(ticks=300, before=50, n=2, m=2, names=None):
    """
    Return (simulation, controller): Recordings of a loop closed for `ticks` periods.

    The simulation runs for `before` periods first, and as long afterwards.
    """
    total = before + ticks + before
    time = PERIOD * np.arange(total)
    stamp = EPOCH + np.round(1e9 * time).astype(np.int64)
    q = np.sin(time[:, None] + np.arange(n))
    u = 5.0 + np.cos(time[:, None] + np.arange(m))
    closed = slice(before, before + ticks)
    mode, trip = np.zeros(total, dtype=int), np.full(total, np.nan)
    mode[before:], mode[before + ticks :], trip[closed] = 1, 2, 2e-4
    coordinates, actuators = names or ([f'q{i}' for i in range(n)], [f'a{i}' for i in range(m)])
    facts = {'period': PERIOD, 'coordinate_names': coordinates, 'actuator_names': actuators}
    modes = {'simulation': SIMULATION_MODES, 'controller': CONTROLLER_MODES}
    simulation = {
        'stamp': stamp, 't': time, 'q': q, 'qd': 0.0 * q, 'u': u, 'round_trip': trip,
        'mode': mode, 'late': np.full(total, 1e-5),
    }  # fmt: skip
    y = q[closed, :1] + np.zeros((1, m))
    controller = {
        'stamp': stamp[closed], 't': time[:ticks], 'q': q[closed], 'qd': 0.0 * q[closed],
        'u': u[closed], 'y': y, 'y_d': y + 1e-3, 'mode': np.ones(ticks, dtype=int),
    }  # fmt: skip
    return tuple(
        Recording(columns, {'node': node, 'modes': modes[node], **facts}, (), True)
        for node, columns in (('simulation', simulation), ('controller', controller))
    )


def write_demo(folder, robot='double_pendulum', kind='circle', **changes):
    """Write the folder of a demo of a shipped robot; `changes` replace columns of both files."""
    description = load_robot(robot)
    names = list(description.coordinate_names), list(description.actuator_names)
    for recording in recordings(n=description.n, m=len(names[1]), names=names):
        for name, values in changes.items():
            if name in recording.columns:
                recording.columns[name] = values
        write_recording(folder / f'{recording.facts["node"]}.mcap', recording)
    shutil.copyfile(shipped('robots')[robot], folder / 'robot.yaml')
    facts = {'robot': robot, 'parameters': parameters(kind)}
    (folder / 'demo.json').write_text(json.dumps(facts), encoding='utf-8')


def write_recording(path, recording):
    """Write a Recording as a node would, without ROS: every column as doubles of its own topic."""
    file = McapFile(path, 'test')
    file.add_metadata(
        METADATA_NAME, {name: json.dumps(fact) for name, fact in recording.facts.items()}
    )
    columns = {name: x for name, x in recording.columns.items() if name != 'stamp'}
    stamps, data, places = recording['stamp'], bytearray(), {}
    for name, values in columns.items():
        form = '<i4' if name == 'mode' else '<f8'
        layout = {name: [form, 0, values.shape[1:]]}
        channel = file.add_channel(name, name, '', {'columns': json.dumps(layout)})
        rows, starts = values.astype(form), []
        for stamp, row in zip(stamps.tolist(), rows):
            starts.append(len(data))
            head = bytearray(message_head(channel, row.nbytes))
            struct.pack_into('<QQ', head, MESSAGE_HEADER.size - 16, stamp, stamp)
            data += head + row.tobytes()
        places[channel] = stamps, np.array(starts)
    file.add_chunk(bytes(data), places)
    file.close()


def parameters(kind='circle'):
    """Return the controller's parameters that say what was to be followed."""
    circle = {'body': 'tip', 'center': [0.0, 0.0, -1.4], 'normal': [0.0, 1.0, 0.0],
              'radius': RADIUS, 'period': TURN}  # fmt: skip
    return {
        'controller': 'pfbl',
        'reference.type': kind,
        'reference.ramp_time': 0.5,
        'controlled': [],
        **{f'reference.circle.{name}': value for name, value in circle.items()},
    }
