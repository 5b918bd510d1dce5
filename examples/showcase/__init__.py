"""The parts of the demo: jobs on real data, their timing, pictures, and the page."""

from examples.showcase.digits import Digits, likeness_job, vote, weights_job
from examples.showcase.digits import load as load_digits
from examples.showcase.fractal import LIMIT, mandelbrot_job
from examples.showcase.job import Job, Launch, Outcome, Timing, run_job
from examples.showcase.kernels import grey
from examples.showcase.listing import Listing, hot_loop, listing_of
from examples.showcase.page import page
from examples.showcase.photograph import (
    blur_job,
    edges_job,
    equalise_job,
    grey_job,
    photograph,
)
from examples.showcase.pictures import bytes_of, colours, mosaic, save

__all__ = [
    "LIMIT",
    "Digits",
    "Job",
    "Launch",
    "Listing",
    "Outcome",
    "Timing",
    "blur_job",
    "bytes_of",
    "colours",
    "edges_job",
    "equalise_job",
    "grey",
    "grey_job",
    "hot_loop",
    "likeness_job",
    "listing_of",
    "load_digits",
    "mandelbrot_job",
    "mosaic",
    "page",
    "photograph",
    "run_job",
    "save",
    "vote",
    "weights_job",
]
