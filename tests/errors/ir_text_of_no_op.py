# mypy: ignore-errors
from cubepy.ir import parse_kernel


def run():
    parse_kernel("kernel @k(%x: f32) cube_dim(1, 1, 1) {\n  %0: f32 = plus %x, %x\n}")
