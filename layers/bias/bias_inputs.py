"""What a bias of attention is called with."""

from dataclasses import dataclass, field

from keras import ops

from kzoo.annotations import Prepared, Tensor


@dataclass(frozen=True)
class BiasInputs:
    """What `MultiHeadAttention` passes to its bias about queries and keys; a bias uses what it needs.

    It is no tuple, for Keras calls no layer with a tuple that holds both tensors and numbers.

    Args:
        query_length: int, T.
        key_length: int, S.
        states: tensor of shape (B, T, D), what the queries are projected from.
        queries: tensor of shape (B, N, T, H), without the query bias.
        scale: the number, or tensor of shape (1,), that multiplies the content scores. Defaults to 1.
        query_offset: int tensor of shape (B,), the position of the first query in each row. Defaults to 0; a decoder
            that caches its keys has one query at a time.
        mask: bool tensor that broadcasts to (B, N, T, S), True at unmasked keys. Defaults to no key masked.
        source_ends: int tensor of shape (B, K), where the keys are a source of K parts: the index of the key that ends
            each. Defaults to one part that ends at the last key.
        delimiter: int tensor of shape (B, 1), the index of the delimiter between source and target in the sequence of
            a decoder. Defaults to the last key.
        scores: float32 tensor of shape (B, N, T, S), the content scores before any bias.
        prepared: dict. What the bias's own `prepare` returned of the keys, and a decoder kept of it.
        places: int tensor of shape (B, S), the place of every key where an encoding gives them, in the same sequence
            as the queries. Defaults to the columns.

    Example:

    ```python
    inputs = kzoo.layers.BiasInputs(query_length=1, key_length=4, query_offset=np.array([2]))
    assert np.array(inputs.query_positions()).tolist() == [[2]]
    assert np.array(inputs.key_positions()).tolist() == [0, 1, 2, 3]
    ```
    """

    query_length: int
    key_length: int
    states: Tensor = None
    queries: Tensor = None
    scale: Tensor = 1.0
    query_offset: Tensor | None = None
    mask: Tensor | None = None
    source_ends: Tensor | None = None
    delimiter: Tensor | None = None
    scores: Tensor = None
    prepared: Prepared = field(default_factory=dict)
    places: Tensor | None = None

    def query_positions(self) -> Tensor:
        """Returns the positions of the queries, int of shape (1, T), or with an offset (B, T)."""
        positions = ops.arange(self.query_length, dtype="int32")[None, :]
        if self.query_offset is None:
            return positions
        return positions + ops.convert_to_tensor(self.query_offset, dtype="int32")[:, None]

    def key_positions(self) -> Tensor:
        """Returns the positions of the keys, int of shape (S,)."""
        return ops.arange(self.key_length, dtype="int32")

    def query_places(self) -> Tensor:
        """Returns the places of the queries, int (1, T) or (B, T): their positions, unless `places` is given."""
        positions = self.query_positions()
        return positions if self.places is None else places_at(self.places, positions)

    def key_places(self) -> Tensor:
        """Returns the places of the keys, int (1, S) or (B, S): their positions, unless `places` is given."""
        return self.key_positions()[None, :] if self.places is None else self.places

    def distances(self) -> Tensor:
        """Returns the place of each query minus that of each key, int of shape (1, T, S) or (B, T, S)."""
        return self.query_places()[:, :, None] - self.key_places()[:, None, :]

    def last_key(self, ends: Tensor | None = None) -> Tensor:
        """Returns the last column of `ends` (B, K), or the index of the last key where that is None: int (B, 1)."""
        if ends is None:
            return ops.reshape(self.key_positions()[-1], (1, 1))
        return ops.convert_to_tensor(ends, dtype="int32")[:, -1:]


def places_at(places: Tensor, positions: Tensor) -> Tensor:
    """Returns the places (B, T) at positions (1, T) or (B, T) of the sequence whose places (B, S) are given."""
    columns = ops.arange(ops.shape(places)[1], dtype="int32")
    here = ops.cast(ops.equal(positions[:, :, None], columns), places.dtype)
    return ops.sum(here * places[:, None, :], axis=-1)
