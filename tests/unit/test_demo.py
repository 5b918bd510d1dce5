"""The demo on small data: right results, wrong ones noticed, listings, pictures, the page."""

import base64
import dataclasses
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special
from PIL import Image

from examples import demo, showcase
from examples.showcase import Job, Outcome, Timing, hot_loop


def small_jobs() -> Iterator[Job]:
    rgb = np.ascontiguousarray(showcase.photograph()[100:140, 200:261])
    digits = showcase.load_digits(96)
    grey = showcase.grey_job(rgb)
    yield grey
    yield showcase.blur_job(rgb)
    yield showcase.edges_job(grey.result)
    yield showcase.equalise_job(grey.result)
    likeness = showcase.likeness_job(digits)
    yield likeness
    yield showcase.weights_job(likeness.result)
    yield showcase.mandelbrot_job(30)


@pytest.fixture(scope="module")
def jobs() -> dict[str, Job]:
    """All jobs by name, run once."""
    finished = {}
    for job in small_jobs():
        job.run()
        finished[job.name] = job
    return finished


def test_every_job_is_right_each_time_it_runs() -> None:
    names = []
    for job in small_jobs():
        outcome = showcase.run_job(job, seconds=0)
        assert outcome.right, (job.name, outcome.error)
        assert 0 < outcome.timing.best <= outcome.timing.first
        names.append(job.name)
    assert names == ["grey", "blur", "edges", "equalise", "matmul", "softmax", "mandelbrot"]


def test_one_wrong_value_is_noticed() -> None:
    for job in small_jobs():
        job.run()
        assert job.error() <= job.tolerance
        value = job.result.flat[job.result.size // 2]
        job.result.flat[job.result.size // 2] = value - 1 if value >= 1 else value + 1
        assert not job.error() <= job.tolerance, job.name


def outcome_with(job: Job, error: float) -> Outcome:
    timing = Timing(first=90.0, best=2.0, alone=3.0, peer=5.0)
    return Outcome(job=job, error=error, timing=timing)


def test_verdicts(jobs: dict[str, Job]) -> None:
    job = jobs["grey"]
    assert outcome_with(job, 0.0).verdict == "yes, exactly"
    assert outcome_with(job, 1e-5).verdict == "yes, within 1e-05"
    assert not outcome_with(job, 0.5).right
    assert outcome_with(job, float("nan")).verdict == "NO, off by nan"
    assert outcome_with(job, 0.0).timing.ratio == 2.5


def test_softmax_peer_agrees_with_scipy(jobs: dict[str, Job]) -> None:
    weights = jobs["softmax"]
    likeness = weights.launches[0].arguments[0]
    np.testing.assert_allclose(weights.expected(), scipy.special.softmax(likeness, axis=1), 1e-4)


def test_equalised_picture_uses_all_brightnesses_evenly(jobs: dict[str, Job]) -> None:
    values = np.sort(jobs["equalise"].result.ravel())
    assert values[0] == 0
    assert values[-1] == 255
    even = np.linspace(0, 255, values.size)
    counts = np.bincount(jobs["grey"].result.astype(np.uint8).ravel())
    largest = np.max(counts) / values.size
    # A brightness that many pixels share cannot be torn apart.
    assert np.abs(values - even).max() <= 255 * largest + 1


def test_vote_counts_the_others_only() -> None:
    weights = np.array([[9, 1, 0], [1, 9, 0], [2, 1, 9]], np.float32)
    assert showcase.vote(weights, np.array([4, 4, 4])) == 1.0
    assert showcase.vote(weights, np.array([4, 4, 7])) == pytest.approx(2 / 3)


def test_hot_loop_of_a_kernel_holds_its_arithmetic(jobs: dict[str, Job]) -> None:
    (launch,) = jobs["mandelbrot"].launches
    stages = launch.launcher.inspect(*launch.arguments, target="cpu:x86-64-v4")
    loop = hot_loop(stages)
    assert len(re.findall("vmulps.*zmm", loop)) >= 3
    assert len(loop) < len(stages.asm) / 3


def test_listing_has_the_kernel_as_written_and_as_compiled(jobs: dict[str, Job]) -> None:
    along_x, along_y = (showcase.listing_of(launch) for launch in jobs["blur"].launches)
    assert along_x.source == along_y.source
    assert along_x.source.startswith("@cb.cube\ndef blur(")
    assert along_x.ir.startswith("kernel @blur(")
    assert along_x.ir != along_y.ir
    assert (along_x.note, along_y.note) == ("along x", "along y")


def test_colours_go_from_dark_to_black() -> None:
    image = showcase.colours(np.array([[0, 3, 20, 256]], np.int32), 256)
    assert image.shape == (1, 4, 3)
    assert image[0, 3].tolist() == [0, 0, 0]
    assert len({tuple(pixel) for pixel in image[0].tolist()}) == 4


def test_mosaic_begins_each_row_with_its_digit() -> None:
    digits = showcase.load_digits(12)
    image = showcase.mosaic(digits, np.eye(12, dtype=np.float32), rows=2, neighbours=3)
    assert image.shape == (2 * 46, 4 * 46 + 20)
    shown = 255 - image[3:43:5, 3:43:5].astype(int)
    assert np.abs(shown - digits.pictures[0] * 255 / 16).max() <= 0.5


class Balanced(HTMLParser):
    """Counts open elements and gathers texts and images."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.images: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.images.append(dict(attrs)["src"] or "")
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def small_demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(demo, "FOLDER", tmp_path)
    monkeypatch.setattr(demo, "_jobs", lambda rgb, digits: small_jobs())
    monkeypatch.setattr(demo, "load_digits", lambda: showcase.load_digits(96))
    monkeypatch.setattr(demo, "run_job", lambda job: showcase.run_job(job, seconds=0))
    return tmp_path


def test_demo_writes_pictures_and_one_page_that_needs_nothing_else(
    small_demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main() == 0
    said = capsys.readouterr().out
    assert "All right." in said
    assert said.splitlines()[-3].strip() == str(small_demo / "index.html")
    explored = small_demo / "mandelbrot.html"
    assert said.splitlines()[-1].strip() == str(explored)
    assert "def mandelbrot(" in explored.read_text(encoding="utf-8")
    # What a newcomer sees before anything runs fits one screen.
    assert said.index("  grey ") < len("".join(said.splitlines(keepends=True)[:26]))
    html = (small_demo / "index.html").read_text(encoding="utf-8")
    page = Balanced()
    page.feed(html)
    assert page.open == []
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    for kernel in ("grey", "sobel", "count", "spread", "look_up", "matmul", "softmax_rows"):
        assert f"def {kernel}(" in page.text
        assert f"kernel @{kernel}(" in page.text
    shown = [base64.b64decode(image.split(",")[1]) for image in page.images]
    assert sorted(shown) == sorted(path.read_bytes() for path in small_demo.glob("*.png"))
    assert len(shown) == 7
    sizes = {Image.open(io.BytesIO(data)).size for data in shown}
    assert (61, 40) in sizes


def test_demo_fails_when_a_result_is_wrong(
    small_demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def with_a_wrong_one(rgb: Any, digits: Any) -> Iterator[Job]:
        for job in small_jobs():
            yield dataclasses.replace(job, tolerance=-1.0) if job.name == "edges" else job

    monkeypatch.setattr(demo, "_jobs", with_a_wrong_one)
    assert demo.main() == 1
    assert "WRONG: edges" in capsys.readouterr().out
