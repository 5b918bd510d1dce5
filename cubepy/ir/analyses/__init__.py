"""Analyses of a kernel's body that several stages live on: slot liveness, uniformity and
lane-affine shapes.
"""

from cubepy.ir.analyses.assumptions import (
    FLIPPED,
    Assumptions,
    Computable,
    Unbounded,
    find_assumptions,
    fits,
    subscripts,
)
from cubepy.ir.analyses.cooperation import analyze_cube, check_cooperation
from cubepy.ir.analyses.liveness import SlotLiveness, slot_liveness
from cubepy.ir.analyses.uniformity import (
    FOLLOWED,
    UNIFORM,
    VARYING,
    Shape,
    Uniformity,
    analyze_uniformity,
    join,
    part,
)

__all__ = [
    "FLIPPED",
    "FOLLOWED",
    "UNIFORM",
    "VARYING",
    "Assumptions",
    "Computable",
    "Shape",
    "SlotLiveness",
    "Unbounded",
    "Uniformity",
    "analyze_cube",
    "analyze_uniformity",
    "check_cooperation",
    "find_assumptions",
    "fits",
    "join",
    "part",
    "slot_liveness",
    "subscripts",
]
