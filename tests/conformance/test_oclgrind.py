"""oclgrind watches generated OpenCL C: no data race, no access outside, nothing undefined.

It simulates a device, work-item by work-item (Debian: `oclgrind`). Rows that touch memory or other
units run under it, and a kernel with a race, which it must find.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.opencl_devices import LEFT_OUT

DRIVER = Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so")
ROOT = Path(__file__).parents[2]
GROUPS = {
    "memory": ("load", "store", "shared", "local_array", "length", "stride"),
    "control": ("if", "for", "while", "break", "continue", "return", "call"),
    "cooperation": ("sync_cube", "cube_uniform", "atomic_add", "atomic_min", "atomic_xor"),
    "positions": ("absolute_pos", "unit_pos_y", "cube_pos"),
    "values": ("floor_div", "shl", "cast", "min", "fma", "pow_integer"),
}

pytestmark = pytest.mark.skipif(
    LEFT_OUT or not DRIVER.exists(), reason="wants oclgrind, and not CUBEPY_TEST_OPENCL=0"
)


def said_of(names: tuple[str, ...], folder: Path) -> str:
    """What oclgrind writes while these run."""
    vendors, log = folder / "vendors", folder / "log"
    vendors.mkdir()
    (vendors / "oclgrind.icd").write_text(f"{DRIVER}\n", encoding="utf-8")
    environment = {
        **os.environ,
        "OCL_ICD_VENDORS": str(vendors),
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_LOG": str(log),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "runtimes"))),
    }
    command = [sys.executable, "-W", "ignore", "-m", "tests.conformance.under_oclgrind", *names]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return log.read_text(encoding="utf-8") if log.exists() else ""


@pytest.mark.parametrize("group", GROUPS)
def test_generated_code_has_no_race_and_no_stray_access(group: str, tmp_path: Path) -> None:
    assert said_of(GROUPS[group], tmp_path).strip() == ""


def test_a_race_is_found(tmp_path: Path) -> None:
    assert "Write-write data race" in said_of(("racing",), tmp_path)
