"""How a decoder over one sequence writes token after token."""

from typing import Any

from keras import ops

from kzoo.annotations import Inputs, Structure, Tensor
from kzoo.models.sequence_model import SequenceModel


class CachedDecoding(SequenceModel):
    """Base of a decoder whose blocks keep what they need of the tokens so far.

    A subclass has `blocks`, and gives with `begin` the first states of a prompt, with `embed` those of a token, with
    `places` the places of tokens, and with `logits` the answer to the last states.
    """

    vocabulary_size: int
    blocks: Any
    begin: Any
    embed: Any
    places: Any
    logits: Any

    def start_generation(self, inputs: Inputs, length: int) -> tuple[Structure, Structure]:
        """Returns nothing that stays, and what the blocks keep of the prompt, with room for `length` tokens more."""
        (states, mask, about), caches = self.begin(inputs["token_ids"]), []
        real = ops.cast(inputs["padding_mask"], "bool")
        for block in self.blocks:
            states, prepared = block.start(states, mask, real=real, **about)
            caches.append(block.attention.with_room(prepared, length))
        # All tokens so far: an encoding that gives places looks at them, and the mask of the keys has their number.
        tokens = ops.pad(inputs["token_ids"], [[0, 0], [0, length]], constant_values=self.vocabulary_size - 1)
        return {}, {"caches": caches, "offset": ops.sum(ops.cast(real, "int32"), axis=1), "tokens": tokens}

    def generate_step(self, token_ids: Tensor, prepared: Structure, state: Structure) -> tuple[Tensor, Structure]:
        """Reads token ids (B,); returns the logits of the next token (B, V) and the new state."""
        offset, caches = state["offset"], []
        columns = ops.arange(ops.shape(state["tokens"])[1], dtype="int32")
        here = columns[None, :] == offset[:, None]
        tokens = ops.where(here, ops.cast(token_ids, state["tokens"].dtype)[:, None], state["tokens"])
        places, shared = self.places(tokens)
        states = self.embed(token_ids[:, None], offset=offset, places=places)
        mask = (columns[None, :] <= offset[:, None])[:, None, :]
        for block, cache in zip(self.blocks, state["caches"], strict=True):
            states, cache = block.step(states, cache, mask, offset, shared)
            caches.append(cache)
        return self.logits(states)[:, 0], {"caches": caches, "offset": offset + 1, "tokens": tokens}
