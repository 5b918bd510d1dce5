"""What a runtime must pass, published: conformance cases, random kernels, comparison bit for bit.

Tests of cubepy and of third parties' runtimes are made of these. Needs the extra `test` (mpmath,
hypothesis).
"""

from cubepy.comparison import differences
from cubepy.testing.cases import (
    Case,
    Failure,
    check_case,
    compare_outputs,
    run_case,
    run_kernel,
)
from cubepy.testing.conformance import cases, cases_of, rows
from cubepy.testing.differential import Compiled, compare_on, run_on
from cubepy.testing.generator import Feature, GeneratedKernel, generate_kernel
from cubepy.testing.memory_module import module_of
from cubepy.testing.operands import operand_product, operand_table, representative
from cubepy.testing.reduction import reduce_kernel
from cubepy.testing.strategies import kernels
from cubepy.testing.suite import RuntimeSuite
from cubepy.testing.targets import cpu_targets, gang_of, reference_for, runs_here

__all__ = [
    "Case",
    "Compiled",
    "Failure",
    "Feature",
    "GeneratedKernel",
    "RuntimeSuite",
    "cases",
    "cases_of",
    "check_case",
    "compare_on",
    "compare_outputs",
    "cpu_targets",
    "differences",
    "gang_of",
    "generate_kernel",
    "kernels",
    "module_of",
    "operand_product",
    "operand_table",
    "reduce_kernel",
    "reference_for",
    "representative",
    "rows",
    "run_case",
    "run_kernel",
    "run_on",
    "runs_here",
]
