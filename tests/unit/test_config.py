"""Settings: where they come from, which one wins, and what a wrong one says."""

import re
from pathlib import Path

import pytest

from cubepy import config
from cubepy.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    path = folder / "cubecl.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    assert config.load(tmp_path, {}).compilation.check == "checked"
    assert config.load(tmp_path, {}).runtime.device == "cpu"


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    write(tmp_path, "[runtime]\nthreads = 3\n[cache]\nenabled = false\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    write(tmp_path / "a", "[runtime]\nthreads = 5\n")
    loaded = config.load(inner, {})
    assert loaded.runtime.threads == 5
    assert loaded.cache.enabled is True


def test_the_environment_wins_and_the_origin_tells(tmp_path: Path) -> None:
    path = write(tmp_path, '[compilation]\ncheck = "validate"\nverify = "every_pass"\n')
    loaded = config.load(tmp_path, {"CUBEPY_CHECK": "unchecked", "CUBEPY_CACHE": "off"})
    assert loaded.compilation.check == "unchecked"
    assert loaded.compilation.verify == "every_pass"
    assert loaded.cache.enabled is False
    assert loaded.origins["compilation.check"] == "CUBEPY_CHECK"
    assert loaded.origins["compilation.verify"].startswith(str(path))


def test_a_named_file_is_used_and_must_exist(tmp_path: Path) -> None:
    path = write(tmp_path, "[runtime]\nthreads = 7\n")
    assert config.load(Path("/"), {"CUBEPY_CONFIG": str(path)}).runtime.threads == 7
    with pytest.raises(ConfigError, match=r"not a file\n  help: without it a cubecl\.toml"):
        config.load(tmp_path, {"CUBEPY_CONFIG": str(tmp_path / "absent.toml")})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[compilaton]\n", "no section [compilaton]\n  help: did you mean compilation?"),
        (
            "[x]\n",
            "no section [x]\n  help: there are [compilation] with check, verify, tracebacks; [",
        ),
        (
            "[cache]\nmax_byte = 1\n",
            "no setting 'max_byte' in [cache]\n  help: did you mean max_bytes?",
        ),
        ("[cache]\nthreads = 1\n", "in [cache]\n  help: threads stands below [runtime]"),
        ("[cache]\nx = 1\n", "no setting 'x' in [cache]\n  help: there are [compilation] with"),
        (
            '[compilation]\ncheck = "check"\n',
            "expects one of checked, validate, unchecked\n  help: did you mean checked?",
        ),
        (
            '[compilation]\nverify = "x"\n',
            "expects one of stages, every_pass\n  help: the default is stages",
        ),
        ("[runtime]\nthreads = -1\n", "is -1: expects at least 0\n  help: the default is 0"),
        ("[runtime]\nthreads = true\n", "expects int, got bool\n  help: the default is 0"),
        ("[runtime]\nnative = 1\n", "expects bool, got int\n  help: the default is true"),
        ("[runtime]\ndevice = 1\n", 'expects str, got int\n  help: the default is "cpu"'),
        ("threads = 2\n", "no section [threads]\n  help: threads stands below [runtime]"),
        ("cache = 2\n", "cache is a section, not a setting\n  help: write [cache] on a line"),
        (
            "[cache\n",
            "\n  help: a section is a line like [runtime], a setting one below it like threads",
        ),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        config.load(tmp_path, {})
    assert str(caught.value).startswith(f"{tmp_path / 'cubecl.toml'}: ")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("CUBEPY_CACHE", "maybe", "is 'maybe', neither on nor off\n  help: write 1 or 0"),
        (
            "CUBEPY_NUM_THREADS",
            "two",
            "is 'two', not a whole number\n  help: write digits, such as 0",
        ),
        (
            "CUBEPY_VERIFY",
            "always",
            "is 'always': expects one of stages, every_pass\n  help: the default is stages",
        ),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.load(tmp_path, {variable: value})
    assert str(caught.value) == f"{variable} {message}"
