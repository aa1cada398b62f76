"""The papers of the zoo as BibTeX."""

import re

PAPERS = {
    "1911.03872": (
        "dubois2020location",
        "Location Attention for Extrapolation to Longer Sequences",
        "Dubois, Yann and Dagan, Gautier and Hupkes, Dieuwke and Bruni, Elia",
        2020,
    ),
    "2110.07732": (
        "csordas2022neural",
        "The Neural Data Router: Adaptive Control Flow in Transformers Improves Systematic Generalization",
        r"Csord{\'a}s, R{\'o}bert and Irie, Kazuki and Schmidhuber, J{\"u}rgen",
        2022,
    ),
    "2305.20019": (
        "raychowdhury2023monotonic",
        "Monotonic Location Attention for Length Generalization",
        "Ray Chowdhury, Jishnu and Caragea, Cornelia",
        2023,
    ),
    "2310.00726": (
        "awasthi2023improving",
        "Improving Length-Generalization in Transformers via Task Hinting",
        "Awasthi, Pranjal and Gupta, Anupam",
        2023,
    ),
    "2310.11984": (
        "duan2023interpolation",
        "From Interpolation to Extrapolation: Complete Length Generalization for Arithmetic Transformers",
        "Duan, Shaoxiong and Shi, Yining and Xu, Wei",
        2023,
    ),
}


def bibtex(text: str | None) -> list[str]:
    """Returns the BibTeX entries of the papers of the zoo that a text names, as "arXiv:2305.20019"."""
    found = dict.fromkeys(re.findall(r"arXiv:(\d{4}\.\d{4,5})", text or ""))
    return [_entry(number) for number in found if number in PAPERS]


def _entry(number: str) -> str:
    key, title, author, year = PAPERS[number]
    fields = {"title": title, "author": author, "year": year, "eprint": number, "archivePrefix": "arXiv"}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}"
