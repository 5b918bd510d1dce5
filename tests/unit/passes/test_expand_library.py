"""Library ops become calls of their definitions; names never get in each other's way."""

from cubepy.ir import Function, OpDef, Scalar, parse_kernel, verify
from cubepy.passes import PassContext, expand_library
from cubepy.target import Target

CPU = Target.parse("cpu:x86-64-v3")


def functions(text: str) -> tuple[Function, ...]:
    return parse_kernel(text + "\nkernel @none() cube_dim(1, 1, 1) {}").functions


def library(opdef: OpDef, type: Scalar) -> tuple[Function, ...]:
    """`tan` uses `sin`; `sin` and `cos` each have a helper of the name `part`."""
    name, of = f"std.{opdef.name}.{type.name}", type.name
    if opdef.name == "tan":
        body = f"%0: {of} = sin %v %1: {of} = cos %v %2: {of} = div %0, %1 return %2"
        return functions(f"function @{name}(%v: {of}) -> {of} {{ {body} }}")
    inside = "neg" if opdef.name == "sin" else "abs"
    return functions(
        f"function @part(%v: {of}) -> {of} {{ %0: {of} = {inside} %v return %0 }}\n"
        f"function @{name}(%v: {of}) -> {of} "
        f'{{ %0: {of} = call %v [callee=part, results="{of}"] return %0 }}'
    )


def expanded(body: str, helpers: str = "", native: frozenset[str] = frozenset()) -> list[str]:
    """The names of the functions after expansion, callees first."""
    kernel = parse_kernel(f"{helpers}\nkernel @k(%a: f32, %b: f64) cube_dim(1, 1, 1) {{ {body} }}")
    context = PassContext(target=CPU, library=library, native=native)
    made = expand_library(kernel, context)
    verify(made, "any" if native else "expanded")
    for function in made.functions:
        if function.name.startswith("std.cos") or function.name.startswith("std.sin"):
            helper = made.function(str(function.body.ops[0].attrs["callee"]))
            expected = "neg" if "sin" in function.name else "abs"
            assert helper.body.ops[0].opdef.name == expected
    return [function.name for function in made.functions]


def test_a_definition_is_taken_in_once() -> None:
    assert expanded("%0: f32 = sin %a %1: f32 = sin %0") == ["part", "std.sin.f32"]


def test_library_ops_inside_definitions_are_expanded() -> None:
    names = expanded("%0: f32 = tan %a")
    assert names == ["part", "std.sin.f32", "part.2", "std.cos.f32", "std.tan.f32"]


def test_helpers_of_one_name_and_two_meanings_get_two_names() -> None:
    names = expanded("%0: f32 = sin %a %1: f64 = sin %b")
    assert names == ["part", "std.sin.f32", "part.2", "std.sin.f64"]


def test_a_helper_of_the_kernel_keeps_its_name() -> None:
    own = "function @part(%v: f32) -> f32 { return %v }"
    names = expanded('%0: f32 = sin %a %1: f32 = call %0 [callee=part, results="f32"]', own)
    assert names == ["part.2", "std.sin.f32", "part"]


def test_native_ops_stay() -> None:
    assert expanded("%0: f32 = sin %a", native=frozenset({"sin"})) == []
