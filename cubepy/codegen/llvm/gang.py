"""The state of emitting one gang's code: values, masks, slots, and the words of the launch.

A mask is None (every lane on, known while emitting) or one `<L x i1>` a part. Wherever code is
being emitted at least one lane is on: every construct that can empty a mask branches round what
follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from cubepy.codegen.llvm.lanes import Lanes
from cubepy.codegen.llvm.layout import Layout
from cubepy.codegen.llvm.notes import EDGES, Notes
from cubepy.codegen.llvm.types import memory_type, register_type, shaped
from cubepy.codegen.llvm.values import Value, spread
from cubepy.codegen.llvm.writer import Lines, Writer
from cubepy.ir import BOOL, INDEX, BufferType, Op, Region, Scalar, ops
from cubepy.ir.analyses import Shape, Uniformity
from cubepy.records import dataclass, field
from cubepy.target import Abi, Fault, Print, Target, Topic, WordKind

__all__ = ["Gang", "Mask", "Module", "Scope", "Slot", "Stage", "Tally"]

Mask = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """A buffer that is only counted in, see `tallies.py`. `verb` joins two counts; `small` is an
    i1: whether there are copies, which begin at byte `offset` of the arena, each `step` elements
    long.
    """

    param: Op
    element: Scalar
    verb: str
    offset: int
    step: int
    small: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where the vectors of a load in a loop lie, see `staging.py`: in its first trip at `starts`,
    one pointer a vector of a row, and `step` bytes further in each trip.
    """

    loop: Op
    starts: tuple[str, ...]
    step: str


@dataclass(slots=True, kw_only=True)
class Module:
    """What is shared by all code of one kernel: declarations, entry block, launch words, what may
    be reported. `fast_math`: LLVM flags for the kernel's own float arithmetic. `foreign`: it has
    instructions in a user's own words.
    """

    w: Writer
    target: Target
    abi: Abi
    layout: Layout
    params: Mapping[Op, int]
    entry: Lines
    declared: dict[str, str] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    prints: list[Print] = field(default_factory=list)
    arena: dict[object, int] = field(default_factory=dict)
    arena_bytes: int = 0
    stack_bytes: int = 0
    tallies: dict[Op, Tally] = field(default_factory=dict)
    fast_math: str = ""
    foreign: bool = False
    zeros: list[str] = field(default_factory=list)
    limits: dict[tuple[str, int], str] = field(default_factory=dict)
    shared: dict[int, str] = field(default_factory=dict)
    notes: Notes = field(default_factory=Notes)
    _lanes: dict[int, Lanes] = field(default_factory=dict)

    def lanes(self, count: int) -> Lanes:
        """What writes instructions on so many lanes; asked for with nearly every one."""
        if count not in self._lanes:
            self._lanes[count] = Lanes(w=self.w, lanes=count, declared=self.declared)
        return self._lanes[count]

    @contextmanager
    def laid_out(self, layout: Layout) -> Iterator[None]:
        """Emit code of gangs that are laid out in another way."""
        before, self.layout = self.layout, layout
        try:
            yield
        finally:
            self.layout = before

    def zero(self) -> str:
        """Where a zero of any type stands."""
        if not self.zeros:
            self.zeros.append(self.alloca("i64"))
            with self.w.at(self.entry):
                self.w.line(f"store i64 0, ptr {self.zeros[0]}")
        return self.zeros[0]

    def alloca(self, type: str, *, align: int = 64) -> str:
        """Stack memory of the whole call; promoted to registers where only whole values are
        moved.
        """
        with self.w.at(self.entry):
            return self.w.value(f"alloca {type}, align {align}", "slot")

    def word(self, kind: WordKind, argument: int = -1, axis: int = 0) -> str:
        """A word of the argument block, read once at the start: a pointer or an i64."""
        number = self.abi.offset(kind, argument, axis)
        if number not in self.words:
            type = "ptr" if kind in (WordKind.POINTER, WordKind.REPORT) else "i64"
            with self.w.at(self.entry):
                place = self.w.value(f"getelementptr i64, ptr %args, i64 {number}", "word")
                self.words[number] = self.w.value(f"load {type}, ptr {place}, align 8", "arg")
        return self.words[number]

    def scalar_argument(self, param: Op) -> str:
        """A scalar parameter in its register type."""
        scalar = param.type
        assert isinstance(scalar, Scalar)
        number = self.abi.offset(WordKind.SCALAR, self.params[param])
        if number not in self.words:
            with self.w.at(self.entry):
                place = self.w.value(f"getelementptr i64, ptr %args, i64 {number}", "word")
                loaded = self.w.value(f"load {memory_type(scalar)}, ptr {place}, align 8", "arg")
                if scalar is BOOL:
                    loaded = self.w.value(f"icmp ne i8 {loaded}, 0", "arg")
                self.words[number] = loaded
        return self.words[number]

    def reserve(self, key: object, size: int) -> int:
        """An offset in the arena for `size` bytes, aligned to 64; the same for the same key."""
        if key not in self.arena:
            self.arena[key] = self.arena_bytes
            self.arena_bytes += -(-size // 64) * 64
        return self.arena[key]

    def shared_pointer(self, memory: Op) -> str:
        """The pointer to a shared memory, which every cube of a thread finds in one place."""
        offset = self.arena[memory]
        if offset not in self.shared:
            with self.w.at(self.entry):
                self.shared[offset] = self.w.value(f"getelementptr i8, ptr %arena, i64 {offset}")
        return self.shared[offset]

    def shape_of(self, memory: Op, axis: int) -> str:
        """Elements of a memory along an axis, as i64 text."""
        if isinstance(memory.type, BufferType):
            return self.word(WordKind.SHAPE, self.params[memory], axis)
        assert hasattr(memory.type, "shape")
        return str(memory.type.shape[axis])

    def narrow_limit(self, extent: str, most: int) -> str:
        """The extent of a memory as an i32, `most` if it is larger; known from the start."""
        if (extent, most) not in self.limits:
            with self.w.at(self.entry):
                least = self.lanes(0).call("umin", INDEX, extent, str(most))
                self.limits[extent, most] = self.w.value(f"trunc i64 {least} to i32")
        return self.limits[extent, most]


@dataclass(slots=True, kw_only=True)
class Scope:
    """A loop, block or the body. `alive`: slots of lanes still in it; `trip`: of lanes still in
    this trip.

    Both are empty where all lanes always leave together. `next` is where a trip ends, `end` where
    all ends.
    """

    op: Op | None
    next: str
    end: str
    alive: tuple[str, ...] = ()
    trip: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Slot:
    """Where a local variable lives: one stack cell, one a part, or one vector a part."""

    shape: Shape
    scalar: Scalar
    cells: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Gang:
    """One version of the code. `inside`: accesses known to be within bounds. `lane_zero` describes
    the gang: the position of its first unit (x in the launch for ROWS, y for COLUMNS, linear in
    the cube for CUBES). `beside`: a rare case is being emitted beside the usual one, so that
    nothing for it should be made where both would pay. `segment`: the code is a piece between
    barriers, so loops around it are not in sight. `retreat`: where the gang starts again if
    neighbours do not follow each other, see `straight.py`. `ranged`: accesses that the range of the
    loop being emitted keeps within bounds, see `ranges.py`. `unaided`: all units are there, but
    nothing else was tested ahead.
    """

    module: Module
    analysis: Uniformity
    emit_region: Callable[[Gang, Region], None]
    inside: frozenset[Op] = frozenset()
    ranged: frozenset[Op] = frozenset()
    retreat: str = ""
    unaided: bool = False
    place: dict[str, str] = field(default_factory=dict)
    values: dict[Op, Value] = field(default_factory=dict)
    slots: dict[Op, Slot] = field(default_factory=dict)
    private: dict[Op, tuple[str, ...]] = field(default_factory=dict)
    positions: dict[str, Value] = field(default_factory=dict)
    mask: Mask = None
    scopes: list[Scope] = field(default_factory=list)
    dead: bool = False
    beside: bool = False
    segment: bool = False
    staged: Mapping[Op, Stage] = field(default_factory=dict)
    trips: dict[Op, str] = field(default_factory=dict)
    private_array: Callable[[Gang, Op], tuple[str, ...]] | None = None

    @property
    def w(self) -> Writer:
        return self.module.w

    @property
    def layout(self) -> Layout:
        return self.module.layout

    @property
    def parts(self) -> int:
        return self.module.layout.parts

    @property
    def vec(self) -> Lanes:
        """Instructions on one part."""
        return self.module.lanes(self.layout.lanes)

    @property
    def one(self) -> Lanes:
        """Instructions on scalars."""
        return self.module.lanes(0)

    @property
    def asks(self) -> bool:
        """Whether what is emitted is worth a test of all lanes: it stands in a loop of the kernel,
        or may do so, or there is no version of the code in which the answer is known.
        """
        return (
            self.segment
            or self.unaided
            or any(scope.op and scope.op.opdef in (ops.FOR, ops.WHILE) for scope in self.scopes)
        )

    def chose(self, topic: Topic, op: Op, text: str) -> None:
        """Write down a choice for people."""
        self.module.notes.add(topic, op, text, op.name)

    def accesses(self, memory: Op, text: str, topic: Topic = Topic.ACCESS) -> None:
        """Write down how the access being emitted goes to its memory."""
        self.module.notes.access(topic, memory, text)

    # ── values ──────────────────────────────────────────────────────────────────────────────────

    def define(self, op: Op, names: tuple[str, ...]) -> None:
        """Record an op's value, with an insertion point behind it unless it is already vectors."""
        shape = self.analysis.shape(op)
        self.values[op] = self.value(shape, names)
        if op.name:
            self.module.notes.value(op, shape)

    def value(self, shape: Shape, names: tuple[str, ...]) -> Value:
        """A value just computed."""
        hook = self.w.hook() if shape.level < 2 else None
        return Value(shape=shape, names=names, hook=hook, age=self.w.written)

    def scalar(self, op: Op) -> str:
        """The one scalar of a uniform value."""
        value = self.values[op]
        assert value.shape.level == 0, f"{op} is {value.shape}"
        return value.names[0]

    def bases(self, op: Op) -> tuple[str, ...]:
        """One scalar a part of a uniform or part-shaped value."""
        value = self.values[op]
        assert value.shape.level < 2, f"{op} is {value.shape}"
        return value.names * self.parts if value.shape.level == 0 else value.names

    def vectors(self, op: Op) -> tuple[str, ...]:
        """One vector a part of any value."""
        scalar = op.type
        assert isinstance(scalar, Scalar)
        return spread(self.vec, scalar, self.values[op], self.parts)

    # ── masks ───────────────────────────────────────────────────────────────────────────────────

    @property
    def mask_type(self) -> str:
        return shaped("i1", self.layout.lanes)

    def mask_and(self, mask: Mask, other: tuple[str, ...]) -> tuple[str, ...]:
        """Lanes in both."""
        if mask is None:
            return other
        return tuple(self.vec.both(a, b) for a, b in zip(mask, other, strict=True))

    def mask_and_not(self, mask: Mask, other: tuple[str, ...]) -> tuple[str, ...]:
        """Lanes of `mask` that are not in `other`."""
        ones = self.ones()
        flipped = tuple(self.w.value(f"xor {self.mask_type} {part}, {ones}") for part in other)
        return self.mask_and(mask, flipped)

    def ones(self) -> str:
        """All lanes."""
        return self.vec.int_const(1, 1) if self.layout.lanes else "true"

    def mask_parts(self, mask: Mask) -> tuple[str, ...]:
        """A mask as vectors."""
        return (self.ones(),) * self.parts if mask is None else mask

    def any(self, mask: tuple[str, ...]) -> str:
        """Whether some lane is on (i1)."""
        lanes, total = self.layout.lanes, mask[0]
        for other in mask[1:]:
            total = self.w.value(f"or {self.mask_type} {total}, {other}")
        if lanes == 1:
            return self.w.value(f"extractelement <1 x i1> {total}, i64 0", "any")
        bits = self.w.value(f"bitcast {self.mask_type} {total} to i{lanes}")
        return self.w.value(f"icmp ne i{lanes} {bits}, 0", "any")

    # Masks in memory are sign-extended integers where the machine has no mask registers: a bool
    # vector
    # carried over a branch would otherwise be packed and unpacked at each use.
    @property
    def _stored_mask(self) -> str:
        element = "i1" if self.module.target.features.mask_registers else "i32"
        return shaped(element, self.layout.lanes)

    def mask_cells(self, initial: Mask) -> tuple[str, ...]:
        """Stack cells holding a mask."""
        cells = tuple(self.module.alloca(self._stored_mask) for _ in range(self.parts))
        self.store_mask(cells, self.mask_parts(initial))
        return cells

    def store_mask(self, cells: tuple[str, ...], mask: tuple[str, ...]) -> None:
        """Write a mask to its cells."""
        for cell, part in zip(cells, mask, strict=True):
            kept = part
            if not self.module.target.features.mask_registers:
                kept = self.w.value(f"sext {self.mask_type} {part} to {self._stored_mask}")
            self.w.line(f"store {self._stored_mask} {kept}, ptr {cell}, align 64")

    def load_mask(self, cells: tuple[str, ...]) -> tuple[str, ...]:
        """Read a mask from its cells."""
        loaded = tuple(
            self.w.value(f"load {self._stored_mask}, ptr {cell}, align 64") for cell in cells
        )
        if self.module.target.features.mask_registers:
            return loaded
        type = self._stored_mask
        return tuple(self.w.value(f"icmp ne {type} {part}, zeroinitializer") for part in loaded)

    # ── slots ───────────────────────────────────────────────────────────────────────────────────

    def slot(self, op: Op) -> Slot:
        """The storage of a local variable, made at its first use."""
        if op not in self.slots:
            scalar = op.attrs["element"]
            assert isinstance(scalar, Scalar)
            shape = self.analysis.slots.get(op, Shape(0))
            type = self.component_type(shape, scalar)
            cells = tuple(self.module.alloca(type) for _ in range(self.components(shape)))
            for cell in cells:
                self.w.line(f"store {type} zeroinitializer, ptr {cell}, align 64")
            self.slots[op] = Slot(shape=shape, scalar=scalar, cells=cells)
        return self.slots[op]

    def components(self, shape: Shape) -> int:
        """How many LLVM values a value of this shape has."""
        return 1 if shape.level == 0 else self.parts

    def component_type(self, shape: Shape, scalar: Scalar) -> str:
        """The LLVM type of each."""
        if shape.level < 2:
            return register_type(scalar)
        if scalar is BOOL:
            return self._stored_mask
        return self.vec.type(scalar)

    @contextmanager
    def rare_case(self) -> Iterator[None]:
        """Code that seldom runs, beside code that usually does."""
        outer, self.beside = self.beside, True
        version, self.module.notes.version = self.module.notes.version, EDGES
        yield
        self.beside, self.module.notes.version = outer, version

    def fresh_labels(self, *hints: str) -> tuple[str, ...]:
        """New block labels."""
        return tuple(self.w.fresh(hint + ".") for hint in hints)

    def terminate(self, label: str) -> None:
        """Jump away; what follows in this region is not reached."""
        self.w.jump(label)
        self.dead = True

    def begin(self, label: str) -> None:
        """Start a block that is reached."""
        self.w.begin(label)
        self.dead = False
