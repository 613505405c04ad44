# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""States in parts: assembled at the moment of one of them, each with an age of its own."""

from math import nan

import numpy as np
import pytest

pytest.importorskip('sensor_msgs')

from softrobot_dynamics.dynamics.periodic_coordinates import PeriodicCoordinates, RotationVectors  # noqa: E402
from softrobot_dynamics.errors import ArgumentError  # noqa: E402
from softrobot_dynamics.loops.part_synchronisation import StateHistory  # noqa: E402
from softrobot_dynamics.loops.state_parts import PartReader, SourcePart, StateParts  # noqa: E402
from softrobot_dynamics.loops.state_reader import StateReader  # noqa: E402
from softrobot_dynamics.loops.state_stream import StateStream  # noqa: E402
from softrobot_dynamics.loops.state_validation import part_of, StateBounds, StateValidator  # noqa: E402
from softrobot_dynamics.loops.statistics import Window  # noqa: E402
from softrobot_dynamics.loops.watchdog import RUNNING, TIMED_OUT, WAITING  # noqa: E402
from support.control_loops import Control, state, WATCHDOG  # noqa: E402
from support.linear_plant import BOUNDS, COORDINATES  # noqa: E402
from support.loops import PERIOD  # noqa: E402

pytestmark = pytest.mark.quick

NAMES = 'arm', 'soft'
SETTLED = 50  # periods, after which states are believed


def parts(velocities='measured', **options):
    """Return StateParts of the two coordinates of the linear plant, one each."""
    return StateParts(
        [
            SourcePart(
                name,
                (i,),
                StateStream(
                    StateReader(COORDINATES[i : i + 1], velocities),
                    StateValidator(part_of(BOUNDS, (i,))),
                    PERIOD,
                ),
                Window(),
            )
            for i, name in enumerate(NAMES)
        ],
        **options,
    )


class Drivers:
    """Two drivers, whose joints move at constant rates, and the loop that hears them."""

    def __init__(self, monkeypatch, every=(1, 4), offsets=(0, 0), late=(0, 0), **options):
        self.control = Control(monkeypatch, parts=parts(**options))
        self.rates, self.every, self.offsets, self.late = (0.5, -0.25), every, offsets, late
        self.begin, self.k, self.silent = self.control.clock.time, 0, ()
        self.jitter, self.lost, self.under_way = None, 0.0, []

    def message(self, part, k, velocity=True):
        """Return the state of a part in a period."""
        t = k * PERIOD * 1e-9
        message = state((self.rates[part] * t,), names=COORDINATES[part : part + 1])
        message.velocity = [self.rates[part]] if velocity else []
        stamp = 5_000_000_000 + self.offsets[part] + k * PERIOD
        message.header.stamp = type(message.header.stamp)(
            sec=stamp // 10**9, nanosec=stamp % 10**9
        )
        return part, message

    def run(self, periods, **options):
        """Let so many periods pass."""
        for _ in range(periods):
            self.k += 1
            for part, every in enumerate(self.every):
                if self.k % every == 0 and part not in self.silent:
                    due = self.begin + self.k * PERIOD + self.late[part] + part * 1000
                    message = self.message(part, self.k, **options)
                    self.control.go(message, due - self.control.clock.time)
            end = self.begin + self.k * PERIOD + PERIOD // 2
            if self.control.clock.time < end:
                self.control.clock.sleep_until(end)
                self.control.loop._keep_safe(self.control.clock.time)

    def run_late(self, periods):
        """Let so many periods pass; what is under way for several of them comes in its turn."""
        for _ in range(periods):
            self.k += 1
            for part, every in enumerate(self.every):
                if self.k % every == 0:
                    due = self.begin + self.k * PERIOD + self.late[part] + part * 1000
                    if part and self.jitter is not None:
                        due += int(self.jitter.integers(0, PERIOD))
                        if self.jitter.random() < self.lost:
                            continue
                    self.under_way.append((due, self.message(part, self.k)))
            self.under_way.sort(key=lambda each: each[0])
            end = self.begin + self.k * PERIOD + PERIOD // 2
            while self.under_way and self.under_way[0][0] < end:
                due, message = self.under_way.pop(0)
                self.control.go(message, due - self.control.clock.time)

    @property
    def rows(self):
        """Return (time, stamp, q, qd) of the ticks."""
        found = self.control.loop.record.rows
        return [(row[0] - self.begin, row[1], row[2], row[3]) for row in found]


def test_the_slowest_part_makes_ticks_and_the_other_is_brought_to_its_moment(monkeypatch):
    """Ticks come at the slow part's rate, with the fast part's newest state at that moment."""
    drivers = Drivers(monkeypatch, every=(3, 4))
    drivers.run(4 * SETTLED)
    assert drivers.control.loop.mode == RUNNING
    rows = drivers.rows[-10:]
    assert np.diff([row[0] for row in rows]).tolist() == [4 * PERIOD] * 9
    for moment, _, q, qd in rows:
        t = moment // PERIOD * PERIOD * 1e-9
        np.testing.assert_allclose(q, [0.5 * t, -0.25 * t], atol=1e-6)
        np.testing.assert_allclose(qd, drivers.rates)


def test_a_named_part_makes_ticks(monkeypatch):
    """With `tick` the fast part makes ticks, and the slow one is extrapolated to their times."""
    drivers = Drivers(monkeypatch, tick='arm', predicts=False)
    drivers.run(4 * SETTLED)
    rows = drivers.rows[-8:]
    assert np.diff([row[0] for row in rows]).tolist() == [PERIOD] * 7
    for moment, _, q, _ in rows:
        t = moment // PERIOD * PERIOD * 1e-9
        np.testing.assert_allclose(q, [0.5 * t, -0.25 * t], atol=1e-6)


@pytest.mark.parametrize('shared', [False, True])
def test_clocks_of_their_own_and_a_shared_clock(shared, monkeypatch):
    """
    A part that arrives 0.3 ms late is extrapolated by that time if it shares the clock.

    With clocks of their own nobody knows that it is late: offsets between the clocks do not count.
    """
    offsets = (0, 0) if shared else (0, 7_000_000_000)
    drivers = Drivers(
        monkeypatch,
        late=(0, 3 * PERIOD // 10),
        offsets=offsets,
        tick='arm',
        shared_clock=shared,
        predicts=False,
    )
    drivers.run(4 * SETTLED)
    moment, _, q, _ = drivers.rows[-1]
    t = moment // PERIOD * PERIOD * 1e-9
    missed = 0.0 if shared else 0.25 * 0.3e-3
    np.testing.assert_allclose(q, [0.5 * t, -0.25 * t + missed], atol=1e-6)


def test_a_clock_that_is_set_does_not_end_the_loop(monkeypatch):
    """With clocks of their own, one that is set back by 5 s leaves the parts together."""
    drivers = Drivers(monkeypatch)
    drivers.run(4 * SETTLED)
    drivers.offsets = (0, -5 * 10**9)
    drivers.run(6 * SETTLED)
    moment, _, q, _ = drivers.rows[-1]
    assert drivers.control.loop.mode == RUNNING and moment > (drivers.k - 8) * PERIOD
    t = moment // PERIOD * PERIOD * 1e-9
    np.testing.assert_allclose(q, [0.5 * t, -0.25 * t], atol=1e-5)


def test_stamps_of_several_clocks_are_refused_as_shared(monkeypatch):
    """With `shared_clock` parts whose stamps are seconds apart make no state, by name."""
    drivers = Drivers(monkeypatch, offsets=(0, 10**9), tick='arm', shared_clock=True)
    drivers.run(4 * SETTLED)
    assert not drivers.rows
    assert 'stale: part soft is stamped' in drivers.control.loop.statistics.last_refusal


def test_a_silent_part_trips_the_watchdog_by_name(monkeypatch):
    """While one part is silent the safe command is sent and its name reported."""
    drivers = Drivers(monkeypatch)
    drivers.run(4 * SETTLED)
    loop, said = drivers.control.loop, []
    monkeypatch.setattr(
        drivers.control.publisher, 'waiting', lambda passed, last, *names: said.append(names)
    )
    drivers.silent = (1,)
    drivers.run(WATCHDOG // PERIOD + 5)
    assert loop.mode == TIMED_OUT and said == [('soft',)]
    assert loop.states.silent(drivers.control.clock.time) == ('soft',)
    ticks = len(drivers.rows)
    drivers.run(3 * WATCHDOG // PERIOD)
    assert len(drivers.rows) == ticks and len(said) == 4  # the other part alone makes none
    drivers.silent = ()
    drivers.run(4 * SETTLED)
    assert loop.mode == RUNNING and loop.statistics.counts['timeouts'] == 1


def test_a_part_that_has_never_come_is_named(monkeypatch):
    """Without a first state of a part the loop waits, and says for which one."""
    drivers, said = Drivers(monkeypatch), []
    monkeypatch.setattr(
        drivers.control.publisher, 'waiting', lambda passed, last, *names: said.append(names)
    )
    drivers.silent = (0,)
    drivers.run(1100)
    assert drivers.control.loop.mode == WAITING and set(said) == {('arm',)}


def test_a_wrong_message_of_one_part_leaves_the_other_alone(monkeypatch):
    """A wrong message of one part is refused with its name; the other part's states count."""
    drivers = Drivers(monkeypatch, tick='arm')
    drivers.run(4 * SETTLED)
    before, words = len(drivers.rows), drivers.control.publisher.words
    for wrong in ({'q': nan}, {'q': 3.0}, {'late': 8}):
        part, message = drivers.message(1, drivers.k + 1 - wrong.get('late', 0))
        if 'q' in wrong:
            message.position = [wrong['q']]
        drivers.control.go((part, message), 10)
        assert words[-1].endswith('(part soft)')
        drivers.run(4)
    causes = [word.partition(':')[0] for word in words if word.endswith('(part soft)')]
    assert causes == ['not a number', 'contradiction', 'out of order']
    assert len(drivers.rows) == before + 12 and drivers.control.loop.mode == RUNNING


def test_missing_velocities_are_estimated_at_the_stated_delay(monkeypatch):
    """Without velocities the state is that of four periods ago, of which the law is told."""
    drivers = Drivers(monkeypatch, every=(1, 1), velocities='auto')
    drivers.run(4 * SETTLED, velocity=False)
    loop = drivers.control.loop
    assert loop.mode == RUNNING and loop.states.delay == 4 * PERIOD
    assert loop.driver.state_delay == 4e-3 and loop.states.estimated == COORDINATES
    moment, _, q, qd = drivers.rows[-1]
    t = moment // PERIOD * PERIOD * 1e-9 - 4e-3
    np.testing.assert_allclose(q, [0.5 * t, -0.25 * t], atol=1e-6)
    np.testing.assert_allclose(qd, drivers.rates, atol=1e-6)


def test_velocities_that_vanish_on_the_way_are_estimated(monkeypatch):
    """Where velocities stop coming the loop goes on, and the law begins anew with the delay."""
    drivers = Drivers(monkeypatch, every=(1, 1), velocities='auto')
    drivers.run(4 * SETTLED)
    loop = drivers.control.loop
    assert loop.states.delay == 0 and not loop.states.estimated
    begun, ticks = loop.driver.law.calls.count('start'), len(drivers.rows)
    drivers.run(3, velocity=False)
    drivers.run(1)
    assert loop.states.delay == 0 and len(drivers.rows) == ticks + 1  # some may be a fault
    assert 'not a number: the velocity of' in loop.statistics.last_refusal
    drivers.run(SETTLED, velocity=False)
    assert loop.mode == RUNNING and loop.states.delay == 4 * PERIOD
    assert loop.driver.law.calls.count('start') == begun + 1
    assert loop.statistics.counts['timeouts'] == 0


def test_a_rotation_vector_stays_in_one_part():
    """Bounds of a part keep a whole rotation vector, and refuse one that is torn apart."""
    turns = PeriodicCoordinates(
        np.array([6.0, 0.0, 0.0, 0.0]), (RotationVectors(slice(1, 4), 4.0),)
    )
    bounds = StateBounds(('a', 'b', 'c', 'd'), np.arange(4.0), np.ones(4), turns)
    own = part_of(bounds, (1, 2, 3))
    assert own.names == ('b', 'c', 'd') and own.velocity.tolist() == [1.0, 2.0, 3.0]
    assert own.turns.vectors == (RotationVectors(slice(0, 3), 4.0),)
    with pytest.raises(ArgumentError, match='one part'):
        part_of(bounds, (0, 1))


def test_positions_of_parts_are_put_together():
    """A reader of positions keeps those of parts that have come, whatever their velocities."""
    readers = [(StateReader(COORDINATES[i : i + 1], 'differentiated'), (i,)) for i in (0, 1)]
    reader = PartReader(readers, np.array([7.0, 8.0]))
    message = state((1.0,), names=COORDINATES[1:])
    message.velocity = []
    assert reader.read((1, message))[0].tolist() == [7.0, 1.0]


@pytest.mark.parametrize('predicts', [True, False], ids=['predicts', 'does not'])
def test_whole_states_are_of_the_moment_at_which_the_oldest_part_is_known(predicts, monkeypatch):
    """
    With a part that is 7 to 10 periods old, states are of the median age, and the law is told.

    Of a law that does not predict, all parts are brought to the tick by their velocities.
    """
    late = (0, 6 * PERIOD)
    drivers = Drivers(monkeypatch, late=late, tick='arm', shared_clock=True, predicts=predicts)
    drivers.run_late(4 * SETTLED)
    loop, (_, stamp, q, _) = drivers.control.loop, drivers.rows[-1]
    assert loop.mode == RUNNING
    delay = round(8.5 * PERIOD) if predicts else 0
    assert loop.states.delay == delay and loop.driver.state_delay == delay * 1e-9
    assert drivers.control.loop.record.notes == [{'state_delay': delay * 1e-9}] * predicts
    t = (stamp - 5_000_000_000 - delay) * 1e-9
    np.testing.assert_allclose(q, [0.5 * t, -0.25 * t], atol=1e-9)
    begun = loop.driver.law.calls.count('start')
    drivers.run_late(4 * SETTLED)
    assert loop.driver.law.calls.count('start') == begun and loop.states.delay == delay


def test_jitter_and_lost_states_do_not_change_the_moment(monkeypatch):
    """While a late part jitters and loses a tenth of its states, the law's delay is set once."""
    drivers = Drivers(monkeypatch, late=(0, 6 * PERIOD), tick='arm', shared_clock=True)
    drivers.jitter, drivers.lost = np.random.default_rng(3), 0.1
    drivers.run_late(10 * SETTLED)
    loop = drivers.control.loop
    assert loop.mode == RUNNING and loop.statistics.counts['timeouts'] == 0
    assert len(loop.record.notes) == 1
    assert loop.states.delay == pytest.approx(8 * PERIOD, abs=1.5 * PERIOD)


def test_a_law_goes_on_with_the_delay_of_a_part_that_becomes_late(monkeypatch):
    """Where a part becomes 6 periods older, and newer again, the law goes on with that delay."""
    drivers = Drivers(monkeypatch, tick='arm', every=(1, 1), shared_clock=True)
    drivers.run_late(4 * SETTLED)
    loop, begun = drivers.control.loop, drivers.control.loop.driver.law.calls.count('start')
    assert loop.states.delay == 0
    drivers.late = (0, 6 * PERIOD)
    drivers.run_late(6 * SETTLED)
    assert loop.states.delay == pytest.approx(6 * PERIOD, abs=PERIOD)
    moments = np.diff([row[1] for row in drivers.rows])
    assert (moments == PERIOD).all()  # no tick was left out
    drivers.late = (0, 0)
    drivers.run_late(6 * SETTLED)
    assert loop.states.delay == 0 and loop.mode == RUNNING
    assert loop.driver.law.calls.count('start') == begun


def test_states_between_those_of_a_history():
    """A history interpolates a cubic motion exactly, and extrapolates by the last rate."""
    history = StateHistory()
    for t in (0.0, 0.1, 0.3):
        history.add(np.array([t**3 - t]), np.array([3 * t**2 - 1]), round(t * 1e9))
    for t in (0.03, 0.1, 0.25):
        q, qd = history.at(round(t * 1e9))
        np.testing.assert_allclose([q[0], qd[0]], [t**3 - t, 3 * t**2 - 1], atol=1e-12)
    q, qd = history.at(400_000_000)
    np.testing.assert_allclose([q[0], qd[0]], [0.3**3 - 0.3 - 0.073, -0.73])
    q, qd = history.at(-100_000_000)
    np.testing.assert_allclose([q[0], qd[0]], [0.1, -1.0])
    history.add(np.zeros(1), np.ones(1), 100_000_000)  # those that were later are no more
    q, _ = history.at(200_000_000)
    np.testing.assert_allclose(q, [0.1])
