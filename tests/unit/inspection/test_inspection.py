"""What `k.inspect` says, held against the code that was really emitted."""

import io
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from rich.console import Console

import cubepy as cb
import examples.kernels
from cubepy import Array, Comptime, Tensor, f32, i32
from cubepy.cube import Cube
from cubepy.errors import ArgumentError, CubeError, UnsupportedError
from cubepy.inspection import Inspection
from cubepy.ir import parse_kernel
from cubepy.target import Decision, Target, Topic
from cubepy_cpu.places import is_instruction

V3 = "cpu:x86-64-v3"
EXAMPLES = {
    name: value for name, value in vars(examples.kernels).items() if isinstance(value, Cube)
}
SIGNATURES = {"fir": "TAPS=3"}


@cb.cube
def mixed(x: Array[f32], at: Array[i32], out: Array[f32], a: f32) -> None:
    i = cb.ABSOLUTE_POS
    known = cb.local_array(f32, 4)
    moved = cb.local_array(f32, 4)
    for j in range(4):
        known[j] = x[i] * a
        moved[j] = known[j]
    total = known[1] + moved[at[i] & 3]
    for j in range(at[i]):
        total += x[at[i + j]]
    if a > 1.0:
        total = total / a
    out[i] = total + x[2 * i] + x[0]


LINES = {
    text.strip(): number
    for number, text in enumerate(Path(__file__).read_text("utf-8").splitlines(), 1)
}


def at(inspection: Inspection, text: str, topic: Topic, subject: str = "") -> str:
    """All that was decided about a line."""
    found = [
        each.text
        for each in inspection.decisions
        if each.loc.line == LINES[text] and each.topic is topic and each.subject == subject
    ]
    return " | ".join(found)


@pytest.fixture(scope="module")
def inspection() -> Inspection:
    return mixed.inspect(signature="", target=V3)


def test_decisions_name_what_forced_them(inspection: Inspection) -> None:
    assert "a variable for each" in at(
        inspection, "known = cb.local_array(f32, 4)", Topic.MEMORY, "known"
    )
    line = LINES["total = known[1] + moved[at[i] & 3]"]
    stayed = at(inspection, "moved = cb.local_array(f32, 4)", Topic.MEMORY, "moved")
    assert f"stays in memory: the subscript `at[i] & 3` in line {line} is not known" in stayed
    assert "16 bytes a unit" in stayed
    loop = "total += x[at[i + j]]"
    assert "is read from memory, so nothing bounds it ahead" in at(
        inspection, loop, Topic.BOUNDS, "x"
    )
    assert "gather" in at(inspection, loop, Topic.ACCESS, "x")
    last = at(inspection, "out[i] = total + x[2 * i] + x[0]", Topic.ACCESS, "x")
    assert "units lie 2 apart" in last
    assert "one load for all units" in last
    assert "all units go one way" in at(inspection, "if a > 1.0:", Topic.BRANCH)
    assert "any unit has trips left" in at(inspection, "for j in range(at[i]):", Topic.LOOP)
    assert "written out 4 times" in at(inspection, "for j in range(4):", Topic.LOOP, "j")
    head = "def mixed(x: Array[f32], at: Array[i32], out: Array[f32], a: f32) -> None:"
    assert "gangs of 32 units, 4 vectors of 8" in at(inspection, head, Topic.GANG)
    assert "same in every unit" in at(inspection, head, Topic.VALUE, "a")
    assert "rises from unit to unit" in at(inspection, "i = cb.ABSOLUTE_POS", Topic.VALUE, "i")


def instructions(inspection: Inspection) -> dict[tuple[str, int], str]:
    """The LLVM instructions of each line of the kernel."""
    found: dict[tuple[str, int], str] = defaultdict(str)
    for number, line in enumerate(inspection.text.splitlines(), 1):
        loc = inspection.artifact.line_map.get(number)
        if loc is not None:
            found[loc.file, loc.line] += line + "\n"
    return found


def about(inspection: Inspection, topic: Topic, word: str) -> set[tuple[str, int]]:
    """Lines about which a word was said."""
    return {
        (each.loc.file, each.loc.line)
        for each in inspection.decisions
        if each.topic is topic and re.search(word, each.text)
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_decisions_agree_with_the_code(name: str) -> None:
    """Every gather, scatter and masked access of the code is owned up to, and none is made up."""
    inspection = EXAMPLES[name].inspect(signature=SIGNATURES.get(name, ""), target=V3)
    code = instructions(inspection)
    for word, instruction in (
        (r"gather|scatter|address for each", r"masked\.(gather|scatter)|<\d+ x ptr> .*, i64 \d+"),
        (r"vectors of neighbouring elements[^;]*masked", r"llvm\.masked\.(load|store)"),
    ):
        done = {place for place, text in code.items() if re.search(instruction, text)}
        assert about(inspection, Topic.ACCESS, word) == done, word
    said = about(inspection, Topic.BOUNDS, "tested at each access|a vector's ends")
    done = {place for place, text in code.items() if re.search(r"%in\d+ = (icmp|and)", text)}
    assert done <= said


@pytest.mark.parametrize("machine", ["x86-64-v2", "x86-64-v3", "x86-64-v4", "neoverse-n1"])
@pytest.mark.parametrize("name", ["saxpy", "gelu", "matmul", "collatz_lengths"])
def test_machine_code_knows_its_lines(name: str, machine: str) -> None:
    """Locations change no instruction but the order of a prologue's."""
    inspection = EXAMPLES[name].inspect(signature="", target=f"cpu:{machine}")
    code = inspection.machine_code
    assert code is not None
    assert code.text == inspection.asm
    counted = sum(map(is_instruction, code.text.splitlines()))
    assert code.instructions == counted
    assert len(code.line_map) > code.instructions * 0.4
    body = {(loc.file, loc.line) for loc in code.line_map.values()}
    assert body <= set(instructions(inspection))
    assert code.code_bytes > 3 * code.instructions * 0.5


def test_divisions_are_where_the_kernel_divides() -> None:
    code = mixed.inspect(signature="", target="cpu:x86-64-v2").machine_code
    assert code is not None
    lines = {
        code.line_map[number].line
        for number, text in enumerate(code.text.splitlines(), 1)
        if "divps" in text
    }
    divides = LINES["total = total / a"]
    assert divides in lines
    assert lines <= {divides - 1, divides}  # LLVM may run it ahead of the test it stands under


def test_texts_and_passes(inspection: Inspection) -> None:
    assert parse_kernel(inspection.ir).name == "mixed"
    assert parse_kernel(inspection.optimized_ir).name == "mixed"
    assert inspection.llvm == inspection.text
    assert "%ymm" in inspection.asm
    names = [step.name for step in inspection.passes]
    assert names[0] == "lowered"
    assert inspection.passes[0].text == inspection.ir
    assert inspection.passes[-1].text == inspection.optimized_ir
    assert {"simplify:1", "simplify:3"} <= set(names)
    assert inspection.after("simplify") is inspection.passes[names.index("simplify:3")]
    assert "+++ unroll_loops" in inspection.after("unroll_loops").diff
    with pytest.raises(CubeError, match=r"no pass 'polish' ran"):
        inspection.after("polish")


@pytest.mark.parametrize("name", EXAMPLES)
def test_differences_lead_from_pass_to_pass(name: str) -> None:
    """Applying all differences to the first text gives the last one."""
    inspection = EXAMPLES[name].inspect(signature=SIGNATURES.get(name, ""), target=V3)
    text = inspection.passes[0].text.splitlines()
    for step in inspection.passes[1:]:
        text = patched(text, step.diff)
        assert text == step.text.splitlines(), step.name


def patched(lines: list[str], diff: str) -> list[str]:
    """A unified difference applied."""
    made, at = [], 0
    for line in diff.splitlines()[2:]:
        head = re.match(r"@@ -(\d+)", line)
        if head:
            start = int(head[1]) - 1
            made += lines[at:start]
            at = start
        elif line[0] == "+":
            made.append(line[1:])
        else:
            assert lines[at] == line[1:]
            made += lines[at : at + 1] if line[0] == " " else []
            at += 1
    return made + lines[at:]


def test_resources_are_counted() -> None:
    @cb.cube
    def shares(x: Array[f32], out: Array[f32]) -> None:
        part = cb.shared(f32, (4, 64))
        own = cb.local_array(cb.f64, 3)
        own[cb.UNIT_POS % 3] = 1.0
        part[cb.UNIT_POS // 64, cb.UNIT_POS % 64] = x[cb.ABSOLUTE_POS]
        cb.sync_cube()
        out[cb.ABSOLUTE_POS] = part[0, 1] + f32(own[cb.UNIT_POS % 2])

    resources = shares[1, 256].inspect(signature="", target=V3).resources
    assert (resources.cube_units, resources.shared_bytes, resources.private_bytes) == (
        256,
        1024,
        24,
    )
    assert resources.instructions
    assert 0 < (resources.vector_registers or 0) <= 16
    assert "shared bytes 1,024" in str(resources)
    there = shares[1, 256].inspect(signature="", target="opencl").resources
    assert there.instructions is None
    assert there.shared_bytes == 1024


def test_spilled_registers_are_counted() -> None:
    code = EXAMPLES["nbody"].inspect(signature="", target=V3).machine_code
    assert code is not None
    slots = re.findall(r"vmov\w+\t%ymm\d+, \d*\(%rsp\)", code.text)
    assert code.spills >= len(slots) > 0


def test_signatures_stand_for_arguments() -> None:
    @cb.cube
    def scaled(image: Tensor[f32], level: Comptime[int], bias: Any, step: f32 = 2.0) -> None:
        image[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X] += f32(level) * step + f32(bias)

    text = scaled.over((8, 8)).inspect(signature="level=3, bias=7", target="reference").ir
    assert "%bias: index" in text
    assert "global<f32, [?,1]" in text
    with pytest.raises(ArgumentError, match="arguments and a signature"):
        scaled.inspect(np.zeros((2, 2), np.float32), signature="level=3, bias=7")
    with pytest.raises(CubeError, match="has no parameter 'width'"):
        scaled.inspect(signature="width=3")
    with pytest.raises(CubeError, match="give it in the signature"):
        scaled.inspect(signature="")


def test_what_a_target_does_not_make_says_so() -> None:
    inspection = mixed.inspect(signature="", target="reference")
    with pytest.raises(UnsupportedError, match="makes no LLVM IR of mixed"):
        _ = inspection.llvm
    with pytest.raises(UnsupportedError, match="makes no machine code of mixed"):
        _ = inspection.asm
    assert inspection.machine_code is None


def test_people_see_it_in_terminals_and_notebooks(inspection: Inspection) -> None:
    assert repr(inspection) == (
        f"<mixed for {inspection.target}: {len(inspection.decisions)} decisions, print to see them>"
    )
    plain = str(inspection)
    assert "total += x[at[i + j]]" in plain
    assert "gather, an address" in plain
    assert "\x1b[" not in plain
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    console.print(inspection)
    assert "\x1b[" in console.export_text(styles=True)
    formats, _ = DisplayFormatter().format(inspection)  # type: ignore[no-untyped-call]
    page: Any = formats["text/html"]
    assert page.count("<details>") >= 5
    assert page.count("<div") == page.count("</div>")
    assert "gather, an address" in page
    assert formats["text/plain"] == plain


def test_cpu_is_the_processor_at_hand() -> None:
    here = cb.device("cpu").target
    for target in ("cpu", "cpu:native"):
        seen = EXAMPLES["saxpy"].inspect(signature="", target=target)
        assert seen.target == here
        assert str(seen).startswith(f"saxpy for cpu:native ({here.features.cpu_name}), ")
        assert cb.device(target).target == here
    narrow = EXAMPLES["saxpy"].inspect(signature="", target="cpu:native+gang=8").target
    assert narrow == here.with_option("gang", "8")
    assert Target.parse("cpu:x86-64-v3+gang=8").full_name == "cpu:x86-64-v3+gang=8"
    assert Target.parse("cpu+gang=8").full_name.startswith(("cpu:x86-64-v", "cpu:neoverse"))


def test_no_device_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = cb.cube(mixed.function)
    over = kernel.over(1)

    def refuse(*_: Any) -> Any:
        raise AssertionError("a device was asked for")

    monkeypatch.setattr(type(cb.device("cpu")), "target", property(refuse))
    assert over.inspect(signature="", target="cpu:x86-64-v4").decisions


def test_a_decision_reads_as_a_sentence(inspection: Inspection) -> None:
    decision = next(each for each in inspection.decisions if each.subject)
    assert isinstance(decision, Decision)
    assert str(decision) == f"{decision.subject}: {decision.text}"
