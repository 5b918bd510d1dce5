"""The whole text of a kernel in WGSL: argument struct, bindings, helpers, functions, kernel; line
map.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cubepy.codegen.structured import (
    Body,
    Expression,
    Names,
    SourceWriter,
    buffer_sizes,
    field_of,
    name_parameters,
    primary,
    pure_functions,
    refuse_shared,
    refuse_types,
    unsupported,
    used_in_loops,
)
from cubepy.codegen.wgsl.cells import Cells, cells_of_buffer
from cubepy.codegen.wgsl.kernel import WgslKernel, result_struct
from cubepy.codegen.wgsl.memory import Memory, named_apart
from cubepy.codegen.wgsl.nesting import deepest_nesting, has_loops
from cubepy.codegen.wgsl.trips import watch_trips
from cubepy.codegen.wgsl.types import RESERVED, machine_of
from cubepy.ir import (
    BOOL,
    VOID,
    Access,
    BufferType,
    Function,
    Kernel,
    Op,
    Scalar,
    TupleType,
    Type,
)
from cubepy.location import UNKNOWN, Loc
from cubepy.records import dataclass
from cubepy.target import (
    ArrayGroup,
    Artifact,
    Extra,
    Target,
    Word,
    WordKind,
    abi_of,
    array_groups,
)

__all__ = ["emit_wgsl"]

Lines = list[tuple[str, Loc]]


def emit_wgsl(kernel: Kernel, target: Target) -> Artifact:
    """The artifact of a kernel that has been through the passes for `target`."""
    return _Emission(kernel, target).artifact()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Buffer:
    """A storage buffer: its name, its cells, and whether it is written."""

    name: str
    cell: str
    written: bool


class _Emission:
    """Names of parameters and functions are fixed first; then bodies; then what they asked for."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        refuse_types(kernel, target)
        self.kernel, self.target = kernel, target
        self.abi = abi_of(kernel)
        self.access = tuple(
            param.type.access if isinstance(param.type, BufferType) else Access.READ
            for param in kernel.params
        )
        self.names = Names(RESERVED)
        self.entry = self.names.fresh(kernel.name)
        self.language = WgslKernel(kernel, target, self.names)
        for extra in Extra:
            self.names.reserve(extra.name.lower())
        self.params = name_parameters(self.names, kernel.params)
        for function in kernel.functions:
            short = function.name.removeprefix("std.")
            self.language.functions[function.name] = self.names.fresh(short)
        self.pure = pure_functions(kernel)
        self.looped = used_in_loops(kernel.body)
        self.buffers: list[_Buffer] = []
        self.starts: dict[str, str] = {}

    def artifact(self) -> Artifact:
        """Everything put together."""
        functions = [self._function(function) for function in self.kernel.functions]
        body = self._body()
        written = [
            text for text, _ in (*body.lines, *(each for lines in functions for each in lines))
        ]
        for text in written:
            self.language.prelude.need_all(text)
        looped = any(map(has_loops, (*written, *self.language.prelude.texts)))
        behind = watch_trips(self.language) if looped else []
        self._check_limits()
        lines: Lines = []
        for part in (self._head(), *self._helpers(), *functions, self._entry(body, behind)):
            lines += [*part, ("", UNKNOWN)]
        text = "\n".join(text for text, _ in lines)
        self._check_nesting(text)
        return Artifact(
            target=self.target,
            kernel_name=self.kernel.name,
            entry=self.entry,
            text=text,
            abi=self.abi,
            cube_dim=self.kernel.cube_dim,
            access=self.access,
            line_map={number: loc for number, (_, loc) in enumerate(lines, 1) if loc.known},
            faults=tuple(self.language.faults),
            prints=tuple(self.language.prints),
            decisions=self.language.notes.decisions(),
        )

    # ── bodies ──

    def _body(self) -> SourceWriter:
        writer = SourceWriter(depth=1)
        values: dict[Op, Expression] = {}
        for param, name in zip(self.kernel.params, self.params, strict=True):
            if isinstance(param.type, BufferType):
                self._bind(param, name, "", Cells.OWN, atomic=False)
            else:
                values[param] = self._scalar(param, name)
        for group in array_groups(self.abi, self.access):
            self._buffer(group)
        self._write(writer, self.names, self.kernel, values)
        return writer

    def _scalar(self, param: Op, name: str) -> Expression:
        """A scalar argument: the word of the launch, read before a loop where one asks for it, for
        compilers do not take it out.
        """
        field = f"(launch.{name} != 0)" if param.type is BOOL else f"launch.{name}"
        if param not in self.looped:
            return primary(field)
        self._first(name, field)
        return primary(name)

    def _first(self, name: str, text: str) -> None:
        """A name for what is computed before anything else, if the kernel asks for it."""
        self.starts[name] = text

    def _write(
        self, writer: SourceWriter, names: Names, owner: Kernel | Function,
        values: dict[Op, Expression],
    ) -> None:  # fmt: skip
        body = Body(
            self.language, writer, names, owner.body,
            values=values, pure=self.pure, bounds=self.language.bounds,
        )  # fmt: skip
        body.region(owner.body)

    def _buffer(self, group: ArrayGroup) -> None:
        """The buffer of a group, and what it is for each of its arrays."""
        params = [self.kernel.params[number] for number in group.arguments]
        elements = {param.type.element for param in params if isinstance(param.type, BufferType)}
        atomics = self.language.atomics_on(params)
        features, halves = self.target.features, self.language.halves
        cells = cells_of_buffer(elements, atomics, features, halves=halves)
        shared = cells is Cells.WORDS and any(element.bits < 32 for element in elements)
        atomic = bool(atomics) or (shared and group.written)
        single = self.params[group.arguments[0]]
        name = named_apart(self.names, single)
        if len(params) > 1:
            name = self.names.fresh("_and_".join(self.params[each] for each in group.arguments))
        for number, param in zip(group.arguments, params, strict=True):
            self._bind(param, self.params[number], name, cells, atomic=atomic)
            self._start(self.params[number], self.language.memory(param).scalar)
        cell = self.language.memory(params[0]).cell
        self.buffers.append(_Buffer(name=name, cell=cell, written=group.written))

    def _bind(self, param: Op, name: str, buffer: str, cells: Cells, *, atomic: bool) -> None:
        assert isinstance(param.type, BufferType)
        looped = param in self.looped
        extents, strides = buffer_sizes(param.type, name, "" if looped else "launch.")
        if looped:
            for size in (*extents, *(each for each in strides if each.startswith(name))):
                self._first(size, f"launch.{size}")
        memory = Memory(
            name=buffer,
            type=param.type,
            extents=extents,
            strides=strides,
            start=f"{name}_start",
            cells=cells,
            atomic=atomic,
        )
        self.language.bind_memory(param, memory)

    def _start(self, name: str, scalar: Scalar) -> None:
        places = scalar.size.bit_length() - 1
        offset = f"launch.{name}_offset"
        moved = f"{offset} >> {places}u" if places else offset
        self._first(f"{name}_start", f"i32({moved})")

    def _function(self, function: Function) -> Lines:
        names = self.names.inner()
        language = self.language
        language.current_function = language.functions[function.name]
        values: dict[Op, Expression] = {}
        declared: list[str] = []
        named = name_parameters(names, function.params)
        for param, name in zip(function.params, named, strict=True):
            assert isinstance(param.type, Scalar)
            values[param] = primary(name)
            declared.append(f"{name}: {machine_of(param.type).value}")
        writer = SourceWriter(depth=1)
        self._write(writer, names, function, values)
        name = language.current_function
        result = _result_type(name, function.result)
        head = f"fn {name}({', '.join(declared)}){f' -> {result}' if result else ''} {{"
        before: Lines = []
        if isinstance(function.result, TupleType):
            struct = result_struct(name, function.result)
            before = [(text, UNKNOWN) for text in (*struct.splitlines(), "")]
        return [*before, (head, function.loc), *writer.lines, ("}", UNKNOWN)]

    # ── limits ──

    def _check_limits(self) -> None:
        features, loc = self.target.features, self.kernel.loc
        count = len(self.buffers) + self._reports
        if count > features.most_buffers:
            raise unsupported(
                f"{self.kernel.name} needs {count} storage buffers, and a kernel may have "
                f"{features.most_buffers}", loc,
                "pass several arrays as views of one, or use another device",
            )  # fmt: skip
        note = "elements of 8 and 16 bits take 4 bytes there; " if self.language.padded else ""
        refuse_shared(self.kernel, self.language.shared_bytes, self.target, note)

    def _check_nesting(self, text: str) -> None:
        most = self.target.features.most_nesting
        if most and (depth := deepest_nesting(text)) > most:
            raise unsupported(
                f"{self.kernel.name} has {depth} branches inside of each other, and the driver of "
                f"this device has room for {most}", self.kernel.loc,
                "each `elif`, and what stands behind a `return` in a branch, is one more: compute "
                "by masks or tables, or use another device",
            )  # fmt: skip

    @property
    def _reports(self) -> bool:
        return bool(self.language.faults or self.language.prints)

    # ── what stands round them ──

    def _head(self) -> Lines:
        title = f"// {self.kernel.name}, generated by cubepy"
        fields = [
            f"    @size(8) {field_of(word, self.params)}: {_field_type(word)},"
            for word in self.abi.words
        ]
        text = [
            title.encode("ascii", "backslashreplace").decode(),
            *self._enabled(),
            "",
            "struct Launch {",
            *fields,
            *(
                f"    {extra.name.lower()}: {'u32' if extra is Extra.ZERO else 'i32'},"
                for extra in Extra
            ),
            "}",
            "",
            "@group(0) @binding(0) var<uniform> launch: Launch;",
        ]
        for number, buffer in enumerate(self.buffers, 1):
            access = "read_write" if buffer.written else "read"
            text.append(
                f"@group(0) @binding({number}) "
                f"var<storage, {access}> {buffer.name}: array<{buffer.cell}>;"
            )
        if self._reports:
            number = len(self.buffers) + 1
            text.append(
                f"@group(0) @binding({number}) var<storage, read_write> report: array<atomic<u32>>;"
            )
        text += self.language.shared.values()
        return [(each, UNKNOWN) for each in text]

    def _enabled(self) -> list[str]:
        """What the text asks for beyond the language."""
        halves = any(buffer.cell == Cells.HALVES.value for buffer in self.buffers)
        return ["enable f16;"] if halves else []

    def _helpers(self) -> list[Lines]:
        return [
            [(line, UNKNOWN) for line in text.splitlines()] for text in self.language.prelude.texts
        ]

    def _entry(self, body: SourceWriter, behind: Sequence[str]) -> Lines:
        """The kernel; `behind` runs in all units, those that return early too."""
        written = "\n".join(text for text, _ in body.lines)
        starts = [
            (f"    let {name} = {text};", UNKNOWN)
            for name, text in self.starts.items()
            if _asks(written, name)
        ]
        lines: Lines = [*starts, *body.lines]
        before: Lines = []
        if behind:
            units = self.names.fresh(f"{self.entry}_units")
            opening = (f"fn {units}(cube: vec3<u32>, unit: u32) {{", self.kernel.loc)
            before = [opening, *lines, ("}", UNKNOWN), ("", UNKNOWN)]
            inside = (f"{units}(cube, unit);", *behind)
            lines = [(f"    {each}", UNKNOWN) for each in inside]
        head = [
            f"@compute @workgroup_size({self.language.positions.units})",
            f"fn {self.entry}(",
            "    @builtin(workgroup_id) cube: vec3<u32>,",
            "    @builtin(local_invocation_index) unit: u32,",
            ") {",
        ]
        return [*before, *((each, self.kernel.loc) for each in head), *lines, ("}", UNKNOWN)]


def _asks(text: str, name: str) -> bool:
    """Whether a text speaks of a name, and not of a field called so."""
    return re.search(rf"(?<![\w.]){name}\b", text) is not None


def _result_type(name: str, result: Type) -> str:
    if result == VOID:
        return ""
    return machine_of(result).value if isinstance(result, Scalar) else f"{name}_results"


def _field_type(word: Word) -> str:
    if word.kind is WordKind.SCALAR:
        assert word.type is not None
        return "u32" if word.type is BOOL else machine_of(word.type).value
    if word.kind is WordKind.REPORT:
        return "vec2<u32>"
    return "u32" if word.kind is WordKind.POINTER else "i32"
