"""The equations of docstrings as mathematics: plain text in the source, LaTeX on the site.

An equation is an indented line of a docstring, as `mu = pa + steps(w_step . l) / (S - 1)`, perhaps with a remark after
three spaces or more. Several lines are aligned at their first equals sign.
"""

import re
from itertools import pairwise

GREEK = frozenset("alpha beta gamma delta epsilon kappa lambda mu nu omega rho sigma tau theta".split())
SYMBOLS = {
    "<=": r"\le ", ">=": r"\ge ", "<": "<", ">": ">", "..": r"\ldots ", ".": r"\cdot ", "*": r"\ast ",
    "...": r"\dots ", "=": "=", "+": "+", "-": "-", "/": "/", ",": r",\; ", ";": r";\; ", ":": ":", "|": "|",
    "(": "(", ")": ")", "[": "[", "]": "]", "^": "^",
}  # fmt: skip
TOKEN = re.compile(
    r"[a-z]{3,}(?:_[a-z]{3,})+|[A-Za-z]+|\d+(?:\.\d+)?|'|_|\{[^{}]*\}|\.\.\.|\.\.|<=|>=|[-+*/.,;:|()\[\]^=<>]|\s+"
)
REMARK = re.compile(r"(?<=[^\s,])\s{3,}(?=\S)")
PROSE = frozenset("at before else first for from is it of on over step than the then to".split())
FUNCTIONS = frozenset("ln log max min".split())


class NotAnEquation(ValueError):
    """The text is none: a symbol in it is not known."""


def latex(block: str) -> str:
    """Returns the LaTeX of one or more lines of equations.

    Raises:
        NotAnEquation: a symbol is not known.

    Example:

    ```python
    from docs.equations import latex

    assert latex("mu = pa + w_q / 2") == r"\\begin{aligned}\\mu  &= \\mathit{pa}+w_{q}/2\\end{aligned}"
    ```
    """
    rows = []
    if "=" not in block and ".." not in block:
        raise NotAnEquation(f"no equals sign in {block.strip()!r:.60}")
    for line in filter(str.strip, block.splitlines()):
        body, *remark = REMARK.split(re.sub(r"\s+=\s+", " = ", line.strip(), count=1), maxsplit=1)
        left, equals, right = _at_equals(body)
        row = f"{_line(left)} &= {_line(right)}" if equals else f"& {_line(body)}"
        rows.append(row + (rf" && \text{{{_escaped(remark[0])}}}" if remark else ""))
    return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def _at_equals(body: str) -> tuple[str, str, str]:
    """Returns what is before and after the first equals sign outside brackets."""
    depth = 0
    for at, (before, sign) in enumerate(pairwise(" " + body)):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "=" and depth == 0 and before not in "<>":
            return body[:at], "=", body[at + 1 :]
    return "", "", body


def _line(text: str) -> str:
    tokens = _tokens(text)
    parts: list[str] = []
    at = 0
    while at < len(tokens):
        part, at = _part(tokens, at)
        parts.append(part)
    return "".join(parts).replace(r" }\text{ ", " ")


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise NotAnEquation(f"{text[at]!r} in {text!r}")
        found.append(match[0])
        at = match.end()
    return found


def _part(tokens: list[str], at: int) -> tuple[str, int]:
    """Returns the LaTeX of a token with its primes, index and exponent, and where the next one begins."""
    token = tokens[at]
    if token.isspace():
        return (r"\," if _touch(tokens, at) else ""), at + 1
    if token == "^" and at + 1 < len(tokens):
        return f"^{{{_line(tokens[at + 1])}}}", at + 2
    if "_" in token and len(token) > 1 and not token.startswith("{"):
        return rf"\operatorname{{{_escaped(token)}}}", at + 1
    if not token.isalpha():
        return SYMBOLS.get(token, token), at + 1
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    if token == "sqrt" and after == "(":
        end = _closing(tokens, at + 1)
        return rf"\sqrt{{{_line(''.join(tokens[at + 2 : end]))}}}", end + 1
    prose = _is_prose(tokens, at)
    part, at = (rf"\text{{ {token} }}" if prose else _name(token, after == "(")), at + 1
    while at < len(tokens) and tokens[at] in ("'", "_"):
        if tokens[at] == "'":
            part, at = part + "'", at + 1
        else:
            index, at = _index(tokens, at + 1)
            part += f"_{{{index}}}"
    return part, at


def _touch(tokens: list[str], at: int) -> bool:
    """Whether what stands before and after a space is a product, which gets a thin space."""
    if not 0 < at < len(tokens) - 1 or _is_prose(tokens, at - 1) or _is_prose(tokens, at + 1):
        return False
    before, after = tokens[at - 1][-1], tokens[at + 1][0]
    return (before.isalnum() or before in ")]}'") and (after.isalnum() or after in "([")


def _is_prose(tokens: list[str], at: int) -> bool:
    """Whether a word is of a sentence: next to another word, with nothing but a space between, or a common one."""
    if not tokens[at].isalpha() or tokens[at] == "sum" or tokens[at] in GREEK | FUNCTIONS:
        return False
    before = next((token for token in reversed(tokens[:at]) if not token.isspace()), "")
    if tokens[at] in PROSE and before not in ("+", "-", "/", "*"):
        return True
    near = [tokens[i] for i in (at - 2, at + 2) if 0 <= i < len(tokens) and tokens[(i + at) // 2].isspace()]
    return len(tokens[at]) > 1 and any(word.isalpha() and (len(word) > 1 and word not in GREEK) for word in near)


def _name(token: str, called: bool) -> str:
    if token in GREEK:
        return rf"\{token} "
    if token == "sum":
        return r"\sum "
    if len(token) == 1:
        return token
    return rf"\operatorname{{{token}}}" if called or len(token) > 2 or token in FUNCTIONS else rf"\mathit{{{token}}}"


def _index(tokens: list[str], at: int) -> tuple[str, int]:
    if at == len(tokens):
        raise NotAnEquation(f"nothing after _ in {''.join(tokens)!r}")
    token = tokens[at]
    if token.startswith("{"):
        return _line(token[1:-1]), at + 1
    if token == "(":
        end = _closing(tokens, at)
        return _line("".join(tokens[at + 1 : end])), end + 1
    word = token.isalpha() and len(token) > 2
    return (rf"\{token} " if token in GREEK else rf"\text{{{token}}}" if word else token), at + 1


def _closing(tokens: list[str], at: int) -> int:
    """Returns where the bracket that opens at a token closes."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += (tokens[i] == "(") - (tokens[i] == ")")
        if depth == 0:
            return i
    raise NotAnEquation(f"a bracket stays open in {''.join(tokens)!r}")


def _escaped(text: str) -> str:
    return re.sub(r"([_#%&$^{}])", r"\\\1", text)
