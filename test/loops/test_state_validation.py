# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Acceptance and refusal of states, and the time after which a change is accepted."""

import numpy as np
import pytest

pytest.importorskip('sensor_msgs.msg')

import softrobot_dynamics as sd  # noqa: E402
from softrobot_dynamics.errors import MessageError  # noqa: E402
from softrobot_dynamics.loops.message_fields import cause_of, CAUSES  # noqa: E402
from softrobot_dynamics.loops.state_validation import (  # noqa: E402
    bounds_of,
    FOLLOWS,
    MOVED,
    StateBounds,
    StateValidator,
    UNCONFIRMED,
)

pytestmark = pytest.mark.quick

PERIOD, SECOND = 1_000_000, 1_000_000_000
UNIT = np.array([1.0, 5.0])  # an angle, and the stretch of a body of 0.2 m
BOUNDS = StateBounds(('bend', 'stretch'), np.array([np.inf, 2.0]), UNIT)
START = 1_700_000_000 * SECOND


class Sender:
    """A robot that moves smoothly, and whose states reach a judge; `refused` by cause."""

    def __init__(self, period=PERIOD, offset=START, amplitude=0.5, noise=0.0):
        self.validator, self.period, self.offset = StateValidator(BOUNDS), period, offset
        self.amplitude, self.noise, self.random = amplitude, noise, np.random.default_rng(7)
        self.k, self.answered, self.refused = 0, 0, {}

    def state(self):
        """Return (q, qd) as they are now: 1 and 1.7 Hz, the stretch a tenth of the bend."""
        t, w = self.k * self.period * 1e-9, 2.0 * np.pi * np.array([1.0, 1.7])
        size = self.amplitude * np.array([1.0, 0.1])
        q = size * np.sin(w * t) + self.noise / UNIT * self.random.standard_normal(2)
        return q, size * w * np.cos(w * t)

    def send(self, q=None, qd=None, ahead=0, late=0):
        """Send the next state, parts of it replaced; return the verdict or the cause."""
        self.k += 1
        there = self.state()
        q = there[0] if q is None else np.asarray(q, dtype=float)
        qd = there[1] if qd is None else np.asarray(qd, dtype=float)
        arrival = self.k * self.period
        try:
            verdict = self.validator.check(q, qd, self.offset + arrival + ahead, arrival + late)
        except MessageError as error:
            cause = cause_of(error)
            self.refused[cause] = self.refused.get(cause, 0) + 1
            self.words = error.reason
            return cause
        self.answered += verdict != UNCONFIRMED
        return verdict

    def settle(self):
        """Send until states are believed, and forget the counts."""
        while self.send() == UNCONFIRMED:
            assert self.k < 1000
        self.answered, self.refused = 0, {}
        return self


@pytest.fixture
def sender():
    """Return a sender whose states are believed."""
    return Sender().settle()


def test_every_cause_of_refusal_is_counted():
    """Every cause of refusal by the validator has a counter."""
    assert {'too fast', 'contradiction', 'out of order', 'from the future'} <= set(CAUSES)


def test_the_first_states_have_to_agree_for_a_while():
    """The first states are not acted on until they agree with each other for a while."""
    sender = Sender()
    verdicts = [sender.send() for _ in range(45)]
    assert verdicts == [UNCONFIRMED] * 40 + [MOVED] + [FOLLOWS] * 4


@pytest.mark.parametrize(
    'period, amplitude, noise',
    [
        (PERIOD, 0.5, 0.0),
        (PERIOD, 0.5, 2e-3),
        (PERIOD, 0.0, 2e-3),
        (PERIOD // 5, 1.0, 1e-3),
        (4 * PERIOD, 1.0, 1e-3),
        (20 * PERIOD, 0.5, 1e-3),
    ],
    ids=['smooth', 'noisy', 'at rest', '5 kHz', '250 Hz', '50 Hz'],
)
def test_a_healthy_robot_is_never_refused(period, amplitude, noise):
    """No state at 3 rad/s with noise of 0.1 degrees is refused, at any rate and jitter."""
    sender = Sender(period, amplitude=amplitude, noise=noise).settle()
    jitter = np.random.default_rng(3).integers(0, 3 * period // 4, 5000)
    assert all(sender.send(late=int(late)) == FOLLOWS for late in jitter)


def test_a_stamp_does_not_come_twice(sender):
    """A second state of the same stamp is refused, and the next one accepted."""
    assert sender.send(ahead=-PERIOD) == 'out of order'
    assert sender.send() == FOLLOWS


def test_a_stall_and_a_slipping_simulation_are_ridden_through(sender):
    """States missing for 15 ms, and stamps that stand still for 30 ms, cause no refusal."""
    sender.k += 15
    assert sender.send() == FOLLOWS
    assert sender.send(late=30 * PERIOD) == FOLLOWS
    sender.k += 1
    assert sender.send(late=29 * PERIOD) == FOLLOWS


@pytest.mark.parametrize('speed', [50.0, 1e3, 1e149])
@pytest.mark.parametrize('q', [None, (0.1, 0.0)], ids=['moving', 'at rest'])
def test_an_absurd_rate_is_refused_at_once(sender, speed, q):
    """An absurd rate is refused every time, and the valid states between are answered."""
    if q is not None:
        sender = Sender(amplitude=0.0)
        sender.state = lambda: (np.array(q), np.zeros(2))
        sender.settle()
    for k in range(200):
        if k % 2:
            assert sender.send(qd=(speed, 0.0)) == 'contradiction'
            assert 'bend went from' in sender.words and f'{speed:.4g}' in sender.words
        else:
            assert sender.send() == FOLLOWS


def test_an_absurd_rate_from_the_first_state_on_is_never_accepted():
    """A constant absurd rate that positions contradict is never accepted."""
    sender = Sender(amplitude=0.0)
    verdicts = [sender.send(qd=(50.0, 0.0)) for _ in range(300)]
    assert set(verdicts) == {UNCONFIRMED, 'contradiction'} and verdicts.count(UNCONFIRMED) == 1


def test_slightly_wrong_rates_are_found(sender):
    """Rates wrong by 1 rad/s for 20 ms are refused, and so are missing rates sent as zero."""
    still = Sender(amplitude=0.0).settle()
    verdicts = [still.send(qd=(1.0, 0.0)) for _ in range(40)]
    assert 'contradiction' in verdicts and verdicts[:10] == [FOLLOWS] * 10
    verdicts = [sender.send(qd=(0.0, 0.0)) for _ in range(100)]
    assert 'contradiction' in verdicts


@pytest.mark.parametrize('speed, allowed', [(3.9, True), (-4.1, False), (1e149, False)])
def test_a_joint_twice_as_fast_as_its_limit_is_refused(speed, allowed):
    """A rate of twice a joint's limit is refused, whatever the positions are."""
    sender = Sender()
    sender.state = lambda: (np.array([0.0, speed * sender.k * 1e-3]), np.array([0.0, speed]))
    verdicts = {sender.send() for _ in range(100)}
    assert verdicts == ({UNCONFIRMED, MOVED, FOLLOWS} if allowed else {'too fast'})
    if not allowed:
        assert 'stretch' in sender.words and 'limits.velocity 2' in sender.words


@pytest.mark.parametrize('ahead', [10 * SECOND, 3600 * SECOND, -10 * SECOND, -3600 * SECOND])
def test_an_outlier_among_the_stamps_costs_itself_only(sender, ahead):
    """Every 20th of 600 states, into the future or the past: 570 answers, and 30 refusals."""
    for k in range(600):
        sender.send(ahead=ahead if k % 20 == 0 else 0)
    cause = 'from the future' if ahead > 0 else 'out of order'
    assert sender.answered == 570 and sender.refused == {cause: 30}


@pytest.mark.parametrize('ahead', [10 * SECOND, -10 * SECOND])
def test_a_clock_that_is_set_is_accepted_after_a_while(sender, ahead):
    """After a set clock the states of an unmoved robot are accepted again, and it goes on."""
    verdicts = [sender.send(ahead=ahead) for _ in range(60)]
    assert verdicts[40:] == [FOLLOWS] * 20 and not {FOLLOWS, MOVED} & set(verdicts[:40])


@pytest.mark.parametrize('offset', [PERIOD, START - 3600 * SECOND, -START])
def test_clocks_of_two_machines_may_differ(offset):
    """States with clocks off by an hour, or without stamps, are accepted."""
    sender = Sender(offset=offset)
    verdicts = [sender.send() for _ in range(100)]
    assert verdicts[41:] == [FOLLOWS] * 59


def test_a_robot_that_was_moved_is_accepted_after_a_while(sender):
    """A moved or reset robot is accepted after a while, as one restart."""
    sender.state = lambda: (np.array([2.0, 0.1]), np.zeros(2))
    verdicts = [sender.send() for _ in range(60)]
    assert verdicts[:40] == ['contradiction'] * 40
    assert verdicts[40:] == [MOVED] + [FOLLOWS] * 19


def test_of_two_senders_that_contradict_each_other_one_is_followed(sender):
    """The first of two contradicting senders is followed; if both are new, neither is."""
    for _ in range(200):
        q, qd = sender.state()
        assert sender.send(q=-q - 0.3, qd=-qd) == 'contradiction'
        assert sender.send() == FOLLOWS
    both = Sender(amplitude=0.0)
    verdicts = [both.send(q=(0.5 * (-1.0) ** k, 0.0)) for k in range(200)]
    assert verdicts == [UNCONFIRMED] + ['contradiction'] * 199


def test_an_absurd_rate_is_refused_after_a_pause():
    """After a pause an absurd rate is refused, however long the pause was."""
    sender = Sender(amplitude=0.0).settle()
    sender.validator.forget()
    sender.validator.forget()
    sender.k += 10_000
    assert sender.send(qd=(50.0, 0.0)) == UNCONFIRMED
    assert sender.send(qd=(50.0, 0.0)) == 'contradiction'


def test_validation_is_independent_of_the_unit_of_length():
    """A soft arm in metres and in millimetres is validated equally."""

    def arm(scale):
        body = {'type': 'pcc', 'length': 0.2 * scale, 'radius': 0.02 * scale, 'density': 1e3,
                'young_modulus': 1e6, 'poisson_ratio': 0.5}  # fmt: skip
        turn = {'type': 'revolute', 'limits': {'velocity': 3.0}}
        slide = {'type': 'prismatic', 'limits': {'velocity': 0.5}}
        bodies = [
            {'name': name, 'joint': joint, 'body': body}
            for name, joint in (('a', turn), ('b', slide))
        ]
        return bounds_of(sd.compile_model(sd.load_robot({'name': 'arm', 'bodies': bodies})))

    small, large = arm(1.0), arm(10.0)
    assert small.names == ('a', 'a/bend_x', 'a/bend_y', 'a/elongation',
                           'b', 'b/bend_x', 'b/bend_y', 'b/elongation')  # fmt: skip
    assert small.velocity[[0, 4]].tolist() == [3.0, 0.5]
    assert np.isinf(np.delete(small.velocity, [0, 4])).all()
    assert small.unit == pytest.approx([1.0, 1.0, 1.0, 5.0, 2.5, 1.0, 1.0, 5.0])
    assert large.unit == pytest.approx([1.0, 1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.5])


@pytest.mark.parametrize('faster', [16.0, 2.0])
def test_states_queued_by_a_stopped_process_are_refused(sender, faster):
    """States queued by a stopped process are refused; new ones are accepted 40 ms later."""
    sender.settle()
    sender.validator.forget()
    arrival = (sender.k + 1200) * PERIOD
    while arrival - sender.k * PERIOD > PERIOD:
        sender.k += 1
        q, qd = sender.state()
        arrival += round(PERIOD / faster)
        assert sender.validator.check(q, qd, START + sender.k * PERIOD, arrival) == UNCONFIRMED
    answers = [sender.send() for _ in range(60)]
    assert 30 <= answers.index(FOLLOWS if FOLLOWS in answers else MOVED) <= 42


@pytest.mark.parametrize('speed', [0.1, 10.0])
@pytest.mark.parametrize('silence', [0, 2 * SECOND])
@pytest.mark.parametrize('back', [0, 3600 * SECOND])
def test_a_simulation_of_another_speed_is_accepted_after_a_silence(speed, silence, back):
    """A simulation with stamps faster or slower than time is accepted after a silence."""
    validator = StateValidator(BOUNDS)
    q, qd = np.zeros(2), np.zeros(2)
    judged = []
    for run in range(2):
        for k in range(1000 * run, 1000 * run + 1000):
            stamp = START + round(speed * k * PERIOD) - run * back
            judged.append(validator.check(q, qd, stamp, k * PERIOD + run * silence))
        assert judged[-1] == FOLLOWS
        validator.forget()
    assert judged[1000:].count(UNCONFIRMED) < (300 if silence else 50)


class LateDriver(Sender):
    """A driver that moves by its period in each state, but stamps by a clock, at times late."""

    def send(self, late=0, q=None, qd=None):
        """Send the next state, stamped and sent by `late` [ns] after its time."""
        return super().send(q, qd, ahead=late, late=late)


def turning(period, rate=3.12):
    """Return a late driver, settled, whose bend turns at a rate [rad/s]."""
    driver = LateDriver(period)
    driver.state = lambda: (
        np.array([rate * driver.k * period * 1e-9, 0.0]),
        np.array([rate, 0.0]),
    )
    while driver.send() == UNCONFIRMED:
        assert driver.k < 1000
    return driver


@pytest.mark.parametrize('kept', [True, False], ids=['for good', 'made up for'])
def test_states_one_period_late_that_moved_by_their_period_are_followed(kept):
    """A stamp late by 4.9 ms of a 5 ms period is accepted, and so are the states after it."""
    driver, late = turning(5 * PERIOD), 0
    for k in range(300):
        if k % 10 == 0:
            late = late + 49 * PERIOD // 10 if kept else 49 * PERIOD // 10
        elif not kept:
            late = 0
        assert driver.send(late=late) == FOLLOWS, driver.words


def test_a_position_that_stays_while_its_rate_is_large_is_refused_beside_late_stamps():
    """A position that freezes at a large rate is refused within 20 states, late stamps or not."""
    driver = turning(5 * PERIOD)
    frozen, rate = driver.state()
    found = [driver.send(late=k % 2 * 4 * PERIOD, q=frozen, qd=rate) for k in range(20)]
    assert 'contradiction' in found[:3] and found.count('contradiction') >= 5


@pytest.mark.parametrize('jump', [0.05, -0.05])
def test_a_jump_is_refused_in_a_late_state_too(jump):
    """A jump by more than a period at the measured rate is refused, late or not."""
    driver = turning(5 * PERIOD)
    q, _ = driver.state()
    q = q + np.array([3.12 * 5e-3 + jump, 0.0])
    assert driver.send(late=49 * PERIOD // 10, q=q) == 'contradiction'
