# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Messages use UDP and no shared memory, unless the user chose a transport."""

import os
from pathlib import Path
import subprocess
import sys
from xml.etree import ElementTree

import pytest

pytest.importorskip('rclpy')

from softrobot_dynamics.nodes.messaging import transport

PROFILES = transport._profiles_variable()
RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
PARTICIPANT = """
import rclpy
from softrobot_dynamics.nodes.messaging.transport import choose_transport
choose_transport()
rclpy.init()
node = rclpy.create_node('probe')
print(open('/proc/self/maps').read())
"""


@pytest.fixture
def environment(monkeypatch):
    """Return the environment, without any choice of transport or range, for this test alone."""
    monkeypatch.setattr(os, 'environ', dict(os.environ))
    for name in (*transport._TRANSPORT_VARIABLES, RANGE, 'ROS_LOCALHOST_ONLY'):
        os.environ.pop(name, None)
    return os.environ


@pytest.mark.parametrize('wish', [{}, {RANGE: 'LOCALHOST'}], ids=lambda w: str([*w]))
@pytest.mark.skipif(sys.platform != 'linux', reason='reads /proc')
def test_no_participant_opens_shared_memory(environment, wish):
    """With any discovery range no participant uses shared memory, as it does by default."""
    found = {}
    for script in (PARTICIPANT, PARTICIPANT.replace('choose_transport()', '')):
        done = subprocess.run(
            [sys.executable, '-c', script], env={**environment, **wish}, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        found[script] = 'fastdds_port' in done.stdout
        assert 'deprecated' not in done.stderr
    assert list(found.values()) == [False, True]


def test_on_this_machine_a_profile_takes_the_place_of_the_range(environment):
    """A profile restricts discovery to this machine in place of the range."""
    environment[RANGE] = 'LOCALHOST'
    transport.choose_transport()
    assert environment[RANGE] == 'SYSTEM_DEFAULT'
    text = Path(environment[PROFILES]).read_text(encoding='utf-8')
    addresses = [e.text for e in ElementTree.fromstring(text).iter() if e.tag.endswith('}address')]
    assert addresses == ['127.0.0.1']


@pytest.mark.parametrize('name', (*transport._TRANSPORT_VARIABLES, 'ROS_LOCALHOST_ONLY'))
def test_a_transport_chosen_by_the_user_is_kept(environment, name):
    """A transport that the user chose by either variable is kept."""
    environment.update({name: '1', RANGE: 'LOCALHOST'})
    before = dict(environment)
    transport.choose_transport()
    assert environment == before


def test_another_middleware_is_left_alone(environment, monkeypatch):
    """The settings of another middleware are not changed."""
    monkeypatch.setattr(
        transport, 'get_rmw_implementation_identifier', lambda: 'rmw_cyclonedds_cpp'
    )
    environment[RANGE] = 'LOCALHOST'
    before = dict(environment)
    transport.choose_transport()
    assert environment == before
