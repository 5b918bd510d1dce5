"""The word block, read back by NumPy."""

import ml_dtypes
import numpy as np

from cubepy.ir import BF16, BOOL, F16, F32, F64, I8, I32, U64, BufferType, Kernel, Region, param
from cubepy.ir import StrideClass as S
from cubepy.runtime import ArrayBinding, ScalarBinding, grid_over, pack
from cubepy.target import WordKind, abi_of

SCALARS = {
    "a": (I8, -3),
    "b": (U64, 2**64 - 1),
    "c": (F32, 1.5),
    "d": (F64, -0.0),
    "e": (F16, 0.25),
    "f": (BF16, 3.0),
    "g": (BOOL, True),
}


def test_every_word_has_its_meaning() -> None:
    buffer = BufferType(I32, (S.OTHER, S.MINUS_ONE))
    params = [param("x", buffer)] + [param(name, type) for name, (type, _) in SCALARS.items()]
    abi = abi_of(Kernel(name="k", params=tuple(params), body=Region()))
    array = ArrayBinding(memory=None, element=I32, offset=7, shape=(3, 4), strides=(8, -1))
    scalars = [ScalarBinding(element=type, value=value) for type, value in SCALARS.values()]
    grid = grid_over((5, 70), (16, 2, 1))
    words = pack(abi, [array, *scalars], grid, [1000] + [0] * len(scalars), report=77)
    assert words.dtype == np.uint64

    def word(kind: WordKind, argument: int = -1, axis: int = 0) -> int:
        return int(words[abi.offset(kind, argument, axis)])

    assert word(WordKind.POINTER, 0) == 1028
    assert [word(WordKind.SHAPE, 0, axis) for axis in (0, 1)] == [3, 4]
    assert word(WordKind.STRIDE, 0, 0) == 8
    assert np.uint64(word(WordKind.STRIDE, 0, 1)).astype(np.int64) == -1
    for number, (type, value) in enumerate(SCALARS.values(), start=1):
        raw = words[abi.offset(WordKind.SCALAR, number) :][:1]
        low = raw.view(type.numpy)[0]
        assert low == np.array(value, type.numpy), type
    assert word(WordKind.SCALAR, 1) == 2**64 - 3
    assert np.signbit(words[abi.offset(WordKind.SCALAR, 4) :][:1].view(np.float64)[0])
    assert words[abi.offset(WordKind.SCALAR, 6) :][:1].view(ml_dtypes.bfloat16)[0] == 3
    assert [word(WordKind.CUBE_COUNT, axis=axis) for axis in range(3)] == [5, 3, 1]
    assert [word(WordKind.EXTENT, axis=axis) for axis in range(3)] == [70, 5, 1]
    assert word(WordKind.REPORT) == 77
