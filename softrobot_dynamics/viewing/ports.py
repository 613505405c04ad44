# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Find a port that a server can listen at.

viser's server runs in a thread, and its start waits for ever if that thread fails: so what it is
given has been tried before.
"""

import errno
import socket

from softrobot_dynamics.errors import ArgumentError

MAX_PORT = 65535
_MAX_TRIED_PORTS = 1000  # in turn
# by another program, or kept for root: another may do
_PORT_IN_USE = errno.EADDRINUSE, errno.EACCES


def free_port(host: str, port: int) -> int:
    """
    Return the first port from `port` on that `host` can listen at; 0, for any, as it is.

    ArgumentError if there is none, and if `host` is no address of this machine.
    """
    failed: OSError | None = None
    for each in range(port, min(port + _MAX_TRIED_PORTS, MAX_PORT + 1)):
        try:
            _listen(host, each)
        except OSError as error:
            failed = error
            if error.errno not in _PORT_IN_USE:
                expected = f'an address of this machine ({error.strerror or error})'
                raise ArgumentError('--host', host, expected) from error
        else:
            return each
    reason = f'from which on one is free ({failed.strerror})' if failed else 'of a server'
    raise ArgumentError('--port', port, f'a port, 0 to {MAX_PORT}, {reason}')


def _listen(host: str, port: int) -> None:
    """Listen at all addresses of a host for a moment; OSError."""
    for family, _, _, _, address in socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    ):
        socket.create_server(address, family=family).close()
