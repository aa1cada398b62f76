# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Carrying over 1,000 digits
#
# `abc_addition` was trained on numbers of one to six digits and adds numbers of a thousand. It writes the sum from its last
# digit, so a carry is known before it is needed. What must it look at to write a digit? Two digits, one of each number,
# and whether there was a carry: always the same distance from where it is.

# %%
import matplotlib.pyplot as plt
import numpy as np

import kzoo

adder = kzoo.from_preset("abc_addition")
print(adder.generate("123+748"))
assert adder.generate("999999+1") == "1000000"

# %% [markdown]
# ## Lines
#
# Its attention may look along a few lines only. They were not designed: `kzoo.calibrate` found them as the lines along
# which the heads of a trained model of six digits looked, and extended them. White is forbidden.

# %%
trace = adder.trace("123+748")
biases = trace["bias"][-1]  # of the last layer
figure, axes = plt.subplots(1, len(biases), figsize=(12, 3), layout="constrained")
for head, axis in enumerate(axes):
    axis.imshow(biases[head] > -1e8, cmap="Greys", vmin=0, vmax=2)
    axis.set_title(f"head {head + 1}")
    axis.set_xticks(range(len(trace.labels["source"])), trace.labels["source"], fontsize=6)
plt.show()

# %% [markdown]
# Each line runs backwards through one of the numbers, one digit for each digit written, counted from the end of that
# number. Nothing depends on how long it is. So:

# %%
rng = np.random.default_rng(0)
for digits in (6, 60, 300):
    a, b = ("".join(map(str, rng.integers(1, 10, digits))) for _ in range(2))
    assert adder.generate(f"{a}+{b}") == str(int(a) + int(b))
    print(digits, "digits: right")

# %% [markdown]
# The longest carry: one is added to a row of nines. Every digit depends on all that came before, and still each step
# needs one bit of memory only.

# %%
nines = "9" * 200
assert adder.generate(f"{nines}+1") == "1" + "0" * 200

# %% [markdown]
# The same network without lines, `vanilla_addition`, is right up to six digits and knows nothing of seven: its cosines of
# absolute positions never had such values.

# %%
vanilla = kzoo.from_preset("vanilla_addition")
print(kzoo.evaluate(vanilla, lengths=[6, 10], examples=50))

# %% [markdown]
# ## Exercises
#
# 1. The model looks at digits it was told to look at. Which information about the task went into that? (See *supervision* on
#    its card.)
# 2. How many different columns are there, carry included? Are six digits enough to have seen them all?
#
# ## Answers

# %%
print(kzoo.Preset.find("abc_addition").supervision)

# %%
columns = {(a, b, carry) for a in range(10) for b in range(10) for carry in (0, 1)}
seen, carry_of = set(), lambda a, b, place: int(a % 10**place + b % 10**place >= 10**place)
for _ in range(2000):
    a, b = (int(n) for n in rng.integers(0, 10**6, 2))
    seen |= {(a // 10**i % 10, b // 10**i % 10, carry_of(a, b, i)) for i in range(6)}
print(f"{len(seen)} of {len(columns)} columns in 2,000 examples of six digits")
assert seen == columns
