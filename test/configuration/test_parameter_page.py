# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""docs/parameters.md lists the parameters of each node as the code declares them."""

from pathlib import Path
import re

import pytest
from softrobot_dynamics.configuration.declared_parameters import controller_rows, SIMULATION
from softrobot_dynamics.configuration.node_parameters import OF_ESTIMATOR, OF_VISUALIZER
from softrobot_dynamics.configuration.parameter_descriptions import ParameterTable

pytestmark = pytest.mark.quick

PAGE = (Path(__file__).parents[2] / 'docs' / 'parameters.md').read_text(encoding='utf-8')
KINDS = {'strings': 'string[]', 'doubles': 'double[]'}
NODES = {
    'controller': controller_rows(),
    'simulation': [row for row in SIMULATION if not row.name.startswith('sensors.')],
    'estimator': OF_ESTIMATOR,
    'visualizer': OF_VISUALIZER,
}


def section(node):
    """Return the text about a node."""
    (text,) = [
        each
        for each in re.split(r'^## ', PAGE, flags=re.MULTILINE)
        if each.startswith(f'{node}\n')
    ]
    return text


def listed(node):
    """Return {parameter: (type, default, range, live)} of a node: of its tables, and shared."""
    lines = [line.strip() for line in section(node).splitlines() if line.startswith('| `')]
    rows = [[cell.strip() for cell in line[1:-1].split('|')] for line in lines]
    found = {row[0].strip('`'): (row[1], row[2], row[4], row[5]) for row in rows if len(row) == 7}
    shared = re.search(r'^As of the controller: (.*?)\.$', section(node), re.DOTALL | re.MULTILINE)
    if shared:
        names = re.findall(r'`(\w+)`', shared[1])
        assert not set(names) & set(found)
        found |= {name: listed('controller')[name] for name in names}
    return found


@pytest.mark.parametrize('node', NODES)
def test_the_page_lists_every_parameter_as_declared(node):
    """Type, default, range and whether it may change live agree with the declared parameters."""
    page = listed(node)
    assert set(ParameterTable(NODES[node]).rows) <= set(page)
    for row in NODES[node]:
        kind, default, bounds, live = page[row.name]
        assert kind == KINDS.get(row.kind, row.kind), row.name
        assert live == ('' if row.read_only else '✓'), row.name
        if row.kind in ('double', 'integer'):
            assert float(default) == row.default, row.name
            assert tuple(map(float, bounds.strip('[]').split(','))) == (row.lower, row.upper), (
                row.name
            )
        elif row.kind == 'string':
            assert default.strip("`'") == row.default, row.name
        elif row.kind == 'bool':
            assert default == str(row.default).lower(), row.name
        else:
            assert len(default.strip('[]').split()) == len(row.default), row.name
