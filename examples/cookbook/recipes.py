"""All recipes, in the order of the page: from one element a unit to units that work together."""

from examples.cookbook import (
    argmax,
    bodies,
    broadcasting,
    compaction,
    convolution,
    edges,
    fractal,
    gelu,
    histogram,
    median,
    options,
    particles,
    quantised,
    random_numbers,
    reduction,
    register_matmul,
    saxpy,
    scan,
    softmax,
    stencil,
    tiled_matmul,
    transpose,
    vectors,
)
from examples.cookbook.recipe import Recipe

__all__ = ["RECIPES"]

RECIPES = tuple(
    map(
        Recipe.of,
        (
            saxpy,
            broadcasting,
            gelu,
            options,
            fractal,
            random_numbers,
            stencil,
            edges,
            median,
            convolution,
            vectors,
            particles,
            bodies,
            reduction,
            argmax,
            softmax,
            quantised,
            scan,
            histogram,
            compaction,
            transpose,
            tiled_matmul,
            register_matmul,
        ),
    )
)
