# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Variables of functions as values of LLVM, and fields of structures without instructions.

A variable becomes a value if it is assigned once, before all that uses it, and a place in memory
otherwise; numba has such values within a block only. LLVM would find them, but has to read and to
remove what numba writes instead.
"""

from collections import Counter
import functools
from typing import Any

from llvmlite import ir as llvm
from softrobot_dynamics.compiling.lowering.internals import (
    ir,
    Lower,
    LoweringError,
    must_use_alloca,
    new_error_context,
)


class FieldBuilder(llvm.IRBuilder):
    """LLVM's builder, which takes a field of a structure from where it was put in."""

    def __init__(self, block: Any) -> None:
        super().__init__(block)
        self._taken: dict[tuple[Any, ...], tuple[Any, Any]] = {}  # {place: (field, structure)}

    def extract_value(self, agg: Any, idx: Any, name: str = '') -> Any:
        """Return a field, without an instruction where it is known."""
        places = tuple(idx) if isinstance(idx, (tuple, list)) else (idx,)
        while places and isinstance(agg, llvm.InsertValue):
            put = tuple(agg.indices)
            if put == places[: len(put)]:
                agg, places = agg.value, places[len(put) :]
            elif put[: len(places)] == places:  # a part of it
                break
            else:
                agg = agg.aggregate
        if not places:
            return agg
        key = id(self.block), id(agg), places  # the structure is kept, and so is its id
        if key not in self._taken:
            self._taken[key] = super().extract_value(agg, places, name), agg
        return self._taken[key][0]


class ValueLower(Lower):
    """Numba's object that lowers a function, with fewer places in memory; for no `try`."""

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that are assigned once, before all that uses them."""
        blocks, lifetime = self.func_ir.blocks, self.func_ir.variable_lifetime
        count: Counter[str] = Counter()
        place = {}
        for label, block in blocks.items():
            for inst in block.body:
                if isinstance(inst, ir.Assign):
                    count[inst.target.name] += 1
                    place[inst.target.name] = label
        once = {name for name, times in count.items() if times == 1}
        once -= must_use_alloca(blocks)
        before = lifetime.cfg.dominators()
        for label, used in lifetime.usedefs.usemap.items():
            # a block is lowered after those of smaller labels
            once -= {
                name
                for name in used & once
                if not (place[name] < label and place[name] in before[label])
            }
        self._singly_assigned_vars = once
        self._blk_local_varmap: dict[str, Any] = {}

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        self.builder = FieldBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def pre_block(self, block: Any) -> None:
        """Begin a block; none is within a `try`."""
        self._cur_ir_block = block

    def lower_block(self, block: Any) -> None:
        """Lower a block; an error says where it was."""
        self.pre_block(block)
        for inst in block.body:
            self.loc = inst.loc
            try:
                self.lower_inst(inst)
            except Exception as error:
                error_type = functools.partial(LoweringError, loc=inst.loc)
                where = 'lowering "{inst}" at {loc}'
                with new_error_context(where, inst=inst, loc=inst.loc, errcls_=error_type):
                    raise error
        self.post_block(block)

    def lower_inst(self, inst: Any) -> None:
        """Lower one operation."""
        if isinstance(inst, ir.Assign):
            kind = self.typeof(inst.target.name)
            self.storevar(self.lower_assign(kind, inst), inst.target.name)
        elif not isinstance(inst, ir.Del):  # which counts references, and there are none
            super().lower_inst(inst)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Assign a value to a variable."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))
