"""The runtime `reference`: memory, loading of printed IR, launches, options of the target."""

from __future__ import annotations

import numpy as np
import pytest

from cubepy.codegen.reference import emit_reference
from cubepy.errors import BackendError, ConfigError, DataRaceError, OutOfBoundsError
from cubepy.interp import ReferenceDevice, Reports, runtime
from cubepy.ir import F32, Access, parse_kernel
from cubepy.runtime import ArrayBinding, Grid, LoadedKernel, ScalarBinding, launch
from cubepy.target import Target

SAXPY = """
kernel @saxpy(%x: global<f32, [1], read, 0>, %y: global<f32, [1], read_write, 1>, %a: f32)
    cube_dim(4, 1, 1) {
  %i: index = absolute_pos !0
  %v: f32 = load %x, %i [check=CHECK] !0
  %w: f32 = load %y, %i [check=checked] !0
  %r: f32 = fma %a, %v, %w !0
  store %y, %i, %r [check=checked] !0
}
!0 = "saxpy.py" 3:4-3:20
"""
NEIGHBOUR = """
kernel @next(%x: global<f32, [1], read_write, 0>) cube_dim(4, 1, 1) {
  %i: index = absolute_pos
  %d: index = plane_dim
  %j: index = add %i, %d
  %v: f32 = load %x, %j [check=checked]
  store %x, %i, %v [check=checked]
}
"""


def loaded(text: str, target: str = "reference", check: str = "checked") -> LoadedKernel:
    kernel = parse_kernel(text.replace("CHECK", check))
    return device().load(emit_reference(kernel, Target.parse(target)))


def device() -> ReferenceDevice:
    found = runtime().devices()[0]
    assert isinstance(found, ReferenceDevice)
    return found


def grid(cubes: int) -> Grid:
    return Grid(cube_count=(cubes, 1, 1), extent=(4 * cubes, 1, 1))


def test_artifact_is_the_printed_kernel_with_its_places() -> None:
    artifact = loaded(SAXPY).artifact
    assert artifact.entry == artifact.kernel_name == "saxpy"
    assert artifact.access == (Access.READ, Access.READ_WRITE, Access.READ)
    assert artifact.cube_dim == (4, 1, 1)
    assert artifact.abi.names == ("x", "y", "a")
    assert '!0 = "saxpy.py" 3:4-3:20' in artifact.text


def test_launch_works_on_host_arrays_in_place() -> None:
    x, y = np.arange(10, dtype=np.float32), np.ones(30, dtype=np.float32)
    launch(device(), loaded(SAXPY), grid(3), [x, y[::3], 2.0])
    assert y[::3].tolist() == (2 * x + 1).tolist()
    assert y[1::3].tolist() == [1.0] * 10


def test_launch_works_on_buffers() -> None:
    where = device()
    x, y = where.array(np.arange(8, dtype=np.float32)), where.array(np.ones(8, dtype=np.float32))
    where_name, kernel = where.name, loaded(SAXPY)
    where.launch(
        kernel,
        grid(2),
        [
            ArrayBinding(memory=b.memory, element=F32, offset=0, shape=(8,), strides=(1,))
            for b in (x, y)
        ]
        + [ScalarBinding(element=F32, value=0.5)],
    )
    assert y.numpy().tolist() == [1 + 0.5 * i for i in range(8)]
    assert where_name == "reference"
    where.sync()


def test_memory_is_aligned_and_keeps_what_is_written() -> None:
    where = device()
    for size in (0, 1, 100):
        memory = where.alloc(size)
        assert memory.address % 64 == 0
        data = np.arange(size, dtype=np.uint8)
        where.write(memory, data)
        back = np.zeros(size, dtype=np.uint8)
        where.read(memory, back)
        assert back.tolist() == data.tolist()


def test_a_grid_without_cubes_does_nothing() -> None:
    x = np.ones(4, dtype=np.float32)
    where = device()
    where.launch(loaded(NEIGHBOUR), Grid(cube_count=(0, 1, 1), extent=(0, 1, 1)), [])
    assert x.tolist() == [1.0] * 4


def test_plane_size_comes_from_the_target() -> None:
    for machine, plane in (("reference", 4), ("reference:16", 16), ("reference:1", 1)):
        x = np.arange(40, dtype=np.float32)
        launch(device(), loaded(NEIGHBOUR, f"{machine}+races=shared"), grid(1), [x])
        assert x[:4].tolist() == [i + plane for i in range(4)]


def test_options_of_the_target_choose_the_reports() -> None:
    x = np.arange(40, dtype=np.float32)
    launch(device(), loaded(NEIGHBOUR, "reference+races=shared"), grid(2), [x])
    with pytest.raises(DataRaceError):
        launch(device(), loaded(NEIGHBOUR, "reference"), grid(2), [x])
    assert Reports.of(Target.parse("reference+races=none+unwritten=off+barriers=off")) == Reports(
        races="none", unwritten=False, barriers=False
    )
    with pytest.raises(ConfigError, match="races is one of none, shared, all"):
        launch(device(), loaded(NEIGHBOUR, "reference+races=some"), grid(2), [x])


def test_faults_carry_the_place_through_the_printed_text() -> None:
    x, y = np.zeros(3, dtype=np.float32), np.zeros(4, dtype=np.float32)
    with pytest.raises(OutOfBoundsError) as caught:
        launch(device(), loaded(SAXPY, check="validate"), grid(1), [x, y, 1.0])
    assert (caught.value.loc.file, caught.value.loc.line) == ("saxpy.py", 3)


def test_text_that_does_not_parse_is_a_backend_error() -> None:
    artifact = loaded(SAXPY).artifact
    broken = type(artifact)(
        target=artifact.target,
        kernel_name="saxpy",
        entry="saxpy",
        text="kernel saxpy",
        abi=artifact.abi,
        cube_dim=(1, 1, 1),
        access=artifact.access,
    )
    with pytest.raises(BackendError, match="saxpy: IR does not parse"):
        device().load(broken)
