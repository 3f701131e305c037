# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 11 · Long and efficient
#
# **The question.** A novel has about 100,000 tokens. Attention compares each with each: ten billion scores, for every head of every layer. Twice the text costs four times as much.
# Surely not every token of a novel needs every other one. *What can be left out, and what is lost by it?*
#
# You build ten answers, each of a few lines, that six models gave. They are of three kinds:
#
# | what is saved | how | models |
# |---|---|---|
# | **scores** | compute only some: those of nearby, selected or similar keys | Longformer, BigBird, Reformer |
# | **memory** | do not store what can be recomputed; do not compute everything at once | Reformer |
# | **positions**, or attention itself | make the sequence shorter; leave nearby tokens to a convolution | Funnel, ConvBERT |
#
# DeBERTa goes the other way: it *spends* three scores on each pair instead of one. It is in this unit because it, too, changes which scores are computed.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import scaled_dot_product_attention

# %% [markdown]
# ## The idea
#
# Write attention as a table: a row for each query $i$, a column for each key $j$, and a mark where $j \in N(i)$, the set of keys that $i$ may attend to:
#
# $$\text{out}_i = \sum_{j \in N(i)} \operatorname{softmax}_j\!\Big(\frac{q_i \cdot k_j}{\sqrt{D}}\Big)\, v_j$$
#
# Full attention marks all $L^2$ cells. A model for long texts has a rule for $N(i)$ with a fixed number of marks per row: then the cost grows like $L$. With a good rule, information can still pass
# from any token to any other within a few layers, from neighbour to neighbour.

# %% role="demo"
import matplotlib.pyplot as plt

from tfkit_lab import show

torch.manual_seed(0)
at, blocks = torch.arange(32), torch.arange(32) // 4
near, block_near = (at[:, None] - at).abs() <= 3, (blocks[:, None] - blocks).abs() <= 1
chosen, hashes = (at == 5) | (at == 20), torch.randint(0, 6, (32,))
drawn = torch.tensor([6, 5, 7, 5, 1, 2, 3, 4])[blocks][:, None] == blocks
PATTERNS = {"full": torch.ones(32, 32, dtype=torch.bool), "a window": near, "Longformer": near | chosen | chosen[:, None],
            "BigBird": block_near | (blocks == 0) | (blocks == 0)[:, None] | drawn,
            "Reformer": (hashes[:, None] == hashes).tril()}
show.masks(PATTERNS, title="Who looks at whom")

# %% [markdown]
# *Figure: five square tables, 32 by 32. Full: all cells. A window: a band along the diagonal. Longformer: the band, and two full rows with their columns. BigBird: a band of small blocks,
# the first block's rows and columns, and a few single blocks at random places. Reformer: scattered cells below the diagonal, which show no pattern until they are sorted.*
#
# ## 1 · A window, and a few positions that see everything (Longformer)
#
# Most of what a token needs is near it. So $i$ attends to $j$ where $|i - j| \le$ `window // 2`: `window` counts both sides together. A few positions are **global**: the [CLS] token of a classifier, or the tokens of a question. They see all
# positions, *and all positions see them*, so that information can pass from any position to any other in two layers.
#
# **Predict, then run.** `length = 12`, `window = 4`, position 0 global. How many cells are marked in row 0, in row 1, in row 6? And roughly how many in all, when `length` is 4096 and `window` 512?

# %% role="predict"
predict(
    "11.window",
    predict.numbers("How many cells are marked in rows 0, 1 and 6?", 3),
    predict.number("Per cent of all cells, when length is 4096 and window 512?", within=3),
)

# %% role="exercise" exercise="sparse.local_global"

# %% role="demo"
guess = predicted("11.window")
try:
    mask = local_global_mask(12, 4, [0])
    print("marked in rows 0, 1, 6:", mask.sum(-1)[[0, 1, 6]].tolist())
    many = local_global_mask(4096, 512, [0]).sum().item()
    print(f"4096 positions: {many:,} cells of {4096**2:,}, {100 * many / 4096**2:.0f}%")
    guess.compare(mask.sum(-1)[[0, 1, 6]], 100 * many / 4096**2)
    display(show.masks({"window 4": local_global_mask(12, 4, []), "and 0 global": mask, "and 0, 7": local_global_mask(12, 4, [0, 7])}))
except NotImplementedError:
    print("Build local_global_mask first.")

# %% [markdown]
# *Figure: three tables of 12 by 12: the band; the band with the first row and column full; the same with row and column 7 full as well.*
#
# ### The window itself
#
# A mask over all scores saves nothing: they were computed before they were masked. So build the attention without the table: compute only the scores of each position with itself and the `window // 2` on either side, divided by $\sqrt{D}$, and the softmax of those
# that lie within the text. The check counts: neither the number of multiplications nor the largest tensor may grow as the square of the length.
#
# **Predict.** `length = 512`, `window = 4`: how many scores does the table have, and how many do you need?

# %% role="predict"
predict(
    "11.scores",
    predict.number("Length 512: how many scores does the table have?"),
    predict.number("How many do you need for a window of 4?", within=20),
)

# %% role="exercise" exercise="sparse.sliding_window"

# %% role="demo"
guess = predicted("11.scores")
try:
    q, k, v = (torch.randn(1, 24, 8) for _ in range(3))
    masked, _ = scaled_dot_product_attention(q, k, v, local_global_mask(24, 4, []))
    near = sliding_window_attention(q, k, v, 4)
    print("what the mask over all scores gives:", torch.allclose(near, masked, atol=1e-5))
    for length in (512, 4096, 32768):
        print(f"{length:6} positions: {length**2:13,} scores in the table, {5 * length:8,} in the window")
    guess.compare(512**2, 5 * 512)
except NotImplementedError:
    print("Build sliding_window_attention first.")

# %% [markdown]
# ## 2 · Nearby, global and random blocks (BigBird)
#
# Hardware is fastest on blocks: a matrix product of 64 by 64 hardly takes longer than one of 16 by 16. BigBird cuts the text into blocks of `block` positions and decides block by block. Block $a$ attends to block $b$ where
#
# - they are **near**: $|a - b| \le$ `window_blocks // 2`,
# - one of the two is among the first `global_blocks`, which see all and are seen by all, as above (the published code makes the last ones global, too),
# - or $b$ was **drawn** at random for $a$: it is in `random_blocks[a]`. This is one-way: $a$ need not have been drawn for $b$.
#
# Why draw at random? Think of the table as a graph: the positions are its nodes, the marked cells its edges. With a window alone, the shortest path from one end of the text to the other has $2L / \text{window}$ edges, as a window reaches half its width to each side.
# A few random edges make it a *small-world* network: the shortest path between any two positions has about $\log L$ edges.
#
# **Predict.** One row of the block table has `window_blocks` near ones, `global_blocks` first and `r` drawn. At least how many positions does a query of the last block see with `block=2`, `window_blocks=3`, `global_blocks=1` and one drawn?

# %% role="predict"
predict("11.blocks", predict.number("At least how many positions does a query of the last block see?"))

# %% role="exercise" exercise="sparse.bigbird"

# %% role="demo"
guess = predicted("11.blocks")
torch.manual_seed(1)
picks = torch.randint(0, 12, (12, 1))
none = torch.zeros(12, 0, dtype=torch.int64)
try:
    steps = {"near": (3, 0, none), "and first": (3, 1, none), "and drawn": (3, 1, picks)}
    tables = {name: bigbird_mask(24, 2, *how) for name, how in steps.items()}
    display(show.masks(tables, title="BigBird's blocks"))
    print("a query of the last block sees", [int(table[-1].sum()) for table in tables.values()], "positions")
    guess.compare(tables["and first"][-1].sum())
except NotImplementedError:
    print("Build bigbird_mask first.")

# %% [markdown]
# *Figure: three tables of 24 by 24 in squares of 2 by 2. A thick diagonal; then the first two rows and columns are full; then one more square in each pair of rows.*
#
# ## 3 · A hash that similar vectors share (Reformer)
#
# Both rules above depend on *where* a key is, not on its content. But nearly all the weight of a softmax is on the largest dot products. Can the keys most similar to the query be found without computing all the products?
#
# A *locality-sensitive hash* puts similar vectors into the same **hash bucket**, most of the time. (T5's buckets in unit 04 are classes of distances; these are classes of vectors.) Multiply $x$ by a random matrix $P$ (`rotations`, `[D,n]`): its $n$ columns and their opposites are $2n$ directions. The bucket is the direction nearest to $x$:
#
# $$h(x) = \arg\max\,[\,xP\,;\ -xP\,]$$
#
# $[a; b]$ is the concatenation, so there are $2n$ buckets. `vectors` holds the $x$. The length of $x$ does not matter, only its direction.
#
# **Predict, then run.** Are a vector and its opposite in the same bucket? How do their two bucket numbers differ?

# %% role="predict"
predict(
    "11.opposite",
    predict.choice("Are a vector and its opposite in the same bucket?", "yes", "no"),
    predict.number("Of six buckets: by how much do their numbers differ?"),
)

# %% role="exercise" exercise="sparse.lsh_buckets"

# %% role="demo"
guess = predicted("11.opposite")
torch.manual_seed(3)
try:
    points, turns = torch.randn(400, 2), torch.randn(3, 2, 3)
    colours = [lsh_buckets(points[None], turn)[0] for turn in turns]
    fig, axes = plt.subplots(1, 3, figsize=(7.5, 2.5))
    for ax, turn, colour in zip(axes, turns, colours):
        ax.scatter(*points.T, c=colour, cmap="tab10", s=8)
        for arrow in torch.cat([turn, -turn], 1).T:
            ax.plot(*zip((0, 0), (2 * arrow / arrow.norm()).tolist()), color="#555555", lw=1)
        ax.set_aspect("equal"), ax.axis("off")
    plt.show()
    print("x and its opposite:", lsh_buckets(torch.stack([points[0], -points[0]])[None], turn).tolist()[0], "of", 2 * turn.size(1))
    there, opposite = lsh_buckets(torch.stack([points[0], -points[0]])[None], turn).tolist()[0]
    guess.compare("yes" if there == opposite else "no", abs(there - opposite))
except NotImplementedError:
    print("Build lsh_buckets first.")

# %% [markdown]
# *Figure: the same cloud of 400 points three times, cut into up to six sectors by three random directions and their opposites; points in a sector have one colour. Neighbours that a border
# separates in one picture share a sector in another, which is why Reformer hashes several times.*
#
# ## 4 · Attention within a bucket
#
# If query and key must be in the same bucket, it helps to make them the *same vector*: Reformer has one projection for both, `qk`. This has three consequences:
#
# - The key nearest to a query would always be its own. So a position sees **itself only where it sees no other one**.
# - A long vector would have a large product with every query, so the keys are scaled to length one: $\text{score}_{ij} = \dfrac{q_i \cdot k_j}{|k_j| \sqrt{D}}$ with $k_j = q_j$. (The published code leaves $\sqrt{D}$ out.)
# - It is a language model, hence causal: $j < i$, and $j$ in the bucket of $i$.
#
# `scaled_dot_product_attention` from unit 01 takes any mask; it is imported.
#
# **Predict, then run.** Buckets `0 1 0 2 1 0`. Which positions does each of the six see?

# %% role="predict"
predict("11.buckets", predict.mask("Buckets 0 1 0 2 1 0: which positions does each of the six see?", 6, 6))

# %% role="exercise" exercise="sparse.lsh_attention"

# %% role="demo"
guess = predicted("11.buckets")
torch.manual_seed(0)
try:
    few = torch.tensor([[0, 1, 0, 2, 1, 0]])
    seen = lsh_attention(torch.randn(1, 6, 4), torch.eye(6)[None], few)[0]  # with these values, the output is the weights
    print("they see:", [row.nonzero().flatten().tolist() for row in seen])
    guess.compare(seen > 0)
    qk = 3 * torch.randn(1, 40, 8)
    buckets = lsh_buckets(qk, torch.randn(8, 3))
    weights, order = lsh_attention(qk, torch.eye(40)[None], buckets)[0], buckets[0].argsort(stable=True)
    display(show.masks({"in the order of the text": weights > 0, "sorted by bucket": weights[order][:, order] > 0}, title="Buckets"))
except NotImplementedError:
    print("Build lsh_buckets and lsh_attention first.")

# %% [markdown]
# *Figure: two tables of 40 by 40, cells with any weight marked. Left they are scattered below the diagonal; right, with rows and columns sorted by bucket, they are triangles along the diagonal, one per bucket.*
#
# The right picture shows how it becomes cheap: sort by bucket, cut into chunks of equal length, and let each chunk attend to itself and to the one before. Your version computes the full table and masks most of it: the result is right, and it costs
# as much as full attention. **A mask saves nothing**; it defines what a faster program must compute. The experiment below measures both.
#
# ## 5 · A layer whose inputs can be recomputed (Reformer)
#
# Training stores the inputs of each layer until the backward pass, when gradients need them, so memory grows with the depth. This is not necessary if a layer's inputs can be *recomputed from its outputs*. An ordinary residual block cannot be inverted:
# from $y = x + f(x)$ there is no formula for $x$. If the state is split in two halves, there is one:
#
# $$y_1 = x_1 + f(x_2) \qquad y_2 = x_2 + g(y_1) \qquad\qquad x_2 = y_2 - g(y_1) \qquad x_1 = y_1 - f(x_2)$$
#
# $f$ is attention and $g$ the feed-forward network, each with its norm; they need not be invertible themselves. `forward` and `inverse` are two ordinary functions of two tensors. They must store nothing, and leave their inputs as they are: the check tests whether the inputs
# can be freed after `forward`.
#
# **Predict, then run.** Twenty blocks forward and twenty back: do you get exactly the same numbers?

# %% role="predict"
predict(
    "11.back-again",
    predict.choice("Twenty blocks forward and twenty back. You get …", "exactly the same numbers", "the same up to rounding", "other numbers"),
)

# %% role="exercise" exercise="reformer.reversible"

# %% role="demo"
guess = predicted("11.back-again")
torch.manual_seed(0)
try:
    chain = [ReversibleBlock(nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Sequential(nn.Linear(8, 8), nn.Tanh())) for _ in range(20)]
    start = state = torch.randn(2, 1, 4, 8).unbind()
    with torch.no_grad():
        for block in chain:
            state = block(*state)
        far = (state[0] - start[0]).abs().max()
        for block in reversed(chain):
            state = block.inverse(*state)
    print(f"20 blocks moved it by {far:.2f}; 20 inverses left {(state[0] - start[0]).abs().max():.1e}")
    apart = (state[0] - start[0]).abs().max()
    guess.compare("other numbers" if apart > 1e-3 else "the same up to rounding" if apart else "exactly the same numbers")
except NotImplementedError:
    print("Build ReversibleBlock first.")

# %% [markdown]
# Nearly: subtraction undoes addition only up to rounding. (Try `.bfloat16()` on the blocks and the start.)
#
# ## 6 · A few positions at a time
#
# The largest tensor in a layer holds the hidden activations of the feed-forward network, four or more times the model's width, for all positions at once. But the network works on *each position by itself* (unit 05). So it can be applied to `chunk` positions at a time: the result
# is the same, and only a piece of the wide tensor exists at any time. This takes $\lceil L / \text{chunk} \rceil$ calls of `f`; the last chunk may be shorter.
#
# **Predict, then run.** Attention is a layer from `[B,L,E]` to `[B,L,E]` as well. Can it be computed in chunks like this?

# %% role="predict"
predict(
    "11.chunks",
    predict.choice("Can attention be computed in chunks like this?", "yes", "no: its positions read one another"),
)

# %% role="exercise" exercise="reformer.chunked"

# %% role="demo"
from tfkit.nn import FeedForward
from tfkit.tools.memory import peak_bytes

guess = predicted("11.chunks")
torch.manual_seed(0)
wide, text = FeedForward(32, 1024), torch.randn(1, 1000, 32)
try:
    with torch.no_grad():
        for chunk in (1000, 250, 64, 16):
            need = peak_bytes(lambda: chunked_feed_forward(wide, text, chunk))
            same = torch.allclose(chunked_feed_forward(wide, text, chunk), wide(text), atol=1e-5)
            print(f"{chunk:5} positions at a time: {need / 2**20:5.2f} MiB at most, the same result: {same}")
    whole, parts = (scaled_dot_product_attention(x, x, x)[0] for x in (text[:, :8], text[:, :4]))
    guess.compare("yes" if torch.allclose(whole[:, :4], parts) else "no: its positions read one another")
except NotImplementedError:
    print("Build chunked_feed_forward first.")

# %% [markdown]
# ## 7 · Half as many positions (Funnel)
#
# A classifier needs one vector in the end, not one for each token. Funnel-Transformer halves the sequence after every few layers: 512, 256, 128. On half the length attention costs a quarter, and what is saved can be spent on more layers.
#
# Each pair of neighbours, $2i$ and $2i + 1$, becomes its mean. If only one of the pair is a real token, the result is that token's vector; if neither is, it is zero. The new mask is true where either is real. A text of odd length ends in a pair with only one
# member. (The published code leaves [CLS] out of the pooling, and averages padding along with the rest: what does that do to the last real token, if the text has an odd number of them?)
#
# **Predict, then run.** `mask` = `1 1 1 1 1 0 0`. What is the mask after one halving, and after two?

# %% role="predict"
predict("11.halving", predict.numbers("The mask after one halving", 4), predict.numbers("After two", 2))

# %% role="exercise" exercise="funnel.pool"

# %% role="demo"
guess = predicted("11.halving")
try:
    x, mask = torch.arange(1.0, 8.0).view(1, 7, 1), torch.tensor([[1, 1, 1, 1, 1, 0, 0]]).bool()
    for _ in range(4):
        print("  ".join(f"{number:5.2f}" if real else "    ·" for number, real in zip(x.flatten().tolist(), mask.flatten())))
        x, mask = pool_sequence(x, mask)
    once = pool_sequence(torch.ones(1, 7, 1), torch.tensor([[1, 1, 1, 1, 1, 0, 0]]).bool())
    guess.compare(once[1][0], pool_sequence(*once)[1][0])
except NotImplementedError:
    print("Build pool_sequence first.")

# %% [markdown]
# ## 8 · Content and position kept apart (DeBERTa)
#
# BERT, GPT-2 and most models so far add a position embedding to each token once, before the first layer; after that no layer can tell which part of a vector comes from which. T5, rotary models, Transformer-XL and XLNet (units 04 and 09) use positions in the scores instead. DeBERTa goes furthest in this: each token has a content vector, each *distance* an embedding of its own, and both
# are projected to queries and keys. Each pair has three products:
#
# $$\tilde A_{ij} = \underbrace{Q^c_i \cdot K^c_j}_{\text{content to content}} + \underbrace{Q^c_i \cdot K^r_{\delta(i,j)}}_{\text{content to position}} + \underbrace{K^c_j \cdot Q^r_{\delta(j,i)}}_{\text{position to content}} \qquad \text{score}_{ij} = \frac{\tilde A_{ij}}{\sqrt{3D}}$$
#
# In the code `qc`, `kc` $[B,H,L,D]$ and `qr`, `kr` $[H,2k,D]$. The distance $\delta(i,j) = \operatorname{clip}(i - j + k,\, 0,\, 2k - 1)$ is a row of the tables: all distances beyond $k$ share a row. Mind the third term: seen *from the key*, the query
# is at the distance $\delta(j,i)$. Why $3D$? Each term has variance $D$ when its numbers have variance 1 (unit 01), and there are three.
#
# **A mistake in the published code.** The published weights were trained with code that reads *both* tables at $\delta(i,j)$. A model must compute what its weights were trained for, so `tfkit/models/deberta.py` does the same; here, and in the paper, it is $\delta(j,i)$.

# %% role="demo"
place = torch.arange(8)
fig, axes = plt.subplots(1, 2, figsize=(5.4, 2.6), layout="constrained")
for ax, distance, name in zip(axes, (place[:, None] - place, place - place[:, None]), ("δ(i,j)", "δ(j,i)")):
    table = (distance + 3).clamp(0, 5)
    ax.imshow(table, cmap="viridis"), ax.set_title(name, fontsize=9), ax.set_xlabel("j"), ax.set_ylabel("i")
    for i in range(8):
        for j in range(8):
            ax.text(j, i, int(table[i, j]), ha="center", va="center", fontsize=7, color="white" if table[i, j] < 3 else "black")
plt.show()

# %% [markdown]
# *Figure: two tables of distances for 8 positions and k = 3, colours from 0 to 5. Left δ(i,j), dark to light from upper right to lower left, flat in both corners. Right δ(j,i), its mirror image.*
#
# **Predict, then run.** With $k = 3$, which rows of the tables are for distances *to the right* ($j > i$), and which row is for distance 0? Are there equally many on both sides?

# %% role="predict"
predict(
    "11.rows",
    predict.choice("k = 3: which rows stand for distances to the right?", "0–2", "1–3", "3–5", "4–5"),
    predict.number("Which row for distance 0?"),
    predict.choice("Are there equally many on both sides?", "yes", "no"),
)

# %% role="exercise" exercise="deberta.scores"

# %% role="demo"
guess = predicted("11.rows")
torch.manual_seed(0)
try:
    def one(table):  # a single head, vectors of a single number
        return torch.tensor(table).view(1, -1, 1)

    nothing, ones = torch.zeros(1, 1, 6, 1), torch.ones(1, 1, 6, 1)
    left = one([0.0, 0, 0, 0, 1, 0])  # row 4 of k = 3: the distance one to the left
    to_position = disentangled_scores(ones, nothing, 0 * left, left, 3)[0, 0]
    from_position = disentangled_scores(nothing, ones, left, 0 * left, 3)[0, 0]
    tables = {"every query scores the key to its left": to_position, "every key scores the query to its left": from_position}
    display(show.matrices(tables, title="Two terms", axes=("query", "key")))
    rows = one([0.0, 1, 2, 3, 4, 5])  # the number of each row: what is found at a place tells which row it was
    used = (disentangled_scores(ones, nothing, 0 * rows, rows, 3)[0, 0] * 3**0.5).round().int()
    right, left = used[0, 1:].unique().tolist(), used[5, :5].unique().tolist()
    guess.compare(f"{min(right)}–{max(right)}", used[0, 0], "yes" if len(right) == len(left) else "no")
except NotImplementedError:
    print("Build disentangled_scores first.")

# %% [markdown]
# *Figure: two tables of 6 by 6. In both, one diagonal is marked: left the one below the main diagonal, right the one above it.*
#
# ## 9 · A convolution that depends on its input (ConvBERT)
#
# Look at the heads of a trained BERT: many attend to the next token or the one before, and compute all $L^2$ scores only to find that out. ConvBERT replaces half of the heads by a convolution, which does the same with fewer operations. But its kernel is not fixed: every position
# has its own, `kernel_logits[i]`, computed from the tokens around it:
#
# $$\text{out}_i = \sum_{w=0}^{W-1} \operatorname{softmax}(\text{kernel\_logits}_i)_w \; \text{value}_{\,i + w - \lfloor W/2 \rfloor}$$
#
# $W$ is odd, so the middle weight is for the position itself. Beyond the ends the values are zeros, and the weights are *not renormalised*: what falls on the zeros is lost. Make no table of $L \times L$ weights: each position meets $W$ values, so twice the text may cost twice as much, and not four times.
#
# **Predict, then run.** All logits are 0, $W = 3$, and all values are 1. What is the output in the middle, and what at the ends?

# %% role="predict"
predict(
    "11.even",
    predict.number("All logits 0, W = 3, all values 1: what is the output in the middle?", within=0.02),
    predict.number("And at the ends?", within=0.02),
)

# %% role="exercise" exercise="convbert.dynamic_conv"

# %% role="demo"
guess = predicted("11.even")
torch.manual_seed(0)
try:
    print([round(number, 2) for number in span_dynamic_conv(torch.ones(1, 6, 1), torch.zeros(1, 6, 3)).flatten().tolist()])
    band = span_dynamic_conv(torch.eye(24)[None], 2 * torch.randn(1, 24, 5))[0]  # with these values, the output is the weights
    same = span_dynamic_conv(torch.eye(24)[None], 2 * torch.randn(1, 1, 5).expand(1, 24, 5))[0]
    display(show.matrices({"an ordinary convolution": same, "a dynamic one": band}, title="Weights", axes=("query", "key")))
    guess.compare(*span_dynamic_conv(torch.ones(1, 6, 1), torch.zeros(1, 6, 3)).flatten()[[2, 0]].tolist())
except NotImplementedError:
    print("Build span_dynamic_conv first.")

# %% [markdown]
# *Figure: two tables of 24 by 24 with a band of five diagonals. Left each diagonal has one shade throughout; right every row has shades of its own.*
#
# ## The experiment: what is saved?
#
# **First, memory.** There are four ways to compute attention over `L` positions: all scores; all scores with your mask applied; `tfkit`'s sliding window, which cuts the text into blocks and lets each attend to its neighbours; and `tfkit`'s hashed attention, which sorts by your buckets and cuts the
# result into chunks. The cell measures the peak memory of each.
#
# **Predict.** Which lines rise fourfold when `L` doubles? Where is the line of your mask: below or above full attention?

# %% role="predict"
predict(
    "11.fourfold",
    predict.choice("Which lines rise fourfold when L doubles?", "all scores", "all scores, then a mask", "sliding window", "hashed", several=True),
    predict.choice("Where is your mask?", "below full attention", "above it"),
)

# %% role="experiment"
from tfkit.nn.lsh import hashed_attention
from tfkit.nn.sliding_window import blockwise_window_attention, window_mask

REACH = 64


def windowed(x):
    real = torch.ones(x.shape[:2], dtype=torch.bool)
    return blockwise_window_attention(x[:, :, None], x[:, :, None], x[:, :, None], window_mask(real, REACH))


def hashed(x):
    buckets = lsh_buckets(x, torch.randn(x.size(-1), x.size(1) // REACH // 2))
    return hashed_attention(x[:, None], x[:, None], buckets[:, None, None], chunk=REACH, before=1, after=0, causal=True)


WAYS = {"all scores": lambda x: scaled_dot_product_attention(x, x, x)[0],
        "all scores, then a mask": lambda x: scaled_dot_product_attention(x, x, x, local_global_mask(x.size(1), 2 * REACH, []))[0],
        "sliding window": windowed, "hashed": hashed}

# %% role="experiment"
guess = predicted("11.fourfold")
LENGTHS = (256, 512, 1024, 2048)
try:
    with torch.no_grad():
        need = {name: [peak_bytes(lambda: way(torch.randn(1, length, 32))) / 2**20 for length in LENGTHS]
                for name, way in WAYS.items()}
    fig, ax = plt.subplots(figsize=(5.5, 3.2))
    for (name, mib), style in zip(need.items(), ("-o", "-s", "--^", "--x")):
        ax.loglog(LENGTHS, mib, style, label=name, base=2)
        print(f"{name:24}", *(f"{number:7.2f}" for number in mib), "MiB")
    ax.set(xlabel="length", ylabel="MiB at most"), ax.legend(fontsize=8)
    plt.show()
    x = torch.randn(1, 300, 32)
    print("window and mask agree:", torch.allclose(windowed(x).squeeze(), WAYS["all scores, then a mask"](x).squeeze(), atol=1e-5))
    guess.compare([name for name, mib in need.items() if mib[-1] / mib[-2] > 3],
                  "above it" if need["all scores, then a mask"][-1] > need["all scores"][-1] else "below full attention")
except NotImplementedError:
    print("Build local_global_mask and lsh_buckets first.")

# %% [markdown]
# *Figure: memory over length, both axes logarithmic. Two steep parallel lines: all scores from 0.5 to 32 MiB, and with a mask twice as much. Two flatter ones, window and hashed, from 0.4 to 3 MiB.*
#
# **Second, the price: how many layers does information need?** After one layer, information from the last position has reached the positions that attend to it; after two, those that attend to these. The cell follows it through the layers.
#
# **Predict.** 512 positions, a window of 32. After how many layers has it reached every position? And with one global position? And with BigBird's random blocks, but no global one?

# %% role="predict"
predict(
    "11.news",
    predict.number("After how many layers has it reached every position, with the window alone?", within=3),
    predict.number("With one global position?"),
    predict.number("With blocks drawn at random, but none global?", within=1),
)

# %% role="experiment"
def reached(mask, layers=32):
    """The share of positions that information from the last one has reached, after each layer."""
    known, shares = torch.arange(len(mask)) == len(mask) - 1, []
    for _ in range(layers):
        known = known | (mask & known).any(-1)
        shares.append(known.float().mean().item())
    return shares


guess = predicted("11.news")
try:
    torch.manual_seed(0)
    picks, none = torch.randint(0, 32, (32, 2)), torch.zeros(32, 0, dtype=torch.int64)
    cases = {"a window of 32": local_global_mask(512, 32, []), "and one global": local_global_mask(512, 32, [0]),
             "blocks of 16, 2 drawn": bigbird_mask(512, 16, 3, 0, picks), "and one global block": bigbird_mask(512, 16, 3, 1, none)}
    fig, ax = plt.subplots(figsize=(5.5, 3))
    for (name, mask), style in zip(cases.items(), ("-", "--", "-.", ":")):
        ax.plot(range(1, 33), reached(mask), style, label=f"{name}, {100 * mask.float().mean():.0f}% of the cells")
    ax.set(xlabel="layers", ylabel="share reached", ylim=(0, 1.05)), ax.legend(fontsize=8)
    plt.show()
    guess.compare(*(next(n for n, share in enumerate(reached(mask, 64), 1) if share == 1) for mask in list(cases.values())[:3]))
except NotImplementedError:
    print("Build local_global_mask and bigbird_mask first.")

# %% [markdown]
# *Figure: four rising curves, the share of the positions that information from position 511 has reached, over layers 1 to 32. The window's is a straight line that ends at 1 in the last layer. Random blocks give an S-shaped curve that is at 1 after
# about five layers. With a global position, Longformer's and BigBird's are at 1 after two.*
#
# **Third, does the hash find what matters?** Take 512 vectors around 32 centres as queries and, as in Reformer, as keys; full attention says which keys have weight. Hash them 1, 2, 4 … times: a key counts as found if it shares the query's bucket in any round.
#
# **Predict.** After how many rounds is half of the weight found? How many of the cells are computed by then?

# %% role="predict"
predict(
    "11.half",
    predict.number("After how many rounds is half of the weight found? (1, 2, 4, 8 or 16)"),
    predict.number("What share of the cells is computed by then?", within=0.1),
)

# %% role="experiment"
guess = predicted("11.half")
try:
    torch.manual_seed(0)
    topics = F.normalize(torch.randn(32, 32), dim=-1)[torch.randint(0, 32, (512,))]  # vectors round 32 centres
    qk = 40 * F.normalize(topics + 0.12 * torch.randn(512, 32), dim=-1)
    weights = scaled_dot_product_attention(qk, F.normalize(qk, dim=-1), qk, torch.ones(512, 512).tril(-1).bool())[1][1:]
    found, points = torch.zeros(512, 512, dtype=torch.bool), []
    for round_ in range(1, 17):
        buckets = lsh_buckets(qk[None], torch.randn(32, 16))[0]
        found = found | (buckets[:, None] == buckets)
        if round_ in (1, 2, 4, 8, 16):
            points.append((found.float().mean().item(), (weights * found[1:]).sum(-1).mean().item()))
            print(f"{round_:2} rounds: {100 * points[-1][0]:3.0f}% of the cells, {100 * points[-1][1]:3.0f}% of the weight")
    fig, ax = plt.subplots(figsize=(4, 3))
    ax.plot(*zip(*points), "o-", label="hashed"), ax.plot((0, 1), (0, 1), ":", color="#888888", label="at random")
    ax.set(xlabel="cells looked at", ylabel="weight found"), ax.legend()
    plt.show()
    half = next(n for n, (_, weight) in enumerate(points) if weight > 0.5)
    guess.compare(2**half, points[half][0])
except NotImplementedError:
    print("Build lsh_buckets first.")

# %% [markdown]
# *Figure: share of the attention weight that was found, over the share of the cells looked at, for 1 to 16 rounds. The curve of hashing lies far above the diagonal, on which keys drawn at random lie.*
#
# **Fourth, depth.** *Your* blocks run in two ways: plainly, where autograd stores every layer's inputs; and through `tfkit.nn.reversible`, which stores only the last outputs and recomputes the rest with your $f$ and $g$. The cell measures the peak memory of a step, forward and backward.
#
# **Predict.** What does the memory of the second way depend on, if not on depth? And what does it cost instead?

# %% role="predict"
predict(
    "11.depth",
    predict.choice("What does the reversible line depend on?", "on the depth", "on the size of one block", "on neither"),
    predict.choice("What does it cost instead?", "time: blocks are computed twice", "memory elsewhere", "wrong gradients"),
)

# %% role="experiment"
from tfkit.nn import reversible


def step(blocks, halves, how):
    """The gradients of a loss of what comes out."""
    y1, y2 = how(blocks, *halves)
    return torch.autograd.grad((y1 * y2).mean(), list(blocks.parameters()))


def plainly(blocks, x1, x2):
    for block in blocks:
        x1, x2 = block(x1, x2)
    return x1, x2


def part():
    return nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))

# %% role="experiment"
guess = predicted("11.depth")
try:
    torch.manual_seed(0)
    halves, need = torch.randn(2, 4, 256, 32).unbind(), {"plainly": [], "reversible": []}
    for depth in (2, 4, 8, 16):
        blocks = nn.ModuleList(ReversibleBlock(part(), part()) for _ in range(depth))
        for name, how in (("plainly", plainly), ("reversible", reversible)):
            need[name].append(peak_bytes(lambda: step(blocks, halves, how)) / 2**20)
    gap = max((a - b).abs().max() / a.abs().max() for a, b in zip(step(blocks, halves, plainly), step(blocks, halves, reversible)))
    fig, ax = plt.subplots(figsize=(5, 2.8))
    for (name, mib), style in zip(need.items(), ("o-", "s--")):
        ax.plot((2, 4, 8, 16), mib, style, label=name)
        print(f"{name:10}", *(f"{number:6.1f}" for number in mib), "MiB")
    ax.set(xlabel="blocks", ylabel="MiB at most", ylim=(0, None)), ax.legend()
    plt.show()
    print(f"the gradients differ by {gap:.0e} of the largest")
    guess.compare("on the size of one block" if need["reversible"][-1] < 2 * need["reversible"][0] else "on the depth",
                  "wrong gradients" if gap > 1e-2 else "time: blocks are computed twice")
except NotImplementedError:
    print("Build ReversibleBlock first.")

# %% [markdown]
# *Figure: memory over the number of blocks, 2 to 16. The plain line rises in a straight line to seven times its first value; the reversible one is nearly flat, as only the gradients of more weights are added.*
#
# ## From here to a real checkpoint
#
# A published file has its authors' names for the tensors. `tfkit` loads it with a `NameMap`: a table from their names to tfkit's, with `{}` for the layer's number; `.weight` and `.bias` are left off. Longformer is a RoBERTa whose attention has three more
# projections, for the global positions. The rest of the map is given.
#
# **Complete the three rows** (not graded): replace each `"?"` by tfkit's name. The cell prints what is not matched yet. tfkit's names are those of `Longformer`'s parameters; the cell lists the ones of layer 0.

# %% role="demo"
from tfkit import from_config
from tfkit.models import bert, longformer
from tfkit.namemap import NameMap

MY_ROWS = {
    "encoder.layer.{}.attention.self.query_global": "?",
    "encoder.layer.{}.attention.self.key_global": "?",
    "encoder.layer.{}.attention.self.value_global": "?",
}
SIZE = {"vocab_size": 40, "d_model": 16, "n_heads": 2, "d_ff": 32, "n_layers": 2, "max_length": 64, "window": 8}
model, copy = from_config("longformer", **SIZE).eval(), from_config("longformer", **SIZE).eval()
file = longformer.HF.dump(model.state_dict(), with_head=False)  # as the authors' code would have saved it
mine = {published: local for published, local in MY_ROWS.items() if local != "?"}
try:
    loaded = NameMap({**bert.BODY, **mine}, constant=bert.CONSTANT).load(file)
    copy.load_state_dict(loaded, strict=True)
    asked = {"input_ids": torch.arange(3, 23)[None], "global_attention_mask": (torch.arange(20) == 0).long()[None]}
    same = torch.equal(model(**asked).last_hidden_state, copy(**asked).last_hidden_state)
    print(f"All {len(loaded)} tensors have found a place.", "The copy gives the same numbers." if same else "But two are exchanged: its numbers differ.")
except (ValueError, RuntimeError, IndexError) as problem:
    print(str(problem).replace("\n", " ")[:300])
    print("tfkit's names in layer 0:", *(name for name in model.state_dict() if name.startswith("layers.0.attn") and name.endswith("weight")))

# %% [markdown]
# ## Meet a real model
#
# Is a window enough? Ask a model that was trained with full attention where it looks. SmolLM2 (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB) reads two hundred tokens; the cell computes what share of each layer's attention weights *your* masks would keep.
#
# **Before you run it:** how much lies within 16 tokens, and how much more with one global position, the first?

# %% role="experiment"
import tfkit

try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    ids = torch.tensor(real.tokenizer.encode([tfkit.nn.attention.__doc__ + " " + tfkit.substitute.__doc__ + torch.nn.Linear.__doc__]))[:, :200]
    with torch.no_grad(), tfkit.trace(real.model, ["*.weights"]) as t:
        real.model(ids)
    kinds = {"window of 32": local_global_mask(ids.size(1), 32, []), "and the first": local_global_mask(ids.size(1), 32, [0])}
    fig, ax = plt.subplots(figsize=(6.5, 3))
    for name, mask in kinds.items():
        kept = [(t[f"layers.{layer}.attn.weights"][0] * mask)[:, 40:].sum(-1).mean().item() for layer in range(real.model.config.n_layers)]
        ax.plot(kept, "o-", label=name)
        print(f"{name:14} keeps {sum(kept) / len(kept):.0%} of the weight")
    ax.set(xlabel="layer", ylabel="share of the weight that stays", ylim=(0, 1)), ax.legend(), plt.show()
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build local_global_mask first.")

# %% [markdown]
# *Figure: two curves over thirty layers. The window alone keeps between a sixth and three quarters, a third on average. With the first token it is the same up to layer 11, and from there on around four fifths.*
#
# One global position doubles what a window keeps: it is where this model puts the weight that it has no use for. A model that is trained with a window loses less; but if you put a window on a trained model, keep its first token visible (unit 13: `sink_mask`).
#
# ## Find the fault
#
# A layer that can be inverted tests itself: run it forwards and then backwards, and the inputs must come back. Which of the two
# directions is wrong is another question, and there the symptom helps. Below is a reversible block that somebody wrote, and what
# it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="reformer.reversible" seed=33
def test_the_inputs_come_back(answer):
    torch.manual_seed(0)
    block, (x1, x2) = answer(nn.Linear(3, 3), nn.Linear(3, 3)), torch.randn(2, 1, 2, 3)
    back = block.inverse(*block(x1, x2))
    assert torch.allclose(back[0], x1, atol=1e-5) and torch.allclose(back[1], x2, atol=1e-5), "something else came back"

# %% [markdown]
# ## Pitfalls
#
# - **A mask is not a saving.** It hides scores that were computed all the same. Only a program that never computes them saves anything.
# - **Zeros at the ends.** A sequence padded with zeros has neighbours that do not exist: their score is 0, not $-\infty$, and they get a share of the weight.
# - **Both sides together.** Longformer's `attention_window=512` means 256 to the left and 256 to the right. Other libraries count one side.
# - **Global, but one way.** A global position that sees all others and is seen by none passes nothing on.
# - **Itself.** With shared queries and keys the largest score is always that of a position with itself; mask it, except where nothing else is left.
# - **Length.** Windows are cut into blocks: a text must be padded to a multiple of the block, and the padding must be masked.
# - **Random numbers, drawn twice.** With dropout in $f$, recomputing it draws another dropout mask: the gradients then belong to a network that was never run. `tfkit.nn.reversible` restores the generator's state.
# - **A table of vectors.** `kr[:, delta]` gives the right result, but it is $D$ times as large as the scores: it has a vector for every pair. There are only $2k$ distances: multiply first, then pick from the products.
# - **Mean over padding.** Pooling that counts padding makes the last token depend on how the batch was padded.
#
# ## What real models changed
#
# | | instead of $L^2$ scores | other differences | worth knowing |
# |---|---|---|---|
# | Longformer | window of 512, a few global | global positions have projections of their own | starts from RoBERTa, its position table copied until it is long enough |
# | BigBird | blocks of 64: 3 near, both ends, 3 drawn | no new weights at all | up to 704 tokens it is full attention |
# | Reformer | buckets, sorted and cut into chunks of 64; local layers in between | reversible, chunked feed-forward, axial positions (unit 04) | queries are keys; several rounds of hashing, weighted by their softmax sums |
# | Funnel | full, on 1, 1/2, 1/4 of the positions | a decoder restores the full length for predicting masked tokens | pools the queries only: keys are still those before pooling |
# | ConvBERT | full, in half of the heads | dynamic convolutions in the other half; grouped linear layers | kernel of width 9, computed from the query times a convolution of the tokens around it |
# | DeBERTa | full, three terms | absolute positions are added only at the end, before masked tokens are predicted | V3 trains it as ELECTRA (unit 08) |
#
# What became of it? Fused kernels (FlashAttention) made *full* attention linear in memory, though not in time, and so most of today's models for long texts have full attention, or alternate full layers with windowed ones. Nothing in the table was wrong; the bottleneck moved elsewhere.
#
# In a terminal, `tfkit diff roberta longformer` and `tfkit anatomy reformer` show the differences in the code.

# %% [markdown] role="task" task="a-mask-is-no-saving" points=2
# ## In your own words
#
# "Our attention is linear in the length: we compute the scores and mask all but a window." What is wrong with the claim, and
# what would the program have to do instead? What does a window lose, and how do Longformer and BigBird bring it back?
#
# ### BEGIN MARK SCHEME
# - 1 point: all `L × L` scores are computed before they are masked, so time and memory stay quadratic. Only the band may be
#   computed, chunk by chunk; the result is the same.
# - 1 point: distant tokens are connected only after `2L / window` layers. Global positions connect any two tokens in two steps; random
# blocks shorten the path for the rest.
# - Related: `sparse.sliding_window/table_of_all_pairs`, `sparse.local_global/blocks_in_place_of_a_window`, `sparse.bigbird/draws_forgotten`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Beltagy et al. 2020, [Longformer](https://arxiv.org/abs/2004.05150), section 3.
# - Zaheer et al. 2020, [Big Bird](https://arxiv.org/abs/2007.14062), section 2, and why random edges are enough.
# - Kitaev et al. 2020, [Reformer](https://arxiv.org/abs/2001.04451), and Gomez et al. 2017, [The Reversible Residual Network](https://arxiv.org/abs/1707.04585).
# - Dai et al. 2020, [Funnel-Transformer](https://arxiv.org/abs/2006.03236), section 2.2.
# - He et al. 2021, [DeBERTa](https://arxiv.org/abs/2006.03654), section 3.1: equations 2 to 4.
# - Jiang et al. 2020, [ConvBERT](https://arxiv.org/abs/2008.02496), section 3.2.
# - Tay et al. 2020, [Efficient Transformers: A Survey](https://arxiv.org/abs/2009.06732): an overview of the models of these years.
