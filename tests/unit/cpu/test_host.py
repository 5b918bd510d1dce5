"""Which processor this is, and how much of it may be used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cubepy_cpu import host
from cubepy_cpu.host import Machine, cgroup_quota, processor_count, supports

LINUX = sys.platform == "linux"


def test_host_can_run_what_is_made_for_it() -> None:
    assert supports(host.host())
    assert supports(Machine(triple=host.host().triple))


def test_other_architectures_cpus_and_features_are_not_supported() -> None:
    here = host.host()
    other = "aarch64" if here.architecture == "x86_64" else "x86_64"
    assert not supports(Machine(triple=f"{other}-unknown-linux-gnu"))
    assert not supports(Machine(triple=here.triple, cpu="some-future-cpu"))
    assert not supports(Machine(triple=here.triple, features="+feature-of-tomorrow"))


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="asks the kernel's list of features")
def test_levels_agree_with_what_the_kernel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = set(Path("/proc/cpuinfo").read_text().split())
    if "sse2" not in flags:
        pytest.skip("levels are those of x86-64")
    triple = host.host().triple
    v3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"} <= flags
    v4 = v3 and {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags
    assert supports(Machine(triple=triple, cpu="x86-64-v3")) == v3
    assert supports(Machine(triple=triple, cpu="x86-64-v4")) == v4
    lesser = Machine(
        triple=triple, cpu="x", features=host.host().features.replace("+avx,", "-avx,")
    )
    monkeypatch.setattr(host, "host", lambda: lesser)
    assert not supports(Machine(triple=triple, cpu="x86-64-v3"))


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity masks here")
def test_affinity_mask_is_respected() -> None:
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from cubepy_cpu.host import processor_count; print(processor_count())"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "1"


@pytest.mark.parametrize(
    ("files", "line", "quota"),
    [
        ({"a/b/cpu.max": "150000 100000"}, "0::/a/b", 1.5),
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "50000 100000"}, "0::/a/b", 0.5),
        ({"a/b/cpu.max": "400000 100000", "a/cpu.max": "200000 100000"}, "0::/a/b", 2.0),
        ({"a/b/cpu.max": "max 100000"}, "0::/a/b", None),
        ({"cpu.max": "300000 100000"}, "0::/", 3.0),
        ({"a/b/cpu.max": "rubbish"}, "0::/a/b", None),
        ({}, "0::/a/b", None),
        ({"cpu/g/cpu.cfs_quota_us": "250000", "cpu/g/cpu.cfs_period_us": "100000"},
         "3:cpu,cpuacct:/g", 2.5),
        ({"cpu/g/cpu.cfs_quota_us": "-1", "cpu/g/cpu.cfs_period_us": "100000"}, "3:cpu:/g", None),
        ({"cpu/g/cpu.cfs_quota_us": "100000", "cpu/g/cpu.cfs_period_us": "100000"},
         "3:memory:/g", None),
    ],
)  # fmt: skip
def test_cgroup_limits(
    files: dict[str, str], line: str, quota: float | None, tmp_path: Path
) -> None:
    for name, content in files.items():
        path = tmp_path / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    (tmp_path / "membership").write_text(f"9:pids:/x\n{line}\n")
    assert cgroup_quota(tmp_path / "membership", tmp_path / "cgroup") == quota


def test_a_part_of_a_processor_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "cgroup_quota", lambda: 0.2)
    assert processor_count() == 1
