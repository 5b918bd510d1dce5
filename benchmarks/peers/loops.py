"""Compilers of Python loops and kernels: Numba, Taichi, Warp, on the host's arrays.

Each has a file of the rows it is given; here they are opened, called and checked.
"""

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.peers.peer import OpenPeer, Peer, PeerUnavailable
from benchmarks.rows import Call, Row

__all__ = ["PEERS"]

MakeCall = Callable[[Any, list[Any]], Call]


def _opened(version: str, kernels: Mapping[str, Any], make_call: MakeCall) -> OpenPeer:
    def prepare(row: Row) -> Call | None:
        if row.name not in kernels:
            return None
        host = row.arguments()
        call = make_call(kernels[row.name], host)
        call()
        if not row.is_right([each for each in host if isinstance(each, np.ndarray)]):
            raise AssertionError(f"{row.name}: the answer is wrong")
        return call

    return OpenPeer(version=version, prepare=prepare)


def _kernels(name: str) -> tuple[str, Any]:
    """The version of a compiler and its kernels."""
    try:
        compiler = importlib.import_module(name)
    except ImportError as error:
        raise PeerUnavailable(f"{name} is not installed") from error
    return compiler.__version__, importlib.import_module(f"benchmarks.peers.{name}_kernels").KERNELS


def _open_numba(threads: int) -> OpenPeer:
    os.environ["NUMBA_NUM_THREADS"] = str(threads)
    version, functions = _kernels("numba")
    compile_it = importlib.import_module("numba").njit(parallel=True, error_model="numpy")
    kernels = {function.__name__: compile_it(function) for function in functions}

    def make_call(kernel: Any, host: list[Any]) -> Call:
        return lambda: kernel(*host)

    return _opened(version, kernels, make_call)


def _open_taichi(threads: int) -> OpenPeer:
    os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "0"
    try:
        taichi = importlib.import_module("taichi")
    except ImportError as error:
        raise PeerUnavailable("taichi is not installed") from error
    taichi.init(
        arch=taichi.cpu, cpu_max_num_threads=threads, fast_math=False, offline_cache=False,
        log_level=taichi.ERROR,
    )  # fmt: skip
    _, functions = _kernels("taichi")

    def make_call(kernel: Any, host: list[Any]) -> Call:
        given = [each if isinstance(each, np.ndarray) else each.item() for each in host]
        return lambda: kernel(*given)

    kernels = {function.__name__: function for function in functions}
    return _opened(".".join(map(str, taichi.__version__)), kernels, make_call)


def _open_warp(_threads: int) -> OpenPeer:
    try:
        warp = importlib.import_module("warp")
    except ImportError as error:
        raise PeerUnavailable("warp is not installed") from error
    warp.config.quiet = True
    version, functions = _kernels("warp")

    def make_call(kernel: Any, host: list[Any]) -> Call:
        given = [
            warp.array(each, device="cpu", copy=False)
            if isinstance(each, np.ndarray)
            else each.item()
            for each in host
        ]
        return lambda: warp.launch(kernel, dim=host[-1].shape, inputs=given, device="cpu")

    return _opened(version, {each.key: each for each in functions}, make_call)


PEERS = (
    Peer(name="Numba", open=_open_numba),
    Peer(name="Taichi", open=_open_taichi),
    Peer(name="Warp", open=_open_warp),
)
