"""Jobs on the photograph of a temple that scikit-learn ships: grey, blur, edges, contrast."""

import functools
from typing import Any

import numpy as np
import scipy.ndimage
from sklearn.datasets import load_sample_image

from examples.showcase import kernels
from examples.showcase.job import Job, Launch

__all__ = ["blur_job", "edges_job", "equalise_job", "grey_job", "photograph"]

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

LUMINANCE = np.array([0.299, 0.587, 0.114])
# Each value of a picture goes up to 255, and each rounding is off by 2**-24 of it at most.
ROUNDING = 255 * 2.0**-24


def photograph() -> Bytes:
    """Rows, columns, and red, green, blue."""
    image: Bytes = np.ascontiguousarray(load_sample_image("china.jpg"))
    return image


def grey_job(rgb: Bytes) -> Job:
    """Brightness as a float for each pixel."""
    out = np.empty(rgb.shape[:2], np.float32)
    weights = LUMINANCE.astype(np.float32)
    launch = Launch(
        kernel=kernels.grey, launcher=kernels.grey.over(out.shape), arguments=(rgb, out)
    )
    return Job(
        name="grey",
        about="brightness of each pixel, from bytes that lie red, green, blue",
        launches=(launch,),
        result=out,
        expected=lambda: rgb.astype(np.float64) @ LUMINANCE,
        tolerance=8 * ROUNDING,
        peer=lambda: rgb @ weights,
        peer_name="NumPy @",
    )


def blur_job(rgb: Bytes, sigma: float = 3.0) -> Job:
    """A Gaussian blur of the three colour planes, along x and then along y."""
    planes = np.ascontiguousarray(rgb.transpose(2, 0, 1)).astype(np.float32)
    wide = planes.astype(np.float64)
    weights = gaussian(sigma)
    between, out = np.empty_like(planes), np.empty_like(planes)
    launcher = kernels.blur.over(planes.shape)
    launches = tuple(
        Launch(
            kernel=kernels.blur,
            launcher=launcher,
            arguments=(source, weights, target, axis),
            note=f"along {axis}",
        )
        for source, target, axis in ((planes, between, "x"), (between, out, "y"))
    )
    blurred = functools.partial(
        scipy.ndimage.gaussian_filter, sigma=(0, sigma, sigma), mode="nearest"
    )
    return Job(
        name="blur",
        about=f"Gaussian, {len(weights)} + {len(weights)} taps, of three colour planes",
        launches=launches,
        result=out,
        expected=lambda: blurred(wide),
        tolerance=2 * (len(weights) + 1) * ROUNDING,
        peer=lambda: blurred(planes),
        peer_name="SciPy gaussian_filter",
    )


def gaussian(sigma: float) -> Floats:
    """The taps of SciPy's filter of this width."""
    radius = int(4 * sigma + 0.5)
    taps = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    weights: Floats = (taps / taps.sum()).astype(np.float32)
    return weights


def edges_job(grey: Floats) -> Job:
    """Sobel's measure of steepness."""
    out = np.empty_like(grey)
    launch = Launch(
        kernel=kernels.sobel, launcher=kernels.sobel.over(grey.shape), arguments=(grey, out)
    )
    wide = grey.astype(np.float64)

    def expected() -> Floats:
        across, down = (scipy.ndimage.sobel(wide, axis, mode="constant") for axis in (1, 0))
        steepness: Floats = np.hypot(across, down)
        return steepness

    return Job(
        name="edges",
        about="Sobel steepness of the brightness",
        launches=(launch,),
        result=out,
        expected=expected,
        tolerance=32 * ROUNDING,
        peer=lambda: sobel_slices(grey),
        peer_name="NumPy slices",
    )


def sobel_slices(grey: Floats) -> Floats:
    """The same sums over shifted pictures; twice as fast as two calls of SciPy's sobel."""
    wide = np.pad(grey, 1)
    down = wide[:-2] + 2 * wide[1:-1] + wide[2:]
    across = wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]
    steepness: Floats = np.sqrt((down[:, 2:] - down[:, :-2]) ** 2 + (across[2:] - across[:-2]) ** 2)
    return steepness


def equalise_job(grey: Floats) -> Job:
    """Histogram equalisation: count, make a table, look every pixel up."""
    pixels = grey.astype(np.uint8).ravel()
    counts, table = np.zeros(256, np.uint32), np.zeros(256, np.uint8)
    out = np.empty_like(pixels)
    launches = (
        Launch(kernel=kernels.count, launcher=kernels.count[16, 256], arguments=(pixels, counts)),
        Launch(kernel=kernels.spread, launcher=kernels.spread[1, 256], arguments=(counts, table)),
        Launch(
            kernel=kernels.look_up,
            launcher=kernels.look_up.over(pixels.size),
            arguments=(pixels, table, out),
        ),
    )
    return Job(
        name="equalise",
        about="histogram, running sum, and each pixel through a table",
        launches=launches,
        result=out.reshape(grey.shape),
        expected=lambda: equalised(pixels).reshape(grey.shape),
        tolerance=0,
        peer=lambda: equalised(pixels),
        peer_name="NumPy bincount, cumsum",
        cleared=(counts,),
    )


def equalised(pixels: Bytes) -> Bytes:
    """The same in NumPy, to the bit."""
    counts = np.bincount(pixels, minlength=256)
    first = int(counts[np.min(pixels)])
    others = max(pixels.size - first, 1)
    upto = np.maximum(np.cumsum(counts), first) - first
    table: Bytes = ((255 * upto + others // 2) // others).astype(np.uint8)
    return table[pixels]
