"""The Hub's own forms for what a card says of a model or a data set."""

from typing import Any


def model_card_yaml(results: list[dict[str, Any]], **fields: Any) -> str:
    """Returns the YAML of a model card.

    Args:
        results: list of dict, each the arguments of huggingface_hub's `EvalResult`.
        **fields: the other arguments of its `ModelCardData`.
    """
    from huggingface_hub import EvalResult, ModelCardData

    return str(ModelCardData(**fields, eval_results=[EvalResult(**result) for result in results]).to_yaml())


def data_card_yaml(**fields: Any) -> str:
    """Returns the YAML of a data set's card.

    Args:
        **fields: arguments of huggingface_hub's `DatasetCardData`.
    """
    from huggingface_hub import DatasetCardData

    return str(DatasetCardData(**fields).to_yaml())
