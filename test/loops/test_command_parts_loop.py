# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""A simulated robot whose commands come in parts, in simulated time."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from softrobot_dynamics.configuration.command_parts import CommandPart  # noqa: E402
from softrobot_dynamics.loops.deadlines import Schedule  # noqa: E402
from softrobot_dynamics.loops.message_fields import SECOND  # noqa: E402
from softrobot_dynamics.loops.simulation_loop import DRIVEN, IDLE, SimulationLoop, TIMED_OUT  # noqa: E402
from softrobot_dynamics.nodes.messaging.command_topics import PartsReader  # noqa: E402
from softrobot_dynamics.nodes.messaging.message_values import stamped  # noqa: E402
from softrobot_dynamics.simulation.bus import make_bus  # noqa: E402
from std_msgs.msg import Float64MultiArray  # noqa: E402
from support.linear_plant import simulated  # noqa: E402
from support.loops import Clock, Outlet, PERIOD, SAFE  # noqa: E402
from support.sensing import exact_sensing  # noqa: E402

pytestmark = pytest.mark.quick

LEFT = CommandPart('one', 'joint_state', '', (0,), ('left',), ('effort',), (1.0,))
RIGHT = CommandPart('other', 'joint_state', '', (1,), ('right',), ('effort',), (1.0,))
ARRAY = CommandPart('other', 'multi_array', '', (1,), ('right',), ('effort',), (1e-3,))


class Simulation:
    """A simulation loop, driven by the test, whose steps are kept."""

    def __init__(self, monkeypatch, parts=(LEFT, RIGHT), timing='arrival', waits=False):
        self.clock, self.publisher = Clock(monkeypatch), Outlet()
        self.plant, self.steps = simulated({}), []
        step = self.plant.simulator.step
        self.plant.simulator.step = lambda u, dt, wrenches=None: (
            self.steps.append((u.tolist(), pytest.approx(dt, abs=1e-12))),
            step(u, dt),
        )
        self.loop = SimulationLoop(
            self.plant, exact_sensing(2, 1e-3), self.clock, PartsReader(parts), self.publisher,
            Schedule(rate=1000.0, timeout=50, timing=timing, waits=waits, bus=make_bus({})),
            epoch=1_000 * SECOND,
        )  # fmt: skip
        self.loop.deadlines.start(self.clock.time + PERIOD)
        self.loop._publish()

    @property
    def stamp(self):
        """Return the stamp of the state published last."""
        return self.publisher.states[-1][2]

    def bring(self, part, value, after, stamp=None):
        """Let a command for a part arrive after ns."""
        message = JointState(name=[('left', 'right')[part]], effort=[value])
        message.header.stamp = stamped(self.stamp if stamp is None else stamp)
        self.clock.bring((part, message), after)

    def go(self, *commands):
        """Run one cycle with commands (part, value, after) under way; return its steps."""
        before = len(self.steps)
        for each in commands:
            self.bring(*each)
        self.loop._cycle()
        return self.steps[before:]


def test_parts_of_a_stamp_act_together_when_the_last_comes(monkeypatch):
    """All parts act from the arrival of the last of them on, and no sooner."""
    simulation = Simulation(monkeypatch)
    simulation.go((0, 1.0, PERIOD // 4), (1, 2.0, PERIOD // 2))
    steps = simulation.go((1, 4.0, PERIOD // 4), (0, 3.0, PERIOD // 2))
    assert steps == [([1.0, 2.0], 0.5e-3), ([3.0, 4.0], 0.5e-3)]
    assert simulation.loop.statistics.counts['answered'] == 2
    assert simulation.loop.mode == DRIVEN


def test_a_part_that_comes_alone_acts_with_the_last_of_the_others(monkeypatch):
    """A part without the others acts from its arrival on; the robot counts a missed tick."""
    simulation = Simulation(monkeypatch)
    simulation.go((0, 1.0, 1), (1, 2.0, 2))
    begin = simulation.clock.time
    assert simulation.go((1, 5.0, PERIOD // 4)) == [([1.0, 2.0], 0.25e-3), ([1.0, 5.0], 0.75e-3)]
    assert simulation.clock.time - begin == PERIOD
    assert simulation.loop.statistics.counts['missed'] == 1
    assert simulation.go() == [([1.0, 5.0], 1e-3)]


def test_nothing_acts_before_every_part_has_come(monkeypatch):
    """The robot's own safe command acts, and the mode names the part, until all have come."""
    simulation = Simulation(monkeypatch)
    assert simulation.go((0, 1.0, 1)) == [(SAFE, 1e-3)]
    assert simulation.loop.mode == IDLE and simulation.loop.mode_in_words().endswith('yet (other)')
    simulation.go((0, 1.0, 1), (1, 2.0, 2))
    assert (
        simulation.loop.mode == DRIVEN and simulation.loop.mode_in_words() == 'driven by commands'
    )


def test_a_part_that_stays_away_trips_the_robot_by_name(monkeypatch):
    """After the time-out of one part, which is named, the safe command acts until it returns."""
    simulation = Simulation(monkeypatch)
    simulation.go((0, 1.0, 1), (1, 2.0, 2))
    for _ in range(51):
        simulation.go((1, 2.0, 1))
    assert simulation.loop.mode == TIMED_OUT
    assert simulation.steps[-1][0] == SAFE
    assert 'safe command: the last command is too old (one)' in simulation.publisher.words
    assert simulation.loop.statistics.counts['timeouts'] == 1
    assert simulation.go((1, 4.0, 1), (0, 3.0, 2))[-1][0] == [3.0, 4.0]
    assert simulation.loop.mode == DRIVEN


def test_each_part_answers_states_in_order(monkeypatch):
    """An answer to a state that its part has answered already is refused; to others it is not."""
    simulation = Simulation(monkeypatch)
    first = simulation.stamp
    simulation.go((0, 1.0, 1), (1, 2.0, 2))
    simulation.go((0, 3.0, 1), (1, 9.0, 2, first))
    assert simulation.steps[-1][0] == [3.0, 2.0]
    assert any('out of order' in words for words in simulation.publisher.words)


def test_numbers_without_a_stamp_answer_the_state_of_their_arrival(monkeypatch):
    """A Float64MultiArray in its own unit completes the answer of a part with a stamp."""
    simulation = Simulation(monkeypatch, (LEFT, ARRAY), timing='lockstep')
    simulation.bring(0, 1.0, PERIOD // 4)
    simulation.clock.bring((1, Float64MultiArray(data=[2e3])), PERIOD // 8)
    simulation.loop._cycle()
    assert simulation.steps == [([1.0, 2.0], 1e-3)]
    assert simulation.loop.statistics.counts['answered'] == 1


def test_a_waiting_robot_waits_for_every_part(monkeypatch):
    """A robot that waits for commands sets out once every part has come."""
    simulation = Simulation(monkeypatch, timing='lockstep', waits=True)
    assert simulation.go((0, 1.0, 1)) == []
    assert simulation.go((1, 2.0, 1)) == [([1.0, 2.0], 1e-3)]
    assert np.isfinite(simulation.plant.simulator.q).all()


def test_the_newest_numbers_without_a_stamp_count(monkeypatch):
    """If an unstamped part came twice, the numbers beside the last stamped part act."""
    simulation = Simulation(monkeypatch, (LEFT, ARRAY), timing='lockstep')
    simulation.clock.bring((1, Float64MultiArray(data=[2e3])), 1)
    simulation.bring(0, 1.0, PERIOD // 4)
    simulation.clock.wait = first_of(simulation.clock)
    simulation.clock.bring((1, Float64MultiArray(data=[7e3])), PERIOD // 4)
    simulation.loop._cycle()
    assert simulation.steps == [([1.0, 7.0], 1e-3)]


def first_of(clock):
    """Return a `wait` of an inbox with room for one message of each part, which take turns."""

    def wait(timeout):
        end = clock.time + max(0, timeout)
        if clock.due and clock.due[0][0] <= end:
            clock.time = max(clock.time, clock.due[0][0])
            return clock.due.pop(0)[1]
        clock.sleep_until(end)
        return None

    return wait
