"""Stage 2, specialise: annotations and arguments become a :class:`Specialization`.

Array arguments give element, rank and stride classes, never sizes; scalars give a type; comptime
values and captured names are part of it by type and bits. Nothing is lowered here.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from cubepy.errors import ArgumentError, CubeTypeError, Diagnostic, did_you_mean, shown
from cubepy.frontend.annotations import Annotation
from cubepy.frontend.captures import Captures, function_of, read_captures
from cubepy.frontend.comptime_types import is_of_type, type_name
from cubepy.frontend.effects import may_write
from cubepy.frontend.keys import comptime_key
from cubepy.frontend.parameters import leaves_of, structures_of, taken_apart
from cubepy.frontend.scalars import mismatch
from cubepy.frontend.source import KernelSource
from cubepy.frontend.stored_formats import StoredFormat, host_dtype
from cubepy.frontend.wording import describe_object
from cubepy.ir import (
    BF16,
    BOOL,
    F32,
    INDEX,
    STORED,
    BufferType,
    Scalar,
    StrideClass,
    scalar_of_numpy,
)
from cubepy.records import dataclass, field

__all__ = [
    "LaunchOptions",
    "Specialization",
    "specialize",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """What a kernel is compiled for besides its arguments.

    `over_rank`: axes of the shape launched over, 0 for a plain grid. `plane_dim`: what PLANE_DIM is
    where it must be comptime (0: not known). `alias`: parameters with the class of memory that they
    may share; a parameter not named shares with none.
    """

    cube_dim: tuple[int, int, int] = (1, 1, 1)
    over_rank: int = 0
    check: str = "checked"
    plane_dim: int = 0
    alias: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Specialization:
    """What a kernel is compiled for; equal ones give the same kernel.

    `types` are the run-time parameters in order, `comptime` the keys of the others; `values` holds
    the comptime values themselves, `generics` what type variables stand for.
    """

    types: tuple[tuple[str, BufferType | Scalar], ...]
    comptime: tuple[tuple[str, Hashable], ...]
    options: LaunchOptions
    captures: Captures
    generics: tuple[tuple[str, Scalar], ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def kernel_parameters(self) -> tuple[str, ...]:
        """Names of the run-time parameters, in the order of `kernel.params`."""
        return tuple(name for name, _ in self.types)


def specialize(
    source: KernelSource, arguments: Mapping[str, object], options: LaunchOptions
) -> Specialization:
    """What the kernel is for these arguments, bound to the names of parameters or of their leaves.

    Raises ArgumentError for an argument that does not fit its parameter.
    """
    reader = _Arguments(source, options)
    given = _with_defaults(source, arguments)
    for name, value in given.items():
        reader.settle(name, value)
    for name, value in given.items():
        reader.add(name, value)
    return Specialization(
        types=tuple(reader.types.items()),
        comptime=tuple((name, comptime_key(value)) for name, value in reader.values.items()),
        options=options,
        captures=read_captures(source, reader.values, structures_of(source)),
        generics=tuple((name, scalar) for name, scalar in sorted(reader.generics.items())),
        values=reader.values,
    )


def _with_defaults(source: KernelSource, arguments: Mapping[str, object]) -> dict[str, object]:
    """Every argument by leaf, in the order of the parameters."""
    given: dict[str, object] = {}
    for parameter in source.signature.parameters.values():
        _refuse_star(source, parameter)
        name = parameter.name
        leaves = [leaf.name for leaf in leaves_of(source) if leaf.parameter == name]
        if name in arguments:
            given |= taken_apart(source, name, arguments[name])
        elif all(leaf in arguments for leaf in leaves):
            given |= {leaf: arguments[leaf] for leaf in leaves}
        elif parameter.default is not inspect.Parameter.empty:
            given |= taken_apart(source, name, parameter.default)
        else:
            raise ArgumentError(
                f"{source.name}: argument {name!r} is missing\n"
                f"  help: its parameters are {source.signature}"
            )
    unknown = sorted(set(arguments) - {*given, *source.signature.parameters})
    if unknown:
        known = [*source.signature.parameters]
        help = did_you_mean(unknown[0], known) or f"its parameters are {', '.join(known)}"
        raise ArgumentError(f"{source.name} has no parameter {unknown[0]!r}\n  help: {help}")
    return given


def _refuse_star(source: KernelSource, parameter: inspect.Parameter) -> None:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        raise CubeTypeError(
            Diagnostic(
                message=f"{source.name} has a parameter {parameter}",
                loc=source.place_of(parameter.name),
                help="name every parameter of a kernel",
            )
        )


_FAMILIES = {
    "Float": "arrays of floats, for example x.astype(numpy.float32)",
    "Int": "arrays of integers, for example x.astype(numpy.int32)",
    "UInt": "arrays of unsigned integers, for example x.astype(numpy.uint32)",
    "Number": "arrays of numbers, for example x.astype(numpy.uint8)",
}


class _Arguments:
    """Collects what each argument is. First every array settles its type variable, then all."""

    def __init__(self, source: KernelSource, options: LaunchOptions) -> None:
        self.source = source
        self.annotations = {leaf.name: leaf.annotation for leaf in leaves_of(source)}
        self.alias = dict(options.alias)
        self.types: dict[str, BufferType | Scalar] = {}
        self.values: dict[str, Any] = {}
        self.generics: dict[str, Scalar] = {}

    def settle(self, name: str, value: object) -> None:
        """Let an array decide what the type variable of its annotation stands for."""
        annotation = self.annotations[name]
        if annotation.kind in ("array", "tensor") and annotation.variable is not None:
            element = _element_of(value) if _is_array(value) else None
            if element is not None:
                self._generic(annotation.variable, element)

    def add(self, name: str, value: object) -> None:
        """Take one argument."""
        annotation = self.annotations[name]
        if annotation.kind == "comptime":
            self._comptime(name, value, annotation.wanted)
        elif annotation.kind in ("array", "tensor"):
            self.types[name] = self._buffer(name, value, annotation)
        elif annotation.kind == "scalar":
            assert annotation.element is not None
            self.types[name] = annotation.element
        elif annotation.kind == "generic":
            self.types[name] = self._generic_scalar(name, value, annotation)
        elif annotation.kind == "none":
            self._bare(name, value)
        else:
            raise CubeTypeError(
                Diagnostic(
                    message=f"the parameter {name} of {self.source.name} has an annotation that "
                    "kernels do not have",
                    loc=self.source.place_of(name),
                    help=_instead(annotation.written),
                )
            )

    def _place(self, name: str) -> str:
        return f"{self.source.name}: argument {name!r}"

    def _comptime(self, name: str, value: object, wanted: Any = Any) -> None:
        try:
            hash(comptime_key(value))
            hash(value)
        except TypeError as error:
            raise ArgumentError(
                f"{self._place(name)} is comptime and cannot be hashed: {type(value).__name__}\n"
                f"  help: {_hashable(name, value)}"
            ) from error
        if not is_of_type(value, wanted):
            raise ArgumentError(
                f"{self._place(name)}: expected {type_name(wanted)}, got {describe_object(value)}\n"
                f"  help: {name} is annotated Comptime[{type_name(wanted)}]: "
                "pass such a value, or change the annotation"
            )
        self.values[name] = value

    def _bare(self, name: str, value: object) -> None:
        """A parameter without annotation takes what it gets."""
        number = _number_type(value)
        if number is not None:
            self.types[name] = number
        elif _is_array(value):
            self.types[name] = self._buffer(name, value, Annotation(kind="tensor"))
        elif function_of(value) is not None or not hasattr(value, "__array_interface__"):
            self._comptime(name, value)
        else:
            self.types[name] = self._buffer(name, np.asarray(value), Annotation(kind="tensor"))

    def _buffer(self, name: str, value: Any, annotation: Annotation) -> BufferType:
        if not _is_array(value):
            if isinstance(value, np.generic) or not hasattr(value, "__array_interface__"):
                raise ArgumentError(
                    f"{self._place(name)}: expected an array, got {type(value).__name__}\n"
                    f"  help: {_as_array(value, annotation.element)}"
                )
            value = np.asarray(value)
        element = _stored_as(value, annotation) or _element_of(value)
        if annotation.format is not None and not _stored_as(value, annotation):
            raise self._other_format(name, value, annotation.format)
        if element is None:
            stored = STORED.get(value.dtype.name)
            raise ArgumentError(
                f"{self._place(name)}: kernels have no arrays of {value.dtype}\n  help: "
                + (
                    f"annotate {name} as Array[cb.{stored}], which is read as f32"
                    if stored
                    else "use a type of docs/language.md, such as f32 (numpy.float32)"
                )
            )
        wanted = self._wanted(annotation, element)
        if wanted != element:
            raise ArgumentError(
                f"{self._place(name)}: expected an array of {wanted}, got {element}\n"
                f"  help: {self._other_dtype(name, wanted)}"
            )
        rank = len(value.shape)
        if rank == 0 or (annotation.kind == "array" and rank != 1):
            fix = (
                f"pass a view with one axis, {name}.reshape(1)"
                if rank == 0
                else f"annotate {name} as Tensor[{wanted}], or pass {self._flat(name)}"
            )
            raise ArgumentError(
                f"{self._place(name)}: expected an array with 1 axis, got one with "
                f"{rank or 'none'}\n  help: {fix}"
            )
        alias = self.alias.get(name, _own_class(self.alias, len(self.types)))
        return BufferType(element, _stride_classes(value, element), alias=alias)

    def _other_format(self, name: str, value: Any, format: StoredFormat) -> ArgumentError:
        """The error for an array of other elements than the format's."""
        dtype = format.host if hasattr(np, format.host) else f"ml_dtypes.{format.host}"
        way = "view" if np.dtype(value.dtype) == np.uint8 else "astype"
        return ArgumentError(
            f"{self._place(name)}: expected an array of {format.name}, got {value.dtype}\n"
            f"  help: pass {name}.{way}({dtype})"
        )

    def _flat(self, name: str) -> str:
        """One axis for all elements: `reshape` copies some arrays, which loses what is written."""
        return "a flat view" if may_write(self.source, name) else f"{name}.reshape(-1)"

    def _other_dtype(self, name: str, wanted: Scalar) -> str:
        """How to come by elements of another type. A copy would keep what a kernel writes."""
        dtype = numpy_name(wanted)
        if may_write(self.source, name.partition(".")[0]):
            return f"make {name} with dtype={dtype}: what a kernel writes to a copy is lost"
        return f"pass {name}.astype({dtype})"

    def _wanted(self, annotation: Annotation, element: Scalar) -> Scalar:
        if annotation.variable is not None:
            return self._generic(annotation.variable, element)
        return annotation.element or element

    def _generic(self, variable: Any, found: Scalar) -> Scalar:
        known = self.generics.setdefault(variable.__name__, found)
        wrong = mismatch(variable, found)
        if wrong:
            bound = getattr(variable.__bound__, "__name__", "one of these types")
            raise ArgumentError(
                f"{self.source.name}: {wrong}\n"
                f"  help: pass {_FAMILIES.get(bound, f'arrays of {bound}')}"
            )
        return known

    def _generic_scalar(self, name: str, value: object, annotation: Annotation) -> Scalar:
        """The type that arrays gave the variable; without any, the number's own."""
        variable = annotation.variable
        if variable.__name__ in self.generics:
            return self.generics[variable.__name__]
        number = _number_type(value)
        if number is None:
            raise ArgumentError(
                f"{self._place(name)}: expected a number, got {shown(value)}\n"
                "  help: pass a number of Python or NumPy, such as 1.0 or np.float32(1)"
            )
        return self._generic(variable, number)


def numpy_name(type: Scalar) -> str:
    """How users write the NumPy type of elements."""
    name = type.numpy.name
    return f"ml_dtypes.{name}" if type is BF16 else f"numpy.{name}"


def _own_class(alias: Mapping[str, int], number: int) -> int:
    """A class that no other parameter has."""
    return max(alias.values(), default=-1) + 1 + number


def _is_array(value: object) -> bool:
    """Whether a value says what arrays say of themselves; NumPy scalars do too, but are numbers."""
    if isinstance(value, np.generic):
        return False
    return all(hasattr(value, name) for name in ("dtype", "shape", "strides"))


def _number_type(value: object) -> Scalar | None:
    """The type of a scalar argument without annotation."""
    if isinstance(value, np.generic):
        return scalar_of_numpy(value.dtype)
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INDEX
    return F32 if isinstance(value, float) else None


def _as_array(value: object, element: Scalar | None) -> str:
    if isinstance(value, list | tuple | int | float):
        dtype = "" if element is None else f", {numpy_name(element)}"
        items = "[…]" if isinstance(value, list | tuple) else "[value]"
        return f"pass an array: numpy.array({items}{dtype})"
    return "pass a NumPy array or a cubepy Buffer"


def _stored_as(value: Any, annotation: Annotation) -> Scalar | None:
    """What holds the elements of an array in the annotation's format; None if it is of others."""
    format = annotation.format
    if format is None or value.dtype != host_dtype(format.host):
        return None
    return format.element


def _element_of(value: Any) -> Scalar | None:
    dtype = value.dtype
    return dtype if isinstance(dtype, Scalar) else scalar_of_numpy(np.dtype(dtype))


def _stride_classes(value: Any, element: Scalar) -> tuple[StrideClass, ...]:
    """The class of each axis. An axis with fewer than two elements counts as row-major."""
    last = len(value.shape) - 1
    empty = 0 in value.shape
    classes: list[StrideClass] = []
    for axis, (length, stride) in enumerate(zip(value.shape, value.strides, strict=True)):
        usual = StrideClass.ONE if axis == last else StrideClass.OTHER
        steps, rest = divmod(stride, element.size)
        known = StrideClass.OTHER if rest else _CLASSES.get(steps, StrideClass.OTHER)
        classes.append(usual if length < 2 or empty else known)
    return tuple(classes)


_CLASSES = {0: StrideClass.ZERO, 1: StrideClass.ONE, -1: StrideClass.MINUS_ONE}


def _instead(written: object) -> str:
    """What to write in place of an annotation that kernels do not have."""
    plain = typing.get_origin(written) or written
    if isinstance(plain, type) and issubclass(plain, np.ndarray):
        return "write Array[f32], with one axis, or Tensor[f32], with any number of them"
    package = getattr(plain, "__module__", "").partition(".")[0]
    if isinstance(plain, type) and package not in ("builtins", "cubepy", "numpy", "typing"):
        return f"decorate {plain.__name__} with @cb.struct and annotate its fields"
    return (
        "write a scalar type, Array[T], Tensor[T], Comptime[T], Vector[T, N], tuple[…], or a class "
        "under @cb.struct"
    )


def _hashable(name: str, value: object) -> str:
    """What to pass in the place of a value that can change."""
    if isinstance(value, list):
        return f"it is compiled in, so it must not change: pass tuple({name})"
    if isinstance(value, set):
        return f"it is compiled in, so it must not change: pass frozenset({name})"
    if _is_array(value):
        return f"pass tuple({name}.tolist()) to compile it in, or make {name} an Array parameter"
    return "it is compiled in, so it must not change: pass a tuple or a frozen dataclass"
