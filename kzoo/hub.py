"""The one module that knows the Hugging Face Hub."""

from typing import Any

LIBRARY = "kzoo"
TAGS = ["keras", "jax", "pytorch", "tensorflow", "length-generalization", "algorithmic-reasoning", "seq2seq"]


def front_matter(info: dict[str, Any], rows: list[dict[str, Any]], task: Any) -> str:
    """Returns the YAML front matter of a card: one result a length, as the Hub's model-index has them.

    Args:
        info: dict, from `kzoo.preset_info`.
        rows: list of results rows of the preset's own weights.
        task: Task.
    """
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=f"kzoo/{task.name}",
            dataset_name=task.name,
            dataset_split=f"test, length {row['length']}" if row["length"] else "test",
            dataset_args={"length": row["length"], "n": row["n"], "seed": row["seed"]},
            metric_type="exact_match",
            metric_name="sequence accuracy",
            metric_value=row["value"],
        )
        for row in rows
        if row["metric"] == "sequence_accuracy"
    ]
    data = ModelCardData(
        license="apache-2.0",
        library_name=LIBRARY,
        pipeline_tag="text-generation",
        tags=[*TAGS, task.name],
        model_name=info["preset"],
        eval_results=results,
    )
    return f"---\n{data.to_yaml()}\n---"
