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
    # Of tasks that came later.
    "1711.00350": (
        "lake2018generalization",
        "Generalization without Systematicity: On the Compositional Skills of Sequence-to-Sequence Recurrent Networks",
        "Lake, Brenden M. and Baroni, Marco",
        2018,
    ),
    "1807.07545": (
        "loula2018rearranging",
        "Rearranging the Familiar: Testing Compositional Generalization in Recurrent Networks",
        r"Loula, Jo{\~a}o and Baroni, Marco and Lake, Brenden M.",
        2018,
    ),
    "1804.06028": (
        "nangia2018listops",
        "{ListOps}: A Diagnostic Dataset for Latent Tree Learning",
        "Nangia, Nikita and Bowman, Samuel R.",
        2018,
    ),
    "2010.05465": (
        "kim2020cogs",
        "{COGS}: A Compositional Generalization Challenge Based on Semantic Interpretation",
        "Kim, Najoung and Linzen, Tal",
        2020,
    ),
    "2207.02098": (
        "deletang2023neural",
        "Neural Networks and the Chomsky Hierarchy",
        r"Del{\'e}tang, Gr{\'e}goire and Ruoss, Anian and Grau-Moya, Jordi and Genewein, Tim and "
        "Wenliang, Li Kevin and Catt, Elliot and Cundy, Chris and "
        "Hutter, Marcus and Legg, Shane and Veness, Joel and Ortega, Pedro A.",
        2023,
    ),
    "2312.04927": (
        "arora2024zoology",
        "Zoology: Measuring and Improving Recall in Efficient Language Models",
        r"Arora, Simran and Eyuboglu, Sabri and Timalsina, Aman and Johnson, Isys and Poli, Michael and Zou, James and "
        r"Rudra, Atri and R{\'e}, Christopher",
        2024,
    ),
    "2306.00946": (
        "liu2023exposing",
        "Exposing Attention Glitches with Flip-Flop Language Modeling",
        "Liu, Bingbin and Ash, Jordan T. and Goel, Surbhi and Krishnamurthy, Akshay and Zhang, Cyril",
        2023,
    ),
    "2404.08819": (
        "merrill2024illusion",
        "The Illusion of State in State-Space Models",
        "Merrill, William and Petty, Jackson and Sabharwal, Ashish",
        2024,
    ),
    "2411.12537": (
        "grazzi2025unlocking",
        "Unlocking State-Tracking in Linear {RNNs} Through Negative Eigenvalues",
        r"Grazzi, Riccardo and Siems, Julien and Zela, Arber and Franke, J{\"o}rg K. H. and Hutter, Frank and "
        "Pontil, Massimiliano",
        2025,
    ),
    "2410.15787": (
        "cho2025arithmetic",
        "Arithmetic Transformers Can Length-Generalize in Both Operand Length and Count",
        "Cho, Hanseul and Cha, Jaeyoung and Bhojanapalli, Srinadh and Yun, Chulhee",
        2025,
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
