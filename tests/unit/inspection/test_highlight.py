"""Texts in colour: what is said of a line does not hang on how it came to be coloured."""

import html
import re

import pytest
from pygments.lexers import get_lexer_by_name

import examples.kernels as ek
from cubepy.inspection import highlighted
from cubepy.inspection.highlight import IrLexer

STAGES = {"ir": "optimized_ir", "llvm": "llvm", "asm": "asm"}


@pytest.mark.parametrize("language", STAGES)
def test_lines_alone_are_coloured_as_in_their_text(language: str) -> None:
    """Of each word Pygments says the same in the whole text; nothing is lost."""
    text = getattr(ek.gelu.inspect(target="cpu:x86-64-v3"), STAGES[language])
    lines = highlighted(text, language)
    plain = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines]
    assert plain == text.split("\n")
    words = {"llvm": "llvm", "asm": "gas"}
    options = {"stripnl": False, "ensurenl": False}
    lexer = (
        IrLexer(**options) if language == "ir" else get_lexer_by_name(words[language], **options)
    )
    whole = [kind for kind, value in lexer.get_tokens(text) if value.strip()]
    apart = [
        kind for line in text.split("\n") for kind, value in lexer.get_tokens(line) if value.strip()
    ]
    assert apart == whole
