"""Formats that arrays hold and kernels do not compute in: an element is decoded when it is read,
and what is stored is encoded.

A format is known while compiling. Its two functions are ordinary helpers, so every target has it;
in IR such an array is one of bytes.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np

from cubepy.frontend.lang import library_function
from cubepy.ir import U8, Scalar
from cubepy.late import late_import

__all__ = ["StoredFormat", "host_dtype"]


class StoredFormat:
    """Base of the formats. `host` names the dtype of NumPy or of ml_dtypes that arrays on the host
    have.
    """

    name: str
    host: str

    @property
    def element(self) -> Scalar:
        """What holds one in memory: a byte."""
        return U8

    def decode(self, element: Any) -> Any:
        """The f32 that an element stands for."""
        raise NotImplementedError

    def encode(self, value: Any) -> Any:
        """The element next to a float of any type."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> Any:
        """One that its module has by its name is that one everywhere."""
        module = sys.modules.get(type(self).__module__)
        if getattr(module, self.name, None) is self:
            return self.name
        return super().__reduce_ex__(protocol)

    @library_function
    def __call__(self, value: Any) -> Any:
        """The value rounded to the format, as f32."""
        return self.decode(self.encode(value))


@functools.cache
def host_dtype(name: str) -> np.dtype[Any]:
    """The dtype that NumPy or ml_dtypes has by a name."""
    with late_import:
        import ml_dtypes  # noqa: PLC0415 - few programs have such arrays

    found: np.dtype[Any] = np.dtype(getattr(np, name, None) or getattr(ml_dtypes, name))
    return found
