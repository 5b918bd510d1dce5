"""Kernels of the demo: what is done to the photograph.

Written the first way that comes to mind. The matrix product, softmax and Mandelbrot kernels are
those of `examples.kernels`.
"""

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, u8, u32


@cb.cube
def grey(rgb: Tensor[u8], out: Tensor[f32]) -> None:
    """Brightness of each pixel."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    red, green, blue = rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2]
    out[y, x] = 0.299 * red + 0.587 * green + 0.114 * blue


@cb.cube
def blur(
    planes: Tensor[f32],
    weights: Array[f32],
    out: Tensor[f32],
    along: Comptime[str],
) -> None:
    """Weighted mean of neighbours along x or y; the border goes on outwards."""
    plane = cb.ABSOLUTE_POS_Z
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    columns, rows = planes.shape[2], planes.shape[1]
    radius = len(weights) // 2
    total = 0.0
    for k in range(len(weights)):
        if along == "x":
            near = cb.clamp(x + k - radius, 0, columns - 1)
            total += weights[k] * planes[plane, y, near]
        else:
            near = cb.clamp(y + k - radius, 0, rows - 1)
            total += weights[k] * planes[plane, near, x]
    out[plane, y, x] = total


@cb.cube
def sobel(image: Tensor[f32], out: Tensor[f32]) -> None:
    """How steep the brightness is; a read outside an array gives 0."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    left = image[y - 1, x - 1] + 2.0 * image[y, x - 1] + image[y + 1, x - 1]
    right = image[y - 1, x + 1] + 2.0 * image[y, x + 1] + image[y + 1, x + 1]
    above = image[y - 1, x - 1] + 2.0 * image[y - 1, x] + image[y - 1, x + 1]
    below = image[y + 1, x - 1] + 2.0 * image[y + 1, x] + image[y + 1, x + 1]
    out[y, x] = cb.sqrt((right - left) ** 2 + (below - above) ** 2)


@cb.cube
def count(pixels: Array[u8], counts: Array[u32]) -> None:
    """How often each brightness occurs; each cube of 256 units counts a share."""
    unit = cb.UNIT_POS
    share = cb.shared(u32, 256)
    share[unit] = 0
    cb.sync_cube()
    for i in range(cb.ABSOLUTE_POS, len(pixels), cb.CUBE_COUNT * cb.CUBE_DIM):
        cb.atomic_add(share, pixels[i], 1)
    cb.sync_cube()
    cb.atomic_add(counts, unit, share[unit])


@cb.cube
def spread(counts: Array[u32], table: Array[u8]) -> None:
    """What each brightness becomes so that all occur alike; one cube of 256 units."""
    unit = cb.UNIT_POS
    upto = cb.shared(u32, 256)
    upto[unit] = counts[unit]
    cb.sync_cube()
    step = 1
    while step < 256:
        before = upto[unit - step]
        cb.sync_cube()
        upto[unit] += before
        cb.sync_cube()
        step *= 2
    darkest = 0
    while darkest < 255 and counts[darkest] == 0:
        darkest += 1
    first = counts[darkest]
    others = max(upto[255] - first, 1)
    darker = max(upto[unit], first) - first
    table[unit] = u8((255 * darker + others // 2) // others)


@cb.cube
def look_up(pixels: Array[u8], table: Array[u8], out: Array[u8]) -> None:
    """Each pixel through the table."""
    i = cb.ABSOLUTE_POS
    out[i] = table[pixels[i]]
