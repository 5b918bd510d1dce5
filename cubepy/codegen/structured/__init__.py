"""What C-like targets share: the walk from structured IR to readable source text.

A target says how its types, literals, statements and ops are written (:class:`Language`); the walk
(:class:`Body`) decides what gets a name, keeps control flow structured, and maps lines back.
"""

from cubepy.codegen.structured.body import Body
from cubepy.codegen.structured.expression import (
    Binding,
    Expression,
    binary,
    call,
    primary,
    unary,
)
from cubepy.codegen.structured.fields import field_of
from cubepy.codegen.structured.language import Language
from cubepy.codegen.structured.names import HELPER, Names, identifier
from cubepy.codegen.structured.purity import pure_functions
from cubepy.codegen.structured.refusals import need_feature, refuse_types, unsupported
from cubepy.codegen.structured.writer import SourceWriter

__all__ = [
    "HELPER",
    "Binding",
    "Body",
    "Expression",
    "Language",
    "Names",
    "SourceWriter",
    "binary",
    "call",
    "field_of",
    "identifier",
    "need_feature",
    "primary",
    "pure_functions",
    "refuse_types",
    "unary",
    "unsupported",
]
