"""Memory of the machine: buffers, shared and private memory, and the places that an access means.

A :class:`Memory` is a NumPy array seen by a batch; shared memory has one leading axis for the cubes
of the batch, private memory one for its units. `Memory.locate` turns the subscripts of an op into
the :class:`Places` inside, and reports accesses outside as the op's attribute `check` says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cubepy.errors import OutOfBoundsError
from cubepy.interp.batch import Batch
from cubepy.interp.clock import Shadow
from cubepy.interp.masks import Mask, Value, chosen, first_lane, lanes_of, minus
from cubepy.ir import Op, PrivateType, Scalar, SharedType, Trait
from cubepy.location import Loc
from cubepy.records import dataclass
from cubepy.runtime import ArrayBinding, Outside

__all__ = ["HostMemory", "Memory", "Places", "at_lane", "buffer", "own_memory", "place_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostMemory:
    """Memory of the reference device: an address, and the array that keeps it alive."""

    owner: object
    address: int
    writable: bool = True

    @property
    def __array_interface__(self) -> dict[str, object]:
        place = (self.address, not self.writable)
        return {"version": 3, "data": place, "shape": (1,), "typestr": "|u1"}


@dataclass(slots=True, kw_only=True)
class Places:
    """Elements that active units access: unit `lanes[k]` accesses the k-th of the subscripts.

    `every` means that all units are active and inside.
    """

    lanes: Value
    subscripts: tuple[Value, ...]
    every: bool

    @property
    def single(self) -> bool:
        """Whether all access one and the same element; the subscripts are 0-d then."""
        return all(subscript.ndim == 0 for subscript in self.subscripts)


@dataclass(slots=True, kw_only=True, eq=False)
class Memory:
    """`lead` gives each lane's place along the leading axis of `data` (None for buffers).

    `written` tells which elements hold a value, where reads of others are reported. An element
    covers `width` cells of the memory from cell `base` + subscripts * `steps` on; `shadow` notes
    who accessed a cell. `declaration` is that of memory of the kernel's own.
    """

    name: str
    element: Scalar
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    data: Value
    steps: tuple[int, ...]
    base: int = 0
    width: int = 1
    lead: Value | None = None
    written: Value | None = None
    shadow: Shadow | None = None
    declaration: Op | None = None

    def locate(
        self, op: Op, indices: Sequence[Value], mask: Mask, batch: Batch, calls: Sequence[Op] = ()
    ) -> Places:
        """The elements inside that active units mean; raises OutOfBoundsError where it must."""
        inside: Mask = True
        for index, extent in zip(indices, self.shape, strict=True):
            if index.min() < 0 or index.max() >= extent:
                inside = chosen(inside, np.asarray((index >= 0) & (index < extent)))
        valid = mask if inside is True else chosen(mask, np.asarray(inside))
        if valid is not mask and op.attrs.get("check") != "checked":
            self._report(op, indices, minus(mask, valid), batch, calls)
        return self._places(indices, valid, batch)

    def _places(self, indices: Sequence[Value], valid: Mask, batch: Batch) -> Places:
        lanes = lanes_of(valid, batch.all_lanes)
        subscripts = tuple(indices) if self.lead is None else (self.lead, *indices)
        if valid is not True:
            subscripts = tuple(s if s.ndim == 0 else s[lanes] for s in subscripts)
        return Places(lanes=lanes, subscripts=subscripts, every=valid is True)

    def _report(
        self, op: Op, indices: Sequence[Value], outside: Mask, batch: Batch, calls: Sequence[Op]
    ) -> None:
        if outside is False:
            return
        lane = first_lane(outside)
        what = "writes" if op.opdef.has(Trait.WRITES) else "reads"
        where = ", ".join(str(int(at_lane(index, lane))) for index in indices)
        extent = f"length {self.shape[0]}" if len(self.shape) == 1 else f"shape {self.shape}"
        raise OutOfBoundsError(
            f"{batch.name(lane)} {what} `{self.name}[{where}]`, outside of its {extent}",
            place_of(op, calls),
            self._outside([int(at_lane(index, lane)) for index in indices], op.loc).guard,
        )

    def _outside(self, subscripts: Sequence[int], loc: Loc) -> Outside:
        """The first subscript that is."""
        pairs = zip(subscripts, self.shape, strict=True)
        axis = next(axis for axis, (at, length) in enumerate(pairs) if not 0 <= at < length)
        return Outside(
            name=self.name,
            subscript=subscripts[axis],
            length=self.shape[axis],
            axis=axis,
            axes=len(self.shape),
            loc=loc,
        )

    def cells(self, places: Places) -> Value:
        """The first cell of the element that each active unit accesses."""
        cells: Value = np.full(places.lanes.shape, self.base, dtype=np.int64)
        for subscript, step in zip(places.subscripts, self.steps, strict=True):
            cells += subscript * step
        return cells

    def read(self, places: Places) -> Value:
        """One element for each active unit, or a 0-d array if all access a single one."""
        return np.asarray(self.data[places.subscripts], dtype=self.data.dtype)

    def write(self, places: Places, values: Value) -> None:
        """Store one value for each active unit (or one for all), in the order of the units."""
        if places.single and values.ndim:
            values = values[-1]
        self.data[places.subscripts] = values
        if self.written is not None:
            self.written[places.subscripts] = True

    def element_name(self, places: Places, number: int) -> str:
        """`name[i, j]` of the element that active unit `number` accesses."""
        inner = places.subscripts if self.lead is None else places.subscripts[1:]
        subscripts = ", ".join(str(int(at_lane(index, number))) for index in inner)
        return f"`{self.name}[{subscripts}]`"


def place_of(op: Op, calls: Sequence[Op]) -> Loc:
    """Where an op stands, and the calls through which it was reached."""
    loc = op.loc
    for call in reversed(calls):
        loc = loc.called_from(call.loc)
    return loc


def at_lane(value: Value, lane: int) -> Value:
    """The value of one lane."""
    return np.asarray(value if value.ndim == 0 else value[lane])


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return tuple(strides)


def buffer(name: str, binding: ArrayBinding) -> Memory:
    """An argument of a launch, with any strides; its cells are bytes, numbered by address."""
    host, element, shape = binding.memory, binding.element, binding.shape
    steps = tuple(stride * element.size for stride in binding.strides)
    start = HostMemory(
        owner=host.owner,
        address=host.address + binding.offset * element.size,
        writable=host.writable,
    )
    octets = np.lib.stride_tricks.as_strided(
        np.asarray(start), (*shape, element.size), (*steps, 1), writeable=host.writable
    )
    return Memory(
        name=name,
        element=element,
        shape=shape,
        strides=binding.strides,
        data=octets.view(element.numpy)[..., 0],
        steps=steps,
        base=start.address,
        width=element.size,
    )


def own_memory(op: Op, lead: Value, count: int, *, report_unwritten: bool) -> Memory:
    """Shared or private memory for `count` cubes or units, with arbitrary (here: zero) content."""
    assert isinstance(op.type, SharedType | PrivateType)
    shape, element = op.type.shape, op.type.element
    strides = _row_major(shape)
    whole = (count, *shape)
    return Memory(
        name=op.name or op.opdef.name,
        element=element,
        shape=shape,
        strides=strides,
        data=np.zeros(whole, dtype=element.numpy),
        steps=(strides[0] * shape[0], *strides),
        lead=lead,
        written=np.zeros(whole, dtype=np.bool_) if report_unwritten else None,
        declaration=op,
    )
