"""Operands that break arithmetic: the ends of each type, zeros of both signs, NaNs, halfway cases.

:func:`operand_table` gives them for a scalar type as a NumPy array; :func:`operand_product`
gives every combination for an op of several operands. The tables are the same in every run.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.ir import BF16, BOOL, Scalar

__all__ = ["operand_product", "operand_table", "representative"]

Array = np.ndarray[Any, Any]

_SMALL = (0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 10, 100)
# by bits of the fraction and of the exponent
_FLOAT_SHAPE = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}


def operand_table(type: Scalar) -> Array:
    """Every operand worth trying alone or in pairs."""
    if type is BOOL:
        return np.array([False, True])
    return _floats(type) if type.is_float else _integers(type)


def representative(type: Scalar, count: int) -> Array:
    """`count` operands spread over the table, for ops with three operands and for literals."""
    table = operand_table(type)
    if table.size <= count:
        return table
    return table[np.linspace(0, table.size - 1, count).round().astype(np.int64)]


def operand_product(types: Sequence[Scalar], *, limit: int = 2500) -> list[Array]:
    """One array per operand that together hold all combinations, at most `limit`."""
    if len(types) == 1:
        return [np.concatenate([operand_table(types[0]), _random(types[0], 200)])]
    tables = [operand_table(type) for type in types]
    if np.prod([table.size for table in tables]) > limit:
        each = int(limit ** (1 / len(types)))
        tables = [representative(type, each) for type in types]
    rows = list(itertools.product(*(range(table.size) for table in tables)))
    columns = np.array(rows, dtype=np.int64).reshape(len(rows), len(types)).T
    return [table[column] for table, column in zip(tables, columns, strict=True)]


def _random(type: Scalar, count: int) -> Array:
    """Random bits; integers of all magnitudes, since most casts go wrong in between."""
    if type is BOOL:
        return np.zeros(0, np.bool_)
    random = np.random.default_rng(type.bits)
    words = random.integers(0, 1 << 64, count, dtype=np.uint64, endpoint=False)
    if not type.is_float:
        words >>= random.integers(0, type.bits, count, dtype=np.uint64)
    return words.astype(f"u{type.size}").view(type.numpy)


def _integers(type: Scalar) -> Array:
    bits = type.bits
    values = [*_SMALL, bits - 1, bits, bits + 1, 2 * bits, 127, 128, 255, 256]
    values += [type.minimum, type.minimum + 1, type.minimum // 2 - 1, type.minimum + 7]
    values += [type.maximum, type.maximum - 1, type.maximum // 2 + 1, type.maximum // 3]
    values += [1 << (bits // 2), (1 << (bits // 2)) - 1, int("55" * type.size, 16)]
    fitting = {value for value in values if type.minimum <= value <= type.maximum}
    return np.array(sorted(fitting), dtype=type.numpy)


def _floats(type: Scalar) -> Array:
    fraction, exponent = _FLOAT_SHAPE[type.name]
    bias = (1 << (exponent - 1)) - 1
    word = np.dtype(f"u{type.size}")
    ones = (1 << fraction) - 1
    special = [
        0,
        1,
        2,
        ones // 3,
        ones,
        1 << fraction,
        (1 << fraction) + 1,
    ]  # denormals, least normal
    special += [
        ((2 * bias) << fraction) | ones,
        (2 * bias + 1) << fraction,
    ]  # the largest, infinity
    quiet = ((2 * bias + 1) << fraction) | (1 << (fraction - 1))
    special += [
        quiet,
        quiet | 1,
        ((2 * bias + 1) << fraction) | 3,
    ]  # NaNs: usual, payload, signalling
    # one unit around 1, around the values from which on all are even integers or all are whole
    for power in (0, fraction, fraction + 1, -1):
        at = (bias + power) << fraction
        special += [at - 1, at, at + 1]
    bits = [*special, *(pattern | (1 << (type.bits - 1)) for pattern in special)]
    plain = [0.5, 1.5, 2.5, 3.0, 4.6875, 0.9375, 0.1, 1 / 3, 7.0, 10.0, 127.5, 128.5, 255.5, 300.7]
    plain += [-0.5, -1.5, -2.5, -3.0, -7.5, -0.1, -128.5, -129.0, 3.14159265, 0.70710678, 88.8]
    plain += [32767.5, 65504.0, 2147483648.0, -2147483904.0, 9.3e18, -9.3e18, 1.9e19]
    with np.errstate(all="ignore"):
        numbers: Array = np.array(plain).astype(np.float32 if type is BF16 else type.numpy)
        return np.concatenate(
            [np.array(bits, dtype=word).view(type.numpy), numbers.astype(type.numpy)]
        )
