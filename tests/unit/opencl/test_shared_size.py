"""More shared memory than a cube has is refused by name, and nothing is harmed."""

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import UnsupportedError
from tests.opencl_devices import on_each


@cb.cube
def turned(x: cb.Array[cb.f32], out: cb.Array[cb.f32], ROOM: cb.Comptime[int]) -> None:
    shared = cb.shared(cb.f32, ROOM)
    shared[cb.UNIT_POS] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    out[cb.ABSOLUTE_POS] = shared[cb.CUBE_DIM - 1 - cb.UNIT_POS]


@pytest.mark.parametrize("name", on_each())
def test_too_much_shared_memory_is_refused_before_a_driver_sees_it(name: str) -> None:
    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    limit = cb.device(name).target.features.shared_bytes
    with pytest.raises(UnsupportedError, match=f"bytes of shared memory, and a cube has {limit}"):
        turned.launch(x, out, ROOM=limit // 4 + 1, cube_count=1, cube_dim=32, device=name)
    assert not out.any()
    turned.launch(x, out, ROOM=32, cube_count=1, cube_dim=32, device=name)
    np.testing.assert_array_equal(out, x[::-1])
