# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Rename variables until each is assigned once (SSA): numba's pass, faster for long functions.

Numba rewrites all statements of a function for each variable that is assigned more than once. An
emitted kernel of two thousand statements has sixty such: the sums over points. Here numba sees
those statements alone that the variable is in. The result is the same.
"""

from collections import defaultdict
from typing import Any

from softrobot_dynamics.compiling.lowering.internals import (
    build_definitions,
    compute_cfg_from_blocks,
    ir,
    PostProcessor,
    ReconstructSSA,
    register_pass,
    ssa,
)


@register_pass(mutates_CFG=False, analysis_only=False)
class KernelSSA(ReconstructSSA):
    """The pass of numba that renames variables, one variable's statements at a time."""

    _name = 'kernel_ssa'

    def run_pass(self, state: Any) -> bool:
        """Rename the variables of a function."""
        function = state.func_ir
        rename(function.blocks)
        self._patch_locals(state)
        function._definitions = build_definitions(function.blocks)
        PostProcessor(function).run(emit_dels=False)
        return True


def rename(blocks: dict[int, Any]) -> None:
    """Rename variables in blocks of statements, by label, until each is assigned once."""
    graph = compute_cfg_from_blocks(blocks)
    frontiers, kept = ssa._iterated_domfronts(graph), ssa._CacheListVars()
    names = ssa._find_defs_violators(blocks, graph)
    if not names:
        return
    places = _places(blocks, names)
    joined: dict[int, list[Any]] = defaultdict(list)
    for name in names:
        parts = {label: _part(block, places[name][label]) for label, block in blocks.items()}
        parts, definitions = ssa._fresh_vars(parts, name)
        parts = ssa._fix_ssa_vars(parts, name, definitions, graph, frontiers, kept)
        for label, part in parts.items():
            own = [*places[name][label], -1]
            added = len(part.body) - len(own)  # what joins the values of several branches
            joined[label][:0] = part.body[:added]
            for place, statement in zip(own, part.body[added:]):
                blocks[label].body[place] = statement
    for label, statements in joined.items():
        blocks[label].body[:0] = statements


def _places(blocks: dict[int, Any], names: Any) -> dict[str, dict[int, list[int]]]:
    """Return where each variable is, but in the last statement of a block, by name and label."""
    places: Any = defaultdict(lambda: defaultdict(list))
    for label, block in blocks.items():
        for place, statement in enumerate(block.body[:-1]):
            for name in {variable.name for variable in statement.list_vars()}:
                if name in names:
                    places[name][label].append(place)
    return places


def _part(block: Any, places: list[int]) -> Any:
    """Return a block of the statements at some places of another, and of the last: its jump."""
    part = ir.Block(block.scope, block.loc)
    part.body = [block.body[place] for place in [*places, -1]]
    return part
