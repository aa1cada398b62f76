"""The groups that mechanisms belong to, by what their recipes are made of, and what they do in plain words."""

from dataclasses import dataclass
from typing import Any

from kzoo import registry
from kzoo.training.recipe import Recipe


@dataclass(frozen=True)
class Group:
    """Mechanisms of one idea.

    Args:
        title: str.
        asks: str. What a task asks for whose preset to take is one of these; empty if there is none.
        does: str. What it does, for readers who know none of them.
        breaks: str. Why it may fail on longer inputs.
        classes: tuple of str. Classes that make a mechanism one of this group.
        kinds: tuple of str. Kinds of the registry all of whose other classes do so too.
    """

    title: str
    asks: str
    does: str
    breaks: str
    classes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


# A mechanism is of the first group that one of its classes is in; the last takes what is left.
GROUPS = (
    Group(
        "mixtures",
        "",
        "a gate mixes attention by content with one of the pointers or places below",
        "where content alone does for the trained lengths, the other half is never learned well",
        ("MixAttention",),
    ),
    Group(
        "waypoints",
        "tokens of the source, in an order that the source tells: copies, reversals, repeats, what a table says",
        "a pointer walks over chosen tokens of the source, and may visit others in between",
        "what it chooses must be right at every token: training finds out, or is told, where each output comes from",
        ("WaypointAttention",),
    ),
    Group(
        "tapes",
        "passes over the source, by one token or two at a time, and back to an end of it",
        "moves over the source as a machine over its tape: one step or two to either side, or a jump to an end",
        "what is found by neither a step nor an end is out of its way, and when to jump must be learned",
        ("TapeAttention",),
    ),
    Group(
        "searches",
        "the next token of a kind, or the one before, as in clauses within clauses",
        "goes to the next token of a kind, or the one before, however far it is",
        "what is told apart by more than its kind and direction is out of its way, and the kinds must be learned",
        ("SeekAttention",),
    ),
    Group(
        "pointers",
        "the source in one direction, token by token",
        "a pointer into the source stays or moves on",
        "what is not met in the order of walking is out of its way; steps that are not quite whole add up",
        ("MonotonicAttention",),
    ),
    Group(
        "places",
        "",
        "computes as a number where in the source to look",
        "the number must be exact to one token, at sizes that training never asked for",
        ("LocationAttention", "SimpleLocationAttention", "DuboisLocationAttention", "GaussianAttention"),
    ),
    Group(
        "loops",
        "",
        "runs its blocks as often as there are tokens, and shows them the input anew each time",
        "longer inputs need more rounds than training ever had, and each of them must be right",
        ("LoopedDepth",),
    ),
    Group(
        "windows",
        "digits of one place, or a token and the one beside it",
        "a Transformer that lets a head look only at fixed distances, as at the digits of one place of a sum",
        "the window must fit the task: it has to be known, or measured in a trained model",
        ("WindowedBias", "WindowedCrossBias", "CalibratedBias", "HardAlibiBias"),
    ),
    Group(
        "trees",
        "",
        "joins two neighbours at a time until one vector is left, in an order that is learned with what they become",
        "the order is found by chance first, and on long inputs each of many steps must be right",
        ("BeamTreeReader", "RecursionInRecursionReader", "ContinuousRecursiveReader"),
    ),
    Group(
        "rows",
        "steps that grow with the input, where training can be shown what each of them writes",
        "writes a row of symbols under the input, then another from that one, as in a calculation by hand",
        "training must have every row of the calculation, and each step must be learned exactly: what is wrong stays",
        ("RewritingReader",),
    ),
    Group(
        "cells",
        "steps that grow with the input, as in long multiplication",
        "changes the states of all tokens at once by one rule, each by its neighbours', as often as there are tokens",
        "steps grow with the input, and the rule must be learned exactly: what is wrong at one place spreads",
        ("NeuralGPUReader",),
    ),
    Group(
        "stacks",
        "brackets within brackets, or what was put down last",
        "reads token by token onto a stack, which it pushes to and pops from",
        "when to push and pop must be learned exactly, for errors stay; what lies deeper is out of its way",
        ("StackReader", "PushdownReader"),
    ),
    Group(
        "states",
        "what a state of fixed size can keep: a parity, a remainder, a permutation, the last bit written",
        "reads token by token into a state, without attention",
        "what does not fit into the state is lost; the rule for a token must be learned exactly, for errors stay",
        ("DeltaMixer",),
        ("mixer", "reader"),
    ),
    Group(
        "paths",
        "",
        "each token between changes how a key looks from the query, so that a score depends on the whole way",
        "what a token changes must be learned exactly, for errors add up along the way",
        ("PathAttention",),
    ),
    Group(
        "counts",
        "numbers of tokens that are alike, as in sorting",
        "some heads add up how many tokens are like the current one, where a softmax gives their share",
        "what is not quite a match adds up, too, in inputs far longer than the trained ones",
        ("CountingAttention",),
    ),
    Group(
        "depth",
        "a tree of results, the deeper the more rounds",
        "runs one layer again and again, with gates that leave alone what is not to be changed yet",
        "a deeper input needs more rounds than training ever had",
        ("AdaptiveComputation", "SharedDepth", "CopyGate"),
        ("depth",),
    ),
    Group(
        "neighbours",
        "links to follow, each told in a few tokens side by side",
        "reads each token together with the few before it, so that one look finds a token by what stands beside it",
        "what is farther apart than these few has to be found by content or by distance, as without",
        ("CanonAttention",),
    ),
    Group(
        "distances",
        "tokens at one distance or pace",
        "looks for content and for how far a token is from the current step",
        "good where input and output go along at one pace; large distances are new to it",
        ("RelativeAttention", "RotaryAttention"),
        ("bias", "position"),
    ),
    Group(
        "given positions",
        "",
        "tokens that belong together, as digits of one place, are given the same position",
        "positions beyond the trained ones are new, unless training draws them at random",
        ("AbacusEncoding", "CoupledEncoding", "CyclicEncoding", "RandomizedEncoding", "PlacedEncoding"),
    ),
    Group(
        "sharper weights",
        "",
        "changes how scores become weights, so that attention does not blur over many tokens",
        "it keeps what is found sharp, and does not help to find it",
        (),
        ("weighting",),
    ),
    Group(
        "content",
        "",
        "compares what is looked for with every token, whose position is a pattern learned by heart, or none",
        "positions beyond the trained ones have patterns that it has never seen",
    ),
)


# What a class takes where its config says nothing.
DEFAULTS = {
    "TransformerClassifier": {"block": "ndr"},
    "RecurrentClassifier": {"reader": "lstm"},
    "SequenceTagger": {"reader": "lstm"},
}


def group_of(recipe: Recipe) -> Group:
    """Returns the group of the mechanism of a recipe."""
    found = _of_recipe(recipe)
    names, kinds = {name for _, name in found}, {kind for kind, _ in found}
    plain = {"softmax", "SoftmaxWeighting"} & names
    for group in GROUPS[:-1]:
        if names & set(group.classes) or (kinds - ({"weighting"} if plain else set())) & set(group.kinds):
            return group
    return GROUPS[-1]


def distinctive(recipe: Recipe) -> list[str]:
    """Returns the classes of a recipe's model that tell mechanisms apart: those that make groups, else all that are
    registered, else the model's.
    """
    found = _of_recipe(recipe)
    classes, kinds = ({name for group in GROUPS for name in getattr(group, key)} for key in ("classes", "kinds"))
    chosen = {name for kind, name in found if name in classes or kind in kinds}
    return sorted(chosen or {name for _, name in found} or {recipe.model["class"]})


def _of_recipe(recipe: Recipe) -> set[tuple[str, str]]:
    """Returns kind and name of the registered classes that the model of a recipe is made of."""
    found = _classes(DEFAULTS.get(recipe.model["class"], {}) | recipe.model["config"])
    if recipe.calibration is not None:
        found.add(("bias", "CalibratedBias"))
    found.discard(("reader", "MixerReader"))  # whose group is that of what it mixes with
    return found


def _classes(config: Any, of: str | None = None) -> set[tuple[str, str]]:
    """Returns kind and name of all registered classes in a config, which is one of this kind, by whatever name."""
    found: set[tuple[str, str]] = set()
    for key, value in config.items() if isinstance(config, dict) else ():
        for one in value if isinstance(value, list) else [value]:
            name = one.get("class") if isinstance(one, dict) else one
            kind = _kind_of(key, name, of) if isinstance(name, str) else None
            if kind is not None:
                cls, own = registry.resolve(kind, one)
                found |= {(kind, cls.__name__)} | _classes(own, kind)
            elif isinstance(one, dict):
                found |= _classes(one, of)
    return found


def _kind_of(key: str, name: str, of: str | None) -> str | None:
    """Returns the kind that a name under a key of a config is of: the key's own, if it has such a name."""
    known = [kind for kind in registry.kinds() if name in registry.names(kind)]
    of_block = key in ("attention", "cross", "mixer")  # a block's are of the kind "multi_head"
    if of_block and of == "block" and "multi_head" in known:
        return "multi_head"
    own = [kind for kind in known if key == kind or key.endswith(f"_{kind}") or (of_block and kind == "multi_head")]
    by_class = [kind for kind in known if name in registry.classes(kind)]
    return next(iter(own or by_class), None)
