"""Rows of the table written by hand in WGSL, for arithmetic that both languages have alike.

Numbers come in one uniform struct, arrays behind it in the order of the row's arguments. Long rows
are dispatched in two dimensions, for one takes 65,535 work-groups at most.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SHADERS", "Written"]

Triple = tuple[int, int, int]
_GROUP = 256
_ACROSS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A shader, and the work-groups it is dispatched in."""

    source: str
    groups: Triple


def _bindings(numbers: str, arrays: str) -> str:
    """`numbers` as fields; `arrays` as `name: type`, the written ones with a `*` in front."""
    lines = [
        f"struct Arguments {{ {numbers} }}",
        "@group(0) @binding(0) var<uniform> given: Arguments;",
    ]
    first = 1 if numbers else 0
    for number, each in enumerate(arrays.split(", "), first):
        access = "read_write" if each.startswith("*") else "read"
        name, element = each.lstrip("*").split(": ")
        lines.append(
            f"@group(0) @binding({number}) var<storage, {access}> {name}: array<{element}>;"
        )
    return "\n".join(lines if numbers else lines[2:])


def _line(arrays: str, length: int, body: str, *, numbers: str = "") -> Written:
    """One unit for each element of a line."""
    source = f"""{_bindings(numbers, arrays)}
@compute @workgroup_size({_GROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {{
    let i = id.y * groups.x * {_GROUP}u + id.x;
    {body}
}}"""
    wide = min(length // _GROUP, _ACROSS)
    return Written(source=source, groups=(wide, length // _GROUP // wide, 1))


def _plane(numbers: str, arrays: str, size: int, body: str) -> Written:
    """One unit for each element of a square."""
    source = f"""{_bindings(numbers, arrays)}
@compute @workgroup_size(64, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let x = i32(id.x);
    let y = i32(id.y);
    {body}
}}"""
    return Written(source=source, groups=(size // 64, size // 4, 1))


_LONG = 16 << 20
_BLOCK_SUM = f"""
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<workgroup> partial: array<f32, {_GROUP}>;
@compute @workgroup_size({_GROUP})
fn main(@builtin(local_invocation_index) unit: u32, @builtin(workgroup_id) group: vec3<u32>,
        @builtin(num_workgroups) groups: vec3<u32>) {{
    let block = group.y * groups.x + group.x;
    partial[unit] = x[block * {_GROUP}u + unit];
    workgroupBarrier();
    for (var half = {_GROUP}u / 2u; half > 0u; half /= 2u) {{
        if (unit < half) {{ partial[unit] += partial[unit + half]; }}
        workgroupBarrier();
    }}
    if (unit == 0u) {{ sums[block] = partial[0]; }}
}}"""
_TILED = f"""{_bindings("n: u32", "a: f32, b: f32, *c: f32")}
var<workgroup> tile_a: array<array<f32, 16>, 16>;
var<workgroup> tile_b: array<array<f32, 16>, 16>;
@compute @workgroup_size(16, 16)
fn main(@builtin(local_invocation_id) unit: vec3<u32>,
        @builtin(global_invocation_id) id: vec3<u32>) {{
    var total = 0.0;
    for (var start = 0u; start < given.n; start += 16u) {{
        tile_a[unit.y][unit.x] = a[id.y * given.n + start + unit.x];
        tile_b[unit.y][unit.x] = b[(start + unit.y) * given.n + id.x];
        workgroupBarrier();
        for (var k = 0u; k < 16u; k++) {{ total += tile_a[unit.y][k] * tile_b[k][unit.x]; }}
        workgroupBarrier();
    }}
    c[id.y * given.n + id.x] = total;
}}"""

SHADERS = {
    "saxpy": _line(
        "x: f32, *y: f32", _LONG,
        "if (i < arrayLength(&y)) { y[i] = given.a * x[i] + y[i]; }", numbers="a: f32",
    ),
    "hashes": _line(
        "x: u32, *out: u32", _LONG,
        """if (i >= arrayLength(&out)) { return; }
    var h = x[i];
    for (var k = 0; k < 2; k++) {
        h ^= h >> 16u;
        h *= 0x85EBCA6Bu;
        h ^= h >> 13u;
        h *= 0xC2B2AE35u;
        h ^= h >> 16u;
    }
    out[i] = h;""",
    ),
    "roots": _line(
        "x: f32, *out: f32", _LONG,
        """if (i >= arrayLength(&out)) { return; }
    let v = x[i];
    if (v <= 0.0) {
        out[i] = 0.0;
        return;
    }
    var guess = v;
    for (var k = 0; k < 20; k++) {
        let better = 0.5 * (guess + v / guess);
        if (abs(better - guess) <= 1e-6 * better) { break; }
        guess = better;
    }
    out[i] = guess;""",
    ),
    "mandelbrot": _plane(
        "left: f32, top: f32, step: f32, limit: i32, width: i32", "*counts: i32", 2048,
        """let cx = given.left + given.step * f32(x);
    let cy = given.top + given.step * f32(y);
    var zx = 0.0;
    var zy = 0.0;
    var n = 0;
    while (n < given.limit) {
        let xx = zx * zx;
        let yy = zy * zy;
        if (xx + yy > 4.0) { break; }
        zy = 2.0 * zx * zy + cy;
        zx = xx - yy + cx;
        n++;
    }
    counts[y * given.width + x] = n;""",
    ),
    "n_body": _line(
        "x: f32, y: f32, z: f32, *pull: f32", 8192,
        """if (i >= given.n) { return; }
    let own = vec3(x[i], y[i], z[i]);
    var pulled = vec3(0.0);
    for (var j = 0u; j < given.n; j++) {
        let apart = vec3(x[j], y[j], z[j]) - own;
        let near = 1.0 / sqrt(dot(apart, apart) + 1e-3);
        pulled += apart * (near * near * near);
    }
    pull[i] = pulled.x;
    pull[given.n + i] = pulled.y;
    pull[2u * given.n + i] = pulled.z;""",
        numbers="n: u32",
    ),
    "stencil": _plane(
        "width: i32, height: i32", "field: f32, *out: f32", 4096,
        """if (0 < y && y < given.height - 1 && 0 < x && x < given.width - 1) {
        let at = y * given.width + x;
        let around = field[at - given.width] + field[at + given.width] + field[at - 1]
            + field[at + 1];
        out[at] = 0.5 * field[at] + 0.125 * around;
    }""",
    ),
    "clamped": _plane(
        "width: i32, height: i32", "field: f32, *out: f32", 4096,
        """if (y >= given.height || x >= given.width) { return; }
    var total = 0.0;
    for (var dy = -1; dy < 2; dy++) {
        for (var dx = -1; dx < 2; dx++) {
            let row = clamp(y + dy, 0, given.height - 1);
            total += field[row * given.width + clamp(x + dx, 0, given.width - 1)];
        }
    }
    out[y * given.width + x] = total / 9.0;""",
    ),
    "swapped": _line(
        "x: f32, *out: f32", _LONG,
        """if (i >= arrayLength(&out)) { return; }
    let row = i / given.width;
    let column = i % given.width;
    out[i] = x[(row ^ 1u) * given.width + column];""",
        numbers="width: u32",
    ),
    "gather": _line(
        "x: f32, places: i32, *out: f32", _LONG,
        "if (i < arrayLength(&out)) { out[i] = x[places[i]]; }",
    ),
    "block_sum": Written(source=_BLOCK_SUM, groups=(_ACROSS, _LONG // _GROUP // _ACROSS, 1)),
    "naive_matmul": _plane(
        "n: i32", "a: f32, b: f32, *c: f32", 1024,
        """var total = 0.0;
    for (var k = 0; k < given.n; k++) { total += a[y * given.n + k] * b[k * given.n + x]; }
    c[y * given.n + x] = total;""",
    ),
    "tiled_matmul": Written(source=_TILED, groups=(64, 64, 1)),
}  # fmt: skip
