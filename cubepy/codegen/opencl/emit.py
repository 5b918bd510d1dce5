"""The whole text of a kernel in OpenCL C: argument struct, helpers, functions, kernel; line map."""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.codegen.opencl.kernel import OpenclKernel, result_struct
from cubepy.codegen.opencl.memory import Memory, memory_parameters
from cubepy.codegen.opencl.types import RESERVED, memory_type, register_type
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
)
from cubepy.ir import (
    BOOL,
    F64,
    VOID,
    Access,
    BufferType,
    Function,
    Kernel,
    Op,
    PrivateType,
    Scalar,
    SharedType,
    Trait,
    TupleType,
    Type,
    ops,
    walk,
)
from cubepy.location import UNKNOWN, Loc
from cubepy.target import Artifact, Target, Topic, Word, WordKind, abi_of

__all__ = ["emit_opencl"]

Lines = list[tuple[str, Loc]]


def emit_opencl(kernel: Kernel, target: Target) -> Artifact:
    """The artifact of a kernel that has been through the passes for `target`."""
    return _Emission(kernel, target).artifact()


class _Emission:
    """Names of parameters and functions are fixed first; then bodies; then what they asked for."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        refuse_types(kernel, target)
        self.kernel, self.target = kernel, target
        self.abi = abi_of(kernel)
        self.names = Names(RESERVED)
        self.entry = self.names.fresh(kernel.name)
        self.language = OpenclKernel(kernel, target, self.names)
        self.params = name_parameters(self.names, kernel.params)
        for function in kernel.functions:
            short = function.name.removeprefix("std.")
            self.language.functions[function.name] = self.names.fresh(short)
        self.pure = pure_functions(kernel)
        self.language.reporting = _reporting(kernel)

    def artifact(self) -> Artifact:
        """Everything put together."""
        functions = [self._function(function) for function in self.kernel.functions]
        body = self._body()
        refuse_shared(self.kernel, self.language.shared_bytes, self.target)
        lines: Lines = []
        for part in (self._head(), *self._helpers(), *functions, self._kernel(body)):
            lines += [*part, ("", UNKNOWN)]
        return Artifact(
            target=self.target,
            kernel_name=self.kernel.name,
            entry=self.entry,
            text="\n".join(text for text, _ in lines),
            abi=self.abi,
            cube_dim=self.kernel.cube_dim,
            access=tuple(
                param.type.access if isinstance(param.type, BufferType) else Access.READ
                for param in self.kernel.params
            ),
            line_map={number: loc for number, (_, loc) in enumerate(lines, 1) if loc.known},
            faults=tuple(self.language.faults),
            prints=tuple(self.language.prints),
            decisions=self.language.notes.decisions(),
        )

    # ── bodies ──

    def _body(self) -> SourceWriter:
        writer = SourceWriter(depth=1)
        self.language.current_function = ""
        values: dict[Op, Expression] = {}
        for param, name in zip(self.kernel.params, self.params, strict=True):
            if isinstance(param.type, BufferType):
                extents, strides = buffer_sizes(param.type, name, "launch.")
                memory = Memory(
                    name=name, type=param.type, space="global", extents=extents, strides=strides
                )
                self.language.bind_memory(param, memory)
            else:
                values[param] = primary(f"launch.{name}")
                if param.type is BOOL:
                    values[param] = primary(f"(launch.{name} != 0)")
        body = Body(
            self.language, writer, self.names, self.kernel.body,
            values=values, pure=self.pure, bounds=self.language.bounds,
        )  # fmt: skip
        body.region(self.kernel.body)
        return writer

    def _function(self, function: Function) -> Lines:
        names = self.names.inner()
        language = self.language
        language.current_function = language.functions[function.name]
        values: dict[Op, Expression] = {}
        declared: list[str] = []
        named = name_parameters(names, function.params)
        for param, name in zip(function.params, named, strict=True):
            if isinstance(param.type, Scalar):
                values[param] = primary(name)
                declared.append(f"{register_type(param.type)} {name}")
            else:
                memory = _parameter_memory(name, param.type)
                language.bind_memory(param, memory)
                declared += memory_parameters(memory, _only_read(param.type))
        if function.name in language.reporting:
            declared.append("global long *report")
        writer = SourceWriter(depth=1)
        body = Body(
            language, writer, names, function.body,
            values=values, pure=self.pure, bounds=language.bounds,
        )  # fmt: skip
        body.region(function.body)
        name = language.current_function
        head = f"{_result_type(name, function.result)} {name}({', '.join(declared)}) {{"
        before: Lines = []
        if isinstance(function.result, TupleType):
            struct = result_struct(name, function.result)
            before = [(text, UNKNOWN) for text in struct.splitlines()]
        return [*before, (head, function.loc), *writer.lines, ("}", UNKNOWN)]

    # ── what stands round them ──

    def _head(self) -> Lines:
        fields = [
            f"    {_field_type(word)} {name} __attribute__((aligned(8)));"
            for word, name in zip(self.abi.words, self._fields(), strict=True)
        ]
        text = [
            f"// {self.kernel.name}, generated by cubepy".encode(
                "ascii", "backslashreplace"
            ).decode(),
            "#pragma OPENCL FP_CONTRACT OFF",
            *self._extensions(),
            "",
            "typedef struct {",
            *fields,
            f"}} {self.entry}_launch;",
        ]
        return [(each, UNKNOWN) for each in text]

    def _extensions(self) -> Sequence[str]:
        bodies = (self.kernel.body, *(function.body for function in self.kernel.functions))
        wide = any(op.type is F64 for body in bodies for op in walk(body)) or any(
            "double" in text for text in self.language.prelude.texts
        )
        return ("#pragma OPENCL EXTENSION cl_khr_fp64 : enable",) if wide else ()

    def _fields(self) -> list[str]:
        return [field_of(word, self.params) for word in self.abi.words]

    def _helpers(self) -> list[Lines]:
        return [
            [(line, UNKNOWN) for line in text.splitlines()] for text in self.language.prelude.texts
        ]

    def _kernel(self, body: SourceWriter) -> Lines:
        x, y, z = self.language.positions.group
        attributes = f"__attribute__((reqd_work_group_size({x}, {y}, {z})))"
        side_by_side = self._side_by_side()
        if side_by_side:
            attributes += self.target.features.plane_attribute.format(side_by_side)
            if not self.language.positions.linear:
                text = f"{side_by_side} units side by side are asked for, to fill registers"
                self.language.notes.add(Topic.GANG, Op(opdef=ops.BLOCK, loc=self.kernel.loc), text)
        declared = self._declared()
        head = [f"kernel {attributes}", f"void {self.entry}("]
        head += [f"    {each}," for each in declared]
        head.append(f"    const {self.entry}_launch launch")
        head.append(") {")
        opening = [(each, self.kernel.loc) for each in head]
        opening += [(f"    {each}", UNKNOWN) for each in self.language.locals.values()]
        for param, name in zip(self.kernel.params, self.params, strict=True):
            if isinstance(param.type, BufferType) and param.type.access is not Access.NONE:
                size = memory_type(param.type.element)
                opening.append((f"    {name} += launch.{name}_offset / sizeof({size});", UNKNOWN))
        return [*opening, *body.lines, ("}", UNKNOWN)]

    def _side_by_side(self) -> int:
        """The size of sub-groups that is asked for, 0 for none: that of planes where the kernel
        speaks of them, else what divides a row of the cube: four registers a value, counted in
        f32, or in f64 where there are any. Kernels that neither loop nor call wait for memory only,
        quickest by whole registers of narrow elements; private arrays fill registers anyway.
        """
        if self.language.positions.linear:
            return 0 if self.language.planes_emulated else self.language.positions.plane_dim
        features = self.target.features
        ops_here = list(walk(self.kernel.body))
        rows = {op.opdef for op in ops_here}
        if ops.LOCAL_ARRAY in rows:
            return 0
        most = features.abreast // (2 if any(op.type is F64 for op in ops_here) else 1)
        if rows.isdisjoint((ops.FOR, ops.WHILE, ops.CALL)):
            most = self._of_a_register()
        sizes = features.plane_sizes or ()
        row = self.kernel.cube_dim[0]
        return max((size for size in sizes if size <= most and row % size == 0), default=0)

    def _of_a_register(self) -> int:
        """How many of the widest elements fill a register, if they are narrow; else 0."""
        types = [param.type for param in self.kernel.params if isinstance(param.type, BufferType)]
        widest = max((each.element.size for each in types), default=4)
        return self.target.features.abreast // widest if widest < 4 else 0

    def _declared(self) -> list[str]:
        declared = []
        aliases = [
            param.type.alias for param in self.kernel.params if isinstance(param.type, BufferType)
        ]
        for param, name in zip(self.kernel.params, self.params, strict=True):
            if isinstance(param.type, BufferType):
                constant = "const " if _only_read(param.type) else ""
                alone = "restrict " if aliases.count(param.type.alias) == 1 else ""
                volatile = "" if alone or not self._mixed(param.type.alias) else "volatile "
                element = memory_type(param.type.element)
                declared.append(f"global {volatile}{constant}{element} *{alone}{name}")
        if self.language.faults or self.language.prints:
            declared.append("global long *report")
        return declared

    def _mixed(self, alias: int) -> bool:
        """Whether memory is seen as elements of several types, which C lets a compiler rule out."""
        elements = {
            memory_type(param.type.element)
            for param in self.kernel.params
            if isinstance(param.type, BufferType) and param.type.alias == alias
        }
        return len(elements) > 1


def _only_read(type: Type) -> bool:
    return isinstance(type, BufferType) and type.access in (Access.READ, Access.NONE)


def _result_type(name: str, result: Type) -> str:
    if result == VOID:
        return "void"
    return register_type(result) if isinstance(result, Scalar) else f"{name}_results"


def _parameter_memory(name: str, type: Type) -> Memory:
    if isinstance(type, BufferType):
        extents, strides = buffer_sizes(type, name, "")
        return Memory(name=name, type=type, space="global", extents=extents, strides=strides)
    assert isinstance(type, SharedType | PrivateType)
    space = "local" if isinstance(type, SharedType) else "private"
    return Memory.of_shape(name, type, space, type.shape)


def _reporting(kernel: Kernel) -> frozenset[str]:
    """Functions in which, or in whose callees, an access may report a fault."""
    found: set[str] = set()
    for function in kernel.functions:
        if any(
            op.attrs.get("check") == "validate"
            or op.opdef.has(Trait.REPORTS)
            or (op.opdef is ops.CALL and str(op.attrs["callee"]) in found)
            for op in walk(function.body)
        ):
            found.add(function.name)
    return frozenset(found)


def _field_type(word: Word) -> str:
    if word.kind is WordKind.SCALAR:
        assert word.type is not None
        return memory_type(word.type)
    return "ulong" if word.kind in (WordKind.POINTER, WordKind.REPORT) else "long"
