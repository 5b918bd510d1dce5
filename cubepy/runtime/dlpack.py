"""Arrays of other libraries, and ours for them, through DLPack: the same memory, no copy.

NumPy takes and gives what it has a type for. bfloat16 and the floats of 8 bits it does not know:
such a tensor passes as unsigned integers of its size, with the type rewritten in the capsule.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cubepy.errors import ArgumentError
from cubepy.late import late_import

__all__ = ["CPU_DEVICE", "capsule_of", "from_dlpack"]

Array = np.ndarray[Any, Any]
#: How DLPack names the memory of this process.
CPU_DEVICE = (1, 0)
# Memory that the processor reaches: its own, and that which drivers have pinned for a GPU.
_REACHABLE = {1: "the host", 3: "pinned by CUDA", 11: "pinned by ROCm"}
_ELSEWHERE = {2: "a CUDA GPU", 4: "an OpenCL device", 7: "a Vulkan device", 8: "a Metal GPU"}
# Codes of types that NumPy has no name for.
_FLOATS: Mapping[tuple[int, int], str] = {
    (4, 16): "bfloat16",
    (8, 8): "float8_e4m3",
    (10, 8): "float8_e4m3fn",
    (12, 8): "float8_e5m2",
    (14, 8): "float8_e8m0fnu",
}
_UNSIGNED = 1
# Where a capsule's structure has the code of its type, and one byte behind it the bits.
_TYPE_AT = {b"dltensor": 20, b"dltensor_versioned": 52}


def from_dlpack(value: Any, place: str) -> Array:
    """The memory of an object with `__dlpack__` as an array; `place` opens an error's message."""
    kind, number = value.__dlpack_device__()
    if int(kind) not in _REACHABLE:
        where = _ELSEWHERE.get(int(kind), f"a device of DLPack's kind {int(kind)}")
        raise ArgumentError(
            f"{place} is in the memory of {where} (number {number}), not of this process\n"
            "  help: copy it to the host first"
        )
    relabelled = _Relabelled(value)
    try:
        array: Array = np.from_dlpack(relabelled)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"{place}: {type(value).__name__} does not hand out its memory: {error}\n"
            "  help: make a NumPy array of it"
        ) from error
    return array if relabelled.dtype is None else array.view(relabelled.dtype)


class _Relabelled:
    """A producer whose tensors of types NumPy does not know look like integers."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        self.dtype: np.dtype[Any] | None = None

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU_DEVICE

    def __dlpack__(self, **wishes: Any) -> Any:
        try:
            capsule = self._producer.__dlpack__(**wishes)
        except TypeError:  # a producer from before there were wishes
            capsule = self._producer.__dlpack__()
        code = _type_in(capsule)
        name = _FLOATS.get((code[0], code[1]))
        if name is not None:
            with late_import:
                import ml_dtypes  # noqa: PLC0415 - few programs have such arrays
            self.dtype = np.dtype(getattr(ml_dtypes, name))
            code[0] = _UNSIGNED
        return capsule


def capsule_of(array: Array, wishes: Mapping[str, Any]) -> Any:
    """The capsule that a consumer with these wishes gets of an array."""
    codes = {name: code for code, name in _FLOATS.items()}
    known = codes.get(array.dtype.name)
    if known is None:
        return array.__dlpack__(**wishes)
    capsule = array.view(f"u{array.dtype.itemsize}").__dlpack__(**wishes)
    _type_in(capsule)[0] = known[0]
    return capsule


def _type_in(capsule: Any) -> ctypes.Array[ctypes.c_uint8]:
    """Code and bits of the type in a capsule, to be read and written."""
    name = _function("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)(capsule)
    get_pointer = _function(
        "PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p
    )
    return (ctypes.c_uint8 * 2).from_address(get_pointer(capsule, name) + _TYPE_AT[name])


def _function(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))
