# mypy: ignore-errors
import numpy as np

import cubepy as cb
from cubepy import Array, f32, u32


def kernel(x: Array[f32], out: Array[u32]):
    a = cb.local_array(f32, (2, 3), fill=0.0)
    s = cb.shared(u32, 4)
    a[2, 2] = x[0]
    a[1, 3] += 1.0
    x[1] = a[(0, 4)]
    x[2] = a[1][3]
    s[2 * 2] = u32(1)
    cb.atomic_add(s, 4, 1)
    x[3] = x.reshape(2, -1)[2, 0]
    x[4] = a.vectorized(2)[0, 1][0]
    x[5] = a[:, 1:][0, 2]
    if len(a) > 2:
        x[6] = a[2, 0]
    if x[0] > 0.0 and len(a) > 2 and a[2, 0] > 0.0:
        x[7] = 1.0
    out[10**6] = s[3]


ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.uint32))
