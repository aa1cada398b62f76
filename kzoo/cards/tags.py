"""What the tags say that stand beside a number."""

from collections.abc import Collection

from kzoo.cards import protocol

MEANINGS = {
    "intermediate results": "training also had results on the way to the target",
    "gold attention": "training was told where in the source to look for each output",
    "built-in alignment": "the input says what belongs together, as the digits of one place; what a mechanism "
    "presumes, as a window of fixed distances, is no tag",
    "data augmentation": "trained on examples that were made from others, as by exchanging words",
    "longer inputs": "the weights or a setting were chosen by accuracy on inputs longer than those trained on",
    "other training distribution": "trained on other inputs than the task's training split",
    "constructed": "the weights are computed, not trained",
    protocol.PUBLISHED_VALIDATION: "the weights were selected on the published validation split, whose inputs are "
    "longer than those trained on, as the papers do",
    protocol.PRETRAINED: "began with the weights of another run, or was calibrated in it; its budget counts",
    protocol.HINT: "trained in turn on a second task, a hint of the paper's, with a head of its own",
}


def legend(used: Collection[str]) -> str:
    """Returns what these tags say, as a list in Markdown."""
    return "\n".join(f"- *{tag}*: {meaning}" for tag, meaning in MEANINGS.items() if tag in used)
