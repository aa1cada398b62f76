# ---
# jupyter:
#   kernelspec: {display_name: Python 3, language: python, name: python3}
# ---

# %% [markdown]
# # How two heads sort
#
# `theorem_sorter` was never trained. Every weight of it is from an equation of a proof (Awasthi and Gupta, 2023,
# Theorem 5.1): two blocks of two heads sort any list of numbers from 1 to 100, however long, duplicates included. Here
# is the proof with the numbers of a small one.

# %%
import keras
import numpy as np

import kzoo

sorter = kzoo.from_preset("theorem_sorter")
print(sorter.generate("5 3 1 4 3 9"))
print(kzoo.evaluate(sorter, lengths=[20, 100], examples=10))
assert sorter.generate("5 3 1 4 3 9") == "1 3 3 4 5 9"

# %% [markdown]
# ## The idea
#
# The decoder reads the list, then a delimiter, then what it wrote so far. At each place it must name the next number:
#
# - at the delimiter, the **minimum** of the list;
# - at a number $a$ that was just written: $a$ again if some of its copies are still to come, else its **successor**, the
#   least number above it.
#
# Counting copies is one head, finding the least number above is the other.
#
# ## A softmax that counts and a softmax that picks
#
# Head 2 of block 2 gives the number $b > a$ the score $q - b + 1$, all others 0, and multiplies by $\tau = 3 \ln n$. Then
# the successor's weight is $e^{\tau}$ times that of the next one, and *all* others together, at most $n$ of them, get less
# than $n \, e^{-\tau} = n^{-2}$. A softmax with a temperature that grows with $\ln n$ is an argmax for every length.
#
# Without the logarithm it is not: the weight of the best key among $n$ goes to zero.


# %%
def weight_of_the_best(tau, n):
    """The largest weight where one key scores 1 and n - 1 score 0."""
    return np.exp(tau) / (np.exp(tau) + n - 1)


for n in (10, 100, 1000, 10_000):
    fixed, grown = weight_of_the_best(3 * np.log(10), n), weight_of_the_best(3 * np.log(n), n)
    print(f"n {n:6}: tau fixed {fixed:.4f}, tau = 3 ln n {grown:.4f}")
assert weight_of_the_best(3 * np.log(10_000), 10_000) > 0.999 and weight_of_the_best(3 * np.log(10), 10_000) < 0.1

# %% [markdown]
# Head 1 of block 2 does the opposite: it spreads evenly over the copies of $a$, read and written. Block 1 marked those that
# were written. So its output is $(\text{read} - \text{written}) / (\text{read} + \text{written})$: positive while copies
# are to come, and exactly 0 once all are out. The successor scores 1/2; a copy scores $2 \cdot \text{longest}$ times the
# fraction, which is more than 1/2 as soon as one copy is missing. That is the whole proof.

# %%
longest = 200
for read, written in ((3, 1), (3, 2), (3, 3)):
    copy = 2 * longest * (read - written) / (read + written)
    print(f"{read} read, {written} written: a scores {copy:5.1f}, its successor 0.5")

# %% [markdown]
# ## The weights are those of the equations
#
# The first layer's embedding is the identity on its own coordinates: symbol $s$ is the unit vector $e_s$.

# %%
small = kzoo.models.construct_sorter(largest=9)
embedding = keras.ops.convert_to_numpy(small.embedding.embeddings)
print(embedding.shape, "states of 3 q + 2 coordinates")
assert np.array_equal(embedding[:9, :9], np.eye(9)) and embedding.shape[1] == 3 * 9 + 2
rng = np.random.default_rng(0)
for _ in range(5):
    numbers = rng.integers(1, 10, 12)
    assert small.generate(" ".join(map(str, numbers))) == " ".join(map(str, sorted(numbers)))

# %% [markdown]
# ## Exercises
#
# 1. `construct_sorter(largest=9, longest=4)` holds only up to four numbers. Where does it break first: with many different
#    numbers, or with many copies?
# 2. A *trained* sorter, `plain_sorter`, saw lists of 2 to 20 numbers. Compare both at 20 and at 60.
#
# ## Answers

# %%
short = kzoo.models.construct_sorter(largest=9, longest=4)
different, copies = "9 8 7 6 5 4 3 2 1", "5 " * 30 + "7"
print(short.generate(different))
print(short.generate(copies).count("5"), "of 30 copies")

# %%
plain = kzoo.from_preset("plain_sorter")
print(kzoo.evaluate(plain, lengths=[20, 60], examples=20))
