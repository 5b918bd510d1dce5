"""The explorer's page in a real browser: links between lines, passes, keys, light and dark."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from cubepy.tools import main
from tests import browser

KERNELS = '''"""Kernels to explore."""

import numpy as np

import cubepy as cb
from cubepy import Array, f32, i32


def halved(v):
    return v * 0.5 if v > 1.0 else cb.exp(v)


@cb.cube
def looked_at(x: Array[f32], at: Array[i32], out: Array[f32]):
    i = cb.ABSOLUTE_POS
    own = cb.local_array(f32, 4)
    own[i & 3] = x[i]  # </script> & <b>
    total = own[0]
    for k in range(at[i]):
        total += halved(x[at[i + k]])
    out[i] = total


def given():
    x = np.full(1 << 15, 0.25, np.float32)
    return x, np.full(1 << 15, 40, np.int32), x.copy()
'''


def line_of(text: str) -> int:
    """The number of the line with a text in the file of kernels."""
    return next(n for n, line in enumerate(KERNELS.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explored") / "explored_kernels.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture(scope="module")
def written(file: Path) -> Path:
    page = file.with_suffix(".html")
    targets = ("--target", "cpu:x86-64-v3", "--target", "opencl")
    assert main(["explore", f"{file}:looked_at", *targets, "-o", str(page)]) == 0
    return page


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    with browser.browser() as running:
        yield running


@pytest.fixture
def page(started: Browser, written: Path) -> Iterator[Page]:
    with browser.opened(started, written.as_uri()) as shown:
        yield shown


def lit(page: Page, pane: str, kind: str = "near") -> list[str]:
    return page.locator(f"#{pane} .line.{kind} .code").all_inner_texts()


def source(page: Page, text: str) -> Any:
    return page.locator("#source .line", has_text=text).first


def test_the_page_is_one_file(written: Path) -> None:
    text = written.read_text("utf-8")
    assert not re.search(r"(src|href)=|url\(|@import|https?://", text)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert data is not None
    assert json.loads(data[1])["kernel"] == "looked_at"


def test_the_page_is_the_same_in_every_process(written: Path, tmp_path: Path) -> None:
    """Whatever seed the hashes of strings have there."""
    place = f"{written.with_suffix('.py')}:looked_at"
    pages = []
    for seed in ("1", "2"):
        pages.append(tmp_path / f"{seed}.html")
        words = ("explore", place, "--target", "cpu:x86-64-v3", "-o", str(pages[-1]))
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-m", "cubepy", *words], env=environment, check=True)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_a_source_line_leads_everywhere(page: Page) -> None:
    source(page, "own[i & 3] = x[i]").hover()
    assert any("store %own" in line for line in lit(page, "ir"))
    assert any("vmov" in line for line in lit(page, "text"))
    assert not lit(page, "source", "far")
    page.get_by_role("tab", name="LLVM").click()
    source(page, "own[i & 3] = x[i]").hover()
    assert any("scatter" in line for line in lit(page, "text"))


def test_code_leads_back_to_what_was_written_and_who_called(page: Page) -> None:
    load = page.locator("#ir .line", has_text=re.compile(r"mul .*")).first
    load.hover()
    assert any("0.5" in line for line in lit(page, "source"))
    assert any("halved(x[at[i + k]])" in line for line in lit(page, "source", "far"))
    page.get_by_role("tab", name="LLVM").click()
    page.locator("#text .line", has_text="masked.gather").first.hover()
    assert any("halved(x[at[i + k]])" in line for line in lit(page, "source"))


def test_library_functions_are_folded_away_until_needed(page: Page) -> None:
    details = page.locator("#source details").first
    assert not details.evaluate("node => node.open")
    fma = page.locator("#ir .line", has_text=" = fma ").first
    fma.click()
    assert page.locator("#source details[open] .line.near").count() == 1


def test_decisions_are_badges_and_sentences(page: Page) -> None:
    line = source(page, "own = cb.local_array")
    assert line.locator(".badge.memory").get_attribute("title").startswith("own: stays in memory")
    line.click()
    about = page.locator("#about").inner_text()
    assert f"the subscript `i & 3` in line {line_of('own[i & 3]')}" in about
    assert "gather" not in about
    page.keyboard.press("Escape")
    assert "gather" in page.locator("#about").inner_text()


# Source lines whose code badges hide or that have dots without need, and heads that are cut.
HIDDEN = """() => {
  const room = document.getElementById("source").clientWidth, found = [];
  for (const line of document.querySelectorAll("#source .line")) {
    const [number, cost, code, badges] = line.children;
    if (!badges || !code.offsetWidth) continue;
    const end = code.offsetLeft + code.offsetWidth;
    const dots = line.classList.contains("tight");
    if (!dots && end > badges.offsetLeft) found.push(code.textContent);
    const words = 26 + 70 * badges.children.length;
    if (dots && end + words < room) found.push("needless: " + code.textContent);
  }
  for (const head of document.querySelectorAll(".head")) {
    if (head.scrollWidth > head.clientWidth) found.push("cut: " + head.textContent);
  }
  return found;
}"""


TWO_FRAMES = "() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))"


@pytest.mark.parametrize("width", [2600, 1500, 1280, 1001, 800, 420])
def test_nothing_hides_code(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.evaluate(TWO_FRAMES)  # sizes are observed behind the first
    assert page.evaluate(HIDDEN) == []
    dots = page.locator("#source .line.tight").count()
    assert (dots == 0) >= (width == 2600)
    assert (dots > 0) >= (width in (1001, 420))


def test_the_page_says_what_was_compiled(page: Page, written: Path) -> None:
    told = page.locator("#called").inner_text()
    assert told == (
        "called x=f32[:], at=i32[:], out=f32[:]; over a shape of 1 axis, in cubes of 256, checked"
    )
    assert str(written.parent) not in page.content()


def test_the_slider_goes_through_the_passes(page: Page) -> None:
    name = page.locator("#pass-name")
    assert "annotate_buffer_access" in name.inner_text()
    page.locator("#pass").focus()
    page.keyboard.press("Home")
    assert name.inner_text().startswith("0/")
    assert not page.locator("#ir .plus").count()
    assert page.locator("#ir .line", has_text="call").count()
    seen = []
    while True:
        before = name.inner_text()
        page.locator("#later").click()
        if name.inner_text() == before:
            break
        seen.append(name.inner_text())
        changed = page.locator("#ir .plus").count() + page.locator("#ir .minus").count()
        assert (changed > 0) is ("no change" not in seen[-1]), seen[-1]
    assert any("inline_functions" in each for each in seen)
    assert not page.locator("#ir .line", has_text=re.compile(r"= call ")).count()
    page.locator("#diff").uncheck()
    assert not page.locator("#ir .plus").count()


def test_everything_can_be_reached_with_keys(page: Page) -> None:
    def focused() -> str:
        found: str = page.evaluate(
            "document.activeElement.id || document.activeElement.textContent"
        )
        return found

    assert focused() == "source"
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    now = page.locator("#source .line.now")
    assert now.count() == 1
    assert page.locator("#source").get_attribute("aria-activedescendant") == now.get_attribute("id")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(focused())
    for control in ("ir", "text", "pass", "diff", "later", "theme", "ask", "LLVM", "opencl"):
        assert any(control == each or each.startswith(control) for each in seen), (control, seen)
    page.locator("#ir").focus()
    page.keyboard.press("End")
    assert page.locator("#ir .line").last.evaluate("node => node.classList.contains('now')")
    before = page.locator("#pass").input_value()
    page.keyboard.press("ArrowLeft")
    assert int(page.locator("#pass").input_value()) == int(before) - 1
    page.keyboard.press("2")
    assert "define void" in page.locator("#text").inner_text()
    page.keyboard.press("n")
    assert "kernel __attribute__" in page.locator("#text").inner_text()
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_the_hot_loop_is_marked_in_view_and_a_key_away(page: Page) -> None:
    hot = page.locator("#text .line.hot")
    assert hot.count() > 3
    assert all(text.startswith("▌") for text in hot.all_inner_texts())
    in_view = """node => {
      const own = node.getBoundingClientRect();
      const pane = node.closest("#text").getBoundingClientRect();
      return own.top >= pane.top - 1 && own.bottom <= pane.bottom + 1;
    }"""
    assert hot.first.evaluate(in_view)
    page.locator("#text .line").last.scroll_into_view_if_needed()
    assert not hot.first.evaluate(in_view)
    page.keyboard.press("h")
    now = page.locator("#text .line.now")
    assert now.evaluate("node => node.classList.contains('hot')")
    assert now.evaluate(in_view)
    assert page.locator("#source .line.near").count()


def test_code_for_whole_rows_is_shown_before_that_for_edges(page: Page) -> None:
    page.locator("#source .line", has_text="total += halved").first.click()
    near = page.locator("#text .line.near:not(.edges), #text .line.far:not(.edges)")
    shown = """nodes => nodes.some(node => {
      const own = node.getBoundingClientRect();
      const pane = node.closest("#text").getBoundingClientRect();
      return own.top >= pane.top - 1 && own.bottom <= pane.bottom + 1;
    })"""
    assert near.evaluate_all(shown)


CONTRASTS = """() => {
  const bright = text => {
    const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = node => {
    for (; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!colour.endsWith(", 0)") && colour !== "transparent") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const worst = {};
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some(each => each.nodeType === 3 && each.data.trim());
    if (!own || !node.checkVisibility()) continue;
    const [a, b] = [bright(getComputedStyle(node).color), bright(back(node))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const name = node.className + " on " + back(node);
    if (!(worst[name] <= ratio)) worst[name] = ratio;
  }
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(started: Browser, written: Path, scheme: str) -> None:
    """Text has a contrast of 4.5 to its background, marked lines included."""
    with browser.opened(started, written.as_uri(), scheme=scheme) as page:
        for key in ("", "[", "[", "n"):
            if key:
                page.keyboard.press(key)
            source(page, "total += halved").click()
            page.wait_for_function("!document.getAnimations().length")  # colours change softly
            worst: dict[str, float] = page.evaluate(CONTRASTS)
            assert len(worst) > 10
            assert {name: ratio for name, ratio in worst.items() if ratio < 4.5} == {}


def test_light_and_dark_at_a_key(page: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.keyboard.press("t")
    dark = page.evaluate(colour)
    page.keyboard.press("t")
    assert page.evaluate(colour) == light == "rgb(255, 255, 255)"
    assert dark != light
