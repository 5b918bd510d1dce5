"""Jobs on handwritten digits: how alike they are, and which digit each one is.

Every digit is enlarged to 32×32 pixels and scaled to length one. The product of all with all gives
their likeness, softmax turns likeness into weights, and the weighted others vote for a label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.ndimage
from sklearn.datasets import load_digits

import cubepy as cb
from examples.kernels import matmul, softmax_rows
from examples.showcase.job import Job, Launch

__all__ = ["Digits", "likeness_job", "load", "vote", "weights_job"]

Floats = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

ENLARGED = 4
# Likeness is between 0 and 1; this makes softmax prefer the most alike by far.
SHARPNESS = 100.0
TILE = 32
# NumPy's BLAS rounds a*b + c once; so does this one, and no other kernel of the demo.
contracted_matmul = cb.cube(contract=True)(matmul.function)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Digits:
    """Pictures with values 0 … 16, one row of enlarged and scaled pixels each, labels 0 … 9."""

    pictures: Floats
    rows: Floats
    labels: Ints


def load(number: int = 1024) -> Digits:
    """The first `number` digits."""
    data = load_digits()
    pictures = data.images[:number].astype(np.float32)
    rows = scipy.ndimage.zoom(pictures, (1, ENLARGED, ENLARGED), order=1).reshape(number, -1)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return Digits(
        pictures=pictures, rows=rows.astype(np.float32), labels=data.target[:number].astype(int)
    )


def likeness_job(digits: Digits) -> Job:
    """Every digit times every digit: a product of two matrices through tiles in shared memory."""
    rows = digits.rows * np.float32(SHARPNESS)
    # A matrix of its own: for rows @ rows.T NumPy would compute one half and mirror it.
    columns = np.ascontiguousarray(digits.rows.T)
    number, pixels = rows.shape
    out = np.empty((number, number), np.float32)
    tiles = _tiles(number)
    launch = Launch(
        kernel=contracted_matmul,
        launcher=contracted_matmul[(tiles, tiles), (TILE, TILE)],
        arguments=(rows, columns, out, TILE),
    )
    return Job(
        name="matmul",
        about=f"{number} × {pixels} digits times {pixels} × {number}, tiles in shared memory",
        launches=(launch,),
        result=out,
        expected=lambda: rows.astype(np.float64) @ columns.astype(np.float64),
        # Products are positive and sum up to SHARPNESS; each addition rounds once.
        tolerance=pixels * SHARPNESS * 2.0**-24,
        peer=lambda: rows @ columns,
        peer_name="NumPy @ (all threads)",
    )


def _tiles(number: int) -> int:
    """Tiles that cover `number` rows."""
    return -(-number // TILE)


def weights_job(likeness: Floats) -> Job:
    """Softmax along each row, one plane a row."""
    out = np.empty_like(likeness)
    number = likeness.shape[0]
    launch = Launch(
        kernel=softmax_rows, launcher=softmax_rows[number, cb.PLANE], arguments=(likeness, out)
    )
    return Job(
        name="softmax",
        about=f"of each row of {number} × {likeness.shape[1]}",
        launches=(launch,),
        result=out,
        expected=lambda: softmax(likeness.astype(np.float64)),
        # An exponent of up to SHARPNESS is rounded before exp sees it.
        tolerance=2 * SHARPNESS * 2.0**-24,
        relative=True,
        peer=lambda: softmax(likeness),
        peer_name="NumPy exp, sum",
    )


def softmax(rows: Any) -> Any:
    """Softmax along the last axis in the precision of its argument."""
    powers = np.exp(rows - rows.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def vote(weights: Floats, labels: Ints) -> float:
    """The share of digits whose label the others, by weight, agree on."""
    others = weights * (1 - np.eye(len(labels), dtype=np.float32))
    ballots = np.stack([others[:, labels == label].sum(axis=1) for label in range(10)], axis=1)
    return float((ballots.argmax(axis=1) == labels).mean())
