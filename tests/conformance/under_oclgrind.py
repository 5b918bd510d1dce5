"""Run by `test_oclgrind.py` where oclgrind is the only OpenCL driver: rows of the op table.

`python -m tests.conformance.under_oclgrind ROW …` fails with what a row's cases got wrong; the name
`racing` runs a kernel with a race. What oclgrind has to say goes to the file that its own variable
names.
"""

import sys

import numpy as np

from cubepy.ir import parse_kernel
from cubepy.runtime import device
from cubepy.testing import cases_of, check_case, run_kernel

#: Cases of a row that run: the simulator is thorough, and slow.
SHARE = 3

_RACING = """
kernel @racing(%y: global<i32, [1], unknown, 0>, %v: i32) cube_dim(8, 1, 1) {
  %zero: index = const 0
  %i: index = unit_pos
  %n: i32 = cast %i [to=i32]
  store %y, %zero, %n [check=checked]
}
"""


def main(names: list[str]) -> str:
    """What went wrong, "" if nothing did."""
    machine = device("opencl")
    failures = []
    for name in names:
        if name == "racing":
            run_kernel(parse_kernel(_RACING), machine, {"y": np.zeros(8, np.int32), "v": 0})
            continue
        cases = list(cases_of(name, machine.target.features.plane_dim))
        for case in cases[:: max(1, len(cases) // SHARE)][:SHARE]:
            failures += check_case(case, machine)
    return "\n".join(map(str, failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or 0)
