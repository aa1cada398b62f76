"""The front matter of a card, which the Hub reads."""

import re
from typing import Any

from kzoo.hub.model_card import model_card_yaml
from kzoo.saving.preset import Preset

LIBRARY = "kzoo"
TAGS = ["keras", "jax", "pytorch", "tensorflow", "length-generalization", "algorithmic-reasoning"]


def front_matter(title: str, preset: Preset, task: Any) -> str:
    """Returns the YAML front matter of a card: one result a length, as the Hub's model-index has them.

    Args:
        title: str. The name that the card has.
        preset: Preset.
        task: Task.
    """
    kinds = {"labels": "text-classification", "asked": "token-classification"}
    kind = next((kinds[key] for key in kinds if key in preset.tokenizer), "text-generation")
    papers = [f"arxiv:{number}" for number in re.findall(r"arXiv:(\d{4}\.\d{4,5})", task.paper or "")]
    results = [
        dict(
            task_type=kind,
            dataset_type=f"kzoo/{task.name}",
            dataset_name=task.name,
            dataset_split=f"test, length {row['length']}" if row["length"] else "test",
            dataset_args={"length": row["length"], "n": row["n"], "seed": row["seed"]},
            metric_type="exact_match",
            metric_name="sequence accuracy",
            metric_value=row["value"],
        )
        for row in preset.rows
        if row["metric"] == "sequence_accuracy"
    ]
    text = model_card_yaml(
        results,
        license=preset.metadata["license"],
        library_name=LIBRARY,
        pipeline_tag=kind,
        tags=[*TAGS, *(["seq2seq"] if kind == "text-generation" else []), task.name, *papers],
        model_name=title,
    )
    return f"---\n{text}\n---"
