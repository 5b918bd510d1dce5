"""Structs in kernels against the same classes in Python, on every runtime and gang width."""

# mypy: disable-error-code="arg-type, misc"

import dataclasses
import sys
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, f64, i32, u8
from cubepy.errors import ArgumentError, CubeTypeError, LaunchError

F = TypeVar("F", bound=cb.Float)
DEVICES = ("reference", "cpu", "cpu:x86-64-v2+gang=4", "cpu:x86-64-v3+gang=16")
every_device = pytest.mark.parametrize("target", DEVICES)


@cb.struct
class Point:
    x: f32
    y: f32 = f32(2.0)

    SCALE = 3.0

    def squared(self) -> Any:
        return self.x * self.x + self.y * self.y

    @property
    def mirrored(self) -> "Point":
        return Point(-self.x, self.y)

    @classmethod
    def unit(cls) -> Any:
        return cls(f32(1.0), f32(0.0))

    @staticmethod
    def middle(a: Any, b: Any) -> "Point":
        return Point((a.x + b.x) * 0.5, (a.y + b.y) * 0.5)

    def __add__(self, other: Any) -> "Point":
        return Point(self.x + other.x, self.y + other.y)

    def __neg__(self) -> "Point":
        return Point(-self.x, -self.y)

    def __rmul__(self, factor: Any) -> "Point":
        return Point(factor * self.x, factor * self.y)

    def __lt__(self, other: Any) -> Any:
        return self.x < other.x

    def __getitem__(self, at: Any) -> Any:
        return (self.x, self.y)[at]

    def __call__(self, t: Any) -> Any:
        return self.x * t + self.y


@cb.struct
@dataclass(frozen=True)
class Line:
    start: Point
    end: Point
    tags: tuple[i32, u8] = (i32(4), u8(5))

    def along(self, t: Any) -> Any:
        """An early return, so that the result comes through slots."""
        if t < 0.0:
            return self.start
        return t * self.end + (1.0 - t) * self.start


@cb.struct
class Complex(Generic[F]):
    re: F
    im: F

    def __mul__(self, other: Any) -> Any:
        re = self.re * other.re - self.im * other.im
        return Complex(re, self.re * other.im + self.im * other.re)

    def halved(self) -> Any:
        return Complex(self.re * cb.cast(F, 0.5), self.im * cb.cast(F, 0.5))


def normal(size: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def everything(x: Any, y: Any, out: Any, i: Any) -> None:
    """What the kernel and Python do with structs of points, in the same words."""
    p = Point(x[i], y[i])
    line = Line(p, end=Point.unit())
    out[0, i] = p.squared() + p.mirrored.x
    out[1, i] = line.along(x[i]).x + line.along(y[i])[1]
    q = Point(f32(0.0), f32(0.0))
    for k in range(3):
        if x[i] > 0.0:
            if k > 1:
                continue
            q = q + Point(x[i]) if k > 0 else -q
        else:
            q = 2.0 * q + p
    out[2, i] = q.x * p.SCALE - q.y
    line = dataclasses.replace(line, start=Point.middle(p, q))
    out[3, i] = line.start.x + f32(line.tags[0]) + f32(line.tags[1])
    other = line if p < q else Line(q, q)
    out[4, i] = f32(other == line) + 2.0 * f32(other.start != other.end) + f32(q > p)
    out[5, i] = p(x[i]) + abs(Point.unit()(y[i]))


@cb.cube
def everything_kernel(x: Array[f32], y: Array[f32], out: cb.Tensor[f32]) -> None:
    i = cb.ABSOLUTE_POS
    everything(x, y, out, i)


@every_device
def test_fields_methods_and_operators(target: str) -> None:
    x, y = normal(77), normal(77, seed=2)
    got, expected = np.zeros((6, 77), np.float32), np.zeros((6, 77), np.float32)
    everything_kernel.over(77, device=target)(x, y, got)
    for i in range(77):
        everything(x, y, expected, i)
    np.testing.assert_array_equal(got, expected)


@every_device
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_generic_struct_has_the_type_of_its_fields(target: str, dtype: Any) -> None:
    @cb.cube
    def power(re: Array[F], im: Array[F], out_re: Array[F], out_im: Array[F], n: i32) -> None:
        i = cb.ABSOLUTE_POS
        z = Complex(re[i], im[i])
        product: Complex[F] = Complex[F](1.0, 0.0)
        for _ in range(n):
            product = (product * z).halved()
        out_re[i], out_im[i] = product.re, product.im

    re, im = normal(33).astype(dtype), normal(33, seed=2).astype(dtype)
    out_re, out_im = np.zeros_like(re), np.zeros_like(im)
    power.over(33, device=target)(re, im, out_re, out_im, 3)
    a, b, half = np.ones_like(re), np.zeros_like(im), dtype(0.5)
    for _ in range(3):
        a, b = (a * re - b * im) * half, (a * im + b * re) * half
    np.testing.assert_array_equal(out_re, a)
    np.testing.assert_array_equal(out_im, b)


# ── classes chosen while compiling ───────────────────────────────────────────────────────────────


@cb.struct
class Relu:
    slope: f32

    def __call__(self, v: Any) -> Any:
        return v if v > 0.0 else v * self.slope

    @staticmethod
    def of(v: Any) -> Any:
        return max(v, 0.0)


class Leaky(Relu):
    """Derived from a struct, with no decorator of its own."""

    @staticmethod
    def of(v: Any) -> Any:
        return max(v, 0.125 * v)


@cb.struct
class Shifted(Relu):
    shift: f32 = f32(1.0)

    def __call__(self, v: Any) -> Any:
        return super_call(self, v + self.shift)


def super_call(relu: Any, v: Any) -> Any:
    return Relu(relu.slope)(v)


@every_device
def test_class_and_struct_as_comptime_arguments(target: str) -> None:
    @cb.cube
    def apply(x: Array[f32], kind: Comptime[type], by: Comptime[object], out: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        out[i] = kind.of(x[i]) + by(x[i])  # type: ignore[attr-defined, operator]

    x, out = normal(20), np.zeros(20, np.float32)
    for kind in (Relu, Leaky):
        for by in (Relu(f32(0.25)), Leaky(f32(0.5)), Shifted(f32(0.5), f32(0.25))):
            apply.over(20, device=target)(x, kind, by, out)
            np.testing.assert_array_equal(out, [kind.of(v) + by(v) for v in x])


@every_device
def test_derived_struct_goes_where_its_base_goes(target: str) -> None:
    def slope_of(relu: Relu) -> Any:
        return relu.slope

    @cb.cube
    def kernel(x: Array[f32], out: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        made = Shifted(x[i], shift=f32(2.0))
        out[i] = slope_of(made) + made.shift + made(x[i])

    x, out = normal(9), np.zeros(9, np.float32)
    kernel.over(9, device=target)(x, out)
    np.testing.assert_array_equal(out, [v + f32(2) + Shifted(v, f32(2))(v) for v in x])


@every_device
def test_the_class_of_a_struct_is_known(target: str) -> None:
    def weight(kind: Any) -> Any:
        if isinstance(kind, Shifted):
            return kind.shift
        return -1.0 if isinstance(kind, (Point, Leaky)) else kind.slope

    @cb.cube
    def kernel(x: Array[f32], out: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        total = 0.0
        for kind in (Relu(x[i]), Shifted(x[i], f32(3.0)), Leaky(x[i]), Point(x[i])):
            total += weight(kind)
        out[i] = total

    x, out = normal(5), np.zeros(5, np.float32)
    kernel.over(5, device=target)(x, out)
    np.testing.assert_array_equal(out, x + np.float32(3) - 1 - 1)


# ── fields ───────────────────────────────────────────────────────────────────────────────────────


@cb.struct
class Mixed:
    flag: bool
    count: int
    ratio: float
    free: Any
    wide: f64 = f64(0.1)
    names: tuple[str, ...] = field(default_factory=lambda: ("a", "b"), kw_only=True)


def test_fields_take_their_types_and_defaults() -> None:
    @cb.cube
    def kernel(x: Array[f32], out: Array[f64], sizes: Array[i32]) -> None:
        m = Mixed(x[0] > 0.0, 3, x[0], x[1])
        out[0] = m.wide * m.ratio
        out[1] = m.free
        sizes[0] = i32(m.count) + len(m.names)
        cb.static_assert(m.names[1] == "b", "the default")
        k = Mixed(count=m.count, flag=not m.flag, free=(x[0], x[1]), ratio=2, names=("c",))
        sizes[1] = i32(k.flag) + len(k.free) + len(k.names)
        k = dataclasses.replace(k, count=k.count * 5)
        sizes[2] = i32(k.count)
        cb.static_assert(cb.comptime(Mixed(True, 2, 0.5, 1).count) == 2)

    x, out, sizes = np.array([3, 7], np.float32), np.zeros(2), np.zeros(3, np.int32)
    kernel.over(1, device="reference")(x, out, sizes)
    assert out.tolist() == [0.1 * 3, 7]
    assert sizes.tolist() == [5, 3, 15]


class Named(NamedTuple):
    low: Any
    high: Any

    @property
    def width(self) -> Any:
        return self.high - self.low

    def clamped(self, v: Any) -> Any:
        return min(max(v, self.low), self.high)


def test_named_tuples_have_methods_too() -> None:
    @cb.cube
    def kernel(x: Array[f32]) -> None:
        span = Named(x[0], x[1])
        x[2] = span.width + span.clamped(x[2])

    x = np.array([1, 4, 9], np.float32)
    kernel.over(1, device="reference")(x)
    assert x[2] == 3 + 4


FACTOR: Any = 2.0


@cb.struct
class Scaled:
    value: f32

    def result(self) -> Any:
        return self.value * FACTOR


@cb.struct
class Holder:
    inner: Scaled


def test_what_methods_read_outside_is_part_of_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    @cb.cube
    def built(x: Array[f32]) -> None:
        x[1] = Scaled(x[0]).result()

    @cb.cube
    def given(x: Array[f32], holder: Holder) -> None:
        x[1] = holder.inner.result()

    for factor in (2.0, 5.0):
        monkeypatch.setattr(sys.modules[__name__], "FACTOR", factor)
        x = np.array([3, 0], np.float32)
        built.over(1, device="reference")(x)
        assert x[1] == 3 * factor
        given.over(1, device="reference")(x, Holder(Scaled(f32(4))))
        assert x[1] == 4 * factor


# ── arguments of kernels ─────────────────────────────────────────────────────────────────────────


@cb.struct
class Camera(Generic[F]):
    position: Point
    zoom: F
    table: Array[F]
    mode: Comptime[int]
    size: tuple[i32, u8]


STILL = Point(f32(0))


@cb.cube
def shoot(camera: Camera[f32], out: Array[f32], shift: Point = STILL) -> None:
    i = cb.ABSOLUTE_POS
    moved = camera.position + shift
    width, height = camera.size
    if camera.mode == 2:
        out[i] = f32(width * height) + shift.y
    else:
        out[i] = moved.x + camera.zoom * camera.table[i] + moved.y


def camera(mode: int = 1, **fields: Any) -> Any:
    made = Camera(Point(f32(1), f32(2)), f32(0.5), np.arange(9, dtype=np.float32), mode, (3, 4))
    return dataclasses.replace(made, **fields)


@every_device
def test_structs_are_arguments(target: str) -> None:
    out = np.zeros(9, np.float32)
    launch = shoot.over(9, device=target)
    table = np.arange(9, dtype=np.float32)
    for zoom in (0.5, -3.0):
        launch(camera(zoom=zoom), out)
        np.testing.assert_array_equal(out, 5 + np.float32(zoom) * table)
    launch(camera(2), out, shift=Point(1, 7))
    assert (out == 19).all()
    launch(camera(table=table[::-1]), out, Point(10, 0))
    np.testing.assert_array_equal(out, 13 + np.float32(0.5) * table[::-1])
    prepared = launch.prepare(camera(), out)
    prepared(camera(position=Point(f32(100), f32(0))), out)
    np.testing.assert_array_equal(out, 102 + np.float32(0.5) * table)
    with pytest.raises(ArgumentError, match="prepared for arguments of other types"):
        prepared(camera(2), out)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"position": (1, 2)}, "argument 'camera.position': expected Point, got tuple"),
        ({"size": (1, 2, 3)}, "argument 'camera.size': expected 2 values, got 3 values"),
        ({"size": 5}, "argument 'camera.size': expected 2 values, got int"),
        ({"size": (3, 256)}, r"argument 'camera.size._1': 256 does not fit u8 \(0 to 255\)"),
        ({"position": Point("a")}, "argument 'camera.position.x': expected f32, got str"),
        ({"table": np.zeros(9)}, "argument 'camera.table': expected an array of f32, got f64"),
        ({"mode": []}, "argument 'camera.mode' is comptime and cannot be hashed"),
    ],
)
def test_wrong_arguments(change: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        shoot.over(9)(camera(**change), np.zeros(9, np.float32))
    with pytest.raises(ArgumentError, match="argument 'camera': expected Camera, got int"):
        shoot.over(9)(3, np.zeros(9, np.float32))


def test_arrays_of_structs_may_overlap_and_must_be_writable() -> None:
    @cb.struct
    class Pair:
        source: Array[f32]
        target: Array[f32]

    @cb.cube
    def kernel(pair: Pair) -> None:
        i = cb.ABSOLUTE_POS
        pair.target[i] = pair.source[i] + 1.0

    x = np.arange(8, dtype=np.float32)
    kernel.over(8)(Pair(x, x))
    np.testing.assert_array_equal(x, np.arange(1, 9))
    x.flags.writeable = False
    with pytest.raises(LaunchError, match=r"argument 'pair.target' is written by the kernel"):
        kernel.over(8)(Pair(np.zeros(8, np.float32), x))


@every_device
def test_structs_without_fields(target: str) -> None:
    @cb.struct
    class Nothing:
        def one(self) -> Any:
            return 1.0

    @cb.cube
    def kernel(nothing: Nothing, x: Array[f32]) -> None:
        made = Nothing()
        for _ in range(2):
            made = nothing if x[cb.ABSOLUTE_POS] > 0.0 else made
        x[cb.ABSOLUTE_POS] = made.one() + f32(made == nothing) * 2.0

    x = np.zeros(4, np.float32)
    kernel.over(4, device=target)(Nothing(), x)
    assert (x == 3).all()


# ── classes that are no structs ──────────────────────────────────────────────────────────────────


def test_dataclass_that_changes_is_refused() -> None:
    with pytest.raises(CubeTypeError, match="the dataclass Loose is not frozen"):

        @cb.struct
        @dataclass
        class Loose:
            x: f32


def test_classes_with_their_own_way_of_being_made_are_refused() -> None:
    with pytest.raises(CubeTypeError, match="the struct Late has __post_init__"):

        @cb.struct
        class Late:
            x: f32

            def __post_init__(self) -> None: ...

    with pytest.raises(CubeTypeError, match="the field y of struct Half is not given"):

        @cb.struct
        class Half:
            x: f32
            y: f32 = field(init=False, default=f32(0))

    with pytest.raises(CubeTypeError, match="the struct Made has __init__"):

        @cb.struct
        class Made:
            x: f32

            def __init__(self, x: Any) -> None: ...


def test_only_classes_are_decorated() -> None:
    with pytest.raises(CubeTypeError, match="stands above a class, not 3"):
        cb.struct(3)


def test_mistakes_of_a_class_stand_at_the_class() -> None:
    with pytest.raises(CubeTypeError, match="non-default argument 'y' follows") as caught:

        @cb.struct
        class Wrong:
            x: f32 = f32(1)
            y: f32

    assert caught.value.loc.file == __file__


@pytest.mark.parametrize("known", [cb.f32, int, np.ndarray, cb.Buffer])
def test_classes_that_are_not_the_users_are_left_alone(known: type) -> None:
    with pytest.raises(CubeTypeError, match="a class of yours"):
        cb.struct(known)
