"""The Mandelbrot job, and NumPy's best way to the same numbers."""

from typing import Any

import numpy as np

from examples.kernels import mandelbrot
from examples.showcase.job import Job, Launch

__all__ = ["LIMIT", "mandelbrot_job"]

Ints = np.ndarray[Any, np.dtype[np.int32]]
LIMIT = 256


def mandelbrot_job(height: int = 720) -> Job:
    """Trips until each point of a picture 4:3 leaves, for the whole set."""
    counts = np.empty((height, height * 4 // 3), np.int32)
    place = (-2.3, -1.2, 2.4 / height)
    launch = Launch(
        kernel=mandelbrot,
        launcher=mandelbrot.over(counts.shape),
        arguments=(*place, LIMIT, counts),
    )
    return Job(
        name="mandelbrot",
        about=f"{counts.shape[1]} × {height} points, up to {LIMIT} trips, each until it leaves",
        launches=(launch,),
        result=counts,
        expected=lambda: live_points(*place, LIMIT, counts.shape),
        tolerance=0,
        peer=lambda: live_points(*place, LIMIT, counts.shape),
        peer_name="NumPy, live points only",
    )


def live_points(left: float, top: float, step: float, limit: int, shape: tuple[int, ...]) -> Ints:
    """The same counts to the bit; points that have left are dropped, so each trip does less."""
    rows, columns = (np.arange(extent, dtype=np.float32) for extent in shape)
    c_re = np.tile(np.float32(left) + np.float32(step) * columns, len(rows))
    c_im = np.repeat(np.float32(top) + np.float32(step) * rows, len(columns))
    re, im = np.zeros_like(c_re), np.zeros_like(c_im)
    place = np.arange(c_re.size)
    count = np.zeros(c_re.size, np.int32)
    for _ in range(limit):
        re2, im2 = re * re, im * im
        inside = re2 + im2 <= 4
        if not inside.all():
            place, c_re, c_im, re, im, re2, im2 = (
                values[inside] for values in (place, c_re, c_im, re, im, re2, im2)
            )
        re, im = re2 - im2 + c_re, np.float32(2) * re * im + c_im
        count[place] += 1
    return count.reshape(shape)
