"""The papers of the zoo, and itself, as BibTeX."""

import re
from collections.abc import Iterable

import kzoo

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

METHODS = {
    "1503.01007": (
        "joulin2015inferring",
        "Inferring Algorithmic Patterns with Stack-Augmented Recurrent Nets",
        "Joulin, Armand and Mikolov, Tomas",
        2015,
    ),
    "1511.08228": (
        "kaiser2016neural",
        "Neural {GPUs} Learn Algorithms",
        r"Kaiser, {\L}ukasz and Sutskever, Ilya",
        2016,
    ),
    "1901.08817": (
        "wang2019state",
        "State-Regularized Recurrent Neural Networks",
        "Wang, Cheng and Niepert, Mathias",
        2019,
    ),
    "2402.01032": (
        "jelassi2024repeat",
        "Repeat After Me: Transformers are Better than State Space Models at Copying",
        "Jelassi, Samy and Brandfonbrener, David and Kakade, Sham M. and Malach, Eran",
        2024,
    ),
    "2405.20671": (
        "cho2024position",
        "Position Coupling: Improving Length Generalization of Arithmetic Transformers Using Task Structure",
        "Cho, Hanseul and Cha, Jaeyoung and Awasthi, Pranjal and Bhojanapalli, Srinadh and Gupta, Anupam and "
        "Yun, Chulhee",
        2024,
    ),
    "2409.15647": (
        "fan2024looped",
        "Looped Transformers for Length Generalization",
        "Fan, Ying and Du, Yilun and Ramchandran, Kannan and Lee, Kangwook",
        2024,
    ),
}


def bibtex(text: str | None, docstrings: Iterable[str] = ()) -> list[str]:
    """Returns BibTeX entries: kzoo's own, those of the tasks' papers that a text names, as "arXiv:2305.20019", and
    those of the methods that docstrings link to.
    """
    found = dict.fromkeys(re.findall(r"arXiv:(\d{4}\.\d{4,5})", text or ""))
    linked = dict.fromkeys(n for doc in docstrings for n in re.findall(r"arxiv\.org/abs/(\d{4}\.\d{4,5})", doc))
    tasks, methods = ([n for n in numbers if n in known] for numbers, known in ((found, PAPERS), (linked, METHODS)))
    return [_own(), *(_entry(n) for n in (*tasks, *methods))]


def _own() -> str:
    title, version = "{kzoo}: a {Keras} 3 model zoo for length generalisation", kzoo.__version__
    fields = {"title": title, "author": "{The kzoo authors}", "version": version}
    return "@software{kzoo,\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items()) + "}"


def _entry(number: str) -> str:
    key, title, author, year = {**PAPERS, **METHODS}[number]
    fields = {"title": title, "author": author, "year": year, "eprint": number, "archivePrefix": "arXiv"}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}"
