"""What every band of a strip reads in a loop, copied side by side before the first band.

In `total += a[row, k] * b[k, column]` a gang's columns of `b` lie a row of `b` apart from trip to
trip: far apart, and for widths that are powers of two all in the same few places of a cache. The
copy is as long as the loop has trips, and every band reads it in order. Where it would be too long,
or the task is not known to lie inside, the loop reads `b` itself: the two differ in where they
start and how far they go on, nothing else.

In the build that tests nothing ahead a task's copy has a test of its own, and is what a loop reads
where it runs without masks and tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from cubepy.codegen.llvm.access import load_vector, store_vector
from cubepy.codegen.llvm.address import address_of, element_pointer
from cubepy.codegen.llvm.gang import Gang, Module, Stage
from cubepy.codegen.llvm.trips import uniform_trips
from cubepy.codegen.llvm.types import memory_type
from cubepy.codegen.llvm.versions import Versions
from cubepy.codegen.llvm.walk import emit_op
from cubepy.ir import INDEX, Access, BufferType, Kernel, Op, Region, Scalar, Trait, ops, walk
from cubepy.ir.analyses import Computable, subscripts

__all__ = ["Stage", "stage_loads"]

_BYTES = 1 << 18
_STEADY = (ops.ADD, ops.SUB, ops.NEG)


def stage_loads(
    module: Module, versions: Versions, place: dict[str, str], sound: str,
    inside: Callable[[frozenset[Op]], str],
) -> dict[Op, Stage]:  # fmt: skip
    """Copy what can be copied, if the whole task is `sound` (i1). `inside` emits the test (i1) that
    loads are within bounds, where that does not tell.
    """
    if not module.target.does("staging"):
        return {}
    found = list(_candidates(versions))
    if found and versions.unaided:
        tested = inside(frozenset(load for load, _ in found))
        sound = module.w.value(f"and i1 {sound}, {tested}", "sound")
    staged: dict[Op, Stage] = {}
    for load, loop in found:
        with module.laid_out(module.layout.one_row()):
            gang = versions.gang(fast=True, place=place)
            staged[load] = _stage(gang, load, loop, sound, _BYTES // len(found))
    return staged


# ── which ───────────────────────────────────────────────────────────────────────────────────────


def _candidates(versions: Versions) -> Iterator[tuple[Op, Op]]:
    """Loads that a loop outside of all others makes in every trip, each with its loop."""
    kernel = versions.kernel
    if any(op.opdef is ops.RETURN for op in walk(kernel.body)):
        return
    for loop in _certain_loops(versions, kernel.body):
        if any(op.opdef.has(Trait.EXIT) and op.opdef is not ops.YIELD for op in _inside(loop)):
            continue
        inside = set(_inside(loop))
        for op in loop.regions[0].ops:
            if op.opdef is ops.LOAD and _is_stageable(versions, op, loop, inside):
                yield op, loop


def _certain_loops(versions: Versions, region: Region) -> Iterator[Op]:
    """Counted loops that every unit of a sound task gets to once, or may get to where nothing is
    tested ahead.
    """
    for op in region.ops:
        if op.opdef is ops.FOR:
            yield op
        elif op.opdef is ops.IF and op.operands[0] in versions.fast.assumed:
            holds = versions.fast.assumed[op.operands[0]]
            yield from _certain_loops(versions, op.regions[0 if holds else 1])
        elif op.opdef is ops.IF and versions.unaided:
            yield from _certain_loops(versions, op.regions[0])


def _inside(loop: Op) -> Iterator[Op]:
    return walk(loop.regions[0])


def _is_stageable(versions: Versions, load: Op, loop: Op, inside: set[Op]) -> bool:
    memory = load.operands[0].type
    if not isinstance(memory, BufferType) or not _stays(versions.kernel, load.operands[0]):
        return False
    if not _can_be_sound(versions, load, inside):
        return False
    shapes = [versions.fast.shape(index) for index in subscripts(load)]
    across = f"absolute_pos_{versions.module.layout.across}"
    beside = shapes[-1].level == 1 and shapes[-1].stride == 1 and memory.strides[-1].value == "1"
    return (
        beside
        and all(shape.level == 0 for shape in shapes[:-1])
        and all(_is_steady(index, loop, inside) for index in subscripts(load))
        and all(
            _can_be_had(each, across, loop.regions[0].params[0])
            for each in (*subscripts(load), *loop.operands)
        )
    )


def _stays(kernel: Kernel, memory: Op) -> bool:
    """Whether nothing that the kernel writes can lie in a buffer."""
    assert isinstance(memory.type, BufferType)
    return all(
        param.type.access in (Access.READ, Access.NONE)
        for param in kernel.params
        if isinstance(param.type, BufferType) and param.type.alias == memory.type.alias
    )


def _can_be_sound(versions: Versions, load: Op, inside: set[Op]) -> bool:
    """Whether a test of the task tells that the copy is what the loop would read."""
    if versions.unaided:
        return all(map(Computable(versions.kernel.body), subscripts(load)))
    return load in versions.assumptions.inside or _never_wraps(load, inside)


def _never_wraps(load: Op, inside: set[Op]) -> bool:
    """Whether an access that nobody tests has subscripts that are steady however large."""
    if load.attrs["check"] != "unchecked":
        return False
    made = {index for index in subscripts(load) if index in inside}
    while more := {each for op in made for each in op.operands if each in inside} - made:
        made |= more
    return all(op.type is INDEX for op in (*made, *subscripts(load)))


def _is_steady(index: Op, loop: Op, inside: set[Op]) -> bool:
    """Whether a subscript moves on by the same step in every trip."""
    if index is loop.regions[0].params[0] or index not in inside:
        return True
    return index.opdef in _STEADY and all(_is_steady(each, loop, inside) for each in index.operands)


def _can_be_had(op: Op, across: str, variable: Op) -> bool:
    """Whether a value can be made before the bands: of anything but rows and memory."""
    if op is variable or op.opdef in (ops.PARAM, ops.CONST, ops.LENGTH, ops.STRIDE):
        return True
    if not op.opdef.has(Trait.PURE) or op.regions or op.opdef.name == across:
        return False
    return all(_can_be_had(operand, across, variable) for operand in op.operands)


# ── copying ─────────────────────────────────────────────────────────────────────────────────────


def _stage(gang: Gang, load: Op, loop: Op, sound: str, most: int) -> Stage:
    """The copy of one load, made if it fits, and where the loop is to read."""
    w, module, (variable,) = gang.w, gang.module, loop.regions[0].params
    memory = load.operands[0]
    assert isinstance(memory.type, BufferType)
    element = memory.type.element
    scalar = variable.type
    assert isinstance(scalar, Scalar)
    _provide(gang, loop.operands)
    trips = _wide(gang, scalar, uniform_trips(gang, loop, scalar))
    outside, starts = dict(gang.values), gang.scalar(loop.operands[0])
    here = _pointers(gang, load, variable, starts)
    gang.values = outside
    second = gang.one.instruction("add", scalar, starts, gang.scalar(loop.operands[2]))
    after = _pointers(gang, load, variable, second)
    step = w.value(f"sub i64 {_address(gang, after[0])}, {_address(gang, here[0])}")
    row = gang.layout.lanes * element.size
    copy = w.value(f"getelementptr i8, ptr %arena, i64 {module.reserve(load, most)}")
    fits = w.value(f"icmp ule i64 {trips}, {most // (row * len(here))}")
    fits = w.value(f"and i1 {fits}, {sound}", "fits")
    copies = [w.value(f"getelementptr i8, ptr {copy}, i64 {n * row}") for n in range(len(here))]
    _copy(gang, element, (here, step), (copies, str(row * len(here))), fits, trips)
    return Stage(
        loop=loop,
        starts=tuple(
            w.value(f"select i1 {fits}, ptr {a}, ptr {b}")
            for a, b in zip(copies, here, strict=True)
        ),
        step=w.value(f"select i1 {fits}, i64 {row * len(here)}, i64 {step}"),
    )


def _provide(gang: Gang, needed: tuple[Op, ...]) -> None:
    """Make values, and all that they are made of."""
    for op in needed:
        if op not in gang.values:
            _provide(gang, tuple(each for each in op.operands if isinstance(each.type, Scalar)))
            emit_op(gang, op)


def _wide(gang: Gang, scalar: Scalar, name: str) -> str:
    return name if scalar.bits == 64 else gang.w.value(f"zext i{scalar.bits} {name} to i64")


def _pointers(gang: Gang, load: Op, variable: Op, value: str) -> list[str]:
    """Where each vector of a load lies in the trip whose variable has that value."""
    memory = load.operands[0]
    assert isinstance(memory.type, BufferType)
    gang.values[variable] = gang.value(gang.analysis.shape(variable), (value,))
    _provide(gang, subscripts(load))
    address = address_of(gang, memory, subscripts(load))
    element = memory_type(memory.type.element)
    return [element_pointer(gang, address, part, element) for part in range(gang.parts)]


def _address(gang: Gang, pointer: str) -> str:
    return gang.w.value(f"ptrtoint ptr {pointer} to i64")


def _copy(
    gang: Gang, element: Scalar, source: tuple[list[str], str], copy: tuple[list[str], str],
    fits: str, trips: str,
) -> None:  # fmt: skip
    """Vectors from places to places, both of which move on by their step from trip to trip."""
    w = gang.w
    head, body, end = gang.fresh_labels("copy", "one", "copied")
    before, trip, after = w.label, "%" + w.fresh("trip"), "%" + w.fresh("trip")
    w.branch(fits, head, end, likely=True)
    w.begin(head)
    w.line(f"{trip} = phi i64 [ 0, %{before} ], [ {after}, %{body} ]")
    w.branch(w.value(f"icmp ult i64 {trip}, {trips}"), body, end)
    w.begin(body)
    places = [
        [w.value(f"getelementptr i8, ptr {start}, i64 {w.value(f'mul i64 {trip}, {step}')}")
         for start in starts]
        for starts, step in (source, copy)
    ]  # fmt: skip
    for old, new in zip(*places, strict=True):
        store_vector(gang, element, new, load_vector(gang, element, old, None), None)
    w.line(f"{after} = add i64 {trip}, 1")
    w.jump(head)
    w.begin(end)
