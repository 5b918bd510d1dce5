"""Tallies: buffers that a kernel only counts in are counted in by each call for itself.

An integer buffer touched by nothing but atomic additions (or nothing but `or`, or `xor`) whose old
values nobody asks for is the same in the end however the additions are grouped. While it is small,
a call of the entry adds to copies of its own in the arena, with plain instructions, and to the
buffer once at its end. There are several copies, for neighbours often count the same: an addition
then does not wait for the one before.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.codegen.llvm.gang import Gang, Module, Tally
from cubepy.codegen.llvm.lane_loop import each_lane, spill
from cubepy.codegen.llvm.types import memory_type
from cubepy.ir import U8, U16, BufferType, Kernel, Op, OpDef, Scalar, StrideClass, Trait, ops, walk
from cubepy.target import WordKind

__all__ = ["COPIES", "Tally", "close_tallies", "count", "open_tallies", "tallied"]

COPIES = 4
_BYTES = 1 << 15
_WORD = 64
# Lanes of a gang that are counted for without a loop, where some of them may be off.
_WRITTEN_OUT = 64
_GROUPS: tuple[tuple[tuple[OpDef, ...], str], ...] = (
    ((ops.ATOMIC_ADD, ops.ATOMIC_SUB), "add"),
    ((ops.ATOMIC_OR,), "or"),
    ((ops.ATOMIC_XOR,), "xor"),
)
_HARMLESS = (ops.LENGTH, ops.STRIDE)
_Act = Callable[[Module, Tally, str, str], None]


def tallied(kernel: Kernel) -> dict[Op, str]:
    """The parameters of this kind, and how two counts are joined."""
    buffers = [param for param in kernel.params if isinstance(param.type, BufferType)]
    classes = [param.type.alias for param in buffers if isinstance(param.type, BufferType)]
    found: dict[Op, str] = {}
    for param in buffers:
        assert isinstance(param.type, BufferType)
        alone = classes.count(param.type.alias) == 1
        plain = param.type.strides == (StrideClass.ONE,) and param.type.element.is_integer
        verb = _verb(kernel, param) if alone and plain else None
        if verb:
            found[param] = verb
    return found


def _verb(kernel: Kernel, param: Op) -> str | None:
    """How the kernel counts in a buffer; None if it does anything else with it."""
    rows: set[OpDef] = set()
    atomics: set[Op] = set()
    used: set[Op] = set()
    for op in walk(kernel.body):
        used.update(op.operands)
        if param in op.operands and op.opdef not in _HARMLESS:
            if not op.opdef.has(Trait.ATOMIC) or op.attrs.get("order", "relaxed") != "relaxed":
                return None
            if op.attrs.get("check", "checked") == "validate":
                return None
            rows.add(op.opdef)
            atomics.add(op)
    if not rows or atomics & used:
        return None
    return next((verb for group, verb in _GROUPS if rows <= set(group)), None)


def open_tallies(module: Module, kernel: Kernel, units: int) -> None:
    """Clear the copies at the start of a call; `units` are those of a task."""
    w = module.w
    if not module.target.does("tallies"):
        return
    for param, verb in tallied(kernel).items():
        assert isinstance(param.type, BufferType)
        element = param.type.element
        step = _BYTES // COPIES // element.size
        offset = module.reserve(param, _BYTES)
        length = module.word(WordKind.SHAPE, module.params[param], 0)
        fits = w.value(f"icmp ule i64 {length}, {step}")
        # Clearing and adding up must not cost more than the counting.
        tasks = w.value("sub i64 %task_end, %task_begin")
        counted = w.value(f"mul i64 {tasks}, {units}")
        pays = w.value(f"icmp uge i64 {counted}, {w.value(f'mul i64 {length}, {COPIES}')}")
        small = w.value(f"and i1 {fits}, {pays}", "small")
        tally = Tally(
            param=param, element=element, verb=verb, offset=offset, step=step, small=small
        )
        module.tallies[param] = tally
        _over_copies(module, tally, _clear)


def close_tallies(module: Module) -> None:
    """Add the copies to the buffers at the end of a call."""
    for tally in module.tallies.values():
        _over_copies(module, tally, _add_up)


def _clear(module: Module, tally: Tally, pointer: str, place: str) -> None:
    element = tally.element
    module.w.line(f"store {memory_type(element)} 0, ptr {pointer}, align {element.size}")


def _add_up(module: Module, tally: Tally, pointer: str, place: str) -> None:
    w, type, size = module.w, memory_type(tally.element), tally.element.size
    some, none = w.fresh("some."), w.fresh("none.")
    value = w.value(f"load {type}, ptr {pointer}, align {size}")
    w.branch(w.value(f"icmp ne {type} {value}, 0"), some, none)
    w.begin(some)
    base = module.word(WordKind.POINTER, module.params[tally.param])
    target = w.value(f"getelementptr {type}, ptr {base}, i64 {place}")
    w.value(f"atomicrmw {tally.verb} ptr {target}, {type} {value} monotonic")
    w.jump(none)
    w.begin(none)


def _over_copies(module: Module, tally: Tally, act: _Act) -> None:
    """`act(module, tally, pointer, place)` for every element of every copy, if there are copies."""
    w = module.w
    length = module.word(WordKind.SHAPE, module.params[tally.param], 0)
    head, body, latch, end = (w.fresh(hint + ".") for hint in ("tally", "one", "next", "tallied"))
    before = w.label
    w.branch(tally.small, head, end)
    w.begin(head)
    place, after = "%" + w.fresh("place"), "%" + w.fresh("after")
    w.line(f"{place} = phi i64 [ 0, %{before} ], [ {after}, %{latch} ]")
    w.branch(w.value(f"icmp ult i64 {place}, {length}"), body, end)
    w.begin(body)
    for copy in range(COPIES):
        act(module, tally, _element(module, tally, place, copy), place)
    w.jump(latch)
    w.begin(latch)
    w.line(f"{after} = add i64 {place}, 1")
    w.jump(head)
    w.begin(end)


def _element(module: Module, tally: Tally, place: str, copy: int) -> str:
    return _element_at(module, tally, place, str(copy * tally.step * tally.element.size))


def _element_at(module: Module, tally: Tally, place: str, start: str) -> str:
    """The element of the copy that begins `start` bytes behind the first."""
    w = module.w
    first = w.value(f"getelementptr i8, ptr %arena, i64 {tally.offset}")
    base = w.value(f"getelementptr i8, ptr {first}, i64 {start}")
    return w.value(f"getelementptr {memory_type(tally.element)}, ptr {base}, i64 {place}")


def count(gang: Gang, op: Op, tally: Tally, mask: tuple[str, ...] | None) -> None:
    """One atomic of all lanes, on the copies."""
    _, index, value = op.operands
    if mask is not None and gang.parts * gang.layout.lanes > _WRITTEN_OUT:
        _count_one_by_one(gang, op, tally, mask)
        return
    for number, values in enumerate(gang.vectors(value)):
        place_of = _places(gang, index, number)
        for lane in range(gang.layout.lanes):
            if mask is None:
                _count_lane(gang, op, tally, lane, place_of(lane), values)
                continue
            on, off = gang.fresh_labels("on", "off")
            bit = gang.w.value(f"extractelement {gang.mask_type} {mask[number]}, i64 {lane}")
            gang.w.branch(bit, on, off)
            gang.w.begin(on)
            _count_lane(gang, op, tally, lane, place_of(lane), values)
            gang.w.jump(off)
            gang.w.begin(off)


def _count_one_by_one(gang: Gang, op: Op, tally: Tally, mask: tuple[str, ...]) -> None:
    """The lanes that are on, in a loop: a branch for each makes much code of a wide gang."""
    w, element = gang.w, tally.element
    _, index, value = op.operands
    assert isinstance(index.type, Scalar)
    place_type, place_size, type = memory_type(index.type), index.type.size, memory_type(element)
    for bits, places, values in zip(mask, gang.vectors(index), gang.vectors(value), strict=True):
        place_cells = spill(gang, places, gang.vec.type(index.type))
        cells = spill(gang, values, gang.vec.type(element))

        def update(lane: str, place_cells: str = place_cells, cells: str = cells) -> None:
            at = w.value(f"getelementptr {place_type}, ptr {place_cells}, i64 {lane}")
            place = w.value(f"load {place_type}, ptr {at}, align {place_size}")
            cell = w.value(f"getelementptr {type}, ptr {cells}, i64 {lane}")
            number = w.value(f"load {type}, ptr {cell}, align {element.size}")
            copy = w.value(f"and i64 {lane}, {COPIES - 1}")
            start = w.value(f"mul i64 {copy}, {tally.step * element.size}")
            _update(gang, op, tally, _element_at(gang.module, tally, place, start), number)

        each_lane(gang, bits, update)


def _places(gang: Gang, index: Op, part: int) -> Callable[[int], str]:
    """Gives a lane's subscript; those that were bytes are cut out of words of eight."""
    w, lanes = gang.w, gang.layout.lanes
    narrow = index.operands[0] if index.opdef is ops.CAST else index
    small = narrow.type
    if isinstance(small, Scalar) and small in (U8, U16) and lanes * small.bits % _WORD == 0:
        words, each = f"<{lanes * small.bits // _WORD} x i64>", _WORD // small.bits
        bits = w.value(f"bitcast {gang.vec.type(small)} {gang.vectors(narrow)[part]} to {words}")

        def cut(lane: int) -> str:
            word = w.value(f"extractelement {words} {bits}, i64 {lane // each}")
            moved = w.value(f"lshr i64 {word}, {lane % each * small.bits}")
            return w.value(f"and i64 {moved}, {small.maximum}")

        return cut
    assert isinstance(index.type, Scalar)
    places, type = gang.vectors(index)[part], gang.vec.type(index.type)
    return lambda lane: w.value(f"extractelement {type} {places}, i64 {lane}")


def _count_lane(gang: Gang, op: Op, tally: Tally, lane: int, place: str, values: str) -> None:
    element = tally.element
    value = gang.w.value(f"extractelement {gang.vec.type(element)} {values}, i64 {lane}")
    _update(gang, op, tally, _element(gang.module, tally, place, lane % COPIES), value)


def _update(gang: Gang, op: Op, tally: Tally, pointer: str, value: str) -> None:
    w, type, size = gang.w, memory_type(tally.element), tally.element.size
    old = w.value(f"load {type}, ptr {pointer}, align {size}")
    verb = "sub" if op.opdef is ops.ATOMIC_SUB else tally.verb
    w.line(f"store {type} {w.value(f'{verb} {type} {old}, {value}')}, ptr {pointer}, align {size}")
