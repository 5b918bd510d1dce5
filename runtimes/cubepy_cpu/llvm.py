"""Everything that LLVM does: text to object code and assembly, what the host is, loading.

Nothing imports this module before something has to be compiled: importing llvmlite takes longer
than a warm start does. Everything here may be called from any thread.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from cubepy.errors import BackendError
from cubepy.target import FOREIGN
from cubepy_cpu.effort import CODEGEN_EFFORT, OPTIONS, passes_for
from cubepy_cpu.host import Machine, host

__all__ = [
    "assembly",
    "commented_assembly",
    "compile_object",
    "describe_host",
    "finds_symbol",
    "map_object",
    "optimized_text",
]

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


def compile_object(text: str, machine: Machine, passes: Sequence[str]) -> bytes:
    """The object file of one LLVM module for `machine`."""
    with _module(text, machine, passes) as module:
        return bytes(_target_machine(machine).emit_object(module))


def assembly(text: str, machine: Machine, passes: Sequence[str]) -> str:
    """The assembly text of the same code that `compile_object` gives."""
    with _module(text, machine, passes) as module:
        return str(_target_machine(machine).emit_assembly(module))


def commented_assembly(text: str, machine: Machine, passes: Sequence[str]) -> str:
    """The same with LLVM's comments, which tell of registers that went to the stack."""
    with _module(text, machine, passes) as module:
        target = _create_target_machine(machine)
        target.set_asm_verbosity(True)
        return str(target.emit_assembly(module))


def optimized_text(text: str, machine: Machine, passes: Sequence[str]) -> str:
    """The LLVM text after `passes`, for reading."""
    with _module(text, machine, passes) as module:
        return str(module)


@contextmanager
def _module(text: str, machine: Machine, passes: Sequence[str]) -> Iterator[Any]:
    """`text` parsed, verified and optimised, in an LLVM context that is gone afterwards.

    A context of its own keeps a failed or repeated compilation from leaving anything behind.
    """
    if FOREIGN in text:
        _try_apart(text, machine)
    with _lock:
        target = _target_machine(machine)
        context = llvm.create_context()
        try:
            module = llvm.parse_assembly(text, context)
            try:
                module.triple = machine.triple
                module.data_layout = str(target.target_data)
                module.verify()
                _optimize(module, target, passes_for(text, passes))
                yield module
            finally:
                module.close()
        except RuntimeError as error:
            if isinstance(error, BackendError):
                raise
            raise BackendError("LLVM does not accept the generated code", str(error)) from error
        finally:
            context.close()


def _try_apart(text: str, machine: Machine) -> None:
    """Compile in a process of its own: for a mistake in assembly LLVM ends the process it is in."""
    order = {
        "path": sys.path, "text": text, "triple": machine.triple, "cpu": machine.cpu,
        "features": machine.features,
    }  # fmt: skip
    script = Path(__file__).with_name("trial.py")
    done = subprocess.run(
        [sys.executable, "-I", str(script)],
        input=json.dumps(order), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        lines = done.stderr.strip().rpartition("RuntimeError: ")[2].splitlines()
        complaint = "\n".join(dict.fromkeys(lines))  # what is wrong once is said once
        raise BackendError("LLVM does not accept an instruction of cb.intrinsic", complaint)


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
    llvm.initialize_native_asmparser()
    for option in OPTIONS:
        llvm.set_option("", option)


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


def describe_host() -> tuple[str, str, str]:
    """The host's triple, the name of its processor, its features."""
    try:
        features = str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM does not know how to ask this system
        features = ""
    name = str(llvm.get_host_cpu_name()) or "generic"
    return str(llvm.get_process_triple()), name, features


def finds_symbol(name: str) -> bool:
    """Whether LLVM's loader would find a symbol that an object does not define."""
    _engine()  # with it LLVM sees the symbols of this process
    return bool(llvm.address_of_symbol(name))


def map_object(data: bytes, names: Sequence[str]) -> dict[str, int]:
    """Load an object file; the addresses of its functions with these names."""
    with _lock:
        engine = _engine()
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        engine.finalize_object()
        # An object loaded later shadows equal names of earlier ones: these are the addresses in
        # `data` only as long as nothing else has been loaded.
        return {name: int(engine.get_function_address(name)) for name in names}


@functools.cache
def _engine() -> Any:
    """The one engine that maps every object. It outlives the interpreter's own clean-up."""
    owned = _create_target_machine(host())
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), owned)
    # llvmlite would dispose of the engine, and unmap all code, while threads may still run in it.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))
    return engine
