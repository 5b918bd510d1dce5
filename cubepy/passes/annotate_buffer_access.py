"""Before::

    function @set(%m: global<f32, [1], unknown, 0>, %i: index, %v: f32) -> void {
      store %m, %i, %v [check=checked]
    }
    kernel @k(%x: global<f32, [1], unknown, 0>, %y: global<f32, [1], none, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      call %y, %i, %0 [callee=set, results=""]
    }

After::

    function @set(%m: global<f32, [1], write, 0>, %i: index, %v: f32) -> void {
      store %m, %i, %v [check=checked]
    }
    kernel @k(%x: global<f32, [1], read, 0>, %y: global<f32, [1], write, 1>) cube_dim(8, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = load %x, %i [check=checked]
      call %y, %i, %0 [callee=set, results=""]
    }

What a launch copies back, and which arguments may be read-only, is read off these types.
"""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import (
    Access,
    BufferType,
    Function,
    Kernel,
    Op,
    Region,
    Rewriter,
    Trait,
    ops,
    walk,
)
from cubepy.passes.context import PassContext
from cubepy.records import replace

__all__ = ["annotate_buffer_access"]

_READERS = frozenset(
    row for row in ops.BY_NAME.values() if row is ops.LOAD or row.has(Trait.ATOMIC | Trait.READS)
)
_WRITERS = frozenset(
    row for row in ops.BY_NAME.values() if row is ops.STORE or row.has(Trait.ATOMIC | Trait.WRITES)
)
_ACCESS = {
    (False, False): Access.NONE,
    (True, False): Access.READ,
    (False, True): Access.WRITE,
    (True, True): Access.READ_WRITE,
}


def annotate_buffer_access(kernel: Kernel, context: PassContext) -> Kernel:
    """Write into the type of every buffer parameter whether it is read and written."""
    functions: dict[str, Function] = {}
    for function in kernel.functions:
        params, body = _annotated(function.params, function.body, functions)
        changed = body is not function.body or params != function.params
        functions[function.name] = (
            replace(function, params=params, body=body) if changed else function
        )
    params, body = _annotated(kernel.params, kernel.body, functions)
    made = tuple(functions.values())
    if (params, body, made) == (kernel.params, kernel.body, kernel.functions):
        return kernel
    return replace(kernel, params=params, body=body, functions=made)


def _annotated(
    params: tuple[Op, ...], body: Region, functions: Mapping[str, Function]
) -> tuple[tuple[Op, ...], Region]:
    """Parameters with their access, and the body speaking of them."""
    read, written = _uses(body, functions)
    rewriter = Rewriter({})
    made = []
    for param in params:
        type = param.type
        if isinstance(type, BufferType):
            access = _ACCESS[param in read, param in written]
            if access is not type.access:
                changed = replace(param, type=replace(type, access=access))
                rewriter.values[param] = changed
                made.append(changed)
                continue
        made.append(param)
    return tuple(made), rewriter.region(body) if rewriter.values else body


def _uses(body: Region, functions: Mapping[str, Function]) -> tuple[set[Op], set[Op]]:
    """The memories that a body, or what it calls, reads and writes."""
    read: set[Op] = set()
    written: set[Op] = set()
    for op in walk(body):
        if op.opdef in _READERS:
            read.add(op.operands[0])
        if op.opdef in _WRITERS:
            written.add(op.operands[0])
        if op.opdef is ops.CALL:
            callee = functions[str(op.attrs["callee"])]
            for param, given in zip(callee.params, op.operands, strict=True):
                if isinstance(param.type, BufferType):
                    if param.type.access in (Access.READ, Access.READ_WRITE):
                        read.add(given)
                    if param.type.access in (Access.WRITE, Access.READ_WRITE):
                        written.add(given)
    return read, written
