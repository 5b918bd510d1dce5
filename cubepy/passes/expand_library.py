"""Before::

    kernel @k(%x: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      %1: f32 = erf %0
      store %x, %i, %1 [check=checked]
    }

After, with the library that defines `erf` for f32 as `std.erf.f32`::

    function @std.erf.f32(%v: f32) -> f32 {
      return %v
    }
    kernel @k(%x: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      %1: f32 = call %0 [callee="std.erf.f32", results="f32"]
      store %x, %i, %1 [check=checked]
    }

Library ops that the target has as its own stay. A definition may use library ops itself. In a
kernel with `fast_math` the float ops of definitions get the attribute `strict`: the flags loosen
what the kernel says, and a sum written to round to an integer would be lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, count

from cubepy.ir import (
    PURE,
    Function,
    Kernel,
    Op,
    OpDef,
    Region,
    Rewriter,
    Rule,
    Scalar,
    Trait,
    freeze_attrs,
    ops,
    print_function,
    rebuilt,
)
from cubepy.passes.context import PassContext
from cubepy.records import replace

__all__ = ["expand_library"]

_LIBRARY_OPS = tuple(row for row in ops.BY_NAME.values() if row.has(Trait.LIBRARY))


def expand_library(kernel: Kernel, context: PassContext) -> Kernel:
    """Calls of library functions for every library op that is not native."""
    expansion = _Expansion(kernel, context)
    own = [expansion.function(function) for function in kernel.functions]
    body = expansion.body(kernel.body)
    functions = (*expansion.functions.values(), *own)
    if body is kernel.body and functions == kernel.functions:
        return kernel
    return replace(kernel, body=body, functions=functions)


class _Expansion:
    """`functions` are the library functions needed so far by name, callees before callers."""

    def __init__(self, kernel: Kernel, context: PassContext) -> None:
        self.functions: dict[str, Function] = {}
        # what each name means so far; a helper of the kernel is never a library function
        self._texts = dict.fromkeys([function.name for function in kernel.functions], "")
        self._loosened = bool(kernel.options.get("fast_math"))
        self._context = context
        self._known: dict[tuple[OpDef, Scalar], str] = {}
        self._rules: dict[OpDef, Rule] = {
            row: self._expand for row in _LIBRARY_OPS if row.name not in context.native
        }

    def body(self, body: Region) -> Region:
        return Rewriter(self._rules).region(body)

    def function(self, function: Function) -> Function:
        body = self.body(function.body)
        return function if body is function.body else replace(function, body=body)

    def _expand(self, op: Op, rewriter: Rewriter) -> Op:
        of = op.operands[0].type
        assert isinstance(of, Scalar)
        assert isinstance(op.type, Scalar)
        key = op.opdef, of
        if key not in self._known:
            self._known[key] = self._add(self._context.library(*key))
        attrs = {"callee": self._known[key], "results": op.type.name}
        return rewriter.emit(ops.CALL, *op.operands, like=op, attrs=attrs)

    def _add(self, definitions: Iterable[Function]) -> str:
        """Take in a definition and the functions before it; the name of the definition."""
        name = ""
        renamed: dict[str, str] = {}
        for function in definitions:
            text = print_function(function)
            name = self._free_name(function.name, text)
            renamed[function.name] = name
            if name not in self.functions:
                self._texts[name] = text
                expanded = self.function(_calling(function, name, renamed))
                self.functions[name] = _strict(expanded) if self._loosened else expanded
        return name

    def _free_name(self, name: str, text: str) -> str:
        """The name, or one like it if it means something else already."""
        candidates = chain((name,), (f"{name}.{number}" for number in count(2)))
        return next(
            candidate for candidate in candidates if self._texts.get(candidate, text) == text
        )


def _calling(function: Function, name: str, renamed: Mapping[str, str]) -> Function:
    """The function under another name, its calls too."""
    if all(old == new for old, new in renamed.items()):
        return function

    def rename(op: Op, rewriter: Rewriter) -> Op:
        callee = str(op.attrs["callee"])
        attrs = freeze_attrs({**op.attrs, "callee": renamed.get(callee, callee)})
        return rewriter.place(rebuilt(op, attrs=attrs))

    return replace(function, name=name, body=Rewriter({ops.CALL: rename}).region(function.body))


def _strict(function: Function) -> Function:
    """The function with `strict` on every op that computes with floats."""
    return replace(function, body=Rewriter(dict.fromkeys(PURE, _marked)).region(function.body))


def _marked(op: Op, rewriter: Rewriter) -> Op:
    if not any(isinstance(x.type, Scalar) and x.type.is_float for x in op.operands):
        return op
    return rewriter.place(rebuilt(op, attrs=freeze_attrs({**op.attrs, "strict": True})))
