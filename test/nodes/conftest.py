# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Fixtures for tests of node processes."""

import pytest
from support.node_processes import compile_for_nodes, NODES, RATE, starting


@pytest.fixture
def observer():
    """Return an Observer."""
    from support.observer import Observer  # needs ROS, which not every test of nodes does

    observer = Observer()
    yield observer
    observer.close()


@pytest.fixture
def start(tmp_path):
    """Return a function that starts a node (name, options, parameters) as a process."""
    with starting(tmp_path) as run:
        yield run


@pytest.fixture(scope='module')
def arm():
    """Return the compiled arm; from here on all processes find its kernels compiled."""
    return compile_for_nodes('pcc_arm')


@pytest.fixture
def start_arm(arm, tmp_path):
    """Return a function that starts a node (name, parameters) for the arm as a process."""
    with starting(tmp_path, NODES, (), robot='pcc_arm', rate=RATE) as run:
        yield run
