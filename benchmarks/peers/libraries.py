"""Array libraries: NumPy, PyTorch, JAX, each with its own words for the rows that it can say.

A formula takes the library and the row's arguments and gives the result, for which the library
finds memory: that is counted. JAX compiles a formula whole.
"""

import functools
import importlib
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import special

from benchmarks.peers.peer import OpenPeer, Peer, PeerUnavailable
from benchmarks.rows import Call, Row

__all__ = ["PEERS"]

Formula = Callable[..., Any]


def _normal(xp: Any, x: Any) -> Any:
    return 0.5 * (1.0 + xp.erf(x * 0.70710678))


def _black_scholes(xp: Any, s: Any, k: Any, t: Any, _: Any) -> Any:
    deviation = 0.3 * xp.sqrt(t)
    d1 = (xp.log(s / k) + 0.065 * t) / deviation
    discounted = k * xp.exp(-0.02 * t)
    return s * _normal(xp, d1) - discounted * _normal(xp, d1 - deviation)


def _stencil(xp: Any, field: Any, _w: Any, _h: Any, _: Any) -> Any:
    around = field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:]
    return xp.bordered(0.5 * field[1:-1, 1:-1] + 0.125 * around)


def _softmax(xp: Any, x: Any, _w: Any, _: Any) -> Any:
    powers = xp.exp(x - xp.amax(x, 1)[:, None])
    return powers / powers.sum(1)[:, None]


def _product(xp: Any, a: Any, b: Any, _n: Any, _: Any) -> Any:
    return xp.matmul(a, b)


FORMULAS: dict[str, Formula] = {
    "saxpy": lambda xp, a, x, y: a * x + y,
    "exp": lambda xp, x, _: xp.exp(x),
    "sin": lambda xp, x, _: xp.sin(x),
    "power": lambda xp, x, _: x**1.7,
    "gelu": lambda xp, x, _: 0.5 * x * (1.0 + xp.erf(x * 0.7071067811865476)),
    "tanh_gelu": lambda xp, x, _: (
        0.5 * x * (1.0 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    ),
    "black_scholes": _black_scholes,
    "logistic": lambda xp, x, _: 1.0 / (1.0 + xp.exp(-x)),
    "stencil": _stencil,
    "swapped": lambda xp, x, width, _: xp.flip(x.reshape(-1, 2, int(width)), (1,)).reshape(-1),
    "gather": lambda xp, x, places, _: x[places],
    "plane_sums": lambda xp, x, _: x.reshape(-1, 256).sum(1),
    "softmax": _softmax,
    "histogram": lambda xp, values, _: xp.counts(values),
    "product_1000": _product,
    "product_1023": _product,
    "product_1024": _product,
    "product_2048": _product,
    "product_turned": _product,
}


def _prepared(
    row: Row, name: str, take: Callable[[Any], Any], run: Callable[..., Any]
) -> Call | None:
    """A call of the row's formula on the library's own arrays, once its answer is right."""
    formula = FORMULAS.get(row.name)
    if formula is None:
        return None
    given = [take(each) for each in row.arguments()]
    call = functools.partial(run, formula, given)
    row.check_contracted(name, np.asarray(call()))
    return call


def _open_numpy(_threads: int) -> OpenPeer:
    xp = SimpleNamespace(
        **{name: getattr(np, name) for name in ("exp", "sin", "tanh", "sqrt", "log", "amax",
                                                "flip", "matmul")},
        erf=special.erf,
        bordered=lambda inner: np.pad(inner, 1),
        counts=lambda values: np.bincount(values, minlength=256),
    )  # fmt: skip

    def run(formula: Formula, given: list[Any]) -> Any:
        with np.errstate(all="ignore"):
            return formula(xp, *given)

    def take(each: Any) -> Any:
        return each

    return OpenPeer(
        version=np.__version__,
        prepare=functools.partial(_prepared, name="NumPy", take=take, run=run),
    )


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PeerUnavailable(f"{name} is not installed") from error


def _open_torch(threads: int) -> OpenPeer:
    torch = _imported("torch")
    torch.set_num_threads(threads)
    xp = SimpleNamespace(
        **{name: getattr(torch, name) for name in ("exp", "sin", "tanh", "sqrt", "log", "amax",
                                                   "flip", "matmul", "erf")},
        bordered=lambda inner: torch.nn.functional.pad(inner, (1, 1, 1, 1)),
        counts=lambda values: torch.bincount(values, minlength=256),
    )  # fmt: skip

    def take(each: Any) -> Any:
        return torch.from_numpy(each) if isinstance(each, np.ndarray) else each.item()

    def run(formula: Formula, given: list[Any]) -> Any:
        with torch.no_grad():
            return formula(xp, *given)

    return OpenPeer(
        version=torch.__version__,
        prepare=functools.partial(_prepared, name="PyTorch", take=take, run=run),
    )


def _open_jax(_threads: int) -> OpenPeer:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    jax, jnp = _imported("jax"), _imported("jax.numpy")
    xp = SimpleNamespace(
        **{name: getattr(jnp, name) for name in ("exp", "sin", "tanh", "sqrt", "log", "amax",
                                                 "flip", "matmul")},
        erf=jax.scipy.special.erf,
        bordered=lambda inner: jnp.pad(inner, 1),
        counts=lambda values: jnp.bincount(values, length=256),
    )  # fmt: skip

    @functools.cache
    def compiled(formula: Formula, scalars: tuple[tuple[int, Any], ...]) -> Any:
        def whole(*arrays: Any) -> Any:
            given = list(arrays)
            for place, scalar in scalars:
                given.insert(place, scalar)
            return formula(xp, *given)

        return jax.jit(whole)

    def run(formula: Formula, given: list[Any]) -> Any:
        scalars = tuple((n, each) for n, each in enumerate(given) if not hasattr(each, "devices"))
        arrays = [each for each in given if hasattr(each, "devices")]
        return compiled(formula, scalars)(*arrays).block_until_ready()

    def take(each: Any) -> Any:
        return jnp.asarray(each) if isinstance(each, np.ndarray) else each

    return OpenPeer(
        version=jax.__version__,
        prepare=functools.partial(_prepared, name="JAX", take=take, run=run),
    )


PEERS = (
    Peer(name="JAX", open=_open_jax),
    Peer(name="PyTorch", open=_open_torch),
    Peer(name="NumPy", open=_open_numpy),
)
