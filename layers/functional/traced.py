"""Loops that stay loops when PyTorch exports a model.

A Python loop is unrolled by `torch.export`, to the length of the example that it traces with, and what comes out is
wrong at every other length. These two become the operators `scan` and `while_loop` of PyTorch, and `Scan` and `Loop` of
ONNX.
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np


def exporting() -> bool:
    """Whether `torch.export` is tracing this."""
    if keras.config.backend() != "torch":
        return False
    import torch

    return torch.compiler.is_exporting()


def is_symbolic(size: Any) -> bool:
    """Whether the size of an axis is a symbol, as in an export from JAX or PyTorch: neither a number nor a tensor."""
    return not isinstance(size, int) and not keras.ops.is_tensor(size)


def traced_scan(step: Callable[[Any, Any], tuple[Any, Any]], initial: Any, inputs: Any) -> tuple[Any, Any]:
    """As `scan`, under `torch.export`; outputs are stacked along a new leading axis."""
    from torch._higher_order_ops.scan import scan_op
    from torch.utils import _pytree as pytree

    carry, carry_form = pytree.tree_flatten(initial)
    rows, rows_form = pytree.tree_flatten(inputs)
    carry = [tensor.clone() for tensor in carry]  # no argument of a loop may be another's memory
    forms: list[Any] = []

    def body(*tensors: Any) -> list[Any]:
        row = pytree.tree_unflatten(tensors[len(carry) :], rows_form)
        state, output = step(pytree.tree_unflatten(tensors[: len(carry)], carry_form), row)
        outputs, form = pytree.tree_flatten(output)
        forms.append(form)
        return [tensor.clone() for tensor in (*pytree.tree_leaves(state), *outputs)]

    others, closed = _close(body, [*carry, *(row[0] for row in rows)])
    found = scan_op(closed, carry, rows, others)
    outputs = pytree.tree_unflatten(found[len(carry) :], forms[-1])
    return pytree.tree_unflatten(found[: len(carry)], carry_form), outputs


def traced_while(condition: Callable[..., Any], step: Callable[..., Any], initial: Sequence[Any]) -> tuple[Any, ...]:
    """As `keras.ops.while_loop`, under `torch.export`."""
    from torch._higher_order_ops.while_loop import while_loop_op
    from torch.utils import _pytree as pytree

    carry, form = pytree.tree_flatten(tuple(initial))
    carry = [tensor.clone() for tensor in carry]

    def goes_on(*tensors: Any) -> Any:
        return condition(*pytree.tree_unflatten(tensors, form))

    def body(*tensors: Any) -> tuple[Any, ...]:
        state = step(*pytree.tree_unflatten(tensors, form))
        return tuple(tensor.clone() for tensor in pytree.tree_leaves(tuple(state)))

    body_others, closed_body = _close(body, carry)
    condition_others, closed_condition = _close(goes_on, carry)
    first = len(carry) + len(body_others)
    found = while_loop_op(
        lambda *tensors: closed_condition(*tensors[: len(carry)], *tensors[first:]),
        lambda *tensors: closed_body(*tensors[:first]),
        tuple(carry),
        (*body_others, *condition_others),
    )
    return pytree.tree_unflatten(found, form)


def _close(function: Callable[..., Any], sample: Sequence[Any]) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """Returns the tensors that a function takes from around it, and the function of its own arguments and of these.

    The body of an exported loop may read nothing but its arguments: weights and masks must be among them.
    """
    import torch
    from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing
    from torch.overrides import TorchFunctionMode
    from torch.utils import _pytree as pytree

    own = {id(tensor): tensor for tensor in sample}
    others: dict[int, Any] = {}

    def plain(leaf: Any) -> Any:
        return leaf.value if isinstance(leaf, keras.Variable) else leaf

    class Finding(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            args, kwargs = pytree.tree_map(plain, (tuple(args), kwargs or {}))
            for leaf in pytree.tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor) and id(leaf) not in own:
                    others[id(leaf)] = leaf
            result = func(*args, **kwargs)
            own.update((id(leaf), leaf) for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))
            return result

    class Replacing(TorchFunctionMode):
        def __init__(self, arguments: Sequence[Any]) -> None:
            super().__init__()
            self.replacements = dict(zip(others, arguments, strict=True))

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            def replaced(leaf: Any) -> Any:
                leaf = plain(leaf)
                return self.replacements.get(id(leaf), leaf) if isinstance(leaf, torch.Tensor) else leaf

            args, kwargs = pytree.tree_map(replaced, (tuple(args), kwargs or {}))
            if func in (torch.as_tensor, torch.tensor) and not isinstance(args[0], (torch.Tensor, torch.SymInt)):
                return filled(*args, **kwargs)
            return func(*args, **kwargs)

    def filled(values: Any, dtype: Any = None, device: Any = None) -> Any:
        """Returns numbers as a tensor that is made within the loop: a constant would stay outside."""
        values = np.asarray(values)
        dtype = dtype or torch.from_numpy(np.zeros((), values.dtype)).dtype
        if values.ndim:
            return torch.stack([filled(value, dtype, device) for value in values])
        return torch.full((), values.item(), dtype=dtype, device=device)

    with disable_proxy_modes_tracing(), Finding():
        function(*sample)

    def closed(*tensors: Any) -> Any:
        with Replacing(tensors[len(sample) :]):
            return function(*tensors[: len(sample)])

    return tuple(others.values()), closed
