# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
"""
Lower typed operations to LLVM code: numba's pass, faster for the operations of kernels.

:class:`KernelLowering` is the pass, :class:`_Lower` extends numba's class of that name. It emits
sums and products (:mod:`.numbers`), entries and views of arrays (:mod:`.arrays`),
loops over ranges, fields and calls at once. Numba looks for the best of many implementations each
time, and emits several times as many instructions, which LLVM has to read and to remove. What is
not known here is left to numba. The machine code computes the same numbers.
"""

from typing import Any

from llvmlite import ir as llvm
from numba import types
from softrobot_dynamics.compiling.lowering import arrays
from softrobot_dynamics.compiling.lowering.internals import (
    cgutils,
    ir,
    Lower,
    NativeLowering,
    register_pass,
)
from softrobot_dynamics.compiling.lowering.numbers import conversion, operation
from softrobot_dynamics.compiling.lowering.variables import ValueLower

_TRY_MODULE = 'numba.core.unsafe.eh'  # numba's, of what a `try` becomes
_ITER, _STEP, _COUNT = 0, 2, 3  # places of the fields of an iterator of a range


@register_pass(mutates_CFG=False, analysis_only=False)  # numba would find all lifetimes anew
class KernelLowering(NativeLowering):
    """The pass of numba that makes LLVM code, by :class:`_Lower` where it can be."""

    _name = 'kernel_lowering'

    @property
    def lowering_class(self) -> Any:
        """Return the constructor of the object that lowers a function."""
        return _lower_of


def _lower_of(context: Any, library: Any, description: Any, function: Any, metadata: Any) -> Lower:
    """Return numba's object that lowers a function, or ours."""
    needs_numba = (
        context.enable_nrt
        or context.enable_boundscheck
        or context.enable_debuginfo
        or function.generator_info
        or any(map(_is_of_try, function.blocks.values()))
    )
    kind = Lower if needs_numba else _Lower
    return kind(context, library, description, function, metadata=metadata)


def _is_of_try(block: Any) -> bool:
    """Tell whether a block begins or ends a `try`."""
    return any(
        isinstance(inst, ir.Assign)
        and isinstance(inst.value, ir.Global)
        and getattr(inst.value.value, '__module__', None) == _TRY_MODULE
        for inst in block.body
    )


class _Lower(ValueLower):
    """Numba's object that lowers a function, for kernels."""

    def init(self) -> None:
        """Begin without memory for the results of callees."""
        super().init()
        self._slots: dict[str, Any] = {}  # by LLVM type

    def lower_inst(self, inst: Any) -> None:
        """Lower one operation."""
        stored = isinstance(inst, (ir.SetItem, ir.StaticSetItem)) and self._stored(inst)
        if not stored:
            super().lower_inst(inst)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Return the value that is assigned to a variable of a type."""
        value, found = inst.value, None
        if isinstance(value, ir.Expr):
            emit = _EXPRESSIONS.get(value.op)
            found = emit and emit(self, ty, value)
        elif isinstance(value, ir.Var):
            found = conversion(
                self.context, self.builder, self.loadvar(value.name), self.typeof(value.name), ty
            )
        elif isinstance(value, (ir.Global, ir.FreeVar)) and isinstance(ty, types.Dispatcher):
            # its type says which function it is; numba's address is one of this process, and code
            # that still holds it after it was optimised cannot be kept
            found = self.context.get_constant_null(ty)
        return super().lower_assign(ty, inst) if found is None else found

    def _binary(self, kind: Any, expr: Any) -> Any:
        """Return the value of an operator; of arrays, which it may change, by numba."""
        left, right = self.typeof(expr.lhs.name), self.typeof(expr.rhs.name)
        if not all(isinstance(each, types.Number) for each in (left, right)):
            return None
        signature = self.fndesc.calltypes[expr]
        a = self._converted(expr.lhs, signature.args[0])
        b = self._converted(expr.rhs, signature.args[1])
        found = operation(self.context, self.builder, expr.fn, signature, a, b)
        if found is None:
            return None
        return conversion(self.context, self.builder, found, signature.return_type, kind)

    def _converted(self, variable: Any, kind: Any) -> Any:
        """Return the value of a variable as one of a type."""
        value, own = self.loadvar(variable.name), self.typeof(variable.name)
        return conversion(self.context, self.builder, value, own, kind)

    def _item(self, kind: Any, expr: Any) -> Any:
        """Return an entry or a view of an array."""
        array = self.typeof(expr.value.name)
        if not arrays.is_supported(array):
            return None
        return self._selected(kind, array, expr.value, self._indices(expr.index))

    def _static_item(self, kind: Any, expr: Any) -> Any:
        """Return an entry of an array or of a tuple by an index known when it is compiled."""
        owner = self.typeof(expr.value.name)
        if isinstance(owner, types.BaseTuple) and isinstance(expr.index, int):
            place = range(len(owner))[expr.index]
            same = owner.types[place] == kind
            return self._field(expr.value, place) if same else None
        if not arrays.is_supported(owner):
            return None
        index = arrays.constant_index(expr.index)
        return self._selected(kind, owner, expr.value, index and [index])

    def _selected(self, kind: Any, array: Any, variable: Any, indices: Any) -> Any:
        """Return the entry or the view that indices select of an array."""
        if indices is None or len(indices) > array.ndim:
            return None
        value = self.loadvar(variable.name)
        if isinstance(kind, types.Array):
            return arrays.view(self.context, self.builder, array, value, indices, kind)
        pointer = arrays.entry(self.builder, array, value, indices)
        found = self.builder.load(pointer)
        return conversion(self.context, self.builder, found, array.dtype, kind)

    def _indices(self, variable: Any) -> Any:
        kind, value = self.typeof(variable.name), self.loadvar(variable.name)
        return arrays.indices_of(self.context, self.builder, kind, value)

    def _stored(self, inst: Any) -> bool:
        """Store a number in an entry of an array; tell whether it is one."""
        array, value = self.typeof(inst.target.name), self.typeof(inst.value.name)
        if not (arrays.is_supported(array) and isinstance(value, types.Number)):
            return False
        if isinstance(inst, ir.SetItem):
            indices = self._indices(inst.index)
        else:
            index = arrays.constant_index(inst.index)
            indices = index and [index]
        if not indices or len(indices) != array.ndim:
            return False
        if any(isinstance(index, arrays.Slice) for index in indices):
            return False
        # as numba: first to the type that the operation has
        wanted = self.fndesc.calltypes[inst].args[2]
        number = self._converted(inst.value, wanted)
        number = conversion(self.context, self.builder, number, wanted, array.dtype)
        pointer = arrays.entry(self.builder, array, self.loadvar(inst.target.name), indices)
        self.builder.store(number, pointer)
        return True

    def _field(self, variable: Any, place: Any) -> Any:
        return self.builder.extract_value(self.loadvar(variable.name), place)

    def _attribute(self, kind: Any, expr: Any) -> Any:
        """Return a field of a NamedTuple, or the shape of an array."""
        owner = self.typeof(expr.value.name)
        if isinstance(owner, types.NamedTuple) and expr.attr in owner.fields:
            place = owner.fields.index(expr.attr)
            return self._field(expr.value, place) if owner.types[place] == kind else None
        if isinstance(owner, types.Array) and expr.attr == 'shape':
            return self._field(expr.value, arrays.SHAPE)
        return None

    def _first(self, kind: Any, expr: Any) -> Any:
        return self._field(expr.value, 0)

    def _second(self, kind: Any, expr: Any) -> Any:
        return self._field(expr.value, 1)

    def _iterator(self, kind: Any, expr: Any) -> Any:
        """Return the iterator of a range with steps of 1."""
        owner = self.typeof(expr.value.name)
        if not isinstance(owner, types.RangeType) or owner.iterator_type != kind:
            return None
        start, stop, step = (self._field(expr.value, i) for i in range(3))
        if not (isinstance(step, llvm.Constant) and step.constant == 1):
            return None
        builder = self.builder
        difference = builder.sub(stop, start)
        some = builder.icmp_signed('>', difference, difference.type(0))
        count = builder.select(some, difference, difference.type(0))
        places = [cgutils.alloca_once(builder, start.type) for _ in range(2)]
        for place, value in zip(places, (start, count)):
            builder.store(value, place)
        return self._structure(kind, (places[0], stop, step, places[1]))

    def _structure(self, kind: Any, fields: Any) -> Any:
        """Return an LLVM structure of fields."""
        made = llvm.Constant(self.context.get_value_type(kind), llvm.Undefined)
        for place, field in enumerate(fields):
            made = self.builder.insert_value(made, field, place)
        return made

    def _next(self, kind: Any, expr: Any) -> Any:
        """Return the pair of an iterator's next number, and whether there is one."""
        if not isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return None
        builder = self.builder
        iterator, step, place = (self._field(expr.value, i) for i in (_ITER, _STEP, _COUNT))
        count = builder.load(place)
        some = builder.icmp_signed('>', count, count.type(0))
        before = builder.block
        with builder.if_then(some):
            value, inside = builder.load(iterator), builder.block
            builder.store(builder.sub(count, count.type(1), flags=['nsw']), place)
            builder.store(builder.add(value, step), iterator)
        found = builder.phi(value.type)
        found.add_incoming(value, inside)
        found.add_incoming(llvm.Constant(value.type, llvm.Undefined), before)
        return self._structure(kind, (found, some))

    def _call(self, kind: Any, expr: Any) -> Any:
        """Return the result of a call of a compiled function, or of one of a few of Python's."""
        function, signature = self.typeof(expr.func.name), self.fndesc.calltypes[expr]
        if type(function) is types.Dispatcher:  # not one of Python code
            return self._call_compiled(function, signature, expr)
        emit = _FUNCTIONS.get(getattr(function, 'typing_key', None))
        if emit is None or expr.vararg or expr.kws or signature.return_type != kind:
            return None
        return emit(self, kind, signature, expr.args)

    def _call_compiled(self, function: Any, signature: Any, expr: Any) -> Any:
        """Call a compiled function; if it fails this one does, with the same exception."""
        compiled = function.dispatcher.overloads.get(signature.args)
        if compiled is None or expr.target or isinstance(signature.return_type, types.Optional):
            return None
        builder, description = self.builder, compiled.fndesc
        if description.restype != signature.return_type:
            return None
        given = self.fold_call_args(function, signature, expr.args, expr.vararg, expr.kws)
        packer = self.call_conv._get_arg_packer(description.argtypes)
        callee = self.context.declare_function(self.module, description)
        place = self._slot(self.call_conv.get_return_type(description.restype).pointee)
        failure = self.function.args[1]  # where the caller looks for the exception
        code = builder.call(callee, [place, failure, *packer.as_arguments(builder, given)])
        with cgutils.if_unlikely(builder, builder.icmp_signed('!=', code, code.type(0))):
            builder.ret(code)
        self.context.add_linking_libs([compiled.library])
        if description.restype == types.none:
            return self.context.get_dummy_value()
        found = builder.load(place)
        found = self.context.get_returned_value(builder, description.restype, found)
        return found

    def _slot(self, kind: Any) -> Any:
        """Return the memory for a callee's result of an LLVM type."""
        key = str(kind)
        if key not in self._slots:
            self._slots[key] = cgutils.alloca_once(self.builder, kind)
        return self._slots[key]

    def _slice(self, kind: Any, signature: Any, given: Any) -> Any:
        """Return a slice without a step."""
        if len(given) != 2 or kind.has_step:
            return None
        bounds = []
        for variable, wanted in zip(given, signature.args):
            none = wanted == types.none
            bounds.append(None if none else self._converted(variable, wanted))
        start, stop = arrays.slice_of(*bounds)
        return self._structure(kind, (start, stop, start.type(1)))

    def _range(self, kind: Any, signature: Any, given: Any) -> Any:
        """Return a range with steps of 1."""
        if len(given) > 2:
            return None
        bounds = [self._converted(*each) for each in zip(given, signature.args)]
        start = bounds[0].type(0) if len(bounds) == 1 else bounds[0]
        return self._structure(kind, (start, bounds[-1], start.type(1)))

    def _length(self, kind: Any, signature: Any, given: Any) -> Any:
        """Return the length of an array."""
        if not isinstance(self.typeof(given[0].name), types.Array):
            return None
        return self._field(given[0], (arrays.SHAPE, 0))

    def _greatest(self, kind: Any, signature: Any, given: Any) -> Any:
        return self._chosen('>', kind, signature, given)

    def _least(self, kind: Any, signature: Any, given: Any) -> Any:
        return self._chosen('<', kind, signature, given)

    def _chosen(self, comparison: str, kind: Any, signature: Any, given: Any) -> Any:
        """Return the first number, or the last that a comparison prefers to the one so far."""
        if any(each != kind for each in signature.args):
            return None
        builder = self.builder
        found, *others = (self._converted(each, kind) for each in given)
        for value in others:
            if isinstance(kind, types.Float):
                chosen = builder.fcmp_ordered(comparison, value, found)
            else:
                compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
                chosen = compare(comparison, value, found)
            found = builder.select(chosen, value, found)
        return found


_EXPRESSIONS = {
    'binop': _Lower._binary, 'inplace_binop': _Lower._binary, 'getitem': _Lower._item,
    'static_getitem': _Lower._static_item, 'getattr': _Lower._attribute,
    'pair_first': _Lower._first, 'pair_second': _Lower._second, 'getiter': _Lower._iterator,
    'iternext': _Lower._next, 'call': _Lower._call,
}  # fmt: skip
_FUNCTIONS = {
    slice: _Lower._slice, range: _Lower._range, len: _Lower._length, max: _Lower._greatest,
    min: _Lower._least,
}  # fmt: skip
