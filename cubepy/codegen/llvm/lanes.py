"""Writes one instruction for a scalar or for a vector of lanes, so that each op is spelled once."""

from __future__ import annotations

from cubepy.codegen.llvm.types import register_type, shaped, splat, typed_constant
from cubepy.codegen.llvm.writer import Writer
from cubepy.ir import BF16, Scalar
from cubepy.records import dataclass, field, replace

__all__ = ["Lanes"]


@dataclass(slots=True, kw_only=True)
class Lanes:
    """`lanes` 0 means scalars. `declared` collects the intrinsics used, for the module's head.

    `flags` are LLVM's fast-math flags for float arithmetic, "" for strict.
    """

    w: Writer
    lanes: int
    flags: str = ""
    declared: dict[str, str] = field(default_factory=dict)

    def type(self, scalar: Scalar) -> str:
        """The register type of a scalar."""
        return shaped(register_type(scalar), self.lanes)

    @property
    def strict(self) -> Lanes:
        """The same without fast-math flags: for steps that only together mean something."""
        return replace(self, flags="") if self.flags else self

    def integer(self, bits: int) -> str:
        """An integer type of any width."""
        return shaped(f"i{bits}", self.lanes)

    @property
    def mask(self) -> str:
        """The type of a truth value."""
        return shaped("i1", self.lanes)

    def const(self, scalar: Scalar, value: float) -> str:
        """A constant in every lane."""
        return typed_constant(scalar, value, self.lanes)

    def everywhere(self, element: str, name: str) -> str:
        """A scalar of an LLVM type in every lane."""
        if not name.startswith("%"):
            return splat(element, name, self.lanes)
        vector = shaped(element, self.lanes)
        first = self.w.value(f"insertelement {vector} poison, {element} {name}, i64 0")
        return self.w.value(
            f"shufflevector {vector} {first}, {vector} poison, "
            f"<{self.lanes} x i32> zeroinitializer",
            "b",
        )

    def int_const(self, bits: int, value: int) -> str:
        """An integer constant of any width in every lane."""
        return splat(f"i{bits}", str(value), self.lanes)

    def infinity(self, scalar: Scalar) -> str:
        """Positive infinity."""
        return self.const(scalar, float("inf"))

    def instruction(self, opcode: str, scalar: Scalar, a: str, b: str) -> str:
        """A two-operand instruction."""
        return self.w.value(f"{opcode}{self._flags(scalar)} {self.type(scalar)} {a}, {b}")

    def _flags(self, scalar: Scalar) -> str:
        return f" {self.flags}" if self.flags and scalar.is_float else ""

    def compare(self, predicate: str, scalar: Scalar, a: str, b: str) -> str:
        """A comparison, giving a mask."""
        verb, order = predicate.split()
        return self.w.value(f"{verb}{self._flags(scalar)} {order} {self.type(scalar)} {a}, {b}")

    def negate(self, scalar: Scalar, value: str) -> str:
        """A float with the other sign."""
        return self.w.value(f"fneg{self._flags(scalar)} {self.type(scalar)} {value}")

    def select(self, condition: str, scalar: Scalar, a: str, b: str) -> str:
        """`a` where the condition holds."""
        return self.w.value(
            f"select {self.mask} {condition}, {self.type(scalar)} {a}, {self.type(scalar)} {b}"
        )

    def both(self, a: str, b: str) -> str:
        """The conjunction of two masks."""
        return self.w.value(f"and {self.mask} {a}, {b}")

    def suffix(self, scalar: Scalar) -> str:
        """How an overloaded intrinsic names the type."""
        return self.mangle(register_type(scalar))

    def mangle(self, element: str) -> str:
        """How an overloaded intrinsic names a type of these lanes."""
        name = {"half": "f16", "float": "f32", "double": "f64"}.get(element, element)
        return f"v{self.lanes}{name}" if self.lanes else name

    def call(self, intrinsic: str, scalar: Scalar, *args: str, extra: str = "") -> str:
        """An overloaded intrinsic whose operands and result have one type."""
        name, type = f"llvm.{intrinsic}.{self.suffix(scalar)}", self.type(scalar)
        flags = ", i1" if extra else ""
        self.declared[name] = f"declare {type} @{name}({', '.join([type] * len(args))}{flags})"
        operands = ", ".join(f"{type} {arg}" for arg in args)
        return self.w.value(f"call{self._flags(scalar)} {type} @{name}({operands}{extra})")

    def bitcast(self, source: Scalar, target: Scalar, value: str) -> str:
        """The same bits (bf16 already is its bits)."""
        if self.type(source) == self.type(target):
            return value
        return self.w.value(f"bitcast {self.type(source)} {value} to {self.type(target)}")

    def convert(self, opcode: str, source: Scalar, target: Scalar, value: str) -> str:
        """A conversion instruction."""
        assert BF16 not in (source, target)
        return self.w.value(f"{opcode} {self.type(source)} {value} to {self.type(target)}")
