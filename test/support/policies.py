# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""Check that the SROS 2 policy lists exactly the topics and services of a running node."""

from fnmatch import fnmatchcase
from pathlib import Path
from xml.etree import ElementTree

POLICY = Path(__file__).parents[2] / 'config' / 'security' / 'policy.xml'
CONTACT = {'/simulation/objects', '/simulation/contacts/*', '/simulation/contact_points'}
MOVING = {'/simulation/time'}
"""Topics that there are where the simulated robot may touch something, and where that moves."""

OPTIONAL = {'/clock', '/controller/commands', *CONTACT, *MOVING}
"""These, and topics by `publish_clock`, `use_sim_time` and `command_type` only."""


def check_policy(observer, node, optional=OPTIONAL):
    """Check that it names all topics and services of a node, and none beside but optional ones."""
    profile = ElementTree.parse(POLICY).find(f".//profile[@node='{node}']")
    get = observer.node
    observer.until(lambda: node in get.get_node_names(), node)
    for path, names_of in (
        ("topics[@publish='ALLOW']/topic", get.get_publisher_names_and_types_by_node),
        ("topics[@subscribe='ALLOW']/topic", get.get_subscriber_names_and_types_by_node),
        ("services[@reply='ALLOW']/service", get.get_service_names_and_types_by_node),
    ):
        written = {each.text.replace('~', f'/{node}') for each in profile.findall(path)}
        allowed = {name if name.startswith('/') else f'/{name}' for name in written}
        used = set()

        def all_used(names_of=names_of, allowed=allowed, used=used):
            """Tell whether all are discovered, which takes its time."""
            used.update(name for name, _ in names_of(node, '/'))
            return all(any(fnmatchcase(n, each) for n in used) for each in allowed - optional)

        observer.until(all_used, path)
        refused = {name for name in used if not any(fnmatchcase(name, each) for each in allowed)}
        assert not refused, path
