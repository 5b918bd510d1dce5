"""What C-like targets share: the walk from structured IR to readable source text.

A target says how its types, literals, statements and ops are written (:class:`Language`); the walk
(:class:`Body`) decides what gets a name, keeps control flow structured, and maps lines back.
"""

from cubepy.codegen.structured.accesses import buffer_sizes, place_at, tests_of
from cubepy.codegen.structured.body import Body
from cubepy.codegen.structured.divisors import shift_of_floored
from cubepy.codegen.structured.expression import (
    Binding,
    Expression,
    binary,
    call,
    primary,
    unary,
)
from cubepy.codegen.structured.fields import field_of, name_parameters
from cubepy.codegen.structured.kernel_language import KernelLanguage
from cubepy.codegen.structured.language import Language
from cubepy.codegen.structured.names import HELPER, Names, identifier
from cubepy.codegen.structured.notes import BY_EXCHANGE
from cubepy.codegen.structured.positions import Positions, number
from cubepy.codegen.structured.purity import pure_functions
from cubepy.codegen.structured.refusals import (
    need_feature,
    refuse_shared,
    refuse_types,
    unsupported,
)
from cubepy.codegen.structured.uses import used_in_loops
from cubepy.codegen.structured.writer import SourceWriter

__all__ = [
    "BY_EXCHANGE",
    "HELPER",
    "Binding",
    "Body",
    "Expression",
    "KernelLanguage",
    "Language",
    "Names",
    "Positions",
    "SourceWriter",
    "binary",
    "buffer_sizes",
    "call",
    "field_of",
    "identifier",
    "name_parameters",
    "need_feature",
    "number",
    "place_at",
    "primary",
    "pure_functions",
    "refuse_shared",
    "refuse_types",
    "shift_of_floored",
    "tests_of",
    "unary",
    "unsupported",
    "used_in_loops",
]
