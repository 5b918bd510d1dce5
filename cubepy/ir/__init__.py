"""The language in the middle: types, op table, nodes, builder; docs/ir.md has its text form.

Other packages import from here, never from the modules inside.
"""

from typing import TYPE_CHECKING

from cubepy.ir.types import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    INTEGERS,
    SCALARS,
    SIGNED,
    U8,
    U16,
    U32,
    U64,
    UNSIGNED,
    VOID,
    Access,
    BufferType,
    Kind,
    MemoryType,
    PrivateType,
    Scalar,
    SharedType,
    SlotType,
    StrideClass,
    TupleType,
    Type,
    scalar_of_numpy,
)
from cubepy.late import door

if TYPE_CHECKING:
    from cubepy.ir import ops
    from cubepy.ir.builder import Builder, OpenRegion, param
    from cubepy.ir.intervals import TRANSFERS
    from cubepy.ir.nodes import APART, NO_ATTRS, Function, Kernel, Op, Region, freeze_attrs, walk
    from cubepy.ir.opdef import Attrs, AttrValue, Evaluate, OpDef, Trait, TypeRuleError
    from cubepy.ir.planes import PLANE_REDUCTIONS, PLANE_SCANS, neutral_of
    from cubepy.ir.printer import print_function, print_kernel, print_lines, print_value
    from cubepy.ir.ranges import Ranges, Subscript, analyze_ranges
    from cubepy.ir.reading import parse_kernel
    from cubepy.ir.rewriter import (
        EXITS,
        PURE,
        Rewriter,
        Rule,
        clone_ops,
        map_bodies,
        rebuilt,
        rewrite,
    )
    from cubepy.ir.verifier import LEVELS, SCOPES, falls_through, orders_of, verify
else:
    # A start that finds its kernels compiled needs the types only.
    __getattr__ = door(
        __name__,
        ops="",
        builder="Builder OpenRegion param",
        intervals="TRANSFERS",
        nodes="APART NO_ATTRS Function Kernel Op Region freeze_attrs walk",
        opdef="Attrs AttrValue Evaluate OpDef Trait TypeRuleError",
        planes="PLANE_REDUCTIONS PLANE_SCANS neutral_of",
        printer="print_function print_kernel print_lines print_value",
        ranges="Ranges Subscript analyze_ranges",
        reading="parse_kernel",
        rewriter="EXITS PURE Rewriter Rule clone_ops map_bodies rebuilt rewrite",
        verifier="LEVELS SCOPES falls_through orders_of verify",
    )

__all__ = [
    "APART",
    "BF16",
    "BOOL",
    "EXITS",
    "F16",
    "F32",
    "F64",
    "FLOATS",
    "I8",
    "I16",
    "I32",
    "I64",
    "INDEX",
    "INTEGERS",
    "LEVELS",
    "NO_ATTRS",
    "PLANE_REDUCTIONS",
    "PLANE_SCANS",
    "PURE",
    "SCALARS",
    "SCOPES",
    "SIGNED",
    "TRANSFERS",
    "U8",
    "U16",
    "U32",
    "U64",
    "UNSIGNED",
    "VOID",
    "Access",
    "AttrValue",
    "Attrs",
    "BufferType",
    "Builder",
    "Evaluate",
    "Function",
    "Kernel",
    "Kind",
    "MemoryType",
    "Op",
    "OpDef",
    "OpenRegion",
    "PrivateType",
    "Ranges",
    "Region",
    "Rewriter",
    "Rule",
    "Scalar",
    "SharedType",
    "SlotType",
    "StrideClass",
    "Subscript",
    "Trait",
    "TupleType",
    "Type",
    "TypeRuleError",
    "analyze_ranges",
    "clone_ops",
    "falls_through",
    "freeze_attrs",
    "map_bodies",
    "neutral_of",
    "ops",
    "orders_of",
    "param",
    "parse_kernel",
    "print_function",
    "print_kernel",
    "print_lines",
    "print_value",
    "rebuilt",
    "rewrite",
    "scalar_of_numpy",
    "verify",
    "walk",
]
