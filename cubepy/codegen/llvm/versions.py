"""The body of a kernel in its two versions, fast and careful, and what each takes for granted."""

from __future__ import annotations

from math import prod

from cubepy.codegen.llvm.bands import extent_guards
from cubepy.codegen.llvm.gang import Gang, Mask, Module, Scope
from cubepy.codegen.llvm.layout import uniform_memory
from cubepy.codegen.llvm.notes import EDGES
from cubepy.codegen.llvm.positions import emit_positions
from cubepy.codegen.llvm.segments import exits_by_gang, needs_segments
from cubepy.codegen.llvm.straight import straight_ops
from cubepy.codegen.llvm.walk import emit_region
from cubepy.ir import (
    INDEX,
    BufferType,
    Kernel,
    Op,
    PrivateType,
    Scalar,
    SharedType,
    Trait,
    ops,
    walk,
)
from cubepy.ir.analyses import Assumptions, Uniformity, analyze_uniformity, find_assumptions
from cubepy.target import Decision, Topic

__all__ = ["Versions", "shared_bytes"]

_LOOPS = (ops.FOR, ops.WHILE)
# Ops of a body for each access to memory, from which on masks and tests of accesses are a trifle.
_TRIFLE = 200
# Vector bits of processors that load and store any lanes of a vector in one instruction.
_MASKED_ACCESS = 256


class Versions:
    """The body in its two versions, and what each takes for granted."""

    def __init__(self, kernel: Kernel, module: Module) -> None:
        self.kernel, self.module = kernel, module
        self.two = module.layout.schedule.crosses_cubes  # whether there is a fast version
        self.unaided = not module.target.does("facts")
        self.given = extent_guards(kernel) if module.layout.schedule.crosses_cubes else {}
        self.by_mask = (
            exits_by_gang(kernel) if needs_segments(kernel, module.layout) else frozenset()
        )
        self.careful = self._analyze(Assumptions(conditions=self.given))
        found = Assumptions()
        if not self.unaided:
            found = find_assumptions(kernel.body, self.careful, self.given)
        self.one = self.two and self._one_will_do(found)
        if self.one:
            found = Assumptions(unbounded=found.unbounded)
        self.assumptions = found
        self.two = (self.two or bool(found)) and not self.one
        module.notes.unbounded = found.unbounded
        self.fast = self.careful
        if found.conditions or found.exact:
            conditions = {**self.given, **found.conditions}
            self.fast = self._analyze(Assumptions(conditions=conditions, exact=found.exact))
        self.straight: Uniformity | None = None
        if module.layout.schedule.crosses_cubes and not module.layout.banded and not self.one:
            self.straight = self._straighten()
        self.positions = [
            op for op in walk(kernel.body)
            if not op.operands and not op.regions and op.opdef.has(Trait.PURE) and op.type == INDEX
            and op.opdef is not ops.CONST
        ]  # fmt: skip

    def _one_will_do(self, found: Assumptions) -> bool:
        """Whether the careful version serves whole gangs as well: long straight code that seldom
        goes to memory, of which a second copy would take as long again to compile.
        """
        layout, body = self.module.layout, list(walk(self.kernel.body))
        if layout.parts > 1 or found.exact or any(op.opdef in _LOOPS for op in body):
            return False
        if self.module.target.features.vector_bits < _MASKED_ACCESS:
            return False
        accesses = [op for op in body if any(_is_memory(operand) for operand in op.operands)]
        return len(accesses) * _TRIFLE < len(body) and all(map(_is_plain, accesses))

    def _straighten(self) -> Uniformity | None:
        """The analysis of a version that takes neighbours for straight, if one is worth having."""
        if not self.module.target.does("straight"):
            return None
        found = self.assumptions
        taken = Assumptions(conditions={**self.given, **found.conditions}, exact=found.exact)

        def analyze(followed: frozenset[Op]) -> Uniformity:
            return self._analyze(taken, followed)

        followed = straight_ops(self.kernel, self.fast, analyze)
        return analyze(followed) if followed else None

    def _analyze(
        self, assumptions: Assumptions, followed: frozenset[Op] = frozenset()
    ) -> Uniformity:
        return analyze_uniformity(
            self.kernel.body,
            params=self.kernel.params,
            seed=self.module.layout.seed_shape,
            uniform_load=uniform_memory,
            assumed=assumptions.conditions,
            exact_widenings=assumptions.exact,
            never_together=self.by_mask,
            followed=followed,
        )

    def gang(self, *, fast: bool, place: dict[str, str], retreat: str = "") -> Gang:
        """A gang at a place, with parameters and positions ready; with a place to `retreat` to, the
        version that takes neighbours for straight.
        """
        self.begin(fast=fast)
        analysis = self.fast if fast else self.careful
        if retreat and self.straight is not None:
            analysis = self.straight
        gang = Gang(
            module=self.module,
            analysis=analysis,
            retreat=retreat,
            unaided=fast and self.unaided,
            emit_region=emit_region,
            inside=self.assumptions.inside if fast else frozenset(),
            place=place,
        )
        for param in self.kernel.params:
            if isinstance(param.type, Scalar):
                gang.define(param, (self.module.scalar_argument(param),))
        emit_positions(gang, self.positions)
        return gang

    def begin(self, *, fast: bool) -> None:
        """From here on the fast version, or the only one, is emitted, or else the careful one."""
        self.module.notes.version = EDGES if not fast and self.two else ""

    def body(self, gang: Gang, mask: Mask, end: str) -> None:
        """The kernel's body for one gang; ends with a jump to `end`."""
        (done,) = gang.fresh_labels("done")
        gang.mask = mask
        returns_part = any(
            op.opdef is ops.RETURN and op not in gang.analysis.jumps
            for op in walk(self.kernel.body)
        )
        cells = gang.mask_cells(mask) if returns_part else ()
        gang.scopes.append(Scope(op=None, next=done, end=done, alive=cells, trip=cells))
        emit_region(gang, self.kernel.body)
        if not gang.dead:
            gang.w.jump(done)
        gang.begin(done)
        gang.w.jump(end)

    def decisions(self) -> tuple[Decision, ...]:
        """What was chosen, for people."""
        layout, module = self.module.layout, self.module
        memory = [
            Decision(
                topic=Topic.MEMORY, loc=op.loc, subject=op.name,
                text=f"{shared_bytes(op)} bytes shared by a cube, in the thread's own arena",
            )
            for op in walk(self.kernel.body) if op.opdef is ops.SHARED
        ]  # fmt: skip
        text = layout.description
        if self.one:
            text += "; one version of the code, as a second would take as long again to compile"
        gang = Decision(topic=Topic.GANG, loc=self.kernel.loc, text=text)
        return (gang, *memory, *module.notes.decisions())


def _is_memory(op: Op) -> bool:
    return isinstance(op.type, BufferType | PrivateType)


def _is_plain(op: Op) -> bool:
    """Whether an op asks for a length, or loads or stores words, which masks cost nothing."""
    memory = op.operands[0].type
    assert isinstance(memory, BufferType | PrivateType)
    words = isinstance(memory, BufferType) and memory.element.bits >= 32
    return op.opdef is ops.LENGTH or (op.opdef in (ops.LOAD, ops.STORE) and words)


def shared_bytes(op: Op) -> int:
    """The size of a shared array."""
    assert isinstance(op.type, SharedType)
    return prod(op.type.shape) * op.type.element.size
