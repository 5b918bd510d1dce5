"""How deep branches are nested for a driver, counted in a text."""

import pytest

from cubepy.codegen.wgsl.nesting import deepest_nesting, has_loops

CHAIN = "if (a) { x(); } else if (b) { x(); } else if (c) { x(); } else { x(); }"


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ("x();", 0),
        ("if (a) { x(); }", 1),
        ("if (a) { x(); } if (b) { x(); }", 1),
        ("if (a) { if (b) { x(); } } else { x(); }", 2),
        (CHAIN, 3),
        (f"for (;;) {{ {CHAIN} }}", 4),
        # what is behind an early return is inside of a branch
        ("if (a) { return; } x();", 1),
        ("if (a) { return; } if (b) { return; } if (c) { x(); }", 3),
        ("if (a) { x(); } else { return; } x();", 1),
        ("while (a) { if (b) { return; } } x();", 2),
        ("// if (a) { if (b) {\n x();", 0),
        # breaks leave loops at once, and switches like a return
        ("loop { if (a) { break; } if (b) { break; } x(); }", 2),
        ("switch 0 { default: { if (a) { break; } if (b) { break; } x(); } }", 4),
        ("switch 0 { default: { if (a) { break; } } } x();", 3),
        # called functions are written out
        ("if (a) { deep(1); }", 3),
        ("outer();", 3),
    ],
)
def test_depth_of_a_text(body: str, depth: int) -> None:
    known = """
        fn outer() { loop { deep(2); } }
        fn deep(v: i32) { if (v > 0) { if (v > 1) { x(); } } }
    """
    assert deepest_nesting(f"fn run() {{ {body} }} {known}") == max(depth, 3)
    if "deep(" not in body and "outer(" not in body:
        assert deepest_nesting(f"fn run() {{ {body} }}") == depth


def test_loops_are_found_outside_of_comments() -> None:
    assert has_loops("let a = 1;\n    for (var i = 0; i < 3; i++) {")
    assert has_loops("loop { // once")
    assert not has_loops("// for k in range(3):\nlet looped = 1; // while")
