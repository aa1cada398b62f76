# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Thinking longer: the Neural Data Router
#
# `101 d a b` is a table lookup: the function `d` of `101`, then `a` of that, then `b`. A plain Transformer learns chains of up
# to five functions and fails beyond. The Neural Data Router runs one block as often as needed, and does
# chains of ten, having seen five.

# %%
import matplotlib.pyplot as plt
import numpy as np

import kzoo

ndr, plain = kzoo.from_preset("ndr_ctl_forward"), kzoo.from_preset("transformer_ctl_forward")
print(ndr.generate("101 d a b"))
for model in (ndr, plain):
    print(kzoo.evaluate(model, lengths=[5, 8, 10], examples=40), "\n")

# %% [markdown]
# ## Two parts
#
# **The copy gate.** A token that cannot be computed yet must wait, unchanged. Each token has a gate $g$ between what the block
# would make of it and what it is: $h' = g \odot u + (1 - g) \odot h$.
#
# **Geometric attention.** The operand of a function is the nearest thing of its kind. From close to far, each token may be
# taken with probability $P_{ij}$, or passed over: $A_{ij} = P_{ij} \prod_{k \text{ closer}} (1 - P_{ik})$.
#
# Here are the gates, a row a token and a column a step, each relative to its own largest value. They open one after
# another, from the argument outwards.

# %%
trace = ndr.trace("101 d a b a d")
gates = trace["gates"].mean(axis=2).T
gates = gates / gates.max(axis=1, keepdims=True)
figure, axis = plt.subplots(figsize=(8, 3.5), layout="constrained")
axis.imshow(gates, cmap="Greens", vmin=0, vmax=1)
axis.set_yticks(range(len(trace.labels["column"])), trace.labels["column"])
axis.set_xlabel("step")
plt.show()

# %% [markdown]
# When is each function applied? At the first step at which its gate is more than half as open as it ever is. In a chain
# each waits for the one before:

# %%
opened = np.argmax(gates > 0.5, axis=1)
print(list(zip(trace.labels["column"], opened.tolist(), strict=True))[2:])
assert np.all(np.diff(opened[2:]) > 0)

# %% [markdown]
# ## Longer chains want more steps
#
# The block is the same at each step, so more steps at inference cost nothing in weights. The preset was trained with 12 steps
# and takes 18.

# %%
task = kzoo.tasks.get("ctl_forward")
examples = task.examples("test", size=8, length=10)


def accuracy(steps):
    found = [ndr.trace(" ".join(source), steps=steps).answer for source, _ in examples]
    return float(np.mean([output == target[0] for output, (_, target) in zip(found, examples, strict=True)]))


shares = {steps: accuracy(steps) for steps in (4, 8, 12, 18)}
print(shares)
assert shares[18] >= shares[4]

# %% [markdown]
# ## Exercises
#
# 1. How many steps does a chain of ten need at least? Search for it.
# 2. Draw the attention of one step for `101 d a b` with `kzoo plot attention ndr_ctl_forward "101 d a b"`. Which token does
#    `b` look at when its gate opens?
#
# ## Answers

# %%
least = next(steps for steps in range(4, 19, 2) if accuracy(steps) >= 0.9)
print("about", least, "steps")

# %%
weights, read = trace["weights"].max(axis=1), trace.labels["read"]  # of the head that looks there most
token = trace.labels["column"].index("b")
step = int(opened[token])
seen = read[int(np.argmax(weights[step, token]))]
print(f"at step {step}, 'b' looks at {seen!r}, the function before it")
assert seen == "a"
