"""LLVM text to machine code, and machine code to callable addresses.

`compile_object` and `assembly` need no device and work for any machine LLVM knows; `load` maps an
object into this process and gives a function's address. Loaded code is never unloaded: a parked
worker thread or a launch on another thread may still stand in it. Everything here may be called
from any thread.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import logging
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from cubepy.cache import key_of, store
from cubepy.errors import BackendError
from cubepy_cpu.elf import ObjectSymbols, read_object
from cubepy_cpu.host import Machine, host, host_architecture

__all__ = [
    "DEFAULT_PASSES",
    "assembly",
    "cached_object",
    "compile_object",
    "load",
    "optimized_text",
    "toolchain",
]

logger = logging.getLogger("cubepy.cpu.jit")

#: LLVM's own passes, in order, under the names llvmlite gives them. O3 buys nothing on code this
#: regular and takes several times as long.
DEFAULT_PASSES = (
    "always_inliner",
    "sroa",
    "simplify_cfg",
    "instruction_combine",
    "new_gvn",
    "loop_rotate",
    "instruction_combine",
    "simplify_cfg",
    "aggressive_dce",
)

#: Effort of LLVM's code generator. 0 gives up to eight times slower code; 2 and 3 are no faster.
CODEGEN_EFFORT = 1

_ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
_IMPLICIT_SYMBOLS = frozenset({"_GLOBAL_OFFSET_TABLE_"})

# llvmlite serialises every single call on a lock of its own, so a lock around whole compilations
# costs nothing.
_lock = threading.RLock()
_llvmlite_lock: AbstractContextManager[object] = getattr(llvm.ffi.lib, "_lock", nullcontext())


def _before_fork() -> None:
    """Without this, a child may inherit a lock that nobody will open."""
    _lock.acquire()
    _llvmlite_lock.__enter__()


def _after_fork() -> None:
    _llvmlite_lock.__exit__(None, None, None)
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def toolchain() -> str:
    """The versions that machine code depends on, a part of cache keys."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def compile_object(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> bytes:
    """The object file of one LLVM module for `machine`, by default this one."""
    machine = machine or host()
    with _module(text, machine, passes) as module:
        return bytes(_target_machine(machine).emit_object(module))


def cached_object(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> bytes:
    """As `compile_object`, from the disk store if some process has compiled it before."""
    machine = machine or host()
    key = key_of(
        [
            ("kind", b"cpu object"),
            ("llvm text", text.encode()),
            ("triple", machine.triple.encode()),
            ("cpu", machine.cpu.encode()),
            ("cpu features", machine.features.encode()),
            ("llvm passes", f"{CODEGEN_EFFORT} {' '.join(passes)}".encode()),
            ("toolchain", toolchain().encode()),
        ]
    )
    return store().get_or_make(key, lambda: compile_object(text, machine, passes=passes))


def assembly(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> str:
    """The assembly text of the same code that `compile_object` gives."""
    machine = machine or host()
    with _module(text, machine, passes) as module:
        return str(_target_machine(machine).emit_assembly(module))


def optimized_text(
    text: str, machine: Machine | None = None, *, passes: Sequence[str] = DEFAULT_PASSES
) -> str:
    """The LLVM text after `passes`, for reading."""
    with _module(text, machine or host(), passes) as module:
        return str(module)


@contextmanager
def _module(text: str, machine: Machine, passes: Sequence[str]) -> Iterator[Any]:
    """`text` parsed, verified and optimised, in an LLVM context that is gone afterwards.

    A context of its own keeps a failed or repeated compilation from leaving anything behind.
    """
    with _lock:
        target = _target_machine(machine)
        context = llvm.create_context()
        try:
            module = llvm.parse_assembly(text, context)
            try:
                module.triple = machine.triple
                module.data_layout = str(target.target_data)
                module.verify()
                _optimize(module, target, passes)
                yield module
            finally:
                module.close()
        except RuntimeError as error:
            if isinstance(error, BackendError):
                raise
            raise BackendError("LLVM does not accept the generated code", str(error)) from error
        finally:
            context.close()


def _optimize(module: Any, target: Any, passes: Sequence[str]) -> None:
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=2))
    manager = llvm.create_new_module_pass_manager()
    for name in passes:
        add = getattr(manager, f"add_{name}_pass", None)
        if add is None:
            raise BackendError(f"LLVM, as llvmlite exposes it, has no pass {name!r}")
        add()
    manager.run(module, builder)


@functools.cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@functools.cache
def _target_machine(machine: Machine) -> Any:
    return _create_target_machine(machine)


def _create_target_machine(machine: Machine) -> Any:
    _initialize()
    try:
        target = llvm.Target.from_triple(machine.triple)
        # `small` and `pic` let constants fold into vector operands; the JIT default loads each of
        # them through a register.
        return target.create_target_machine(
            cpu=machine.cpu,
            features=machine.features,
            opt=CODEGEN_EFFORT,
            reloc="pic",
            codemodel="small",
        )
    except RuntimeError as error:
        raise BackendError(f"LLVM cannot generate code for {machine.triple}", str(error)) from error


def load(data: bytes, symbol: str) -> int:
    """The address of `symbol` of an object file, mapped into this process and kept there.

    The same bytes are mapped once. BackendError if the object is for another architecture, is
    damaged, does not define `symbol`, or needs something that this process does not have.
    """
    digest = hashlib.sha256(data).digest()
    with _lock:
        mapped = _mapped.get(digest)
        if mapped is None:
            mapped = _mapped[digest] = _map(data, symbol)
        if symbol not in mapped:
            raise BackendError(f"the object file does not define {symbol!r}")
        return mapped[symbol]


_mapped: dict[bytes, dict[str, int]] = {}


def _map(data: bytes, symbol: str) -> dict[str, int]:
    """Addresses of the functions that others may call; of formats not read here, `symbol`'s."""
    symbols = read_object(data)
    engine = _engine()  # first: with it LLVM sees the symbols of this process
    if symbols is not None:
        _check(symbols, symbol)
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    # An object loaded later shadows equal names of earlier ones: these are the addresses in `data`
    # only as long as nothing else has been loaded.
    functions = () if symbols is None else symbols.functions
    names = [found.name for found in functions if found.exported and found.name.isascii()]
    addresses = {name: int(engine.get_function_address(name)) for name in names or [symbol]}
    if symbols is not None and os.environ.get("CUBEPY_PERF") == "1":
        _write_perf_map(addresses, symbols)
    return {name: address for name, address in addresses.items() if address}


def _check(symbols: ObjectSymbols, symbol: str) -> None:
    """Refuse what LLVM's loader would map with a silent wrong address, or end the process over."""
    expected = _ELF_MACHINES.get(host_architecture(), symbols.machine)
    if symbols.machine != expected:
        raise BackendError(
            f"the object file is for ELF machine {symbols.machine}, this processor is {expected}"
        )
    if not symbol.isascii() or all(symbol != function.name for function in symbols.functions):
        raise BackendError(f"the object file does not define {symbol!r}")
    missing = [
        name
        for name in symbols.undefined
        if name not in _IMPLICIT_SYMBOLS and not llvm.address_of_symbol(name)
    ]
    if missing:
        raise BackendError(f"the object file needs {', '.join(sorted(missing))}, not to be found")


@functools.cache
def _engine() -> Any:
    """The one engine that maps every object. It outlives the interpreter's own clean-up."""
    owned = _create_target_machine(host())
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), owned)
    # llvmlite would dispose of the engine, and unmap all code, while threads may still run in it.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return engine


def _write_perf_map(addresses: Mapping[str, int], symbols: ObjectSymbols) -> None:
    """Tell `perf` what stands where, in perf-<pid>.map of the temporary folder."""
    path = Path(tempfile.gettempdir()) / f"perf-{os.getpid()}.map"
    lines = []
    for function in symbols.functions:
        address = addresses.get(function.name, 0)
        if address:
            lines.append(f"{address:x} {function.size:x} {function.name}\n")
    try:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        logger.warning("cannot write %s: %s", path, error)
