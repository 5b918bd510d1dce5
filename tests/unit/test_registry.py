"""Devices by name, and what an unavailable one says."""

import pytest

import cubepy as cb
from cubepy.errors import ConfigError, RuntimeUnavailable
from cubepy.runtime import Registry, Runtime, TargetedDevice, runtime_names
from tests.unit.runtime.fake import FakeDevice, FakeRuntime

FIRST, SECOND = FakeDevice(host_memory=True), FakeDevice(host_memory=False)


def missing() -> Runtime:
    raise ImportError("libfake.so.1: cannot open shared object file")


def silent() -> Runtime:
    return FakeRuntime()


@pytest.fixture
def registry() -> Registry:
    opened = {
        "opencl": lambda: FakeRuntime(FIRST, SECOND),
        "reference": lambda: FakeRuntime(FIRST),
        "absent": missing,
        "empty": silent,
    }
    return Registry(opened)


def test_the_first_device_needs_no_number(registry: Registry) -> None:
    assert registry.device("opencl") is FIRST
    assert registry.device("opencl:0") is FIRST
    assert registry.device("opencl:1") is SECOND
    assert registry.names == ("absent", "empty", "opencl", "reference")


def test_what_is_not_there_says_why(registry: Registry) -> None:
    with pytest.raises(RuntimeUnavailable, match="no runtime 'cuda': installed are absent, empty"):
        registry.device("cuda")
    with pytest.raises(RuntimeUnavailable, match="'absent' cannot be loaded: libfake"):
        registry.device("absent")
    with pytest.raises(RuntimeUnavailable, match=r"no device 'opencl:2'.* has 2 here"):
        registry.device("opencl:2")
    with pytest.raises(RuntimeUnavailable, match=r"no device 'opencl:-1'.* has 2 here"):
        registry.device("opencl:-1")
    with pytest.raises(RuntimeUnavailable, match=r"'opencl:x': .* have numbers, from opencl:0"):
        registry.device("opencl:x")
    with pytest.raises(RuntimeUnavailable, match="'empty' has no device"):
        registry.device("empty")
    with pytest.raises(RuntimeUnavailable, match="names are like"):
        registry.device("")


def test_a_target_may_be_asked_for(registry: Registry) -> None:
    wide = registry.device("reference:16+races=all")
    assert isinstance(wide, TargetedDevice)
    assert wide.target.features.plane_dim == 16
    assert wide.target.option("races") == "all"
    assert registry.device("reference:16+races=all") is wide
    assert wide.inner is FIRST
    options = registry.device("opencl:1+a=1+b=2")
    assert isinstance(options, TargetedDevice)
    assert options.inner is SECOND
    assert options.target.options == (("a", "1"), ("b", "2"))
    assert options.target.features == SECOND.target.features
    for wrong in ("x", "-1", "0", "9" * 5000):
        with pytest.raises(ConfigError, match=r"units of a plane\n  help: .*reference:8"):
            registry.device(f"reference:{wrong}")
    with pytest.raises(ConfigError, match="name=value"):
        registry.device("opencl+gang")


def test_the_default_can_be_set(registry: Registry) -> None:
    registry.set_default_device("opencl:1")
    assert registry.default_device() is SECOND
    registry.set_default_device(FIRST)
    assert registry.default_device() is FIRST


def test_installed_runtimes_are_found_by_entry_point() -> None:
    assert {"cpu", "reference"} <= set(runtime_names())


@pytest.mark.parametrize(
    ("asked", "called"), [("vulkan", "wgpu"), ("gpu", "opencl"), ("llvm", "cpu")]
)
def test_names_that_people_try_lead_to_the_runtime(asked: str, called: str) -> None:
    with pytest.raises(RuntimeUnavailable, match=f"no runtime '{asked}'(.|\n)*help: .*{called}"):
        cb.device(asked)
