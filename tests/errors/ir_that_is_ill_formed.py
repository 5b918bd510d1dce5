# mypy: ignore-errors
from cubepy.ir import parse_kernel, verify


def run():
    verify(parse_kernel("kernel @k(%x: f32) cube_dim(1, 1, 1) {\n  %0: i32 = add %x, %x\n}"))
