"""What a model may be able to do beyond answering: ask with `isinstance`, for models of one's own too."""

from typing import Any, Protocol, runtime_checkable

from kzoo.annotations import Inputs, Structure, Tensor, Text, Texts


class Model(Protocol):
    """Answers texts: what `SequenceModel` gives every model."""

    preprocessor: Any
    task_name: str | None
    preset_name: str | None

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """Returns the logits."""
        ...

    def text_preprocessor(self) -> Any:
        """Returns the preprocessor, of a model that has one."""
        ...

    def generate(self, inputs: Texts, max_length: int | None = None, strict: bool = False) -> Any:
        """Returns the output for a text, or the list of outputs for several."""
        ...


@runtime_checkable
class Generates(Model, Protocol):
    """Writes its answer token by token; `kzoo.generation.Generator` runs the steps."""

    generator: Any

    def start_generation(self, inputs: Inputs, length: int) -> tuple[Structure, Structure]:
        """Returns what every step reads, and the state before the first of up to `length` steps."""
        ...

    def generate_step(self, token_ids: Tensor, prepared: Structure, state: Structure) -> tuple[Tensor, Structure]:
        """Reads token ids (B,); returns the logits of the next token (B, V) and the new state."""
        ...


@runtime_checkable
class Traces(Model, Protocol):
    """Tells what it did with a text."""

    def trace(self, text: Text) -> Any:
        """Returns a `kzoo.models.Trace`; a model may also take an output to force, or a number of steps."""
        ...


@runtime_checkable
class TracesAttention(Model, Protocol):
    """Reads its source with one attention, step by step."""

    def trace_attention(self, inputs: Inputs, training: bool = False) -> tuple[Tensor, Structure]:
        """Returns the hidden states (B, T, D), and the trace: `weights` (B, T, S) and the mechanism's states."""
        ...


@runtime_checkable
class TracesLayers(Model, Protocol):
    """Has layers with heads that read the source, and others that read what is written."""

    decoder: Any

    def trace_layers(self, inputs: Inputs) -> list[Structure]:
        """Returns the weights of every layer: `self` (B, N, T, T) and `cross` (B, N, T, S)."""
        ...


@runtime_checkable
class TracesBlocks(Model, Protocol):
    """Has blocks whose states a probe reads with the model's own embedding and classes."""

    embedding: Any
    classes: Any
    final_norm: Any

    def trace_blocks(self, inputs: Inputs) -> list[Structure]:
        """Returns what each block did: `attended` and `states` (B, T, D), and `weights` (B, N, T, T)."""
        ...


@runtime_checkable
class TracesSteps(Model, Protocol):
    """Runs one block a number of times that may be chosen."""

    inference_steps: int

    def trace_steps(self, inputs: Inputs, steps: int | None = None) -> Structure:
        """Returns what every step did: `weights` (B, steps, N, T, T), and what else its block and depth tell."""
        ...
