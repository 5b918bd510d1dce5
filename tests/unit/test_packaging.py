"""The repository keeps its own rules: doors, layers, docstrings, packaging.

Ruff and import-linter check what they can; here stands what needs to see the whole tree. Every
test reads the files themselves and pyproject.toml, imports nothing of cubepy, and so also
works while a package cannot be imported.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIBRARY_ROOTS = (ROOT, ROOT / "runtimes")
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc"}


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def library_packages() -> dict[str, Path]:
    """Top-level packages of the distribution: name → folder."""
    found = (folder for root in LIBRARY_ROOTS for folder in sorted(root.glob("cubepy*")))
    return {folder.name: folder for folder in found if any(folder.rglob("*.py"))}


def library_modules() -> Iterator[tuple[str, Path]]:
    """Every module that is shipped, with its dotted name."""
    for folder in library_packages().values():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def all_sources() -> Iterator[Path]:
    yield from (path for _, path in library_modules())
    for name in ("benchmarks", "examples", "tests"):
        found = sorted((ROOT / name).rglob("*.py"))
        yield from (p for p in found if p.parent != WRONG_KERNELS or p.name.startswith("test_"))


WRONG_KERNELS = ROOT / "tests" / "errors"  # each is as a user wrote it, and wrong on purpose


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def shown(path: Path, line: int = 1) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def imported_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Dotted names that a module imports; `from a import b` gives both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def test_every_module_says_what_it_is_for() -> None:
    silent = [shown(path) for path in all_sources() if not ast.get_docstring(parse(path))]
    assert silent == []


def test_no_module_is_named_after_nothing() -> None:
    assert [shown(path) for path in all_sources() if path.stem in NAMELESS] == []


def test_no_library_file_is_longer_than_500_lines() -> None:
    lengths = {shown(p): len(p.read_text(encoding="utf-8").splitlines()) for p in all_sources()}
    assert {name: length for name, length in lengths.items() if length > 500} == {}


def public_names(package: Path) -> set[str]:
    """What a package's `__all__` lists."""
    for node in parse(package).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def test_packages_are_entered_by_their_door() -> None:
    """`cubepy.ir.nodes` is for `cubepy.ir` alone; everyone else says `from cubepy.ir import …`."""
    modules = dict(library_modules())
    packages = {name for name, path in modules.items() if path.name == "__init__.py"}
    doors = {name: public_names(modules[name]) for name in packages}
    intrusions = []
    for importer, path in modules.items():
        for imported, line in imported_names(parse(path)):
            room = imported.rpartition(".")[0]
            is_inner = imported in modules and imported not in packages and room in packages
            # the outermost door hands out what it imports late, without opening the room's
            at_home = importer in (room, "cubepy") or importer.startswith(f"{room}.")
            handed_out = room in packages and imported.rpartition(".")[2] in doors[room]
            if is_inner and not at_home and not handed_out and "." in room:
                intrusions.append(f"{shown(path, line)} imports {imported}")
    assert intrusions == []


def test_layers_name_every_room() -> None:
    contracts = settings()["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    named = {name for layer in layers for name in re.findall(r"[\w.]+", layer)}
    rooms = {name for name, _ in library_modules() if re.fullmatch(r"cubepy\.\w+|cubepy_\w+", name)}
    assert rooms - named == set()


def test_layers_are_checked_in_every_package() -> None:
    assert set(settings()["tool"]["importlinter"]["root_packages"]) == set(library_packages())


def test_wheel_holds_every_package() -> None:
    listed = settings()["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {Path(entry).name for entry in listed} == set(library_packages())
