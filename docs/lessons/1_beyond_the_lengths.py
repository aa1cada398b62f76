# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # Why attention fails beyond its lengths
#
# Two recurrent models were trained to copy 5 to 10 random digits. Both are perfect there. One attends by content, the
# other by location. What happens at eleven digits, and at a hundred?

# %%
import matplotlib.pyplot as plt
import numpy as np

import kzoo

content, onestep = kzoo.from_preset("content_copy"), kzoo.from_preset("onestep_copy")
for model in (content, onestep):
    print(kzoo.evaluate(model, lengths=[5, 10, 15, 30], examples=50), "\n")

# %% [markdown]
# A softmax over the contents of the source asks: which symbol looks like the one I want next? In a string of random
# digits many symbols look alike, so the encoder must write into each state *where* it is. It learns to do that for
# positions 1 to 10. Position 11 is a state that nobody ever looked for.
#
# Below, each row is a symbol written and each column one of the source. Twelve digits:


# %%
def draw(models, text):
    figure, axes = plt.subplots(1, len(models), figsize=(5 * len(models), 4), layout="constrained")
    for axis, (name, model) in zip(axes, models.items(), strict=True):
        trace = model.trace(text)
        axis.imshow(trace["weights"], cmap="Blues", vmin=0, vmax=1)
        axis.set_xticks(range(len(trace.labels["source"])), trace.labels["source"], rotation=90)
        axis.set_yticks(range(len(trace.labels["written"])), trace.labels["written"])
        axis.set_title(name)
    plt.show()


text = "3 1 4 1 5 9 2 6 5 3 5 8"
draw({"content": content, "OneStep": onestep}, text)
print("content:", content.generate(text))
print("OneStep:", onestep.generate(text))
assert onestep.generate(text) == text and content.generate(text) != text

# %% [markdown]
# OneStep never asks what a symbol looks like. It has a position, and at each step goes on by a number between 0 and 1:
#
# $$\mu_t = \mu_{t-1} + \sigma(5\, w \cdot l_t) / (S - 1)$$
#
# Staying and going on by one are all it can do, and they mean the same at position 3 and at position 300.

# %%
trace = onestep.trace(text)
print("centre:", np.round(trace["center"], 1))
assert np.all(np.diff(trace["center"]) > 0.5)

# %% [markdown]
# ## Exercises
#
# 1. Where exactly does the content model break? Measure lengths 8 to 14.
# 2. Both models *see* only strings of random digits. Copy `"7 " * 12` with OneStep. Why is that hard for content
#    attention and no problem for a position?
# 3. OneStep can also stay. Which task needs that? Draw `onestep_recopy` for `"4 7 9 8"`.
#
# ## Answers

# %%
report = kzoo.evaluate(content, lengths=range(8, 15), examples=50)
print({length: report[length] for length in range(8, 15)})
assert report[10] > 0.9 and report[14] < 0.1

# %%
sevens = " ".join(["7"] * 12)
print(onestep.generate(sevens) == sevens, content.generate(sevens) == sevens)

# %%
recopy = kzoo.from_preset("onestep_recopy")
draw({"OneStep, copy": onestep, "OneStep, repeat": recopy}, "4 7 9 8")
