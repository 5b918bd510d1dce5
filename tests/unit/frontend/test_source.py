"""Where kernels may stand: their text is found, and their places in it are true."""

import functools
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, frontend
from cubepy.errors import CubeSyntaxError, CubeTypeError, SourceUnavailable

Function = Callable[..., Any]


def lowered(function: Function, *arguments: Any) -> Any:
    source = frontend.capture(function)
    bound = source.signature.bind(*arguments).arguments
    return frontend.lower(source, frontend.specialize(source, bound, frontend.LaunchOptions()))


def ones() -> np.ndarray[Any, Any]:
    return np.ones(4, np.float32)


def launched(kernel: Any) -> list[float]:
    x = ones()
    kernel.over(4, device="reference")(x)
    return [float(value) for value in x]


class Holder:
    @cb.cube
    def kernel(x: Array[f32]) -> None:  # noqa: N805
        x[cb.ABSOLUTE_POS] = 2.0


def test_in_a_class_body() -> None:
    assert launched(Holder.kernel) == [2] * 4


def test_nested_functions_with_closures() -> None:
    def make(value: float) -> Any:
        @cb.cube
        def kernel(x: Array[f32]) -> None:
            x[cb.ABSOLUTE_POS] = value

        return kernel

    assert launched(make(3.0)) == [3] * 4
    assert launched(make(4.0)) == [4] * 4


def passing(function: Function) -> Function:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> Any:
        return function(*arguments)

    return wrapper


@passing
@passing
def decorated(x: Array[f32]) -> None:
    x[0] = 1.0


def test_below_other_decorators() -> None:
    assert lowered(decorated, ones()).name == "decorated"


def test_lambdas_are_told_apart_on_one_line() -> None:
    pair = (lambda x: cb.atomic_add(x, 0, 1), lambda x: cb.atomic_sub(x, 0, 1))
    names = [[op.opdef.name for op in lowered(f, ones()).body.ops] for f in pair]
    assert [kinds[-1] for kinds in names] == ["atomic_add", "atomic_sub"]


def test_columns_count_characters_after_wide_ones() -> None:
    def kernel(x: Array[f32]) -> None:
        größe = 1.0; x[0] = größe + x  # type: ignore[operator]  # noqa: E702, PLC2401  # fmt: skip

    with pytest.raises(CubeTypeError) as caught:
        lowered(kernel, ones())
    loc = caught.value.loc
    text = Path(__file__).read_text(encoding="utf-8").splitlines()[loc.line - 1]
    assert text[loc.column : loc.end_column] == "größe + x"


def test_annotations_that_are_text(tmp_path: Path) -> None:
    text = textwrap.dedent(
        """
        from __future__ import annotations
        import cubepy as cb

        def make():
            from cubepy import Array, f64 as wide

            @cb.cube
            def kernel(x: Array[wide], n: "int") -> None:
                x[0] = 0.1 * cb.f64(n)
            return kernel

        kernel = make()
        """
    )
    (tmp_path / "annotated.py").write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    path = str(tmp_path / "annotated.py")
    exec(compile(text, path, "exec"), names)
    x = np.zeros(1)
    names["kernel"].over(1, device="reference")(x, 3)
    assert x[0] == 0.1 * 3


def test_text_given_to_exec_is_found_in_the_caller() -> None:
    text = textwrap.dedent(
        """
        import cubepy as cb
        @cb.cube
        def kernel(x):
            x[cb.ABSOLUTE_POS] = 7.0
        """
    )
    names: dict[str, Any] = {}
    exec(text, names)
    assert launched(names["kernel"]) == [7] * 4


def test_text_that_is_nowhere_is_an_error_that_offers_cubepy_exec() -> None:
    parts = ["import cubepy as cb\n", "@cb.cube\n", "def hidden_kernel(x):\n"]
    parts += ["    x[cb.ABSOLUTE_POS] = 7.0\n"]
    names: dict[str, Any] = {}
    with pytest.raises(SourceUnavailable, match=r"cubepy\.exec"):
        exec("".join(parts), names)
    cb.exec("".join(parts), names)
    assert launched(names["hidden_kernel"])[0] == 7


def test_on_the_command_line() -> None:
    program = (
        "import cubepy as cb, numpy as np\n"
        "@cb.cube\n"
        "def kernel(x):\n"
        "    x[cb.ABSOLUTE_POS] = 5.0\n"
        "x = np.zeros(3, np.float32)\n"
        "kernel.over(3, device='reference')(x)\n"
        "print(x.tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[5.0, 5.0, 5.0]"


def test_generators_and_classes_are_no_kernels() -> None:
    def generator(x: Array[f32]) -> Any:
        yield x[0]

    with pytest.raises(CubeSyntaxError, match="generator"):
        frontend.capture(generator)
    with pytest.raises(CubeSyntaxError, match="no Python function"):
        frontend.capture(Holder)


PROGRAM = textwrap.dedent(
    """
    import cubepy as cb, numpy as np

    @cb.cube
    def kernel(x):
        x[cb.ABSOLUTE_POS] = 5.0

    x = np.zeros(3, np.float32)
    kernel.over(3, device='reference')(x)
    print(x.tolist())
    """
)


def test_a_program_on_standard_input_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    with (tmp_path / "program.py").open("rb") as file:
        run = subprocess.run([sys.executable, "-"], stdin=file, capture_output=True, check=True)
    assert run.stdout.decode().strip() == "[5.0, 5.0, 5.0]"


def test_a_program_from_a_pipe_is_told_what_works(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-"], input=PROGRAM.encode(), capture_output=True, check=False
    )
    message = run.stderr.decode()
    assert "SourceUnavailable" in message
    advice = re.search(r"write {2}python(?P<start> .*<<'END') {2}and {2}(?P<end>\S+) ", message)
    assert advice is not None
    again = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable}{advice['start']}\n{PROGRAM}END\n{advice['end']}\n"],
        capture_output=True,
        check=True,
    )
    assert again.stdout.decode().strip() == "[5.0, 5.0, 5.0]"


def test_exec_without_a_namespace_runs_in_the_callers() -> None:
    found = cb.exec("@cb.cube\ndef kernel_of_text(x):\n    x[cb.ABSOLUTE_POS] = 8.0\n")
    assert found is globals()
    assert launched(globals().pop("kernel_of_text")) == [8] * 4
