# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""The simulated robot as a node; see `SimulationNode`."""

from collections.abc import Callable, Sequence
import sys
from typing import Any

from rclpy.node import Node
from softrobot_dynamics.nodes import (
    diagnostics,
    parameter_rows,
    plants,
    process,
    realtime,
    recording,
    simulation_loop,
)
from softrobot_dynamics.nodes.command_timing import TIMINGS
from softrobot_dynamics.nodes.messaging import messages
from softrobot_dynamics.nodes.messaging.inbox import Inbox
from softrobot_dynamics.nodes.messaging.quality import NEWEST, quality_of
from softrobot_dynamics.nodes.outlets import SimulationOutlet
from softrobot_dynamics.nodes.parameters import Parameters
from softrobot_dynamics.nodes.simulation_loop import SimulationLoop
from std_srvs.srv import Trigger

_TOPICS = {'joint_state': 'joint_commands', 'multi_array': 'controller/commands'}


class SimulationNode(Node):
    """
    Takes the place of a robot: states out at a fixed rate, commands in.

    - publishes `joint_states` (sensor_msgs/JointState): coordinates by name, stamped with the
      simulated time since the start; `/diagnostics` at 1 Hz
    - subscribes to `joint_commands` (sensor_msgs/JointState): u in effort, by actuator; or
      `controller/commands` (std_msgs/Float64MultiArray), see `command_type`
    - serves `~/reset` (std_srvs/Trigger): the initial state, also after a divergence
    - parameters: `parameter_rows.SIMULATION`

    Without commands for a while the robot applies a safe command of its own. `build(values)`
    returns the `plants.Simulated` to run.
    """

    parts = ()  # all is quick, and served by the main thread

    def __init__(self, stop: Any = None, build: Callable[..., Any] = plants.simulated) -> None:
        super().__init__('simulation')
        self._build, self._stop = build, stop
        self._loop: Any = None
        self.options = Parameters(self, parameter_rows.SIMULATION)
        self.options.on_change(self._accept)
        self.create_service(Trigger, '~/reset', self._on_reset)

    def begin(self) -> Any:
        """Load, compile and start."""
        values = self.options.values
        self.get_logger().info(
            f'loading {values["robot"]}; the first time, this compiles for 20 to 60 s'
        )
        with process.interrupting(self._stop), realtime.patient():
            plant = self._build(values)
        recording.prepare(values['record'])
        self._plant = plant
        self._choose_safe(values)
        quality = quality_of(values)
        self._outlet = SimulationOutlet(self, plant.model.coordinate_names, quality)
        reader = messages.COMMAND_READERS[values['command_type']](plant.model.actuator_names)
        self._inbox = Inbox(self, reader.message_type, _TOPICS[values['command_type']], NEWEST)
        process.keep_collector_away()
        record = recording.of_simulation(self, plant, values)
        self._loop = SimulationLoop(
            plant,
            self._inbox,
            reader,
            self._outlet,
            rate=values['rate'],
            timeout=values['command_timeout_periods'],
            timing=values['command_timing'],
            waits=values['wait_for_commands'],
            epoch=self.get_clock().now().nanoseconds,
            record=record,
        )
        self._diagnostics = diagnostics.Diagnostics(
            self, 'simulated robot', values['robot'], self._report
        )
        for words in self.options.unknown():
            self.get_logger().warning(f'unknown parameter {words} left out')
        self._loop.start()
        return True

    def finish(self) -> None:
        """End the loop and complete the record."""
        if self._loop is None:
            return
        self._diagnostics.close()
        self._loop.finish()
        self._inbox.close()
        recording.close(self._loop.record, self.get_logger())

    def _accept(self, values: dict[str, Any], changed: Any) -> None:
        """Take changed parameters; they have been checked one by one."""
        if self._loop is not None:
            self._choose_safe(values)
            self._loop.timeout = values['command_timeout_periods']
            recording.note(self._loop.record, values, changed)

    def _choose_safe(self, values: dict[str, Any]) -> None:
        self._plant.safe.choose(
            values['safe_command'], values['safe_pretension'], values['safe_ramp']
        )

    def _on_reset(self, request: Any, response: Any) -> Any:
        response.success = self._loop is not None and self._loop.reset()
        response.message = 'at the initial state' if response.success else 'no answer in time'
        return response

    def _report(self) -> Any:
        """Return (level, message, values) for /diagnostics."""
        loop = self._loop
        seconds, counts, refused = loop.tally.recent()
        total = loop.tally.counts
        return *self._judgement(loop, counts, refused), {
            'mode': simulation_loop.MODES[loop.mode],
            'commands': TIMINGS[self.options.values['command_timing']],
            'rate [Hz]': counts['ticks'] / seconds,
            'ticks': total['ticks'],
            'missed ticks': total['missed'],
            'ticks under the safe command': total['safe'],
            'slips': total['slips'],
            'slipped [ms]': loop.slipped * 1e-6,
            'round trip p50 / p99 / max [us]': loop.round_trips.report(),
            'wake-up lateness p50 / p99 / max [us]': loop.lateness.report(),
            'commands beyond a limit': total['clipped'],
            'command time-outs': total['timeouts'],
            'last refusal': loop.tally.last_refusal,
            **loop.tally.refusals(),
        }

    def _judgement(self, loop: Any, counts: Any, refused: Any) -> Any:
        mode = simulation_loop.MODES[loop.mode]
        if loop.error is not None:
            return diagnostics.ERROR, f'stopped: {loop.error}'
        if loop.mode == simulation_loop.TIMED_OUT:
            return diagnostics.WARN, mode
        if refused:
            return diagnostics.WARN, f'messages refused; the last: {loop.tally.last_refusal}'
        if words := recording.words(loop.record):
            return diagnostics.WARN, words
        if counts['slips']:
            return diagnostics.WARN, f'woke more than a period late {counts["slips"]} times'
        return diagnostics.OK, mode


def main(argv: Sequence[str] | None = None, build: Callable[..., Any] = plants.simulated) -> int:
    """Run the simulation node until Ctrl-C or SIGTERM."""
    return process.run(lambda stop: SimulationNode(stop, build), argv)


if __name__ == '__main__':
    sys.exit(main())
