"""Text of a preset in a card is text."""

import pytest

from kzoo.cards.markdown import code, plain


@pytest.mark.parametrize(
    "text", ["<script>x</script>", "<img onerror=x>", "[a](javascript:x)", "a | b", "**a**", "$x$", "`a`", "~~a~~"]
)
def test_nothing_is_more_than_text(text):
    shown = plain(text)
    assert "<" not in shown
    for mark in "[]*|$`~":
        assert shown.count("\\" + mark) == shown.count(mark) == text.count(mark)


def test_a_text_begins_no_heading():
    assert plain("# a") == "\\# a" and plain("a # b_c") == "a # b_c"


def test_code_holds_backticks():
    assert code("a") == "`a`" and code("a `` b") == "``` a `` b ```" and code("a|b") == "`a\\|b`"
