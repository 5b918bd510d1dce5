"""Passes on IR text: `<pass>/<fact>.cube` holds a kernel, a line `// AFTER`, and what it becomes.

Without a second kernel the pass must leave the first as it is. `// TARGET name` in the first lines
names a target other than `cpu:x86-64-v3`. The comment on top says what the case shows.
"""

import re
from pathlib import Path

import pytest

import cubepy.passes
from cubepy.ir import parse_kernel, print_kernel, verify
from cubepy.passes import PassContext
from cubepy.target import Target

FOLDER = Path(__file__).parent
CASES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.cube"))


@pytest.mark.parametrize("case", CASES)
def test_a_pass_makes_of_a_text_what_stands_below_it(case: str) -> None:
    text = (FOLDER / case).read_text(encoding="utf-8")
    before, _, after = text.partition("// AFTER\n")
    named = re.search(r"^// TARGET (.*)$", before, re.MULTILINE)
    context = PassContext(target=Target.parse(named[1] if named else "cpu:x86-64-v3"))
    kernel = parse_kernel(before)
    verify(kernel)
    made = getattr(cubepy.passes, Path(case).parent.name)(kernel, context)
    verify(made)
    assert print_kernel(made) == print_kernel(parse_kernel(after or before))


def test_there_are_cases() -> None:
    assert len(CASES) > 20
