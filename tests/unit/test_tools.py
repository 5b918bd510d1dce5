"""The `cubepy` command: what it prints and how it fails."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cubepy import cache, compiler, config, runtime
from cubepy.errors import CubeError, RuntimeUnavailable
from cubepy.inspection import example_arguments
from cubepy.ir import parse_kernel
from cubepy.tools import main
from cubepy.tools.kernels import load_kernel

KERNELS = '''"""Kernels to look at."""

import cubepy as cb
from cubepy import Array, Comptime, Tensor, Vector, f32, u8
from factor import FACTOR


class Group:
    @cb.cube
    def scale(x: Array[f32], a: f32):
        i = cb.ABSOLUTE_POS
        if i < len(x):
            x[i] = a * x[i] * FACTOR


@cb.cube
def paint(image: Tensor[u8], level: Comptime[int], bias, step: u8 = 2):
    image[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X] = level + step


@cb.struct
class Ray:
    start: Vector[f32, 2]
    length: f32
    range: tuple[f32, u8]


@cb.cube
def trace(ray: Ray, out: Array[f32]):
    out[0] = ray.start[1] + ray.length * ray.range[0]


class Steps:
    @cb.cube
    def doubled(v):
        return v + v


@cb.cube
def applied(x: Array[f32], f: Comptime):
    x[0] = f(x[0])


@cb.cube
def long(x: Array[f32]):
    i = cb.ABSOLUTE_POS
    total = x[i]
    for k in cb.unroll(range(40)):
        total = total / (x[i] + f32(k)) + x[i]  # long
    x[i] = total
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "factor.py").write_text('"""A constant."""\n\nFACTOR = 3.0\n')
    path = tmp_path / "shown_kernels.py"
    path.write_text(KERNELS)
    return path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(words)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_show_prints_what_was_emitted(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{file}:Group.scale"
    status, text, _ = run(capsys, "show", place, "--target", "reference", "--text")
    assert status == 0
    assert parse_kernel(text).name == "scale"
    _, text, _ = run(capsys, "show", place, "--target", "cpu:x86-64-v3", "--text")
    assert "define" in text
    _, text, _ = run(capsys, "show", place, "--target", "cpu:x86-64-v3", "--raw-asm")
    assert "%ymm" in text
    assert ".text" in text


def test_show_begins_with_what_was_decided(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", f"{file}:Group.scale", "--target", "cpu:x86-64-v3")
    status, text, _ = run(capsys, *words)
    assert status == 0
    lines = text.splitlines()
    assert lines[0] == "scale for cpu:x86-64-v3, shown_kernels.py:10"
    assert lines[1] == "called x=f32[:], a=f32; over a shape of 1 axis, in cubes of 256, checked"
    assert re.search(r"access +x: vectors of neighbouring elements", text)
    assert re.search(r"^hot loop \d+ of \d+ instructions, from line", text, re.M)
    assert "more: --asm" in text
    assert max(map(len, lines)) <= 100
    assert run(capsys, *words, "--decisions")[1] == text
    _, text, _ = run(capsys, *words, "--cube-dim", "8,4", "--check", "unchecked")
    assert "called x=f32[:], a=f32; in cubes of 8 x 4, unchecked" in text


def test_machine_code_stands_beside_the_source(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("show", f"{file}:Group.scale", "--target", "cpu:x86-64-v3")
    _, listing, _ = run(capsys, *words, "--asm")
    hot = [line for line in listing.splitlines() if line.startswith("▌   ")]
    assert any("vmulps" in line and " 13" in line for line in hot)
    assert "x[i] = a * x[i] * FACTOR" in listing
    assert ".p2align" not in listing
    _, both, _ = run(capsys, *words, "--asm", "--decisions")
    assert both.endswith(listing)
    assert both.startswith("scale for cpu:x86-64-v3, shown")
    status, _, complaint = run(
        capsys, "show", f"{file}:Group.scale", "--asm", "--target", "reference"
    )
    assert status == 1
    assert "the target reference makes no machine code of scale" in complaint


def test_the_hot_loop_can_be_had_alone(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", f"{file}:Group.scale", "--target", "cpu:x86-64-v3")
    _, listing, _ = run(capsys, *words, "--asm")
    _, alone, _ = run(capsys, *words, "--hot")
    hot = [line for line in listing.splitlines() if line.startswith("▌")]
    shown = alone.splitlines()
    kept = [line[:52].rstrip() for line in shown if line.startswith("▌")]
    assert kept == [line[:52].rstrip() for line in hot]
    assert len(shown) < len(listing.splitlines()) / 2
    assert all(line.startswith("▌") or line.endswith(":") for line in shown[1:])
    assert "x[i] = a * x[i] * FACTOR" in alone
    status, _, complaint = run(capsys, *words[:2], "--hot", "--target", "opencl")
    assert status == 1
    assert "the target opencl makes no machine code of scale" in complaint


def test_show_prints_the_ir_after_a_pass(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{file}:Group.scale"
    _, before, _ = run(capsys, "show", place, "--after", "lowered", "--target", "reference")
    name = "annotate_buffer_access"
    _, after, _ = run(capsys, "show", place, "--after", name, "--target", "reference")
    assert "unknown" in before
    assert "read_write" in after
    assert "check=checked" in before
    _, text, _ = run(capsys, "show", place, "--after", "lowered", "--check", "unchecked")
    assert "check=unchecked" in text
    status, _, complaint = run(capsys, "show", place, "--after", "polish", "--target", "reference")
    assert status == 1
    assert "no pass 'polish' ran" in complaint
    assert name in complaint


def test_show_makes_up_structs(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{file}:trace"
    status, text, _ = run(capsys, "show", place, "--target", "reference", "--after", "lowered")
    assert status == 0
    assert "%ray.start._1: f32" in text
    assert "%ray.range._1: u8" in text


def test_show_prints_what_passes_change(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text, _ = run(capsys, "show", f"{file}:Group.scale", "--diff", "--target", "reference")
    assert "+++ annotate_buffer_access" in text
    assert "fold_plane_dim changes nothing" in text


def test_show_prints_each_language(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", f"{file}:Group.scale", "--target", "cpu:x86-64-v3")
    _, text, _ = run(capsys, *words, "--ir")
    assert parse_kernel(text).name == "scale"
    assert "unknown" in text
    _, text, _ = run(capsys, *words, "--llvm")
    assert text.startswith("target triple")
    status, _, complaint = run(
        capsys, "show", f"{file}:Group.scale", "--llvm", "--target", "reference"
    )
    assert status == 1
    assert "makes no LLVM IR" in complaint


def test_passes_that_run_twice_are_numbered(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("show", f"{file}:Group.scale", "--target", "cpu:x86-64-v3")
    _, first, _ = run(capsys, *words, "--after", "nest_early_returns:1")
    _, last, _ = run(capsys, *words, "--after", "simplify")
    _, third, _ = run(capsys, *words, "--after", "simplify:3")
    assert first
    assert last == third
    _, _, complaint = run(capsys, *words, "--after", "polish")
    assert "simplify:1" in complaint
    assert "simplify:2" in complaint
    _, text, _ = run(capsys, *words, "--diff")
    assert "simplify:2" in text


def test_kernels_are_shown_over_the_axes_that_they_ask_for(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("show", f"{file}:paint", "--signature", "level=7, bias=1", "--target", "reference")
    assert "; over a shape of 2 axes, in cubes" in run(capsys, *words)[1]
    assert "; over a shape of 1 axis, in cubes" in run(capsys, *words, "--over", "10")[1]
    assert "; over a shape of 3 axes, in cubes" in run(capsys, *words, "--over", "2,3,4")[1]


def test_all_runs_of_a_pass_are_shown_or_told(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("show", f"{file}:Group.scale", "--target", "cpu:x86-64-v3")
    _, text, _ = run(capsys, *words, "--after", "simplify", "--diff")
    told = [line.split()[1] for line in text.splitlines() if line.startswith(("+++", "--- simpl"))]
    assert told == ["simplify:1", "simplify:2", "simplify:3"]
    _, text, _ = run(capsys, *words, "--after", "simplify:2", "--diff")
    assert "simplify:2" in text
    assert "simplify:1" not in text
    _, _, said = run(capsys, *words, "--after", "simplify")
    assert said == (
        "simplify ran 3 times; this is after the last. Before it: simplify:1, simplify:2\n"
    )
    _, _, complaint = run(capsys, *words, "--after", "simplifi")
    assert "help: did you mean simplify?" in complaint


@pytest.mark.parametrize(("shape", "cube"), [("100", "256, 1, 1"), ("1000,2000", "256, 1, 1")])
def test_show_takes_the_shape_of_a_launch(
    file: Path, capsys: pytest.CaptureFixture[str], shape: str, cube: str
) -> None:
    words = ("show", f"{file}:Group.scale", "--ir", "--target", "reference", "--over", shape)
    _, text, _ = run(capsys, *words)
    assert f"cube_dim({cube})" in text
    assert ("extent_y" in text) == ("," in shape)
    status, _, complaint = run(capsys, *words[:-1], "wide")
    assert status == 1
    assert "--over wide: expects numbers" in complaint


def test_show_without_a_kernel_lists_them(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, complaint = run(capsys, "show", str(file))
    assert status == 1
    names = ("Group.scale", "paint", "trace", "Steps.doubled", "applied", "long")
    assert complaint == f"{file}: which kernel? it has\n" + "".join(
        f"  {file}:{name}\n" for name in names
    )
    _, _, complaint = run(capsys, "show", f"{file}:pain")
    assert f"  {file}:long\n  help: did you mean paint?" in complaint
    (file.parent / "one.py").write_text(
        "import cubepy as cb\n\n\n@cb.cube\ndef only(x: cb.Array[cb.f32]):\n    x[0] = 1.0\n"
    )
    _, text, _ = run(capsys, "show", str(file.parent / "one.py"), "--ir", "--target", "reference")
    assert parse_kernel(text).name == "only"
    (file.parent / "none.py").write_text("")
    _, _, complaint = run(capsys, "show", str(file.parent / "none.py"))
    assert "it has no kernel at all" in complaint


def test_a_signature_fills_in_what_annotations_leave_open(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"{file}:paint"
    status, _, complaint = run(capsys, "show", place)
    assert status == 1
    assert complaint == (
        "nothing tells what level is: its value is compiled in\n"
        "  help: give it in the signature, as in 'level=16', or inspect with arguments\n"
    )
    words = ("--signature", "level=7, bias=f32[:,:,:]", "--target", "reference", "--ir")
    _, text, _ = run(capsys, "show", place, *words, "--cube-dim", "4,2")
    assert "cube_dim(4, 2, 1)" in text
    assert "%bias: global<f32, [?,?,1]" in text
    status, _, complaint = run(capsys, "show", place, "--signature", "levels=7")
    assert status == 1
    assert "no parameter 'levels'" in complaint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bias=i16[:]", np.zeros(4, np.int16)),
        ("bias=bf16", ml_dtypes.bfloat16(1)),
        ("bias=(1, 2)", (1, 2)),
        ("bias='a, b'", "a, b"),
        ("bias=u8[ : , : ]", np.zeros((4, 4), np.uint8)),
        ("bias=True", True),
    ],
)
def test_signature_entries(file: Path, text: str, expected: Any) -> None:
    made = example_arguments(load_kernel(f"{file}:paint").source, f"level=1, {text}").values
    assert list(made) == ["image", "level", "bias"]
    assert type(made["bias"]) is type(expected)
    assert np.shape(made["bias"]) == np.shape(expected)
    assert np.array_equal(made["bias"], expected)


def test_a_signature_entry_that_is_nothing_known_is_refused(file: Path) -> None:
    with pytest.raises(CubeError, match="bias=f33: expects an array such as"):
        example_arguments(load_kernel(f"{file}:paint").source, "level=1, bias=f33")


def test_a_function_is_named_in_a_signature(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name where the kernel is, or by that of a module and there."""
    place, words = f"{file}:applied", ("--ir", "--target", "reference", "--signature")
    _, _, complaint = run(capsys, "show", place)
    assert "'f=16', 'f=function' or 'f=module:function'" in complaint
    for name in ("Steps.doubled", "shown_kernels:Steps.doubled"):
        status, text, _ = run(capsys, "show", place, *words, f"f={name}")
        assert status == 0
        assert "callee=doubled" in text
    for name, why in (
        ("absent", ""),
        ("Steps.absent", ""),
        ("nowhere.at.all:f", r" \(No module named 'nowhere'\)"),
    ):
        with pytest.raises(CubeError, match=f"what a name stands for{why}\n  help: f=square is"):
            example_arguments(load_kernel(place).source, f"f={name}")


def test_a_long_hot_loop_is_summed_up(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The counts are those of the listing below them."""
    _, text, _ = run(capsys, "show", f"{file}:long", "--target", "cpu:x86-64-v3", "--hot")
    listing = [line for line in text.splitlines() if line.startswith("▌   ")]
    written = [number for number, line in enumerate(KERNELS.splitlines(), 1) if "# long" in line]
    own = [line for line in listing if line[54:].split()[:1] == [str(written[0])]]
    divisions = sum(line.split()[1] == "vdivps" for line in listing)
    assert divisions >= 40
    head = text[: text.index("\n▌   ")]
    assert f"{divisions} vdivps" in head
    assert re.search(rf"^ +{len(own)} +\d+% +{written[0]}  total = total / ", head, re.M)


def test_what_is_no_target_is_told(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the name of a runtime it is said which target that has."""
    for name, advice in (("wgpu", "its target is wgsl"), ("wgsk", "did you mean wgsl?")):
        status, _, complaint = run(capsys, "show", f"{file}:trace", "--target", name)
        assert status == 1
        assert complaint.splitlines()[-1] == f"  help: {advice}"


def test_no_word_at_all_shows_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, complaint = run(capsys)
    assert status == 2
    assert re.search(r"^    doctor +runtimes, devices", complaint, re.M)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("absent.py:k", "expects FILE:KERNEL"),
        ("no_colon", "expects FILE:KERNEL"),
        ("{file}:Group", "has no kernel 'Group'"),
        ("{file}:missing", "has no kernel 'missing'"),
    ],
)
def test_a_wrong_place_is_named(
    file: Path, capsys: pytest.CaptureFixture[str], place: str, message: str
) -> None:
    status, _, complaint = run(capsys, "show", place.format(file=file))
    assert status == 1
    assert message in complaint


def test_doctor_names_every_runtime_and_why_one_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, text, _ = run(capsys, "doctor")
    assert status == 0
    assert "cpu:0: target cpu" in text
    assert "reference:0: target reference, planes of 4" in text
    lines = dict(line.partition(": ")[::2] for line in text.splitlines())
    assert lines["threads"] == str(runtime.registry().runtime("cpu").num_threads)
    assert "bits" in lines["processor"]
    assert str(cache.store().folder) in lines["cache"]
    assert "cuda" in runtime.runtime_names() or "PTX" in lines["cuda"]

    def missing() -> runtime.Runtime:
        raise RuntimeUnavailable("no driver")

    broken = runtime.Registry({"opencl": missing})
    monkeypatch.setattr("cubepy.tools.doctor.registry", lambda: broken)
    status, text, _ = run(capsys, "doctor")
    assert status == 1
    assert "opencl: not available: no driver" in text


def test_config_show_names_origins(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = config.load(environment={"CUBEPY_CHECK": "validate"})
    monkeypatch.setattr(config, "current", lambda: loaded)
    status, text, _ = run(capsys, "config", "show")
    assert status == 0
    assert 'check = "validate"  # CUBEPY_CHECK' in text
    assert "threads = 0  # default" in text
    assert run(capsys, "config") == (status, text, "")


def test_doctor_says_what_was_announced_and_what_was_tried(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, text, _ = run(capsys, "doctor")
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("cpu:0: "))
    assert re.match(r"  announced: processor \w+, system \S+, instructions .*sse2", lines[at + 1])
    assert re.match(r"  probed: launches in machine code (yes|it|this|no)", lines[at + 2])
    for number, device in enumerate(devices_of("opencl")):
        assert device.description in text
        mine = lines[lines.index(f"  {device.description}") :]
        assert "driver" in mine[1], number
        assert re.match(r"  probed: .*division (yes|no).*fma (yes|no)", mine[2])


def devices_of(name: str) -> Sequence[runtime.Device]:
    """All devices of a runtime; none where it is missing."""
    try:
        return runtime.registry().runtime(name).devices()
    except CubeError:
        return ()


def test_cache_explains_a_kernel(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    store = cache.DiskStore(tmp_path / "store", max_bytes=1 << 20)
    monkeypatch.setattr(cache, "store", lambda: store)
    monkeypatch.setattr(compiler, "store", lambda: store)
    words = ("cache", "explain", f"{file}:Group.scale")
    status, text, _ = run(capsys, *words)
    assert status == 0
    assert "not stored: there is no entry at all" in text
    scale = load_kernel(f"{file}:Group.scale")
    scale.over(4)(np.zeros(4, np.float32), 1.0)
    _, text, _ = run(capsys, *words)
    assert re.search(r"scale for cpu: \w{12}\nstored: \d+ bytes in ", text)
    _, text, _ = run(capsys, *words, "--check", "unchecked")
    assert "not stored: differs from" in text
    assert text.splitlines()[1].endswith("(scale for cpu) in: ir")
    assert "ir: other source, arguments of other types" in text
    _, text, _ = run(capsys, *words[:2], f"{file}:paint", "--signature", "level=1, bias=u8")
    assert "in: kernel, ir" in text


def test_cache_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    store = cache.DiskStore(tmp_path / "store", max_bytes=1 << 20)
    monkeypatch.setattr(cache, "store", lambda: store)
    first = cache.key_of([("text", b"one"), ("target", b"cpu")], "saxpy for cpu")
    second = cache.key_of([("text", b"two"), ("target", b"cpu")])
    store.put(first, b"a" * 100)
    assert "no other entry" in run(capsys, "cache", "explain", first.digest[:8])[1]
    store.put(second, b"b" * 100)
    status, text, _ = run(capsys, "cache", "ls")
    assert status == 0
    assert first.digest[:12] in text
    assert "saxpy for cpu" in text
    assert "2 entries" in text
    _, text, _ = run(capsys, "cache", "explain", second.digest[:8])
    assert f"differs from {first.digest[:12]} (saxpy for cpu) in: text" in text
    status, _, complaint = run(capsys, "cache", "explain", "0000")
    assert status == 1
    assert "0 entries begin with '0000'" in complaint
    assert run(capsys, "cache", "verify")[:2] == (0, "0 damaged entries\n")
    damaged = store.entries()[0].path
    damaged.write_bytes(damaged.read_bytes()[:-5])
    status, text, _ = run(capsys, "cache", "verify")
    assert status == 1
    assert f"removed {damaged}" in text
    _, text, _ = run(capsys, "cache", "prune", "--max-bytes", "0")
    assert int(text.split()[0]) > 0
    assert store.entries() == ()
    store.put(first, b"a" * 100)
    status, text, _ = run(capsys, "cache", "clear")
    assert status == 0
    assert f"bytes freed in {store.folder}" in text
    assert store.entries() == ()
