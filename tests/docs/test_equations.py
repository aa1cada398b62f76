"""Equations of docstrings become LaTeX, and everything else stays as it was."""

import re

import pytest

from docs.docstrings import equations, rewrite
from docs.equations import NotAnEquation, latex
from docs.places import PACKAGES
from docs.reference import homes, public_names, summary, undocumented
from kzoo.cards.explain import explain

pytestmark = pytest.mark.once
GOLDEN = {
    "mu = pa + w_q / 2": r"\mu  &= \mathit{pa}+w_{q}/2",
    "a    = softmax_i(-(n_i - mu)^2 / (2 sigma))": r"a &= \operatorname{softmax}_{i}(-(n_{i}-\mu )^{2}/(2\,\sigma ))",
    "c = (q + b_2) . W_r r_{i-t} / sqrt(units)": r"c &= (q+b_{2})\cdot W_{r}\,r_{i-t}/\sqrt{\operatorname{units}}",
    "pa'    = sum_i a_i n_i      a remark_1": r"\mathit{pa}' &= \sum _{i}\,a_{i}\,n_{i} && \text{a remark\_1}",
    "o = sum over t <= T of P_t": r"o &= \sum \text{ over }t\le T\text{ of }P_{t}",
    "u = feed_forward_sublayer(c)": r"u &= \operatorname{feed\_forward\_sublayer}(c)",
    "D_ij = 0 for j = i": r"D_{ij} &= 0\text{ for }j=i",
}


@pytest.mark.parametrize("text", GOLDEN)
def test_an_equation(text):
    assert latex(text) == rf"\begin{{aligned}}{GOLDEN[text]}\end{{aligned}}"


@pytest.mark.parametrize("text", ["no equals sign", "a = `code`", "a = sqrt(b", 'print("a = b") # @', "a = b_"])
def test_what_is_none_stays_code(text):
    with pytest.raises(NotAnEquation):
        latex(text)
    docstring = f"About.\n\n    {text}\n\nArgs:\n    x: int. Even if y = x.\n"
    assert rewrite(docstring) == docstring.rstrip("\n") and equations(docstring) == []


def test_the_sections_of_a_docstring():
    found = rewrite(
        "About.\n\n    a = b\n    c = d\n\nArgs:\n    x: int. As y = 2.\n\nCall arguments:\n    query: tensor (B, D),\n"
        "        the last.\n    mask: bool.\n\nExample:\n\n```python\nif x:\n    y = x\n```\n"
    )
    assert found.count(r"\[") == 1 and r"\begin{aligned}a &= b \\ c &= d\end{aligned}" in found
    assert "    - `query`: tensor (B, D),\n        the last.\n    - `mask`: bool." in found
    assert "    x: int. As y = 2." in found and "if x:\n    y = x" in found


def test_brackets_and_braces_are_closed_in_every_equation_of_kzoo():
    everything = explain({"class": "", "config": [{"class": name} for name in public_names("kzoo.layers")]})
    found = [formula for part in everything for formula in equations(part.docstring)]
    assert len(found) >= 25
    for formula in found:
        bare = re.sub(r"\\text\{[^{}]*\}|\\[{}]", "", formula)
        assert bare.count("{") == bare.count("}") and bare.count("(") == bare.count(")"), formula


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_docstring(package):
    assert homes(package) and not list(undocumented(package))
    assert all(summary(package, name) for name in public_names(package))
