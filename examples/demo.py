"""`make demo`: kernels on a photograph, on handwritten digits, and a fractal.

Every result is held against NumPy or SciPy and timed beside it. Pictures, a page that shows each
kernel with its IR and machine code, and the explorer's page of one of them go to `build/demo/`. The
exit status is 1 if a result is wrong.
"""

import contextlib
import inspect
import io
import os
import platform
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cubepy.tools import main as command_line
from cubepy_cpu import num_threads
from examples import kernels
from examples.showcase import (
    LIMIT,
    Job,
    Outcome,
    blur_job,
    bytes_of,
    colours,
    edges_job,
    equalise_job,
    grey,
    grey_job,
    likeness_job,
    listing_of,
    load_digits,
    mandelbrot_job,
    mosaic,
    page,
    photograph,
    run_job,
    save,
    vote,
    weights_job,
)

FOLDER = Path(__file__).resolve().parent.parent / "build" / "demo"
KERNELS = Path(inspect.getfile(kernels.mandelbrot.function))
# Settings that change how NumPy's own BLAS runs; the peer is NumPy as installed.
BLAS_SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def main() -> int:
    """Say what will happen, do it, show what came out."""
    started = time.perf_counter()
    _say_what_comes()
    rgb, digits = photograph(), load_digits()
    outcomes = list(_run(_jobs(rgb, digits)))
    images = _images(rgb, digits, {outcome.job.name: outcome.job for outcome in outcomes})
    path, explored = _write(outcomes, images), _explore()
    _say_what_came_out(outcomes, path, explored, time.perf_counter() - started)
    return 0 if all(outcome.right for outcome in outcomes) else 1


def _say_what_comes() -> None:
    source = textwrap.indent(inspect.getsource(grey.function).rstrip(), "    ")
    print(
        f"""\
cubepy turns Python functions into machine code for whole arrays. You write what happens at one
place; this makes one pixel of a photograph grey:

{source}

    grey.over(out.shape)(rgb, out)      # once for each pixel of `out`, on NumPy arrays

The first call compiles the function for these types: several pixels in each instruction, rows
shared among all cores. NumPy arrays are used where they lie.

What follows takes half a minute: blur a photograph, find its edges, even out its contrast; compare
1024 handwritten digits with each other and let the most alike vote; draw the Mandelbrot set. Every
number is checked against NumPy or SciPy, and both are timed in turns.

{platform.machine()}, {num_threads()} threads, Python {platform.python_version()}, \
NumPy {np.__version__}
"""
    )
    for name in BLAS_SETTINGS:
        if name in os.environ:
            print(f"note: {name} is set, so NumPy's matrix product is not the one as installed\n")


def _jobs(rgb: Bytes, digits: Any) -> Iterator[Job]:
    """The jobs in order; each has run before the next is made, which may start from its result."""
    brightness = grey_job(rgb)
    yield brightness
    yield blur_job(rgb)
    yield edges_job(brightness.result)
    yield equalise_job(brightness.result)
    likeness = likeness_job(digits)
    yield likeness
    yield weights_job(likeness.result)
    yield mandelbrot_job()


def _run(jobs: Iterator[Job]) -> Iterator[Outcome]:
    for job in jobs:
        print(f"  {job.name:<11} {job.about} …", flush=True)
        outcome = run_job(job)
        print(
            f"  {'':<11} {outcome.verdict}; {outcome.timing.first:.0f} ms the first time, "
            f"with compiling; then {outcome.timing.best:.2f} ms",
            flush=True,
        )
        yield outcome


def _images(rgb: Bytes, digits: Any, jobs: dict[str, Job]) -> dict[str, tuple[Bytes, str]]:
    """What is shown: for each file name the image and a caption."""
    right = vote(jobs["softmax"].result, digits.labels)
    blurred = bytes_of(jobs["blur"].result.transpose(1, 2, 0))
    largest = float(np.quantile(jobs["edges"].result, 0.995))
    return {
        "input": (rgb, "The photograph (china.jpg of scikit-learn)"),
        "blur": (np.ascontiguousarray(blurred), "blur: Gaussian, σ = 3 pixels"),
        "edges": (255 - bytes_of(jobs["edges"].result, largest), "edges: Sobel, dark is steep"),
        "grey": (bytes_of(jobs["grey"].result), "grey: before equalisation"),
        "equalised": (jobs["equalise"].result, "equalise: every brightness equally often"),
        "digits": (
            mosaic(digits, jobs["softmax"].result),
            f"matmul, softmax: left a digit, then the ten most alike. Weighted by softmax, "
            f"the others name {right:.1%} of {len(digits.labels)} digits right",
        ),
        "mandelbrot": (
            colours(jobs["mandelbrot"].result, LIMIT),
            "mandelbrot: trips until a point leaves",
        ),
    }


def _remarks() -> tuple[str, ...]:
    return (
        f"ms is the best run on {num_threads()} threads. NumPy and SciPy use one thread, "
        "except for NumPy's matrix product, which uses all: the others compare on one thread, too.",
        "Runs take turns. The arithmetic is alike: one rounding an operation, and a*b + c rounded "
        "once only in the two matrix products. SciPy's blur sums in double precision.",
    )


def _write(outcomes: Sequence[Outcome], images: dict[str, tuple[Bytes, str]]) -> Path:
    """Write the pictures and the page; the path of the page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for name, (image, caption) in images.items():
        path = FOLDER / f"{name}.png"
        save(image, path)
        pictures[path] = caption
    listings = {}
    for outcome in outcomes:
        listings[outcome.job.name] = [listing_of(launch) for launch in outcome.job.launches]
    path = FOLDER / "index.html"
    path.write_text(page(outcomes, listings, pictures, _remarks()), encoding="utf-8")
    return path


def _explore() -> Path:
    """The explorer's page of the Mandelbrot kernel, as the command line makes it."""
    path = FOLDER / "mandelbrot.html"
    with contextlib.redirect_stdout(io.StringIO()):
        words = ("explore", f"{KERNELS}:mandelbrot", "--over", "720,960", "-o", str(path))
        assert command_line(words) == 0, "the explorer's page was not made"
    return path


def _say_what_came_out(
    outcomes: Sequence[Outcome], path: Path, explored: Path, seconds: float
) -> None:
    head = f"{'kernel':<11} {'right?':<20} {'ms':>8} {'1 thread':>9} {'NumPy ms':>9} {'ratio':>7}"
    print(f"\n{head}   peer\n{'─' * (len(head) + 26)}")
    for outcome in outcomes:
        timing = outcome.timing
        print(
            f"{outcome.job.name:<11} {outcome.verdict:<20} {timing.best:>8.2f} {timing.alone:>9.2f}"
            f" {timing.peer:>9.2f} {timing.ratio:>5.1f} ×   {outcome.job.peer_name}"
        )
    print()
    for remark in _remarks():
        print(textwrap.fill(remark, 100))
    wrong = [outcome.job.name for outcome in outcomes if not outcome.right]
    print(f"\n{f'WRONG: {chr(44).join(wrong)}' if wrong else 'All right.'} {seconds:.0f} s in all.")
    print(f"Pictures, and each kernel beside its machine code:\n  {path}")
    print(f"One kernel through all stages, its lines linked:\n  {explored}")


if __name__ == "__main__":
    sys.exit(main())
