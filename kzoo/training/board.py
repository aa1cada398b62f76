"""The runs of one budget that compare newer mechanisms on newer tasks, each by the same recipe."""

import math
from typing import Any

from kzoo.errors import InputError
from kzoo.tasks import get as get_task
from kzoo.training.recipe import Recipe
from kzoo.training.stages import Budget, Data, Optimizer, Selection, Stage

Config = dict[str, Any]

TASKS = (
    "even_pairs",
    "parity_check",
    "cycle_navigation",
    "modular_arithmetic_simple",
    "missing_duplicate",
    "flip_flop",
    "s3",
    "copy",
    "reverse_string",
    "bucket_sort",
    "mqar",
    "stack_manipulation",
    "sum_digits",
    "compute_sqrt",
)


def _attention(**config: Any) -> Config:
    return {"attention": {"class": "MultiHeadAttention", "config": config}}


def _delta(mixer: str, **config: Any) -> Config:
    return {"class": "MixerReader", "config": {"mixer": {"class": mixer, "config": config}, "heads": 4}}


def _blocks(mixer: Config | str) -> Config:
    reader = {"class": "MixerReader", "config": {"mixer": mixer, "heads": 4, "units": 64, "layers": 2}}
    return {"reader": reader, "embedding_units": 64}


BIASES = ("alibi", "hard_alibi", "t5", "kerple", "fire", "cope", "forgetting", "nape")
WEIGHTINGS = ("stick_breaking", "entmax", "asentmax", "ssmax")
IN_PLACE = ("canon", "path", "delta", "delta_product")  # of what stands in a block where attention does
# What a decoder of two blocks has that the others have not: arguments of its block, or of the model.
BLOCKS: dict[str, Config] = {
    "nope": {},
    "rope": _attention(position="rotary"),
    **{name: _attention(bias=name) for name in BIASES},
    **{name: _attention(weighting=name) for name in WEIGHTINGS},
    "asentmax_nape": _attention(bias="nape", weighting="asentmax"),  # as the paper of asentmax has it
    "causal_geometric": {"attention": "geometric"},
    **{name: {"attention": name} for name in IN_PLACE},
}
ENCODINGS: dict[str, Config | str] = {
    "sinusoidal": "sinusoidal",
    "randomized": "randomized",
    "coupled": {"class": "CoupledEncoding", "config": {"longest": 96}},
}
# Tasks of 3 to 40 tokens, most of which nothing learns in 3,000 batches of all lengths at once. There are few different
# short sources, so that without repetition they are rare.
SHORT_FIRST = (
    "even_pairs",
    "parity_check",
    "cycle_navigation",
    "modular_arithmetic_simple",
    "missing_duplicate",
    "s3",
    "reverse_string",
    "bucket_sort",
    "stack_manipulation",
    "compute_sqrt",
)
PARTS = 8
ALIGNED = {"coupled": "sum_digits"}  # what knows the alignment of one task


READERS: dict[str, Config] = {
    **{name: {"reader": name, "embedding_units": 16, "units": 128} for name in ("lstm", "bidirectional_lstm", "stack")},
    **{name: {"reader": name, "embedding_units": 64, "units": 128} for name in ("second_order", "pushdown")},
    "delta_reader": {"reader": _delta("delta"), "embedding_units": 64, "units": 64},
    "delta_product_reader": {"reader": _delta("delta_product"), "embedding_units": 64, "units": 64},
    "positive_delta_reader": {"reader": _delta("delta", low=0.0), "embedding_units": 64, "units": 64},
    "beam_tree": {
        "reader": {"class": "BeamTreeReader", "config": {"beams": 2, "score_units": 32}},
        "embedding_units": 64,
        "units": 64,
    },
    "rir": {
        "reader": {"class": "RecursionInRecursionReader", "config": {"chunk": 8, "beams": 2, "score_units": 32}},
        "embedding_units": 64,
        "units": 64,
    },
    "crvnn": {"reader": "crvnn", "embedding_units": 32, "units": 32},
    "neural_gpu": {"reader": "neural_gpu", "embedding_units": 16, "units": 48},
}
# Each round passes what a token has to its neighbour on the right, as the programs of looped Transformers do. With the
# norm before, states grow from round to round, and more rounds than in training give states of a new size.
LOOPED: dict[str, Config] = {
    "looped": {
        "block": {
            "class": "TransformerBlock",
            "config": {
                "norm": "after",
                "activation": "gelu",
                **_attention(bias={"class": "WindowedBias", "config": {"before": 1}}),
            },
        },
        "units": 32,
        "heads": 2,
        "hidden_units": 128,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "depth": {"class": "LoopedDepth", "config": {"per_token": 1.0, "steps": 1000}},
    },
}
# What answers at tokens of the source: the blocks of a decoder, under a causal mask, or a network of a reader.
TAGGED = ("s3", "mqar")
# What a tagger writes: into the first columns if it sees what comes later, else behind the source.
WRITTEN = ("copy", "reverse_string", "bucket_sort", "stack_manipulation", "sum_digits", "compute_sqrt")
BEHIND = ("lstm_tagger", "second_order_tagger", "stack_tagger")
OF_BLOCKS = (
    *("nope", "rope", "alibi", "hard_alibi", "cope", "forgetting", "nape"),
    *("stick_breaking", "asentmax", "asentmax_nape", *IN_PLACE),
)
TAGGERS: dict[str, Config] = {
    "lstm_tagger": READERS["lstm"],
    "second_order_tagger": READERS["second_order"],
    "stack_tagger": {**READERS["stack"], "reader": {"class": "StackReader", "config": {"cells": None}}},
    "neural_gpu_tagger": READERS["neural_gpu"],
    **{f"{name}_tagger": _blocks(BLOCKS[name].get("attention", "dot_product")) for name in OF_BLOCKS},
}
MECHANISMS = (*BLOCKS, *ENCODINGS, *READERS, *LOOPED, *TAGGERS)
RATES = {**dict.fromkeys((*READERS, *LOOPED), 0.003), "crvnn": 0.001, **dict.fromkeys(TAGGERS, 0.002)}  # others: 0.001


def pairs() -> list[tuple[str, str]]:
    """Returns every mechanism and task of the comparison: a reader, and what is looped, has the tasks whose answer is
    one token, or of which the last token is one, a tagger those in `TAGGED`; the Neural GPU, and what writes behind the
    source, those in `WRITTEN` too.
    """
    found = []
    for task in TASKS:
        about = get_task(task)
        one = about.target_steps == (0, 1) or about.last_answers
        has = {**dict.fromkeys((*READERS, *LOOPED), one), **dict.fromkeys(TAGGERS, task in TAGGED)}
        has |= dict.fromkeys(("neural_gpu_tagger", *BEHIND), task in (*TAGGED, *WRITTEN))
        found += [(m, task) for m in MECHANISMS if ALIGNED.get(m, task) == task and has.get(m, True)]
    return found


def recipe(mechanism: str, task: str) -> Recipe:
    """Returns the recipe of a mechanism on a task.

    All train 2,000 batches of 64 examples, which are drawn anew, and keep the last weights. A decoder has two blocks of
    64 units and four heads. A tagger has such blocks, or a reader's network, and twice the learning rate, and a
    Stack-RNN as many cells as there are tokens. A reader has one layer of 128 units, or of 64 with four heads, or trees
    of 64 or 32 units, or 48 units of a Neural GPU, and three times the learning rate; but CRvNN has a decoder's, since
    with three times that its loss rises as inputs grow. What is looped has one block of 32 units, as many rounds as
    tokens, and a reader's learning rate. On the tasks `SHORT_FIRST` there are 3,000 batches, each of one length, in
    eight parts: the longest length grows from part to part by the same factor, up to that of the training split.

    Raises:
        InputError: there is no such mechanism in the comparison.
    """
    if mechanism not in MECHANISMS:
        raise InputError(f"the comparison has no mechanism {mechanism!r:.60}")
    found = get_task(task)
    shortest, longest = found.splits["train"].lengths
    budget, data = Budget(epochs=4, steps_per_epoch=500), Data(fresh=True, sampling="grouped", batch_size=64)
    if task in SHORT_FIRST:
        parts = tuple(math.ceil(shortest * (longest / shortest) ** (k / (PARTS - 1))) for k in range(PARTS))
        budget = Budget(epochs=PARTS, steps_per_epoch=375)
        data = Data(fresh=True, sampling="balanced", curriculum=parts, batch_size=64)
    rate = RATES.get(mechanism, 0.001)
    optimizer = Optimizer(learning_rate=rate, schedule="cosine", warmup_steps=100, clip_norm=1.0)
    stage = Stage(budget, data=data, optimizer=optimizer, selection=Selection("last"))
    return Recipe(
        task=task,
        task_version=found.version,
        model=_model(mechanism),
        layout=_layout(mechanism, task),
        stages=(stage,),
        mechanism=mechanism,
        supervision=("built-in alignment",) if mechanism in ALIGNED else (),
        evaluation={"lengths": [longest, *(n for n in found.test_lengths if n is not None)], "examples": 500},
    )


def _layout(mechanism: str, task: str) -> Config:
    if ALIGNED.get(mechanism) == task:
        return {"filled": True}
    return {"behind": True} if mechanism in BEHIND and task in WRITTEN else {}


def _model(mechanism: str) -> Config:
    if mechanism in READERS:
        return {"class": "RecurrentClassifier", "config": {**READERS[mechanism], "dropout": 0.0}}
    if mechanism in TAGGERS:
        return {"class": "SequenceTagger", "config": TAGGERS[mechanism]}
    if mechanism in LOOPED:
        return {"class": "TransformerClassifier", "config": LOOPED[mechanism]}
    block = {"norm": "before", "activation": "gelu", **BLOCKS.get(mechanism, {})}
    config = {"block": {"class": "TransformerBlock", "config": block}, "layers": 2, "units": 64, "heads": 4}
    if mechanism in ENCODINGS:
        config["encoding"] = ENCODINGS[mechanism]
    return {"class": "TransformerDecoder", "config": config}
