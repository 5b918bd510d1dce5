"""How a value differs between the units that run together, and where control flow splits them.

A *shape* says what a value is across the lanes of a gang: the same (UNIFORM), the same within each
part of L lanes up to `stride` times the lane number (PART: plane-uniform for stride 0, lane-affine
otherwise), or anything (VARYING). The analysis starts from everything uniform and raises shapes
until nothing changes. It also finds divergent branches and loops, exits that not all units take
together, and assignments that must be blended because units that sat out will read the slot.

The scope is the caller's: `seed` gives the shape of position ops (of a gang, or of a whole cube),
and `uniform_load` says of which memories a load at a uniform subscript is uniform.

Source of the shape lattice: Karrenberg and Hack, "Whole-function vectorization", CGO 2011; the
masks are ISPC's (Pharr and Mark, "ispc: a SPMD compiler for high-performance CPU programming",
InPar 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from cubepy.ir import ops
from cubepy.ir.analyses.liveness import SlotLiveness, slot_liveness
from cubepy.ir.nodes import Op, Region
from cubepy.ir.opdef import Trait
from cubepy.ir.rewriter import EXITS, PURE
from cubepy.ir.types import INTEGERS, PrivateType, Scalar
from cubepy.records import dataclass, field

__all__ = [
    "FOLLOWED",
    "UNIFORM",
    "VARYING",
    "Shape",
    "Uniformity",
    "analyze_uniformity",
    "part",
]

_STRIDE_LIMIT = 1 << 31


@dataclass(frozen=True, slots=True)
class Shape:
    """`level` 0: one value for all units; 1: base of the part + stride * lane; 2: anything."""

    level: int
    stride: int = 0

    def __str__(self) -> str:
        return ("uniform", f"affine({self.stride})" if self.stride else "part-uniform", "varying")[
            self.level
        ]


UNIFORM = Shape(0)
VARYING = Shape(2)
SAME_PART = Shape(1)


def part(stride: int) -> Shape:
    """Base of the part plus `stride` times the lane."""
    return Shape(1, stride) if abs(stride) < _STRIDE_LIMIT else VARYING


def join(a: Shape, b: Shape) -> Shape:
    """The least shape that both fit."""
    if a.level == 2 or b.level == 2:
        return VARYING
    if a.stride != b.stride:
        return VARYING
    return a if a.level >= b.level else b


@dataclass(slots=True, kw_only=True)
class Uniformity:
    """The result. `divergent`: ifs, loops and blocks whose units part. `jumps`: exits all units
    take together.

    `thins`: control ops after which fewer units may go on than before. `parted_continue`: loops
    with a `continue` that only some units take. `blends`: assignments that must keep the value of
    units sitting out. `assumed`: conditions taken as constants. `followed`: ops taken for what they
    are over neighbours that follow each other.
    """

    shapes: dict[Op, Shape] = field(default_factory=dict)
    slots: dict[Op, Shape] = field(default_factory=dict)
    divergent: set[Op] = field(default_factory=set)
    jumps: set[Op] = field(default_factory=set)
    thins: set[Op] = field(default_factory=set)
    parted_continue: set[Op] = field(default_factory=set)
    parted_break: set[Op] = field(default_factory=set)
    blends: set[Op] = field(default_factory=set)
    assumed: Mapping[Op, bool] = field(default_factory=dict)
    followed: Container[Op] = frozenset()

    def shape(self, op: Op) -> Shape:
        """The shape of an op's value."""
        return self.shapes.get(op, VARYING)


Seed = Callable[[Op], Shape]


def analyze_uniformity(
    body: Region,
    *,
    params: tuple[Op, ...],
    seed: Seed,
    uniform_load: Callable[[Op], bool],
    plane_results: Shape = SAME_PART,
    assumed: Mapping[Op, bool] | None = None,
    exact_widenings: Container[Op] = frozenset(),
    never_together: Container[Op] = frozenset(),
    followed: Container[Op] = frozenset(),
    param_shape: Shape = UNIFORM,
    shared_turns: bool = False,
) -> Uniformity:
    """Shapes and divergence of a kernel body whose helpers are inlined.

    `uniform_load(memory)` tells whether a load at a uniform subscript is uniform; `plane_results`
    is the shape of a plane reduction; `assumed` conditions are constants (then only the arm they
    choose is looked at); `exact_widenings` are casts of integers known not to have wrapped before;
    exits in `never_together` count as taken by some units only; `followed` ops are divisions of
    neighbours that have one quotient, and limits that none of them reaches. `param_shape`: that of
    each parameter. `shared_turns`: a slot of a loop that units leave one by one has the shape that
    it has for those still inside, and differs where it is read after the loop.
    """
    run = _Analysis(
        result=Uniformity(assumed=assumed or {}, followed=followed),
        liveness=slot_liveness(body),
        seed=seed,
        uniform_load=uniform_load,
        plane_results=plane_results,
        exact_widenings=exact_widenings,
        never_together=never_together,
        shared_turns=shared_turns,
    )
    for param in params:
        run.result.shapes[param] = param_shape
    while run.changed:
        run.changed = False
        run.tokens = 0
        run.region(body, 0)
    return run.result


# Values that are made of their operands alone, and have a shape that is made of theirs.
_PLAIN = frozenset(
    row for row in PURE
    if row is not ops.CONST
    and not (row.has(Trait.UNIFORM) or row.has(Trait.VARYING) or row.has(Trait.PLANE))
)  # fmt: skip
#: What neighbours that follow each other may be taken for straight in.
FOLLOWED = (ops.FLOOR_DIV, ops.FLOOR_MOD, ops.MIN, ops.MAX)
_LOOPS = (ops.FOR, ops.WHILE)
_PART_RESULTS = (ops.PLANE_SUM, ops.PLANE_PROD, ops.PLANE_MIN, ops.PLANE_MAX,
                 ops.PLANE_ALL, ops.PLANE_ANY, ops.PLANE_BALLOT)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class _Scope:
    """A control op being walked; `arm` is the number of the region, `token` the mask its units
    started with.
    """

    op: Op
    arm: int
    token: int


@dataclass(slots=True, kw_only=True)
class _Analysis:
    """One run. A *token* names a set of units: equal tokens, equal sets."""

    result: Uniformity
    liveness: SlotLiveness
    seed: Seed
    uniform_load: Callable[[Op], bool]
    plane_results: Shape
    exact_widenings: Container[Op]
    never_together: Container[Op]
    shared_turns: bool
    left: dict[Op, set[Op]] = field(default_factory=dict)  # loops left with a slot's value
    changed: bool = True
    tokens: int = 0
    stack: list[_Scope] = field(default_factory=list)
    depth: dict[Op, int] = field(default_factory=dict)

    def new_token(self) -> int:
        self.tokens += 1
        return self.tokens

    def mark(self, group: set[Op], op: Op) -> None:
        if op not in group:
            group.add(op)
            self.changed = True

    # ── walking ─────────────────────────────────────────────────────────────────────────────────

    def region(self, region: Region, token: int) -> int | None:
        """Walk a region whose units are `token`; gives the units after it, None if none get
        there.
        """
        current: int | None = token
        for op in region.ops:
            if current is None:
                return None
            current = self.op(op, current)
        return current

    def op(self, op: Op, token: int) -> int | None:
        row = op.opdef
        if row is ops.IF:
            return self.branch(op, token)
        if row is ops.FOR or row is ops.WHILE:
            return self.loop(op, token)
        if row is ops.BLOCK:
            return self.block(op, token)
        if row in EXITS and row is not ops.YIELD:
            self.exit(op, token)
            return None
        if row is ops.LOCAL:
            self.depth[op] = len(self.stack)
        elif row is ops.STORE_LOCAL:
            self.assign(op)
        else:
            self.set_shape(op, self.transfer(op))
        return token

    def set_shape(self, op: Op, shape: Shape) -> None:
        old = self.result.shapes.get(op)
        if old is shape:
            return
        new = shape if old is None or old.level < shape.level else join(old, shape)
        if old != new:
            self.result.shapes[op] = new
            self.changed = True

    def branch(self, op: Op, token: int) -> int | None:
        condition = op.operands[0]
        if condition in self.result.assumed:
            return self.region(op.regions[0 if self.result.assumed[condition] else 1], token)
        divergent = self.result.shapes[condition] != UNIFORM
        if divergent:
            self.mark(self.result.divergent, op)
        ends: list[int | None] = []
        for arm in (0, 1):
            start = self.new_token() if divergent else token
            self.stack.append(_Scope(op=op, arm=arm, token=start))
            ends.append(self.region(op.regions[arm], start))
            self.stack.pop()
        if op in self.result.thins:
            return None if ends == [None, None] and not divergent else self.new_token()
        if divergent:
            return None if ends == [None, None] else token
        live = [end for end in ends if end is not None]
        return live[0] if live else None

    def loop(self, op: Op, token: int) -> int:
        if op.opdef is ops.FOR:
            start, stop, step = (self.result.shapes[operand] for operand in op.operands)
            if not start == stop == step == UNIFORM:
                self.mark(self.result.divergent, op)
            variable = start if step == UNIFORM else VARYING
            self.set_shape(op.regions[0].params[0], variable)
        inside = self.new_token() if op in self.result.divergent else token
        if op.opdef is ops.WHILE:
            self.stack.append(_Scope(op=op, arm=0, token=inside))
            self.region(op.regions[0], inside)
            self.stack.pop()
            condition = op.regions[0].ops[-1].operands[0]
            if self.result.shapes[condition] != UNIFORM:
                self.mark(self.result.divergent, op)
                inside = self.new_token()
        self.stack.append(_Scope(op=op, arm=1, token=inside))
        self.region(op.regions[-1], inside)
        self.stack.pop()
        return self.new_token() if op in self.result.thins else token

    def block(self, op: Op, token: int) -> int:
        self.stack.append(_Scope(op=op, arm=0, token=token))
        self.region(op.regions[0], token)
        self.stack.pop()
        return self.new_token() if op in self.result.thins else token

    def exit(self, op: Op, token: int) -> None:
        """Note whether all units of the target leave together; if not, mark what the leaving
        thins.
        """
        crossed: list[Op] = []
        target: _Scope | None = None
        for scope in reversed(self.stack):
            if self._is_target(op, scope):
                target = scope
                break
            crossed.append(scope.op)
        together = token == (target.token if target else 0) and op not in self.never_together
        if together:
            self.result.jumps.add(op)
            return
        self.result.jumps.discard(op)
        for control in crossed:
            self.mark(self.result.thins, control)
        if op.opdef is ops.CONTINUE and target:
            self.mark(self.result.parted_continue, target.op)
        elif target:
            self.mark(self.result.divergent, target.op)
            self.mark(self.result.parted_break, target.op)
        for control in crossed:  # leaving a loop early parts its units too
            if control.opdef is ops.FOR or control.opdef is ops.WHILE or control.opdef is ops.BLOCK:
                self.mark(self.result.divergent, control)
                self.mark(self.result.parted_break, control)

    @staticmethod
    def _is_target(op: Op, scope: _Scope) -> bool:
        if op.opdef is ops.LEAVE:
            return scope.op.opdef is ops.BLOCK
        if op.opdef is ops.RETURN:
            return False
        return scope.op.opdef is ops.FOR or scope.op.opdef is ops.WHILE

    # ── slots ───────────────────────────────────────────────────────────────────────────────────

    def assign(self, op: Op) -> None:
        slot, value = op.operands
        shape = self.result.shapes.get(value, UNIFORM)
        if self.needs_blend(slot):
            self.mark(self.result.blends, op)
            shape = VARYING
        old = self.result.slots.get(slot)
        new = shape if old is None else join(old, shape)
        if new != old:
            self.result.slots[slot] = new
            self.changed = True

    def needs_blend(self, slot: Op) -> bool:
        """Whether a unit that sits out this assignment can read the slot later."""
        bit = self.liveness.bit[slot]
        for scope in self.stack[self.depth[slot] :]:
            if scope.op in self.result.divergent:
                if self.liveness.after.get(scope.op, 0) & bit:
                    if not (self.shared_turns and scope.op.opdef in _LOOPS):
                        return True
                    self.mark(self.left.setdefault(slot, set()), scope.op)
                if (
                    scope.op.opdef is ops.IF
                    and scope.arm == 0
                    and self.liveness.other_arm[scope.op] & bit
                ):
                    return True
            if scope.op in self.result.parted_continue and self.liveness.head[scope.op] & bit:
                return True
        return False

    # ── shapes of values ────────────────────────────────────────────────────────────────────────

    def transfer(self, op: Op) -> Shape:
        """The shape of a value from the shapes of its operands."""
        row = op.opdef
        if op in self.result.assumed:
            return UNIFORM
        if row in _PLAIN:
            return self._pure(op)
        if row is ops.LOAD_LOCAL:
            return self._local(op.operands[0])
        if row is ops.LOAD:
            return self._load(op)
        if row is ops.CONST or (row.has(Trait.UNIFORM) and op.operands):
            return UNIFORM
        if row.has(Trait.UNIFORM) or row.has(Trait.VARYING):
            return self.seed(op)
        if row.has(Trait.PLANE):
            return self.plane_results if row in _PART_RESULTS else VARYING
        return VARYING

    def _local(self, slot: Op) -> Shape:
        around = {scope.op for scope in self.stack}
        if self.left and not self.left.get(slot, around) <= around:
            return VARYING
        return self.result.slots.get(slot, UNIFORM)

    def _load(self, op: Op) -> Shape:
        memory, *indices = op.operands
        if isinstance(memory.type, PrivateType) or not self.uniform_load(memory):
            return VARYING
        shape = UNIFORM
        for index in indices:
            shape = join(shape, self.result.shapes[index])
        return shape if shape.level < 2 and shape.stride == 0 else VARYING

    def _pure(self, op: Op) -> Shape:
        known = self.result.shapes
        shapes = [known[operand] for operand in op.operands]
        top = strides = 0
        for shape in shapes:
            top |= shape.level
            strides |= shape.stride
        if top == 0:
            return UNIFORM
        if top > 1:
            return VARYING
        if strides == 0:
            return SAME_PART
        if op.type not in INTEGERS:
            return VARYING
        if op in self.result.followed:
            return self._followed(op, shapes)
        return self._affine(op, shapes)

    @staticmethod
    def _followed(op: Op, shapes: list[Shape]) -> Shape:
        """One quotient, remainders that rise; the one operand that does not stand still."""
        if op.opdef is ops.MIN or op.opdef is ops.MAX:
            moving = [shape for shape in shapes if shape.stride]
            return moving[0] if len(moving) == 1 else VARYING
        if shapes != [part(1), UNIFORM]:
            return VARYING
        return UNIFORM if op.opdef is ops.FLOOR_DIV else part(1)

    def _affine(self, op: Op, shapes: list[Shape]) -> Shape:
        """Integer ops that keep base + stride * lane."""
        row = op.opdef
        if row is ops.ADD:
            return part(shapes[0].stride + shapes[1].stride)
        if row is ops.SUB:
            return part(shapes[0].stride - shapes[1].stride)
        if row is ops.NEG:
            return part(-shapes[0].stride)
        if row is ops.MUL:
            return self._scaled(op, shapes)
        if row is ops.SELECT and shapes[0] == UNIFORM:
            return join(shapes[1], shapes[2])
        if row is ops.CAST:
            return self._cast(op, shapes[0])
        return VARYING

    @staticmethod
    def _scaled(op: Op, shapes: list[Shape]) -> Shape:
        for number, other in ((1, 0), (0, 1)):
            factor = op.operands[number]
            if factor.opdef is ops.CONST and isinstance(factor.attrs["value"], int):
                return part(shapes[other].stride * factor.attrs["value"])
        return VARYING

    def _cast(self, op: Op, shape: Shape) -> Shape:
        source, result = op.operands[0].type, op.type
        assert isinstance(source, Scalar)
        assert isinstance(result, Scalar)
        if not source.is_integer:
            return VARYING
        return shape if result.bits <= source.bits or op in self.exact_widenings else VARYING
