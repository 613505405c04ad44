# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Ports of the view are tried before a server is started, which would wait for ever."""

import contextlib
import socket

import pytest
from softrobot_dynamics.errors import ArgumentError
from softrobot_dynamics.viewing.ports import free_port

pytestmark = pytest.mark.quick


def test_a_port_that_is_taken_leads_to_the_next_free_one():
    """A port at which another program listens is passed over."""
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        assert port < free_port('127.0.0.1', port) <= port + 1000


@pytest.mark.parametrize('host', ['192.0.2.1', 'no such host', '256.0.0.1'])
def test_a_host_that_is_not_this_machine_is_refused(host):
    """An address at which this machine cannot listen is refused by name."""
    with pytest.raises(ArgumentError, match='--host.*an address of this machine'):
        free_port(host, 8080)


def test_a_port_without_a_free_one_behind_it_is_refused():
    """The last port is refused in words while another program listens there."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # then another program listens there
            stack.enter_context(socket.create_server(('127.0.0.1', 65535)))
        with pytest.raises(ArgumentError, match='--port: 65535, expected a port, 0 to 65535'):
            free_port('127.0.0.1', 65535)
