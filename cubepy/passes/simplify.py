"""Before::

    kernel @k(%x: global<i32, [1], unknown, 0>, %n: i32) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: i32 = const 3
      %1: i32 = const 4
      %2: i32 = mul %0, %1
      %3: i32 = add %n, %2
      %4: i32 = sub %3, %0
      %5: bool = lt %0, %1
      if %5 {
        store %x, %i, %4 [check=checked]
      } else {
        store %x, %i, %0 [check=checked]
      }
    }

After::

    kernel @k(%x: global<i32, [1], unknown, 0>, %n: i32) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %0: i32 = const 3
      %1: i32 = const 4
      %2: i32 = const 12
      %3: i32 = add %n, %2
      %4: i32 = const 9
      %5: i32 = add %n, %4
      %6: bool = const true
      store %x, %i, %5 [check=checked]
    }

Constants are folded by the op table's own meaning, integer and boolean identities applied, control
flow decided where its condition is known. Nothing is rewritten that could change a float.
"""

from __future__ import annotations

from cubepy.ir import Kernel, Op, OpDef, Rewriter, Rule, rewrite
from cubepy.passes.context import PassContext
from cubepy.passes.control_rules import CONTROL_RULES
from cubepy.passes.fold_constants import FOLDABLE, fold
from cubepy.passes.integer_rules import INTEGER_RULES
from cubepy.passes.logic_rules import LOGIC_RULES

__all__ = ["SIMPLIFICATIONS", "simplify"]


def simplify(kernel: Kernel, context: PassContext) -> Kernel:
    """Fold and simplify every op once; operands come first, so one walk does."""
    return rewrite(kernel, SIMPLIFICATIONS)


def _folded_first(rule: Rule) -> Rule:
    def run(op: Op, rewriter: Rewriter) -> Op | None:
        folded = fold(op, rewriter)
        return rule(op, rewriter) if folded is op else folded

    return run


def _rules() -> dict[OpDef, Rule]:
    rules: dict[OpDef, Rule] = dict.fromkeys(FOLDABLE, fold)
    for opdef, rule in {**INTEGER_RULES, **LOGIC_RULES}.items():
        rules[opdef] = _folded_first(rule)
    rules.update(CONTROL_RULES)
    return rules


SIMPLIFICATIONS = _rules()
