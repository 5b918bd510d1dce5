"""Every code block of README and docs/ runs and prints what the document says.

`CUBEPY_UPDATE_DOCS=1` writes down what blocks print now, apart from texts with `…` in them.
"""

import os
import re
from pathlib import Path

import pytest

import cubepy as cb
from tests.docs.documents import ROOT, blocks_of, documents, matches, run, with_texts

pytestmark = pytest.mark.filterwarnings("error::cubepy.errors.CubeWarning")


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_code_prints_what_the_document_says(path: Path, tmp_path: Path) -> None:
    if path.name == "porting.md":
        pytest.importorskip("numba")
    results = list(run(path, tmp_path))
    if os.environ.get("CUBEPY_UPDATE_DOCS"):
        text = path.read_text(encoding="utf-8")
        path.write_text(with_texts(text, results), encoding="utf-8")
    for result in results:
        if not matches(result.expected.text, result.found):
            # Compared as text for the sake of pytest's difference of the two.
            assert result.found == result.expected.text + "\n", f"line {result.expected.line}"


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_say_what_they_are(path: Path) -> None:
    # Without a language: a diagram. What is not run stands on the page about other projects only.
    run, shown = {"python", "sh", "text", ""}, {"cuda", "rust"}
    for block in blocks_of(path.read_text(encoding="utf-8")):
        elsewhere = block.language in shown or "shown" in block.flags
        assert block.language in run | shown, f"line {block.line}"
        assert not elsewhere or path.name == "porting.md", f"line {block.line}"


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"(?s)^```.*?^```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.M)
    for target in re.findall(r"(?<!\\)\]\(([^)#]+)", prose):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def test_nobody_is_sent_to_the_other_project_of_that_name() -> None:
    texts = [*documents(), *(ROOT / "cubepy").rglob("*.py"), *(ROOT / "runtimes").rglob("*.py")]
    for path in texts:
        assert not re.search(r"pip install +['\"]?cubepy\b", path.read_text(encoding="utf-8")), path


def test_the_comparison_can_fail() -> None:
    assert matches("a\n…\nz", "a\nb\nc\nz")
    assert matches("f(…) = …", "f(1) = 2")
    assert matches("a\n…\nz", "a\nz\n")
    assert not matches("a\n…\nz", "a\nb\n")
    assert not matches("a…c", "ab\nc")
    assert not matches("a", "b")


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_names_exist(path: Path) -> None:
    if path.name == "errors.md":
        return  # messages about names that are wrong
    for name in re.findall(r"\bcb\.(\w+)", path.read_text(encoding="utf-8")):
        assert hasattr(cb, name), name
