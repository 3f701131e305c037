# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 04 · Positions
#
# **The question.** Attention looks things up in a *set*: shuffle keys and values, and nothing changes (you saw it at the end of
# unit 03). "Dog bites man" and "man bites dog" are one and the same to it. How do you tell a model *where* a word stands?
#
# You build five answers, each of which is used in a well-known model. They differ on one question: does a word need to know its **position**, or only its
# **distance** from another word? At the end you compare them: trained on short texts, tested on long ones.
#
# New letters: $p$ a position, $d$ the width `dim`, $R$ the number of keys when they are counted by distance.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import causal_mask, masked_softmax, merge_heads, split_heads

# %% [markdown]
# ## The idea: count, but smoothly
#
# What could one add to a word's vector to say "I am number 6"?
#
# - The number 6 itself? At position 500 it would be far larger than the numbers of the word's vector, and no later position has been seen in training.
# - 6 divided by the length? Then the step from one word to the next has a different size in every sentence.
# - The number in **binary**: 0110? It is bounded, different for each position and the same in each sentence. Look at the *columns* of a binary counter: the
#   lowest bit flips at every step, the next one at every second, the next one at every fourth. Each column is a square wave with twice the period of the one
#   before.
#
# Only the jumps are a nuisance: from 7 (0111) to 8 (1000) all bits change, while a network learns more easily if neighbouring positions have similar codes. So
# make the waves smooth: put a **sine** in place of each bit. Because a sine takes the same value on its way up and on its way down, add a **cosine** for each.
# A pair (sin, cos) is the tip of a clock hand, and the code of a position is what a clock with many hands shows, from a fast one to a very slow one.

# %% role="demo"
import matplotlib.pyplot as plt

import tfkit.nn as reference
from tfkit_lab import show

torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other
place, bit = torch.arange(32)[:, None], torch.arange(5)
panels = {"bits": ((place >> bit) % 2).float(), "sines, period 2, 4, 8 …": -torch.sin(math.pi * (place + 0.5) / 2.0**bit),
          "the paper's table": reference.sinusoidal_positions(32, 32)}
show.matrices(panels, title="Three codes of a position", axes=("position", "column"))

# %% [markdown]
# *Figure: three panels, the positions 0 to 31 from top to bottom. Left, the five bits of the position as light and dark squares, the fastest bit on the left.
# Middle, sines of the same periods: the same pattern, blurred. Right, the table of the 2017 paper, 32 columns: narrow stripes on the left, and wider and wider
# ones to the right, until the columns hardly change.*
#
# ## 1 · Absolute: a table of waves
#
# $$PE_{p,\,2i} = \sin\!\left(\frac{p}{10000^{2i/d}}\right) \qquad PE_{p,\,2i+1} = \cos\!\left(\frac{p}{10000^{2i/d}}\right) \qquad i = 0, 1, \dots, \tfrac{d}{2} - 1$$
#
# This is the table of Vaswani et al. (2017, section 3.5). Pair $i$ of columns turns at the frequency $10000^{-2i/d}$: the first one by 1 radian a step, the
# last one hardly at all. (Binary has periods 2, 4, 8; here they run from $2\pi$ to nearly $10000 \cdot 2\pi$, with equal *ratios* as well.) The table is added
# to the word vectors once, before the first layer.
#
# **Predict, then run.** What is row 0? And: the dot product of rows $p$ and $p + k$ is $\sum_i \cos(k\,\omega_i)$ with $\omega_i$ the frequency. What does it depend on, and what not?

# %% role="predict"
predict(
    "04.waves",
    predict.choice("What is row 0?", "all zeros", "all ones", "0 and 1 alternating"),
    predict.choice("The dot product of rows p and p + k depends on …", "p alone", "k alone", "both"),
)

# %% role="exercise" exercise="positions.sinusoidal"

# %% role="demo"
guess = predicted("04.waves")
try:
    table = sinusoidal_positions(101, 128)
    print("row 0 begins", table[0, :6].tolist())
    guess.compare({(0, 0): "all zeros", (1, 1): "all ones", (0, 1): "0 and 1 alternating"}[tuple(table[0, :2].int().tolist())],
                  "k alone" if torch.allclose(table[20] @ table[25], table[50] @ table[55]) else "both")
    fig, ax = plt.subplots(figsize=(6, 2.6))
    for p in (20, 50):
        ax.plot(table @ table[p], label=f"with row {p}")
    ax.set(xlabel="row", ylabel="dot product"), ax.legend()
    plt.show()
except NotImplementedError:
    plt.close("all")
    print("Build sinusoidal_positions first.")

# %% [markdown]
# *Figure: a curve of the dot product of row 50 with each row from 0 to 100. It is symmetric, with a peak of 64 at row 50, and falls with small ripples on both sides.
# The same curve from row 20 is the same shape, moved.*
#
# **Why pairs?** Going $k$ positions further turns every hand by $k\,\omega_i$, wherever it stands:
#
# $$\begin{pmatrix} \cos k\omega & \sin k\omega \\ -\sin k\omega & \cos k\omega \end{pmatrix} \begin{pmatrix} \sin p\,\omega \\ \cos p\,\omega \end{pmatrix} = \begin{pmatrix} \sin (p+k)\,\omega \\ \cos (p+k)\,\omega \end{pmatrix}$$
#
# So "three words back" is *one matrix for all positions*, and a query projection can learn it. The authors hoped for exactly that. It also suggests a bolder
# step: if a shift is a rotation, why add anything at all?
#
# ## 2 · Rotary: rotate queries and keys
#
# The score of a query at $m$ and a key at $n$ should depend on $m - n$. With an addition, $(q + p_m)\cdot(k + p_n)$ has four terms and mixes words with
# positions. Su et al. (2021) rotate instead of adding: each pair of columns of the query by $m\,\omega_i$, each pair of the key by $n\,\omega_i$,
#
# $$\begin{pmatrix} x'_{2i} \\ x'_{2i+1} \end{pmatrix} = \begin{pmatrix} \cos m\omega_i & -\sin m\omega_i \\ \sin m\omega_i & \cos m\omega_i \end{pmatrix} \begin{pmatrix} x_{2i} \\ x_{2i+1} \end{pmatrix}, \qquad \omega_i = base^{-2i/d}$$
#
# and the dot product of two rotated vectors depends on the *difference* of the angles only. Norms do not change. Every layer rotates its queries and keys, but
# never its values, so what attention retrieves does not depend on the position where it was stored.
#
# **Pairs are neighbours here**, (0,1), (2,3), …, as in GPT-J and in Meta's own LLaMA. GPT-NeoX pairs column $i$ with column $i + d/2$, and so does LLaMA in Hugging Face's transformers. One layout is
# the other with its columns rearranged, so weights can be converted: the script that made Hugging Face's LLaMA files rearranged the rows of the query and key projections in each head. Weights of one layout in code for the other
# give wrong numbers and no error.
#
# **`positions` is an argument** because of decoding: when words are generated one by one (unit 07), `x` has a single row, and it may be position 500.

# %% role="demo"
x = torch.tensor([[1.0, 0.0, 1.0, 0.0]]).expand(8, 4)
turned = reference.apply_rotary(x, torch.arange(8), base=25.0)
fig, axes = plt.subplots(1, 2, figsize=(6, 3))
for ax, pair, title in zip(axes, (turned[:, :2], turned[:, 2:]), ("pair 0: 1 radian a step", "pair 1: 1/5 radian a step")):
    for p, (a, b) in enumerate(pair.tolist()):
        ax.annotate("", (a, b), (0, 0), arrowprops={"arrowstyle": "->", "color": plt.cm.viridis(p / 8), "lw": 1.8})
        ax.text(1.15 * a, 1.15 * b, p, ha="center", va="center")
    ax.set(title=title, xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
plt.tight_layout()
plt.show()

# %% [markdown]
# *Figure: two circles, each with eight arrows from its centre, one vector rotated for positions 0 to 7. The fast pair on the left goes all the way round; the
# slower pair on the right opens like a fan.*
#
# **Predict, then run.** Rotate the same query and key for the positions (3, 1), (103, 101) and (3, 2). Which scores are equal?

# %% role="predict"
predict(
    "04.turned",
    predict.choice("Which of the scores at (3, 1), (103, 101) and (3, 2) are equal?", "none", "the first two", "the first and the last", "all three"),
)

# %% role="exercise" exercise="positions.rotary"

# %% role="demo"
guess = predicted("04.turned")
try:
    torch.manual_seed(0)
    q, k = torch.randn(2, 1, 16)
    for m, n in ((3, 1), (103, 101), (3, 2)):
        score = (apply_rotary(q, torch.tensor([m])) * apply_rotary(k, torch.tensor([n]))).sum()
        print(f"query at {m:3}, key at {n:3}: score {score:.4f}")
    print("length before and after:", q.norm().item(), apply_rotary(q, torch.tensor([500])).norm().item())
    guess.compare("the first two")
except NotImplementedError:
    print("Build apply_rotary first.")

# %% [markdown]
# ## 3 · Buckets: learn a number for each distance
#
# Why calculate at all? T5 (Raffel et al. 2020) *learns* one number per head and distance and adds it to the score, before the softmax:
#
# $$score_{ij} = q_i \cdot k_j + bias_{h,\,bucket(j - i)}$$
#
# With a number for each distance up to some thousands, most of them would rarely be trained. So distances share **buckets**, and the further away, the more of
# them share one: whether a word is 2 or 3 positions back matters, whether it is 92 or 93 back does not. With $n$ buckets and $e = \lfloor n/2 \rfloor$, a
# distance $\delta \ge 0$ has
#
# $$bucket = \begin{cases} \delta & \delta < e \\[2pt] \min\!\left(n - 1,\; e + \left\lfloor \dfrac{\ln(\delta / e)}{\ln(max\_distance / e)}\,(n - e) \right\rfloor\right) & \delta \ge e \end{cases}$$
#
# - `relative_position` is **key minus query**: negative means behind.
# - `bidirectional` (an encoder): half of the buckets are for keys behind or at the query, the other half, numbered from `num_buckets // 2` on, for keys ahead.
#   $n$ is then `num_buckets // 2`.
# - Otherwise (a decoder), all buckets are for the past; keys ahead are in bucket 0 and masked anyway.
# - The logarithm is taken in float32, as the published code does. That can decide a distance right at a border.
#
# **Predict, then run.** 32 buckets, largest distance 128, a decoder. Which distances share bucket 31? How many have a bucket to themselves?

# %% role="predict"
predict(
    "04.buckets",
    predict.number("From which distance on is everything in bucket 31?", within=5),
    predict.number("How many distances have a bucket to themselves?"),
)

# %% role="exercise" exercise="positions.t5_buckets"

# %% role="demo"
guess = predicted("04.buckets")
try:
    distance = torch.arange(-150, 151)
    fig, ax = plt.subplots(figsize=(6.5, 2.8))
    for both, name in ((False, "decoder"), (True, "encoder")):
        ax.step(distance, relative_bucket(distance, both, 32, 128), where="mid", label=name)
    ax.set(xlabel="key minus query", ylabel="bucket"), ax.legend()
    plt.show()
    row = relative_bucket(-torch.arange(200), False, 32, 128)
    print("alone:", sum((row == b).sum() == 1 for b in range(32)).item(), " last bucket from", (row == 31).nonzero().min().item())
    guess.compare((row == 31).nonzero().min(), sum((row == b).sum() == 1 for b in range(32)))
except NotImplementedError:
    plt.close("all")
    print("Build relative_bucket first.")

# %% [markdown]
# *Figure: two staircases, the bucket over key minus query from -150 to 150. Decoder: on the left a flat stretch at 31, then ever shorter steps down to bucket 0 at distance 0, and 0 from there on.
# Encoder: a valley with its bottom, 0, at distance 0: up to 15 on the left side; on the right side it jumps straight to 17 and climbs to 31.*
#
# ## 4 · The shift: from distances to positions
#
# Transformer-XL (Dai et al. 2019) lets the *query* ask for a distance: part of the score is $q_i \cdot r_{i-j}$, with a vector $r_\delta$ for every distance.
# Computed directly, that needs a vector for every pair $(i, j)$: `[Q,K,D]` numbers. But there are only $R$ distances. So multiply each query by the vector of
# each *distance* once, `[Q,R]`, and move the results to where they belong.
#
# The columns are ordered from the largest distance on the left to 0 on the right, and the queries are the last $Q$ of the $R$ positions. So query $i$ finds its
# own position, distance 0, in column $R - Q + i$:
#
# $$out_{i,j} = scores_{i,\; j + Q - 1 - i} \qquad \text{for } j \le R - Q + i$$
#
# Row $i$ moves **left by $Q - 1 - i$**: the first the most, the last not at all. What lies beyond is the future, and the causal mask hides it. You may gather,
# roll row by row, or use the paper's trick (appendix B), which needs no indexing: put a column of zeros in front (`[Q,R+1]`), reshape to `[R+1,Q]`, drop the
# first row, reshape back to `[Q,R]`. With $Q = 2$ and $R = 3$:
#
# | padded `[2,4]` | reshaped `[4,2]` | first row dropped `[3,2]` | reshaped `[2,3]` |
# |---|---|---|---|
# | 0 2 1 0 | 0 2 | | |
# | 0 2 1 0 | 1 0 | 1 0 | 1 0 · |
# | | 0 2 | 0 2 | 2 1 0 |
# | | 1 0 | 1 0 | |
#
# (The dot stands for a number that belongs to the next row; its cell is in the future.)
#
# **Predict, then run.** There are 3 queries and 5 keys. Each cell of the table says which distance it holds. Write down the table after the shift.

# %% role="predict"
predict(
    "04.shift",
    predict.numbers("Row 0 after the shift, without the future", 3),
    predict.numbers("Row 1", 4),
    predict.numbers("Row 2", 5),
)

# %% role="exercise" exercise="positions.relative_shift"

# %% role="demo"
guess = predicted("04.shift")
try:
    before = torch.arange(4.0, -1, -1).expand(1, 1, 3, 5)
    fig, axes = plt.subplots(1, 2, figsize=(7, 2.2))
    for ax, grid, title in zip(axes, (before, relative_shift(before)), ("by distance", "by place")):
        seen = torch.ones(3, 5, dtype=torch.bool).tril(2) | (title == "by distance")
        ax.imshow(grid[0, 0].masked_fill(~seen, math.nan), cmap="viridis_r", vmin=-2, vmax=5)
        for i, j in seen.nonzero().tolist():
            ax.text(j, i, int(grid[0, 0, i, j]), ha="center", va="center")
        ax.set(title=title, xlabel="column", ylabel="query", facecolor="#cccccc", yticks=range(3))
    plt.tight_layout(), plt.show()
    guess.compare(*(relative_shift(before)[0, 0, row, : row + 3] for row in range(3)))
except NotImplementedError:
    plt.close("all")
    print("Build relative_shift first.")

# %% [markdown]
# *Figure: two tables with 3 rows and 5 columns. Before: every row reads 4, 3, 2, 1, 0. After: row 0 reads 2, 1, 0, row 1 reads 3, 2, 1, 0 and row 2 reads 4, 3, 2, 1, 0; cells in the future
# are grey and empty. The zeros form a diagonal.*
#
# ## 5 · Axial: two digits
#
# BERT and GPT-2 do not calculate a code, they *learn* one: a table with a row for each position. For 512 or 1,024 positions that costs little. Reformer (Kitaev
# et al. 2020) was trained on texts of 64 K positions, and its published code has read half a million at once: there the table would be larger than the rest of
# the model.
#
# Back to counting. A number below $l_1 \cdot l_2$ has two **digits**: a fast one, $j \bmod l_1$, and a slow one, $\lfloor j / l_1 \rfloor$. Learn a small table for each digit and put the two rows beside each other:
#
# $$E_j = \left[\, E^{(1)}_{j \bmod l_1} \;;\; E^{(2)}_{\lfloor j / l_1 \rfloor} \,\right]$$
#
# Lay the text out as a grid of $l_2$ rows with $l_1$ tokens each: one table is for the column, the other for the row; hence *axial*. (The method comes with
# Reformer's published code, trax, which lets the *first* table be the slow one. The exercise asks for the formula here, which is that of Hugging Face's
# documentation.)
#
# **Predict, then run.** 524,288 positions as 512 × 1,024, widths 64 and 192 (256 together). How many numbers are in the full table, and how many in the two small ones?

# %% role="predict"
predict(
    "04.axial",
    predict.number("How many numbers are in the full table?"),
    predict.number("How many in the two small ones?"),
)

# %% role="exercise" exercise="positions.axial"

# %% role="demo"
guess = predicted("04.axial")
try:
    fast, slow = torch.randn(512, 64), torch.randn(1024, 192)
    print("full table:", f"{512 * 1024 * (64 + 192):,}", " two small ones:", f"{fast.numel() + slow.numel():,}")
    digits = axial_positions(torch.arange(3.0)[:, None], torch.arange(4.0)[:, None])
    print("positions 0 to 11, fast digit and slow digit:", [tuple(map(int, row)) for row in digits.tolist()])
    guess.compare(512 * 1024 * (64 + 192), fast.numel() + slow.numel())
except NotImplementedError:
    print("Build axial_positions first.")

# %% [markdown]
# ## The experiment: learn on short texts, read long ones
#
# The data are random letters; at each position the model has to name the letter **three positions back**. Each model is one layer of causal attention, trained
# on texts of 24 letters and tested on texts of 96. Six of them differ only in what tells them about positions: nothing, a learned table (as in BERT), your
# sines, your rotation, and your buckets twice, with a `max_distance` of 128 and of 12.
#
# **Predict.** Draw six curves, the share of right answers over the position from 3 to 95, before you run it. What happens beyond the line at 24?

# %% role="predict"
predict(
    "04.beyond",
    predict.choice("Which of the six are right in 9 of 10 cases beyond position 24?", "nothing", "learned table", "sines", "rotation", "buckets to 128", "buckets to 12", several=True),
)

# %% role="experiment"
LETTERS, SHORT, LONG, WIDTH, HEADS, BACK = 20, 24, 96, 64, 2, 3


class Reader(nn.Module):
    """One attention layer over letters; `kind` says how it knows where a letter stands."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.letters = kind, nn.Embedding(LETTERS, WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, LETTERS)
        self.table, self.bias = nn.Embedding(LONG, WIDTH), nn.Embedding(16, HEADS)

    def forward(self, ids):
        x, place = self.letters(ids), torch.arange(ids.size(1))
        if self.kind == "learned table":
            x = x + self.table(place)
        if self.kind == "sines":
            x = x + sinusoidal_positions(len(place), WIDTH)
        q, k, v = (split_heads(part, HEADS) for part in self.qkv(x).chunk(3, dim=-1))
        if self.kind == "rotation":
            q, k = apply_rotary(q, place), apply_rotary(k, place)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if self.kind.startswith("buckets"):
            farthest = int(self.kind.split()[-1])
            bucket = relative_bucket(place[None, :] - place[:, None], False, 16, farthest)
            scores = scores + self.bias(bucket).permute(2, 0, 1)
        return self.out(merge_heads(masked_softmax(scores, causal_mask(len(place))) @ v))

# %% role="experiment"
def train_reader(kind, steps=800):
    """The share of right answers at each position of long texts, after training on short ones."""
    torch.manual_seed(0)
    model = Reader(kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        ids = torch.randint(LETTERS, (32, SHORT))
        loss = F.cross_entropy(model(ids)[:, BACK:].flatten(0, 1), ids[:, :-BACK].flatten())
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        print(f"\r{kind}: step {step + 1}/{steps}, loss {loss.item():.2f}   ", end="", flush=True)
    print()
    ids = torch.randint(LETTERS, (300, LONG))
    with torch.no_grad():
        return (model(ids)[:, BACK:].argmax(-1) == ids[:, :-BACK]).float().mean(0)

# %% role="experiment"
guess = predicted("04.beyond")
KINDS = ["nothing", "learned table", "sines", "rotation", "buckets to 128", "buckets to 12"]
try:
    shares = {kind: train_reader(kind) for kind in KINDS}
    for kind, share in shares.items():
        print(f"{kind:14} within 24: {share[: SHORT - BACK].mean():.0%}   beyond: {share[SHORT - BACK :].mean():.0%}")
    guess.compare([kind for kind, share in shares.items() if share[SHORT - BACK :].mean() > 0.9])
except NotImplementedError:
    shares = {}
    print("Build sinusoidal_positions, apply_rotary and relative_bucket first.")

# %% role="experiment"
if shares:
    fig, ax = plt.subplots(figsize=(7, 3.4))
    for kind, share in shares.items():
        ax.plot(range(BACK, LONG), share, label=kind)
    ax.axvline(SHORT, color="#888888", ls="--")
    ax.set(xlabel="position", ylabel="share right", ylim=(0, 1.03))
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5)), plt.tight_layout(), plt.show()

# %% [markdown]
# *Figure: six curves, the share of right answers over the position in a text of 96 letters, with a line at 24 where the training texts ended. Up to the line
# all but "nothing" are at 100%. Beyond it the learned table drops to guessing immediately, and so do the sines, with a few spikes; the buckets to 128 slide to
# a third; the rotation holds for twenty positions more, then sinks to a half; the buckets to 12 stay at the top.*
#
# - **The table** has rows for positions 24 to 95 that no gradient ever reached. They are noise.
# - **The sines** are defined everywhere, but the layer after them has only seen the first 24 rows. "It may allow the model to extrapolate", wrote the authors;
#   here it does so only in spikes, where the waves happen to line up again.
# - **The rotation** knows distances only, and distance 3 is the same everywhere. But the scores of distances above 24 were never trained, and more and more of
#   them compete in the softmax.
# - **The buckets** show why: with 128, the far buckets were never trained either. With 12, the last bucket means 12 *and all beyond*; training gave it a low
#   bias, and at every larger distance it has the same one. (T5's own 128 is well below the 512 tokens of its training texts.)
# - **"Nothing"** beats guessing, 5%, because a causal mask reveals a little about the position: an early query sees few keys.
#
# **Predict, then run.** Set `BACK = 10`: which model suffers most? Then take 8 buckets in place of 16 (change two lines) and `BACK = 5`: distances 4 and 5 share
# one. What happens?

# %% role="predict"
predict(
    "04.ten-back",
    predict.choice("Ten positions back, within 24 letters: which model suffers most?", "rotation", "buckets to 128", "buckets to 12"),
)

# %% role="experiment"
guess = predicted("04.ten-back")
try:
    BACK = 10
    farther = {kind: train_reader(kind)[: SHORT - BACK].mean().item() for kind in KINDS[3:]}
    print({kind: f"{share:.0%} right" for kind, share in farther.items()})
    guess.compare(min(farther, key=farther.get))
except NotImplementedError:
    print("Build apply_rotary and relative_bucket first.")
BACK = 3

# %% [markdown]
# ## Meet a real model
#
# all-MiniLM-L6-v2 is a BERT: its 512 positions are a table that started as noise (`tfkit get all-MiniLM-L6-v2` in a terminal, 83 MB). Nobody told it that 7
# lies beside 8. **Before you run it:** how does the similarity (cosine) of the vectors of two positions depend on their distance?

# %% role="experiment"
import tfkit

try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    table = F.normalize(real.model.embed.positions.weight.detach(), dim=-1)  # [512,E]
    alike = table @ table.T
    fig, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    image = axes[0].imshow(alike, cmap="viridis", vmin=-0.2, vmax=1)
    axes[0].set(title="cosine of two positions", xlabel="position", ylabel="position"), fig.colorbar(image, ax=axes[0])
    axes[1].plot([alike.diagonal(distance).mean() for distance in range(256)])
    axes[1].set(xlabel="distance", ylabel="mean cosine"), plt.tight_layout(), plt.show()
    there, back, other = real.embed(["the dog bites the man", "the man bites the dog", "the man is bitten by the dog"])
    print(f"roles swapped: cosine {there @ back:.3f}; same meaning in other words: {there @ other:.3f}")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# *Figure: left, a map of 512 by 512 cosines: a bright diagonal, and parallel stripes beside it. Right, the mean cosine over the distance: from 1 it falls in
# waves, a slow one with quick ripples on it, below zero at 80, up to 0.3 at 150, down to -0.3 at 250.*
#
# The table has learned from the data to represent distance, in waves of several lengths at once, much like the sines, which need no training. Yet positions
# have little influence on the result here: if the dog and the man swap roles, the sentence keeps nearly the same vector, closer than that of a sentence with
# the same meaning in other words. A model trained to tell what a sentence is *about* needs to know little about positions.
#
# ## Find the fault
#
# A wrong rotation stops nothing: the shapes are right, and a model that is trained with it learns something, too. Its numbers
# tell nobody that they are wrong. But a rotation has properties that can be tested without a table of right numbers. What
# happens to the length of a vector? What happens at position 0? Below is a rotation that somebody wrote, and what it gives for
# the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="positions.rotary" seed=8
def test_lengths_stay(answer):
    torch.manual_seed(0)
    x = torch.randn(3, 4)
    turned = answer(x, torch.arange(3))
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-5), "a rotation keeps lengths"

# %% [markdown]
# ## Pitfalls
#
# - **Pairs or halves.** The sines and the rotation exist in both layouts. Shapes fit, training from scratch works, and loaded weights of the other layout give nonsense.
# - **Angles in half precision.** In bfloat16 there is no number between 2000 and 2008. Compute angles in float32, then convert the result to the type of the
#   input.
# - **Positions from 0 in every call.** With a cache, the new token's position is the number of tokens before it.
# - **Padding on the left** moves the tokens: count positions over the real tokens, or use distances.
# - **The sign of a distance.** T5 says key minus query; others say query minus key.
# - **Positions in the values.** A position that is added to the word vectors ends up in the values as well. Rotations and biases avoid that.
# - **Past the end of a learned table** there is an error at best; if the index is clamped, all later tokens share one position.
#
# ## What real models changed
#
# | model | positions | where |
# |---|---|---|
# | Transformer 2017, Marian, CTRL | sines; the latter two in halves, not in pairs | added once |
# | GPT, GPT-2, BERT, BART | learned table | added once |
# | Transformer-XL, XLNet | sines *of the distance*, projected, and the shift | in every layer's scores |
# | T5 | buckets; one table, shared by all layers; scores not divided by $\sqrt{D}$ | in every layer's scores |
# | DeBERTa | learned vectors for distances, compared with query *and* key (unit 11) | in every layer's scores |
# | GPT-J | rotation in pairs, of the first 64 columns of a head only | queries and keys |
# | GPT-NeoX, LLaMA | rotation; halves in GPT-NeoX and in Hugging Face's LLaMA, neighbours in Meta's; larger bases for longer texts | queries and keys |
# | Reformer | axial | added once |
# | ALiBi (Press et al. 2022) | a fixed slope per head times the distance | in every layer's scores |

# %% [markdown]
# ## Put it into your model
#
# With positions the recurrence can go: all positions of a text are computed at once. Compare the bits and the bytes a second with those of unit 03.

# %% role="experiment"
from course import my_model

my_model.add_unit("04-positions")

# %% [markdown] role="task" task="past-the-end" points=2
# ## In your own words
#
# A model was trained on texts of up to 512 tokens and now reads one of 2,000. What happens at token 1,000 with a learned table, with rotary positions, and with
# T5's buckets? Give the reason for each.
#
# ### BEGIN MARK SCHEME
# - 2 points for all three, 1 for two of them. An answer without a reason earns nothing.
# - Table: there is no such row, or one that no gradient ever reached.
# - Rotation: defined everywhere, and nearby tokens get the same scores as ever; but distances above 512 were never trained and take part in the softmax.
# - Buckets: the last bucket means its distance *and all beyond*, and it was trained.
# - Related: `positions.t5_buckets/far_ones_wrap_around`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 3.5.
# - Dai et al. 2019, [Transformer-XL](https://arxiv.org/abs/1901.02860), section 3.3 and appendix B.
# - Raffel et al. 2020, [T5](https://arxiv.org/abs/1910.10683), section 2.1, the last paragraphs.
# - Kitaev et al. 2020, [Reformer](https://arxiv.org/abs/2001.04451).
# - Su et al. 2021, [RoFormer](https://arxiv.org/abs/2104.09864): rotary positions.
# - Press et al. 2022, [Train Short, Test Long](https://arxiv.org/abs/2108.12409): our experiment at full scale.
# - Kazemnejad et al. 2023, [The Impact of Positional Encoding on Length Generalization](https://arxiv.org/abs/2305.19466): what a decoder learns with no positions at all.
