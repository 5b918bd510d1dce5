"""Every recipe of the cookbook gives what NumPy or SciPy gives, and the page shows these files."""

import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import cubepy as cb
from examples.cookbook import RECIPES, Recipe, difference, measure, page
from tests.docs.conftest import COOKBOOK
from tests.docs.documents import ROOT
from tests.opencl_devices import on_the_first
from tests.wgpu_devices import on_wgpu

pytestmark = pytest.mark.filterwarnings("error::cubepy.errors.CubeWarning")

each_recipe = pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.name)


@pytest.fixture
def default(request: pytest.FixtureRequest) -> Iterator[str]:
    """The device that a recipe's `run` launches on."""
    cb.set_default_device(request.param)
    yield request.param
    cb.set_default_device("cpu")


@each_recipe
def test_a_recipe_is_right_and_timed(
    recipe: Recipe, record_property: Callable[[str, object], None]
) -> None:
    assert difference(recipe, recipe.inputs()) <= recipe.tolerance
    record_property(COOKBOOK, f"{recipe.title:<40} {measure(recipe)}")


# Kernels that are not shown only here are tested on devices in tests/kernels.
OWN = [each for each in RECIPES if each.kernels[-1].function.__module__ == each.module.__name__]


@pytest.mark.parametrize("recipe", OWN, ids=lambda recipe: recipe.name)
@pytest.mark.parametrize("default", ["reference", *on_the_first(), *on_wgpu()], indirect=True)
def test_a_recipe_is_right_on_every_device(recipe: Recipe, default: str) -> None:
    assert difference(recipe, recipe.inputs(small=True)) <= recipe.tolerance


def test_a_wrong_result_is_noticed() -> None:
    (saxpy,) = (recipe for recipe in RECIPES if recipe.name == "saxpy")
    arguments = saxpy.inputs(small=True)
    for wrong in (np.float32(9), np.float32(np.nan)):
        twin = saxpy.expected(*arguments)
        twin[3] = wrong
        changed = dataclasses.replace(saxpy, expected=lambda *_, twin=twin: twin)
        assert difference(changed, arguments) > 1e-3


def test_the_page_shows_the_recipes() -> None:
    """`python -m examples.cookbook --page > docs/cookbook.md` writes it again."""
    assert (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8") == page(RECIPES)


def test_there_are_twenty_recipes_with_something_to_watch_for() -> None:
    assert len(RECIPES) >= 20
    assert len({recipe.title for recipe in RECIPES}) == len(RECIPES)
    for recipe in RECIPES:
        assert "\nWatch for: " in recipe.text, recipe.name
