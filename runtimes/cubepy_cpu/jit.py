"""Machine code in this process: LLVM text to object code, through the disk store, to addresses.

`compile_object` and `assembly` need no device and work for any machine LLVM knows; `load` maps an
object into this process and gives a function's address. Loaded code is never unloaded: a parked
worker thread or a launch on another thread may still stand in it. Everything here may be called
from any thread, and LLVM itself is imported only when something has to be compiled.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence

from cubepy.cache import digest_of, key_of, store
from cubepy.errors import BackendError
from cubepy.late import LateLogger, late_import
from cubepy_cpu import loader
from cubepy_cpu.effort import CODEGEN_EFFORT, DEFAULT_PASSES, LONG_TEXT, OPTIONS
from cubepy_cpu.elf import AARCH64, X86_64, ObjectFile, read_object
from cubepy_cpu.host import Machine, host, host_architecture, toolchain

__all__ = [
    "assembly",
    "cached_object",
    "compile_object",
    "load",
    "load_all",
    "optimized_text",
    "settings",
]

logger = LateLogger("cubepy.cpu.jit")

_ELF_MACHINES = {"x86_64": X86_64, "aarch64": AARCH64}
_IMPLICIT_SYMBOLS = frozenset({"_GLOBAL_OFFSET_TABLE_"})

_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that nobody will open
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )


def compile_object(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> bytes:
    """The object file of one LLVM module for `machine`, by default this one."""
    with late_import:
        from cubepy_cpu import llvm  # noqa: PLC0415 - see above

    return llvm.compile_object(text, machine or host(), passes)


def assembly(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> str:
    """The assembly text of the same code that `compile_object` gives."""
    with late_import:
        from cubepy_cpu import llvm  # noqa: PLC0415 - see above

    return llvm.assembly(text, machine or host(), passes)


def optimized_text(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> str:
    """The LLVM text after `passes`, for reading."""
    with late_import:
        from cubepy_cpu import llvm  # noqa: PLC0415 - see above

    return llvm.optimized_text(text, machine or host(), passes)


def settings(machine: Machine, passes: Sequence[str] = DEFAULT_PASSES) -> list[tuple[str, bytes]]:
    """All that object code depends on besides the text, as parts of a cache key."""
    return [
        ("triple", machine.triple.encode()),
        ("cpu", machine.cpu.encode()),
        ("cpu features", machine.features.encode()),
        ("llvm passes", f"{CODEGEN_EFFORT} {LONG_TEXT} {' '.join([*OPTIONS, *passes])}".encode()),
        ("toolchain", toolchain().encode()),
    ]


def cached_object(
    text: str | Callable[[], str],
    machine: Machine | None = None,
    *,
    passes: Sequence[str] = DEFAULT_PASSES,
    parts: Sequence[tuple[str, bytes]] = (),
    label: str = "",
) -> bytes:
    """As `compile_object`, from the disk store if some process has compiled it before.

    `parts` are what tells this text from others, if that is known before the text is.
    """
    machine = machine or host()
    if isinstance(text, str):
        parts = [("llvm text", text.encode())]
    parts = [("kind", b"cpu object"), *parts, *settings(machine, passes)]

    def make() -> bytes:
        made = text if isinstance(text, str) else text()
        return compile_object(made, machine, passes=passes)

    return store().get_or_make(key_of(parts, label), make)


def load(data: bytes, symbol: str) -> int:
    """The address of `symbol` of an object file, mapped into this process and kept there.

    The same bytes are mapped once. BackendError if the object is for another architecture, is
    damaged, does not define `symbol`, or needs something that this process does not have.
    """
    mapped = load_all(data, symbol)
    if symbol not in mapped:
        raise BackendError(f"the object file does not define {symbol!r}")
    return mapped[symbol]


def load_all(data: bytes, symbol: str) -> Mapping[str, int]:
    """The addresses of all functions of an object file that has `symbol`; otherwise as `load`."""
    digest = digest_of(data)
    with _lock:
        mapped = _mapped.get(digest)
        if mapped is None:
            mapped = _mapped[digest] = _map(data, symbol)
        return mapped


_mapped: dict[str, Mapping[str, int]] = {}


def _map(data: bytes, symbol: str) -> Mapping[str, int]:
    """Addresses of the functions that others may call; of formats not read here, `symbol`'s."""
    file = read_object(data)
    if file is not None:
        _check(file, symbol)
        mapped = loader.map_object(file, data)
        if mapped is None:
            mapped = _map_with_llvm(file, data, symbol)
        if os.environ.get("CUBEPY_PERF") == "1":
            with late_import:
                from cubepy_cpu import perf  # noqa: PLC0415 - for those who ask for it

            perf.write_names(mapped, file)
        return mapped
    return _map_with_llvm(None, data, symbol)


def _map_with_llvm(file: ObjectFile | None, data: bytes, symbol: str) -> Mapping[str, int]:
    with late_import:
        from cubepy_cpu import llvm  # noqa: PLC0415 - see above

    functions = () if file is None else file.functions
    for name in () if file is None else file.undefined:
        if name not in _IMPLICIT_SYMBOLS and not llvm.finds_symbol(name):
            raise BackendError(f"the object file needs {name}, not to be found")
    names = [found.name for found in functions if found.exported and found.name.isascii()]
    addresses = llvm.map_object(data, names or [symbol])
    return {name: address for name, address in addresses.items() if address}


def _check(file: ObjectFile, symbol: str) -> None:
    """Refuse what LLVM's loader would map with a silent wrong address, or end the process over."""
    expected = _ELF_MACHINES.get(host_architecture(), file.machine)
    if file.machine != expected:
        raise BackendError(
            f"the object file is for ELF machine {file.machine}, this processor is {expected}"
        )
    if not symbol.isascii() or all(symbol != function.name for function in file.functions):
        raise BackendError(f"the object file does not define {symbol!r}")
