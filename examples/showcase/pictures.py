"""Results as pictures: 8-bit images from numbers, and PNG files from images."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from examples.showcase.digits import Digits

__all__ = ["bytes_of", "colours", "mosaic", "save"]

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Floats = np.ndarray[Any, np.dtype[np.float32]]

# Few trips to many: night, blue, white, orange, ember.
PALETTE = np.array([[3, 5, 30], [24, 64, 160], [225, 243, 255], [255, 160, 30], [90, 12, 20]])


def save(image: Bytes, path: Path) -> None:
    """Write rows, columns and maybe colours as PNG."""
    Image.fromarray(image).save(path, optimize=True)


def bytes_of(values: Floats, largest: float = 255.0) -> Bytes:
    """Values from 0 to `largest` as bytes; what is beyond is cut off."""
    scaled = values * (255.0 / largest)
    image: Bytes = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return image


def colours(counts: np.ndarray[Any, np.dtype[np.int32]], limit: int) -> Bytes:
    """Counts of trips through the palette; points that never left are black."""
    place = np.log1p(counts) / np.log1p(limit) * (len(PALETTE) - 1)
    channels = [np.interp(place, range(len(PALETTE)), PALETTE[:, rgb]) for rgb in range(3)]
    image = np.stack(channels, axis=-1).astype(np.uint8)
    image[counts >= limit] = 0
    return image


def mosaic(digits: Digits, weights: Floats, rows: int = 6, neighbours: int = 10) -> Bytes:
    """Some digits, each followed after a gap by those with the largest weights in its row."""
    tiles = []
    for row in range(rows):
        others = weights[row].copy()
        others[row] = -1
        nearest = np.argsort(-others, kind="stable")[:neighbours]
        shown = [_tile(digits.pictures[index]) for index in (row, *nearest)]
        gap = np.full((shown[0].shape[0], 20), 255, np.uint8)
        tiles.append(np.concatenate([shown[0], gap, *shown[1:]], axis=1))
    return np.concatenate(tiles, axis=0)


def _tile(picture: Floats) -> Bytes:
    """One digit, black on white, five times as large, with a margin."""
    large = np.kron(255 - bytes_of(picture, 16.0), np.ones((5, 5), np.uint8))
    return np.pad(large, 3, constant_values=255)
