"""Every pass turns the Before of its docstring into the After."""

import importlib
import re
import textwrap
from pathlib import Path

import pytest

import cubepy.passes
from cubepy.ir import Function, OpDef, Scalar, parse_kernel, print_kernel, verify
from cubepy.passes import PassContext
from cubepy.target import Target

MODULES = sorted(
    path.stem
    for path in Path(cubepy.passes.__file__).parent.glob("*.py")
    if "\nBefore::\n" in path.read_text(encoding="utf-8").replace('"""', "\n")
)


def library(opdef: OpDef, type: Scalar) -> tuple[Function, ...]:
    """A library whose every function gives its operand back."""
    name = f"std.{opdef.name}.{type.name}"
    text = f"""
    function @{name}(%v: {type.name}) -> {type.name} {{ return %v }}
    kernel @none() cube_dim(1, 1, 1) {{}}
    """
    return parse_kernel(text).functions


CONTEXT = PassContext(target=Target.parse("cpu:x86-64-v3"), library=library)


def samples(docstring: str) -> list[str]:
    """The indented blocks after lines that end in `::`."""
    blocks = re.findall(r"::\n\n((?:(?:[ ]{4}.*)?\n)+)", docstring)
    return [textwrap.dedent(block) for block in blocks]


def test_every_pass_of_a_pipeline_shows_before_and_after() -> None:
    passes = {step.__name__ for tuple_ in cubepy.passes.PIPELINES.values() for step in tuple_}
    assert passes <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_a_pass_turns_before_into_after(name: str) -> None:
    module = importlib.import_module(f"cubepy.passes.{name}")
    before, after = samples(module.__doc__ or "")
    kernel = parse_kernel(before)
    verify(kernel)
    made = getattr(module, name)(kernel, CONTEXT)
    verify(made)
    assert print_kernel(made) == print_kernel(parse_kernel(after))
