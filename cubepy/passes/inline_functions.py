"""Before::

    function @sign(%v: f32) -> f32 {
      %0: f32 = const 0.0
      %1: bool = lt %v, %0
      if %1 {
        %2: f32 = const -1.0
        return %2
      }
      return %v
    }
    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: f32 = call %a [callee=sign, results="f32"]
      store %y, %i, %0 [check=checked]
    }

After::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: slot<f32> = local [element=f32]
      block {
        %1: f32 = const 0.0
        %2: bool = lt %a, %1
        if %2 {
          %3: f32 = const -1.0
          store_local %0, %3
          leave
        }
        store_local %0, %a
      }
      %4: f32 = load_local %0
      store %y, %i, %4 [check=checked]
    }

A function whose only return is its last op needs neither slots nor a block; where every return is
the last thing to happen anyway (see `nest_early_returns`), there is no block.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from cubepy.errors import CubeValueError, Diagnostic
from cubepy.ir import (
    NO_ATTRS,
    Function,
    Kernel,
    Op,
    Region,
    Rewriter,
    Scalar,
    SlotType,
    TupleType,
    Type,
    clone_ops,
    freeze_attrs,
    ops,
    walk,
)
from cubepy.location import Loc
from cubepy.passes.context import PassContext
from cubepy.records import dataclass, replace

__all__ = ["inline_calls", "inline_functions"]

LARGEST = 50_000


def inline_functions(kernel: Kernel, context: PassContext) -> Kernel:
    """Replace every call by the body of what it calls; no function is left."""
    return inline_calls(kernel, frozenset(function.name for function in kernel.functions))


def inline_calls(kernel: Kernel, chosen: Container[str]) -> Kernel:
    """Replace every call of the chosen functions, which are gone then."""
    if not any(function.name in chosen for function in kernel.functions):
        return kernel
    inliner = _Inliner(kernel)
    kept = []
    for function in kernel.functions:
        if function.name in chosen:
            inliner.prepare(function)
        else:
            kept.append(replace(function, body=inliner.body(function.body)))
    return replace(kernel, body=inliner.body(kernel.body), functions=tuple(kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Template:
    """A function without returns: `ops` compute `results` from `params`."""

    params: tuple[Op, ...]
    ops: tuple[Op, ...]
    results: tuple[Op, ...]
    size: int


class _Inliner:
    """Knows the templates of the functions so far, and what calls with several results gave."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._templates: dict[str, _Template] = {}
        self._returned: dict[Op, tuple[Op, ...]] = {}
        self._size = 0

    def prepare(self, function: Function) -> None:
        """Inline the calls inside a function and take its returns away."""
        made, results = _without_returns(self.body(function.body), function.result)
        size = sum(1 for _ in walk(Region(ops=made)))
        self._templates[function.name] = _Template(
            params=function.params, ops=made, results=results, size=size
        )

    def body(self, body: Region) -> Region:
        self._size = sum(1 for _ in walk(body))
        return Rewriter({ops.CALL: self._call, ops.TUPLE_GET: self._element}).region(body)

    def _call(self, call: Op, rewriter: Rewriter) -> Op | None:
        template = self._templates.get(str(call.attrs["callee"]))
        if template is None:
            return call
        self._grow(template.size)
        places: dict[int, Loc] = {}  # by identity: ops of one chain of calls share its links

        def place(loc: Loc) -> Loc:
            if not call.loc.known:
                return loc
            if id(loc) not in places:
                through = call.loc if loc.inlined_at is None else place(loc.inlined_at)
                places[id(loc)] = replace(loc, inlined_at=through)
            return places[id(loc)]

        values = dict(zip(template.params, call.operands, strict=True))
        rewriter.out += clone_ops(template.ops, values, place)
        results = tuple([values.get(result, result) for result in template.results])
        if len(results) == 1:
            return results[0]
        if results:
            # stands for the tuple until every `tuple_get` of it is gone; never emitted
            marker = replace(call)
            self._returned[marker] = results
            return marker
        return None

    def _element(self, op: Op, rewriter: Rewriter) -> Op:
        index = op.attrs["index"]
        assert isinstance(index, int)
        results = self._returned.get(op.operands[0])
        return op if results is None else results[index]

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST:
            message = f"{self._kernel.name} has more than {LARGEST:,} operations once expanded"
            help = "call fewer or smaller helpers, or use a loop instead of unrolled code"
            raise CubeValueError(Diagnostic(message=message, loc=self._kernel.loc, help=help))


def _without_returns(body: Region, result: Type) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """The ops of a function's body without returns, and the values it returns."""
    returns = [op for op in walk(body) if op.opdef is ops.RETURN]
    if not returns:
        return body.ops, ()
    if len(returns) == 1 and body.ops[-1] is returns[0]:
        return body.ops[:-1], returns[0].operands
    slots = [_slot(type, returns[0].loc) for type in _types(result)]
    made = _stored(body, slots, last=True)
    if len(returns) > _last_returns(body):
        made = Region(ops=(Op(opdef=ops.BLOCK, regions=(made,), loc=returns[0].loc),))
    results = tuple([_load(slot) for slot in slots])
    return (*slots, *made.ops, *results), results


def _last_returns(region: Region) -> int:
    """How many returns are the last thing to happen anyway."""
    last = region.ops[-1] if region.ops else None
    if last is not None and last.opdef is ops.IF:
        return sum(map(_last_returns, last.regions))
    return int(last is not None and last.opdef is ops.RETURN)


def _stored(region: Region, slots: Sequence[Op], *, last: bool) -> Region:
    """Returns as stores; `last`: nothing runs after this region, so no `leave` is needed."""
    made: list[Op] = []
    for op in region.ops:
        if op.opdef is ops.RETURN:
            pairs = zip(slots, op.operands, strict=True)
            made += [_store(slot, value, op.loc) for slot, value in pairs]
            if not last:
                made.append(Op(opdef=ops.LEAVE, loc=op.loc))
        elif op.regions:
            inner = last and op.opdef is ops.IF and op is region.ops[-1]
            regions = tuple([_stored(part, slots, last=inner) for part in op.regions])
            made.append(replace(op, regions=regions) if regions != op.regions else op)
        else:
            made.append(op)
    return region if tuple(made) == region.ops else Region(params=region.params, ops=tuple(made))


def _types(result: Type) -> tuple[Scalar, ...]:
    if isinstance(result, TupleType):
        return result.elements
    return (result,) if isinstance(result, Scalar) else ()


def _slot(element: Scalar, loc: Loc) -> Op:
    attrs = freeze_attrs({"element": element})
    return Op(opdef=ops.LOCAL, type=SlotType(element), attrs=attrs, loc=loc)


def _store(slot: Op, value: Op, loc: Loc) -> Op:
    return Op(opdef=ops.STORE_LOCAL, operands=(slot, value), loc=loc)


def _load(slot: Op) -> Op:
    assert isinstance(slot.type, SlotType)
    return Op(
        opdef=ops.LOAD_LOCAL, operands=(slot,), type=slot.type.element, attrs=NO_ATTRS, loc=slot.loc
    )
