# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 09 · Decoders
#
# **The question.** GPT, Transformer-XL and XLNet are the right half of the transformer of unit 05, without the cross-attention: they predict tokens from
# other tokens of the same text. They differ in one thing: *which* other tokens. How far back, and in what order?
#
# You build the objective that all GPTs share, then Transformer-XL's way to look beyond the edge of the window, and XLNet's way to use both sides. At the end
# a small model reads melodies through windows shorter than the melody, and you see in its errors exactly how far it remembers.
#
# New letters: $M$ the length of the memory, $r_\delta$ a vector for the distance $\delta$, $z$ an order of the positions.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import causal_mask, masked_softmax, merge_heads, relative_shift, scaled_dot_product_attention
from tfkit.nn import sinusoidal_positions, split_heads

# %% [markdown]
# ## The idea
#
# The probability of a text is a product of one probability for each token, given some of the others. The usual way to write it is from left to right,
#
# $$P(x) = P(x_1) \, P(x_2 \mid x_1) \, P(x_3 \mid x_1, x_2) \cdots$$
#
# but the chain rule holds for any order. All of this unit is about what stands to the right of the bar, and each answer is a **mask**: row $i$ says what the state at position $i$ may look at.

# %% role="demo"
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap

from tfkit_lab import show

torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other


def draw_grid(ax, grid, title, names):
    """0: hidden, 1: visible, 2: visible in the memory"""
    ax.imshow(grid, cmap=ListedColormap(["#f4f7fb", "#2a6fb0", "#e8a33d"]), vmin=0, vmax=2)
    ax.set_xticks(range(len(names)), names), ax.set_yticks(range(grid.size(0)), range(1, grid.size(0) + 1))
    ax.set_xticks(torch.arange(-0.5, len(names)), minor=True), ax.set_yticks(torch.arange(-0.5, grid.size(0)), minor=True)
    ax.grid(which="minor", color="#aaaaaa"), ax.tick_params(which="both", length=0), ax.set_title(title, fontsize=10)


triangle, step = torch.ones(5, 5).tril(), torch.tensor([1, 3, 0, 4, 2])
fig, axes = plt.subplots(1, 3, figsize=(9, 2.7), width_ratios=[5, 9, 5])
draw_grid(axes[0], triangle, "GPT", range(1, 6))
draw_grid(axes[1], torch.cat([torch.full((5, 4), 2.0), triangle], 1), "Transformer-XL", ["m"] * 4 + list(range(1, 6)))
draw_grid(axes[2], (step[:, None] >= step).float(), "XLNet, order 3 1 5 2 4", range(1, 6))
plt.tight_layout()
plt.show()

# %% [markdown]
# *Figure: three grids, a row for each position that looks, a column for each position that is looked at; dark cells are visible. GPT: 5 by 5, a lower triangle. Transformer-XL: 5 by 9, the same
# triangle, and on its left four columns of memory, in orange, that all rows see. XLNet: 5 by 5 for the order 3, 1, 5, 2, 4: the triangle is shuffled, row 4 sees everything, row 3 only itself.*
#
# ## 1 · GPT: the text is its own label
#
# $$\mathcal{L} = -\frac{1}{N} \sum_{t} \log P(x_{t+1} \mid x_1 \dots x_t)$$
#
# $x$ = `ids`; $P$ comes from `logits[:, t]`, where the model has seen the tokens up to $t$. Nobody has to write labels: the target at position $t$ is the token at $t + 1$. Thanks to the causal mask
# *one* pass gives all the predictions of a text at once, and none has seen its answer. An RNN needs one step after the other, a step for each token; training on all positions in parallel is what made web-sized corpora affordable.
#
# Padding (`pad_id`) is not predicted. $N$ is the number of predicted tokens in the whole batch; if there are none, the loss is 0.
#
# Two numbers to know: a model that knows nothing has the loss $\log V$, and $e^{\mathcal{L}}$ is the *perplexity*: the model is as uncertain as if it had to choose among that many equally likely tokens.
#
# **Predict, then run.** Two texts of 5 and 3 tokens are padded to 5. How many predictions are there? What is the loss of a model that knows nothing, with a vocabulary of 10?

# %% role="predict"
predict(
    "09.causal-lm",
    predict.number("How many predictions are there?"),
    predict.number("The loss of a model that knows nothing, with a vocabulary of 10", within=0.05),
)

# %% role="exercise" exercise="objectives.causal_lm"

# %% role="demo"
guess = predicted("09.causal-lm")
ids = torch.tensor([[5, 3, 8, 2, 7], [4, 9, 6, 0, 0]])
answers = {"knows nothing": ids * 0, "knows the next token": ids.roll(-1, 1), "repeats the token it reads": ids}
try:
    print("predictions:", int((ids[:, 1:] != 0).sum()))
    for name, answer in answers.items():
        logits = F.one_hot(answer, 10) * (0.0 if name == "knows nothing" else 9.0)
        loss = causal_lm_loss(logits, ids, 0)
        print(f"{name:27} loss {loss:.3f}, perplexity {loss.exp():.1f}")
    guess.compare((ids[:, 1:] != 0).sum(), causal_lm_loss(torch.zeros(2, 5, 10), ids, 0))
except NotImplementedError:
    print("Build causal_lm_loss first.")

# %% [markdown]
# ## 2 · Transformer-XL: read on where you stopped
#
# A book does not fit into a window of 512 tokens, so it is cut into segments. At the start of each, GPT has forgotten everything: the first token of a segment is predicted without seeing any earlier token, however much of the text has already been read.
#
# Transformer-XL (Dai et al. 2019) keeps the hidden states that each layer computed for the previous segment, and lets the next segment attend to them:
#
# $$\tilde{h} = [\,\mathrm{SG}(m) \,;\, h\,] \qquad q = h\, W_q \qquad k = \tilde{h}\, W_k \qquad v = \tilde{h}\, W_v$$
#
# $m$ = `memory`, $h$ = `x`. Three things are easily missed:
#
# - Only the **new** tokens have queries. Those in the memory were processed with their own segment, so the cost is $L \cdot (M + L)$, not $(M + L)^2$.
# - All of the memory is visible; within `x` the mask is causal. In which column is a new token's own key?
# - SG, *stop gradient*: the memory is a **constant**. Otherwise each training step would have to go back through everything that was ever read. But $W_k$ and $W_v$ are applied to it in this step, so they do learn from it.
#
# It resembles a recurrent network, with a **memory of states**, $M$ vectors in each layer, instead of one vector. (In unit 05 *memory* meant the encoder's output.) And the reach of the layers adds up: layer 2's memory was made by looking at layer 1's, so $n$ layers reach back $n \cdot M$ tokens.
#
# **Predict, then run.** `x [2,3,8]`, `memory [2,4,8]`, two heads. What are the shapes of the queries, the scores and the result? Which gradients are missing?

# %% role="predict"
predict(
    "09.memory",
    predict.shape("What is the shape of the scores?"),
    predict.shape("What is the shape of the result?"),
    predict.choice("Which get no gradient?", "x", "memory", "w_q", "w_k", "w_v", several=True),
)

# %% role="exercise" exercise="xl.memory_attention"

# %% role="demo"
guess = predicted("09.memory")
torch.manual_seed(0)
x, memory = torch.randn(2, 3, 8, requires_grad=True), torch.randn(2, 4, 8, requires_grad=True)
weights = [torch.randn(8, 8, requires_grad=True) for _ in range(3)]
try:
    out = memory_attention(x, memory, *weights, 2)
    grads = torch.autograd.grad(out.sum(), [x, memory, *weights], allow_unused=True)
    print("result", tuple(out.shape))
    for name, grad in zip(("x", "memory", "w_q", "w_k", "w_v"), grads):
        print(f"gradient of {name:7}", "none" if grad is None else f"{grad.abs().sum():.1f}")
    print("the first segment, with nothing to remember:", tuple(memory_attention(x, memory[:, :0], *weights, 2).shape))
    guess.compare((2, 2, x.size(1), memory.size(1) + x.size(1)), out.shape,
                  [name for name, grad in zip(("x", "memory", "w_q", "w_k", "w_v"), grads) if grad is None or not grad.any()])
except NotImplementedError:
    print("Build memory_attention first.")

# %% [markdown]
# Which inputs affect which results? Each of the seven positions, four of the memory and three of the segment, is changed on its own, and your function runs again.

# %% role="demo"
def after_memory(both):
    """Your memory_attention on [B,7,8]: four remembered positions, then the segment."""
    return memory_attention(both[:, 4:], both[:, :4], *weights, 2)


try:
    with torch.no_grad():
        moved = show.flow(after_memory, torch.cat([memory, x], 1)[0])
    here = ["x0", "x1", "x2"]
    display(show.matrices({"moved": moved}, here, [*(f"memory{place}" for place in range(-4, 0)), *here], "Which inputs affect which results", ("result", "changed input")))
except NotImplementedError:
    print("Build memory_attention first.")

# %% [markdown]
# *Figure: three rows, the results, by seven columns, the inputs. The four columns of the memory are full; in the segment's own three, a triangle: no result is affected by a later position.*
#
# ## 3 · Scores by content and by distance
#
# With a memory, position embeddings that are *added to the tokens* no longer work. Position 3 of the previous segment and position 3 of this one got the same embedding and cannot be told apart. And you cannot renumber them, since the states in the memory were computed with their old positions.
#
# So Transformer-XL never adds a position embedding. Positions enter where two tokens are compared, as their **distance**. To see where, take the old formula apart: with position embeddings $p$ added to tokens $x$, a score $(x_i + p_i) W_q \cdot (x_j + p_j) W_k$ has four terms.
# Replace each absolute $p_j$ by a vector $r_{i-j}$ for the distance. And in the two terms that contain $p_i$, the query's own position, replace $p_i W_q$ by a learned vector, $u$ or $v$, that is the same for all queries: without the key, a query's own position says nothing about a distance.
#
# $$A_{ij} = \frac{1}{\sqrt{D}} \Big(\, \underbrace{q_i \cdot k_j}_{\text{this query, this key}} + \underbrace{q_i \cdot r_{i-j}}_{\text{this query, this distance}} + \underbrace{u \cdot k_j}_{\text{any query, this key}} + \underbrace{v \cdot r_{i-j}}_{\text{any query, this distance}} \Big)$$
#
# | term | what a head can learn with it |
# |---|---|
# | $q_i \cdot k_j$ | "*umbrella* looks for words about rain" |
# | $q_i \cdot r_{i-j}$ | "an adjective looks one place to its right for its noun" |
# | $u \cdot k_j$ | "verbs are worth attending to, whatever the query" |
# | $v \cdot r_{i-j}$ | "near words are worth attending to, whatever the query" |
#
# Collected: $(q_i + u) \cdot k_j + (q_i + v) \cdot r_{i-j}$. In the code `r[:, j]` stands for the distance `K-1-j`, from far to near; `u` and `v` have a row for each head. The first product is already a table by query and key. The second
# is a table by *distance*, and `relative_shift`, which you built in unit 04, moves its entries to the right keys. The mask is applied later, so the scores that you return for future keys do not matter.
#
# **Predict, then run.** Take tokens without content ($q = k = 0$), $u = 0$, and a head whose $v$ favours the distance 2. Where in the table are the large scores, for 3 queries and 5 keys?

# %% role="predict"
predict(
    "09.likes-two",
    predict.mask("Where are the large scores? (queries down, keys across; the future is masked)", 3, 5),
)

# %% role="exercise" exercise="xl.relative_scores"

# %% role="demo"
guess = predicted("09.likes-two")
try:
    one_hot = torch.eye(5)[None]  # the distance 4-j is the unit vector j
    likes_two = torch.eye(5)[4 - 2][None]
    scores = relative_scores(torch.zeros(1, 1, 3, 5), torch.zeros(1, 1, 5, 5), one_hot, torch.zeros(1, 5), likes_two)[0, 0]
    fig, ax = plt.subplots(figsize=(3.6, 2.2))
    ax.imshow(scores.where(torch.ones(3, 5).tril(2) > 0, math.nan), cmap="Blues", vmax=0.6)
    ax.set(xlabel="key", ylabel="query", yticks=range(3), facecolor="#cccccc")
    plt.show()
    guess.compare(scores.tril(2) > scores.tril(2).max() / 2)
except NotImplementedError:
    plt.close("all")
    print("Build relative_scores first.")

# %% [markdown]
# *Figure: a table with 3 rows and 5 columns. The large scores form a diagonal: row 0 in column 0, row 1 in column 1, row 2 in column 2, each two places before its own. The future is grey.*
#
# ### A whole segment
#
# Now put it together: the attention of one Transformer-XL layer, from a segment and a memory to the output and the *next* memory.
#
# 1. Memory and segment, concatenated, give keys and values; queries come from the segment alone. The memory is a constant (`detach`).
# 2. Scores by content and by distance, as above, with the encodings of the distances projected by a matrix of their own, `w_r`.
# 3. The mask: each query sees all of the memory, and the segment up to its own position. Then softmax, the weighted mean of the values, and the heads merged.
# 4. The new memory: the last `memory_length` states of memory and segment together, as they *came into* the layer, without gradient; with `memory_length` 0 none.
#
# What you have is enough: `split_heads`, `relative_scores`, `masked_softmax`, `merge_heads`. The number of heads is the number of rows of `u`.
#
# **Predict, then run.** A text of 8 positions is read at once, and again as two segments of 4. With a memory of 4, are the last four outputs the same? With a memory of 2?

# %% role="predict"
predict(
    "09.two-segments",
    predict.choice("With a memory of 4 the last four outputs are …", "the same", "not the same"),
    predict.choice("With a memory of 2 they are …", "the same", "not the same"),
)

# %% role="exercise" exercise="xl.segment"

# %% role="demo"
guess = predicted("09.two-segments")
torch.manual_seed(0)
text, weights = torch.randn(1, 8, 16), [torch.randn(16, 16) / 4 for _ in range(4)]
likes = torch.randn(2, 4, 4)  # u and v, four heads
distances = sinusoidal_positions(8, 16).flip(0)  # from 7 to 0
try:
    whole, _ = segment_attention(text, text[:, :0], distances, *weights, *likes, 4)
    same = []
    for kept in (4, 2):
        _, memory = segment_attention(text[:, :4], text[:, :0], distances[4:], *weights, *likes, kept)
        output, memory = segment_attention(text[:, 4:], memory, distances[4 - kept :], *weights, *likes, kept)
        same.append("the same" if torch.allclose(output, whole[:, 4:], atol=1e-5) else "not the same")
        print(f"memory of {kept}: {same[-1]}, largest difference {(output - whole[:, 4:]).abs().max().item():.0e}; next memory {tuple(memory.shape)}")
    guess.compare(*same)
except NotImplementedError:
    print("Build segment_attention first.")

# %% [markdown]
# With a memory of 4 the cut makes no difference: scores depend on distances only, so it does not matter where a segment begins. Position embeddings added to the tokens could not achieve that. (In a second layer the same holds, as long as its own memory reaches as far.)
#
# ## 4 · XLNet: predict in any order
#
# GPT sees only the left. BERT sees both sides, but it guesses all its blanks at once, each independently of the others, and at test time no text has a `[MASK]`. The paper's example: *New York is a city*, with *New* and *York* to be
# predicted. BERT adds $\log P(\text{New} \mid \text{is a city})$ and $\log P(\text{York} \mid \text{is a city})$, as if the second token did not depend on the first; XLNet (Yang et al. 2019), in the order *is, a, city, New, York*, has
# $\log P(\text{York} \mid \text{New, is a city})$ as the second term. It sees both sides *and* its terms multiply to the probability of the text. Draw an order $z$ of the positions and predict along it; over many orders the model learns to use the tokens on both sides:
#
# $$\mathcal{L} = -\,\mathbb{E}_{z} \sum_{t} \log P\big(x_{z_t} \mid x_{z_1} \dots x_{z_{t-1}}\big)$$
#
# $z$ = `order`: `order[t]` is the position that is predicted at step $t$. **The text is not reordered**: each token keeps its position, and its distances to the others. Only the mask changes.
#
# But one mask is not enough. The state that *predicts* token $i$ must not have seen it. The state at $i$ that *other positions read* must have seen it, or no later step could use this token. Hence **two streams** of states, with the same weights:
#
# - `content` $h_i$: sees what came at earlier steps, *and its own token*;
# - `query` $g_i$: knows its position, and sees the content of earlier steps only. It makes the prediction.
#
# In *New York is a city* with the order above, *York* is predicted from $g_2$, which sees the content of *is, a, city* and *New* at their positions, and of position 2 it knows only that it is to be predicted. Where later steps need
# *York*, they read $h_2$, which has seen the token. In the first layer $h_i$ is the token's embedding and $g_i$ one learned vector, the same at every position; only the distances tell positions apart.
#
# **Predict, then run.** `order = [2, 0, 3, 1]`. Which row of `query` is empty, which has three entries? Careful: row $i$ is position $i$, not step $i$.

# %% role="predict"
predict("09.order", predict.mask("The query mask for the order 2, 0, 3, 1: row i is position i", 4, 4))

# %% role="exercise" exercise="xlnet.permutation_masks"

# %% role="demo"
guess = predicted("09.order")
order = torch.tensor([2, 0, 3, 1])
try:
    display(show.masks(dict(zip(("content", "query"), permutation_masks(order))), title="Who sees whom in the order 2, 0, 3, 1"))
    guess.compare(permutation_masks(order)[1])
except NotImplementedError:
    print("Build permutation_masks first.")

# %% [markdown]
# *Figure: two 4 by 4 grids for the order 2, 0, 3, 1, counted from 0. In both, row 1 sees the columns 0, 2 and 3, and row 2 sees none of the others. They differ on the diagonal, which only the content stream sees.*
#
# ### The two streams
#
# Now the attention itself. Both streams have the same weights, and both **read the content stream**: keys and values are made from $h$ alone. Only the queries differ, and the masks:
#
# $$h' = \mathrm{attention}(h\, W_q,\ h\, W_k,\ h\, W_v;\ \text{content}) \qquad g' = \mathrm{attention}(g\, W_q,\ h\, W_k,\ h\, W_v;\ \text{query})$$
#
# All states are `[B,L,E]`, the masks `[L,L]`, heads as in `memory_attention`, again without an output projection. (XLNet scores distances as in section 3; here positions are part of the states, to keep it short.) The first token of the order sees nothing in the query stream: its row of weights is zero, as `masked_softmax` makes it, not NaN.
#
# **Predict, then run.** Take two such layers, and the order 2, 0, 3, 1. Which tokens change the prediction at position 1? At position 2? And why could the query stream not read *itself*?

# %% role="predict"
predict("09.two-streams", predict.mask("Which tokens change the prediction?", ["at position 1", "at position 2"], 4))

# %% role="exercise" exercise="xlnet.two_streams"

# %% role="demo"
class TwoStreamAttention(nn.Module):
    def __init__(self, vocab=8, width=16, layers=2):
        super().__init__()
        self.words, self.asked = nn.Embedding(vocab, width), nn.Parameter(torch.randn(width))
        self.w, self.out = nn.Parameter(torch.randn(layers, 3, width, width) / width**0.5), nn.Linear(width, vocab)

    def forward(self, ids, content, query):
        """-> logits [B,L,V]: the query stream's prediction of the token at each position"""
        positions = 2 * sinusoidal_positions(ids.size(1), 16)
        h, g = self.words(ids) + positions, (self.asked + positions).expand(*ids.shape, -1)
        for w in self.w:
            more_h, more_g = two_stream_attention(h, g, *w, content, query, 2)
            h, g = h + more_h, g + more_g
        return self.out(g)


def predictions_moved(model, masks, ids=torch.tensor([[4, 7, 5, 1]])):
    """Row i, column j: does the prediction at i change when token j is changed?"""
    changed = [ids.index_fill(1, torch.tensor(j), 0) for j in range(4)]
    return torch.stack([(model(other, *masks) - model(ids, *masks)).abs().amax(-1)[0] > 1e-5 for other in changed], dim=1)

# %% role="demo"
guess = predicted("09.two-streams")
try:
    torch.manual_seed(0)
    content, query = permutation_masks(order)
    moved = predictions_moved(TwoStreamAttention(), (content, query))
    display(show.matrices({"moved": moved, "query mask": query}, title="Your two streams", axes=("prediction at", "token at")))
    print("as the query mask says:", torch.equal(moved, query))
    guess.compare(moved[1:3])
except NotImplementedError:
    print("Build permutation_masks and two_stream_attention first.")

# %% [markdown]
# *Figure: two 4 by 4 grids that agree. Each row is a prediction; the filled columns are the tokens that change it, those before it in the order and never its own.*
#
# This holds for two layers as for one, because what a state reads was itself allowed to see only earlier steps. The query stream could not read itself because it contains no tokens of the text: each prediction would have known positions and nothing else.
#
# **What if one mask served both?** Train it to predict *noise*, tokens drawn uniformly from eight, which no model can predict: without a leak the loss cannot fall below $\log 8 = 2.08$.
#
# **Predict, then run.** Draw the loss over 300 steps, with the two masks, and with the content mask for both streams.

# %% role="predict"
predict(
    "09.noise",
    predict.choice("Where does the loss end with the two masks?", "at log 8", "near 0"),
    predict.choice("And with the content mask for both streams?", "at log 8", "near 0"),
)

# %% role="demo"
def losses_on_noise(content, query, steps=300):
    torch.manual_seed(0)
    model, found = TwoStreamAttention(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        noise = torch.randint(8, (32, 4))
        loss = F.cross_entropy(model(noise, content, query).transpose(1, 2), noise)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        found.append(loss.item())
    return found


guess = predicted("09.noise")
try:
    fig, ax = plt.subplots(figsize=(5.5, 2.4))
    content, query = permutation_masks(order)
    honest, leaking = losses_on_noise(content, query), losses_on_noise(content, content)
    ax.plot(honest, label="two masks"), ax.plot(leaking, label="content mask for both")
    ax.axhline(math.log(8), color="#888888", ls=":"), ax.set(xlabel="step", ylabel="loss on noise"), ax.legend(fontsize=8)
    plt.show()
    guess.compare(*("near 0" if found[-1] < 1 else "at log 8" for found in (honest, leaking)))
except NotImplementedError:
    plt.close("all")
    print("Build permutation_masks and two_stream_attention first.")

# %% [markdown]
# *Figure: two losses over 300 steps, with a dotted line at log 8 = 2.08. With two masks the loss stays on the line; with the content mask for both it is near 0 after fifty steps.*
#
# A loss below the entropy of the data is the surest sign of a leak, and noise is the text whose entropy you know.
#
# ## 5 · CTRL: the same words after two control codes
#
# Every text comes from somewhere. CTRL (Keskar et al. 2019) puts the name of the source, a *control code*, in front of each text that it reads:
#
# $$P(x \mid c) = \prod_t P(x_t \mid x_{<t},\ c)$$
#
# The code is a token like others, and nothing in the model is new. It is never predicted, and every later position may attend to it. In training it says where a text *came* from; in generation it says what kind of text to write. The small CTRL below
# reads 18 sentences from recipes and 18 from weather reports, which have most of their words in common.
#
# **Predict, then run.** Both codes get the prompt "the cold". Then Bayes' rule turns the question round: which code makes a given sentence likelier?

# %% role="predict"
predict(
    "09.codes",
    predict.choice("Does what follows 'the cold' depend on the code?", "yes", "no"),
    predict.choice("'the hot air is in the pot .' mixes the two. Which code is likelier?", "recipe", "weather", "about even"),
)

# %% role="demo"
import tfkit
from tfkit.decode import Greedy
from tfkit.objectives.control_codes import with_control_code

ENDS = {"recipe": (("soup", "milk", "rice"), ("on the table", "in the pot")), "weather": (("wind", "fog", "air"), ("from the north", "near the coast"))}
SOURCES = {code: [f"the {how} {what} is {where} ." for how in ("cold", "hot", "thick") for what in whats for where in wheres]
           for code, (whats, wheres) in ENDS.items()}
CODED = ["<pad>", *SOURCES, *dict.fromkeys(" ".join(SOURCES["recipe"] + SOURCES["weather"]).split())]


def coded(code, texts):
    ids = torch.tensor([[CODED.index(word) for word in text.split()] for text in texts])
    return with_control_code({"input_ids": ids, "attention_mask": torch.ones_like(ids)}, torch.full((len(ids),), CODED.index(code)))


torch.manual_seed(0)
ctrl = tfkit.from_config("ctrl", head="causal_lm", vocab_size=len(CODED), d_model=32, n_layers=1, n_heads=4, d_ff=64, max_length=16)
optimizer = torch.optim.Adam(ctrl.parameters(), lr=5e-3)
both = [coded(code, texts) for code, texts in SOURCES.items()]
batch = {name: torch.cat([one[name] for one in both]) for name in both[0]}
for _ in range(200):
    optimizer.zero_grad(), ctrl(**batch).loss.backward(), optimizer.step()
ctrl.eval();

# %% role="demo"
guess = predicted("09.codes")
goes_on = {}
for code in SOURCES:
    start = torch.tensor([[CODED.index(word) for word in (code, "the", "cold")]])
    goes_on[code] = " ".join(CODED[i] for i in tfkit.generate(ctrl, start, strategy=Greedy(), max_new_tokens=6)[0, 1:].tolist())
    print(f"<{code}> {goes_on[code]}")
with torch.no_grad():
    for text in ("the cold soup is on the table .", "the thick fog is near the coast .", "the hot air is in the pot ."):
        total = torch.tensor([-len(text.split()) * ctrl(**coded(code, [text])).loss for code in SOURCES])  # log P(x | c)
        share = total.softmax(0)[0].item()
        print(f"{text:36} recipe {share:5.0%}, weather {1 - share:5.0%}")
guess.compare("yes" if len(set(goes_on.values())) > 1 else "no", "recipe" if share > 0.8 else "weather" if share < 0.2 else "about even")

# %% [markdown]
# The same two words are continued in two ways, because of a single token. With each code equally likely beforehand, $P(c \mid x) \propto P(x \mid c)$: the authors used it to find out which of their sources a text resembles. Today's chat templates do the same with other tokens: `<|user|>` and `<|assistant|>` say whose text follows, and a model writes accordingly.
#
# ## 6 · What they read, and how large they are
#
# The objective of section 1 has hardly changed in eight years. The text and the size have.
#
# | | text for pretraining | how much |
# |---|---|---|
# | GPT 2018 | BookCorpus: more than 7,000 unpublished books, for long stretches of connected text | 0.8 billion words |
# | BERT 2018 | BookCorpus and the English Wikipedia | 3.3 billion words |
# | GPT-2 2019 | WebText: pages that Reddit links to with three votes ("karma") or more, as if readers had chosen them; Wikipedia left out, since many test sets are made from it | 8 million pages, 40 GB |
# | RoBERTa, BART 2019 | BERT's, news, an open copy of WebText, and stories | 160 GB |
# | T5 2019 | C4: one month of Common Crawl, cleaned by simple rules (only lines that end in a punctuation mark, no page with a bad word) | 750 GB |
# | CTRL 2019 | Wikipedia, books, reviews, forums …, with a code each | 140 GB |
# | XLM-R 2019 | CC-100: Common Crawl in 100 languages, small ones sampled more often than their share | 2.5 TB |
# | Pegasus 2019 | C4, or HugeNews: 1.5 billion articles | 3.8 TB |
# | GPT-3 2020 | Common Crawl (60% of what is read), a larger WebText, two sets of books, Wikipedia | 300 billion tokens |
# | GPT-Neo, GPT-J 2021 | the Pile: 22 sources, from papers and patents to code and chat | 825 GiB |
#
# **And size.** Kaplan et al. (2020) trained models of very different sizes and found trends, some over more than seven orders of magnitude, that are straight lines on log-log plots,
#
# $$L(N) = \Big(\frac{N_c}{N}\Big)^{\alpha} \qquad\text{i.e.}\qquad \log L = a - \alpha \log N$$
#
# $N$ counts the weights (that of their paper leaves the embeddings out), $L$ is the loss; their $\alpha_N$ is 0.076. Does it hold for GPT-2's four published sizes? Table 3 of the GPT-2 paper has the perplexity of each on WikiText-103 and its *bits per byte* on enwik8, $L/\ln 2$ divided by bytes per token, which can be compared across tokenizers. Fit the line to the three smaller ones, and extrapolate it to the largest.
#
# **Predict.** The three smaller ones have perplexities of 37.5, 26.4 and 22.1 on WikiText-103. What perplexity will the line give for the largest, twice the third in size?

# %% role="predict"
predict("09.scaling", predict.number("The line's perplexity for 1,558 million weights", within=1.5))

# %% role="experiment"
guess = predicted("09.scaling")
MILLIONS = torch.tensor([124.0, 355.0, 774.0, 1558.0])  # as published files have them; the paper's table says 117 to 1542
MEASURED = {"WikiText-103, nats per word": torch.tensor([37.50, 26.37, 22.05, 17.48]).log(), "enwik8, bits per byte": torch.tensor([1.16, 1.01, 0.97, 0.93])}
fig, axes = plt.subplots(1, 2, figsize=(8, 2.8))
for ax, (name, loss) in zip(axes, MEASURED.items()):
    rows = torch.stack([torch.ones(3), MILLIONS[:3].log()], 1)
    a, slope = torch.linalg.lstsq(rows, loss[:3].log().unsqueeze(1)).solution.flatten()  # the line through three points
    line = (a + slope * MILLIONS.log()).exp()
    ax.loglog(MILLIONS, line, "--", color="#888888", label=f"fit to three: exponent {slope:.3f}")
    ax.loglog(MILLIONS, loss, "o", color="#2a6fb0", label="measured")
    ax.set(xlabel="million weights", title=name), ax.legend(fontsize=8), ax.set_xticks(MILLIONS, [f"{n:.0f}" for n in MILLIONS]), ax.minorticks_off()
    print(f"{name:27} the line predicts {line[3]:.3f}, measured {loss[3]:.3f}")
    if "nats" in name:
        print(f"{'':27} as perplexities: {line[3].exp():.1f} and {loss[3].exp():.1f}")
        guess.compare(line[3].exp())
plt.tight_layout(), plt.show();

# %% [markdown]
# *Figure: two log-log plots over the number of weights, four points each and a dashed line through the first three. On the left the fourth lies a little below the line, on the right a little above.*
#
# Lines like these were the reason to try a model a hundred times as large. The exponents are small. At 0.09, *twice* the weights lower the loss by 6%, so the next 6% cost another doubling. And a line through $N$ alone hides the rest: Hoffmann et al. (2022) varied
# the amount of text as well, and found that weights and tokens should grow together, at about 20 tokens for each weight. GPT-3 had 1.7. What one *cannot* read off such a line is which abilities come with a lower loss.
#
# ## 7 · Few examples, and no training
#
# GPT-2 was given a task in words; GPT-3 (Brown et al. 2020) was shown a few solved cases in its prompt, and its weights stayed as they were. *Zero-shot*, *one-shot*, *few-shot* count those cases. How can a model learn without a step of training? A small model shows it: each text below follows one of three secret rules, "the same letter", "the next", "the one after it", as
#
# `b C  e F  a B …`
#
# and the rule is drawn anew for every text. Predicting the next token is all that this GPT ever learns.
#
# **Predict, then run.** How often is the answer right after no example, and after one?

# %% role="predict"
predict(
    "09.shots",
    predict.number("Right with no example (a share from 0 to 1)", within=0.08),
    predict.number("With one", within=0.08),
)

# %% role="experiment"
LETTERS, RULES = 6, 3


def episodes(count, generator):
    """-> ids [count, 8]: four times a letter (0 to 5) and its answer (6 to 11), under one rule for each row"""
    rule = torch.randint(RULES, (count, 1), generator=generator)
    asked = torch.rand(count, LETTERS, generator=generator).argsort(1)[:, :4]  # no letter twice
    return torch.stack([asked, (asked + rule) % LETTERS + LETTERS], -1).flatten(1)


torch.manual_seed(0)
pupil = tfkit.from_config("gpt2", head="causal_lm", vocab_size=2 * LETTERS, d_model=32, n_layers=2, n_heads=4, max_length=8, dropout=0.0, attn_dropout=0.0)
optimizer, generator = torch.optim.Adam(pupil.parameters(), lr=5e-3), torch.Generator().manual_seed(0)
for _ in range(400):  # some ten seconds
    ids = episodes(64, generator)
    loss = F.cross_entropy(pupil(ids).logits[:, 0:-1:2].flatten(0, 1), ids[:, 1::2].flatten())  # the answers count
    optimizer.zero_grad(), loss.backward(), optimizer.step()

# %% role="experiment"
guess = predicted("09.shots")
new = episodes(1000, generator)
with torch.no_grad():
    right = (pupil.eval()(new).logits[:, 0:-1:2].argmax(-1) == new[:, 1::2]).float().mean(0)
print(*(f"{shots} examples: {share:.0%} right" for shots, share in enumerate(right)), sep="\n")
guess.compare(right[0], right[1])

# %% [markdown]
# With no example a third is right, by luck; one example reveals the rule, and the later answers follow from it, without a gradient. What looks like learning is *finding out which kind of text this is*: the objective rewarded it all along, because a better guess at the rule is a better guess at the next token. That is the claim of GPT-3's title, and unit 16 looks for the heads that do it.
#
# ## The experiment: a tune longer than the window
#
# A tune of 10 notes, drawn at random, is played again and again. The model reads it in segments of 8. To know the next note it must look at the note **9 positions back**; before a tune has been played once, the next note cannot be known.
# Within a segment there is nothing 9 positions back. So everything depends on the memory.
#
# Two kinds of attention, both with a memory, are made of your functions: one adds an embedding of the position within the segment to each note; the other adds nothing and scores distances.

# %% role="experiment"
NOTES, TUNE, LENGTH, WIDTH, HEADS = 8, 10, 8, 32, 2


def matrices(count):
    return nn.Parameter(torch.randn(count, WIDTH, WIDTH) / WIDTH**0.5)


class ByPosition(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.positions = matrices(3), sinusoidal_positions(LENGTH, WIDTH)

    def forward(self, x, memory):
        return memory_attention(x, memory, *self.w, HEADS)


class ByDistance(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.positions = matrices(4), torch.zeros(LENGTH, WIDTH)
        self.u, self.v = (nn.Parameter(torch.zeros(HEADS, WIDTH // HEADS)) for _ in range(2))

    def forward(self, x, memory):
        source = torch.cat([memory.detach(), x], dim=1)
        q, k, v = (split_heads(part @ w, HEADS) for part, w in zip((x, source, source), self.w))
        waves = sinusoidal_positions(source.size(1), WIDTH).flip(0)  # from far to near
        r = split_heads(waves[None] @ self.w[3], HEADS)[0]
        seen = causal_mask(source.size(1))[-x.size(1) :]
        return merge_heads(masked_softmax(relative_scores(q, k, r, self.u, self.v), seen) @ v)


# %% [markdown]
# Around it is the least that makes a language model: embeddings of the notes, one layer, and a linear layer back to notes. `read` goes through segment after segment and passes the memory on; with one layer, the memory consists of that layer's inputs.

# %% role="experiment"
class Reader(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.notes, self.attention, self.out = nn.Embedding(NOTES, WIDTH), attention, nn.Linear(WIDTH, NOTES)

    def read(self, ids, remember):
        """-> per segment the logits [B,L,V] and its ids [B,L]"""
        memory = torch.zeros(len(ids), 0, WIDTH)
        for segment in ids.split(LENGTH, dim=1):
            x = self.notes(segment) + self.attention.positions
            yield self.out(self.attention(x, memory)), segment
            both = torch.cat([memory, x], dim=1)
            memory = both[:, max(0, both.size(1) - remember) :].detach()


def play(count, chance):
    tunes = torch.randint(NOTES, (count, TUNE), generator=chance)
    return tunes.repeat(1, 4)[:, : 4 * LENGTH]


def train(attention, remember, steps=200):
    """A reader that was trained on the last two of four segments, when each tune has come round."""
    chance = torch.Generator().manual_seed(0)
    reader = Reader(attention)
    optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
    for _ in range(steps):
        losses = [causal_lm_loss(logits, ids, -1) for logits, ids in reader.read(play(32, chance), remember)]
        optimizer.zero_grad(), (losses[2] + losses[3]).backward(), optimizer.step()
    return reader


# %% [markdown]
# **Predict.** The input at position $p$ of a segment (from 0) sees $p + M$ positions back and needs 9. At which positions does it know the next note, with no memory? With 4 states? With 8? And how good is the model with position embeddings, with 8 states?

# %% role="predict"
predict(
    "09.nine-back",
    predict.number("From which position on is the loss below 1, with 4 states?"),
    predict.number("With 8 states?"),
    predict.choice("With no memory?", "from position 2 on", "nowhere"),
    predict.choice("The model with position embeddings, with 8 states?", "as good as with distances", "halfway", "as bad as without a memory"),
)

# %% role="experiment"
@torch.no_grad()
def loss_by_position(reader, remember):
    logits, ids = list(reader.read(play(500, torch.Generator().manual_seed(1)), remember))[-1]
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none").mean(0)


guess = predicted("09.nine-back")
readers = {}
try:
    for name, attention, remember in [("no memory", ByDistance, 0), ("distances, memory 4", ByDistance, 4),
                                      ("distances, memory 8", ByDistance, 8), ("positions, memory 8", ByPosition, 8)]:
        torch.manual_seed(0)
        readers[name] = train(attention(), remember), remember
    fig, ax = plt.subplots(figsize=(6, 3))
    for (name, (reader, remember)), style in zip(readers.items(), ("k:", "s-", "o-", "^--")):
        ax.plot(loss_by_position(reader, remember), style, label=name)
    ax.set(xlabel="position in the segment", ylabel="loss of the next note", ylim=(-0.1, 3)), ax.legend(bbox_to_anchor=(1, 1))
    plt.show()
    curves = [loss_by_position(*pair) for pair in readers.values()]
    four, eight = ((curve < 1).float().argmax() for curve in curves[1:3])
    halfway = "as good as with distances" if curves[3][2:].mean() < 0.5 else "halfway" if curves[3][2:].mean() < 1.8 else "as bad as without a memory"
    guess.compare(four, eight, "from position 2 on" if curves[0].min() < 1 else "nowhere", halfway)
except NotImplementedError:
    print("Build causal_lm_loss, memory_attention and relative_scores first.")

# %% [markdown]
# *Figure: loss of the next note over the position in the segment, 0 to 6. No memory: a flat line at log 8 = 2.1. Distances, memory 4: at 2.1 up to position 4, then a drop to nearly 0. Distances, memory 8: nearly 0 from position 1 on. Positions, memory 8:
# better than nothing from position 1 on, but stuck near 1.*
#
# **What came out.** With 4 states, position 5 is the first that sees 9 positions back; with 8 states it is position 1. From there on the error vanishes. At earlier positions it is as large as with no memory at all, or larger: the best answer there is the uniform distribution (loss $\log 8$), but a model with large weights, trained to be certain at the later positions, gives confident and wrong answers at the earlier ones.
# With position embeddings the same 8 states help only halfway. Notes 9 back and 1 back have the *same* position embedding, so the reader can look for both but never for one of them: a choice of two, $\log 2 \approx 0.7$ at best. A memory needs distances; that is why the paper introduces both at once.
#
# **Predict.** Take the reader that was trained with 8 states and, without training it further, let it remember 16. Distances up to 23 occur; it has never met any beyond 15. What happens at position 0? And at the others?

# %% role="predict"
predict(
    "09.sixteen",
    predict.choice("What happens at position 0?", "it finds the note now", "it is as lost as before"),
    predict.choice("And at the other positions?", "as good as before", "much worse"),
)

# %% role="experiment"
guess = predicted("09.sixteen")
if len(readers) == 4:
    reader, _ = readers["distances, memory 8"]
    fig, ax = plt.subplots(figsize=(6, 2.6))
    for remember, style in ((8, "o-"), (16, "s--")):
        ax.plot(loss_by_position(reader, remember), style, label=f"{remember} states remembered")
    ax.set(xlabel="position in the segment", ylabel="loss of the next note", ylim=(-0.1, 3)), ax.legend()
    plt.show()
    more, before = loss_by_position(reader, 16), loss_by_position(reader, 8)
    guess.compare("it finds the note now" if more[0] < 1 else "it is as lost as before", "much worse" if more[1:].mean() > before[1:].mean() + 0.5 else "as good as before")

# %% [markdown]
# *Figure: two curves over the positions. With 8 states: high at position 0, nearly 0 elsewhere. With 16: nearly 0 everywhere.*
#
# With position embeddings, a memory of 16 would only add a third note with the same embedding. A model that uses distances has learned at which distance to look, and finds it as soon as the memory reaches that far: Transformer-XL was trained with 384 states on WikiText-103 and evaluated with 1,600.
#
# **Try.** A longer tune. Two layers with a memory of 4 (`read` must then hand on one memory for each layer): how far do they see? Tunes in which no note occurs twice (with more notes to draw from): then "what came after this note last time?" is a second way to the answer.
#
# ## From your code to real models
#
# **Your masks in XLNet.** Below a small XLNet with random weights is given your query mask. Change one token of the input: which predictions change? If nothing leaks, exactly those of later steps.

# %% role="demo"
torch.manual_seed(0)
order, ids = torch.tensor([2, 0, 3, 1]), torch.tensor([[4, 7, 5, 9]])
xlnet = tfkit.from_config("xlnet", head="masked_lm", vocab_size=20, d_model=16, n_layers=2, n_heads=2, d_ff=32).eval()
for parameter in xlnet.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
try:
    query = permutation_masks(order)[1]

    def predicted(ids):
        return xlnet(ids, perm_mask=(~query).float()[None], target_mapping=torch.eye(4)[None]).logits[0]

    moved = [(predicted(ids + F.one_hot(torch.tensor(j), 4)) - predicted(ids)).abs().amax(-1) > 1e-3 for j in range(4)]
    print(torch.stack(moved, dim=1).int())  # row i, column j: does the prediction at i move with word j?
    print("as your query mask says:", torch.equal(torch.stack(moved, dim=1), query))
except NotImplementedError:
    print("Build permutation_masks first.")

# %% [markdown]
# **Your scores in Transformer-XL.** A small one reads two segments; a trace shows the weights of its attention. The cell computes the same weights from the model's own matrices and *your* scores:

# %% role="demo"
from tfkit.nn.relative_attention import sinusoidal_distances

xl = tfkit.from_config("transformer_xl", vocab_size=20, cutoffs=(), d_model=16, d_embed=16, n_layers=1, n_heads=2,
                       d_head=8, d_ff=32, mem_len=4, same_length=False).eval()  # fmt: skip
for parameter in xl.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)
attn, (first, second) = xl.layers[0].attn, torch.randint(20, (2, 1, 3))
try:
    memory = xl(first).mems
    with tfkit.trace(xl) as seen:
        xl(second, mems=memory)
    source = torch.cat([memory[0].transpose(0, 1), seen["embed.out"]], dim=1)
    waves = sinusoidal_distances(torch.arange(6, -1, -1), 16, source)  # 4 states and 3 words
    q, k, r = split_heads(attn.q_proj(source[:, -3:]), 2), split_heads(attn.k_proj(source), 2), split_heads(attn.r_proj(waves)[None], 2)
    yours = masked_softmax(relative_scores(q, k, r[0], attn.content_bias, attn.position_bias), causal_mask(7)[-3:])
    print(f"largest weight {yours.max():.2f}, largest difference {(yours - seen['layers.0.attn.weights']).abs().max():.0e}")
except NotImplementedError:
    print("Build relative_scores first.")

# %% [markdown]
# **Your attention of unit 01 in XLNet.** Both streams end in the same function: queries, keys, values, and a mask. How often does it run in a model of two layers?

# %% role="demo"
with torch.no_grad(), tfkit.substitute(xlnet, scaled_dot_product_attention) as seen:
    xlnet(ids, perm_mask=torch.ones(1, 4, 4).triu(), target_mapping=torch.eye(4)[None])
print(seen)

# %% [markdown]
# Three times, not four: the first layer moves both streams on, but after the last one nothing reads the content any more, so only the query stream is computed there.
# Where the shift copies the table by distance, the library's own attention reads it with another stride, and so it is faster on long texts. The numbers are the same.
#
# **GPT-2's file.** To load published weights, each name in the file must be matched with one of tfkit's. Below are the names in a small GPT-2 as the library builds it, and four of the file's. Complete the rows.
# One of them is *three* of tfkit's, side by side in a single matrix: write three names, with spaces between.

# %% role="demo"
from tfkit.models.gpt2 import HF

MINE = {"wpe": "?", "h.0.ln_2": "?", "h.0.attn.c_attn": "? ? ?", "h.0.mlp.c_fc": "?"}

small = tfkit.from_config("gpt2", d_model=8, n_heads=2, n_layers=1, vocab_size=11, max_length=16)
print(*dict.fromkeys(name.rpartition(".")[0] for name, _ in small.named_parameters()), sep="\n")
for published_name, answer in MINE.items():
    local = HF.to_local(f"{published_name}.bias", torch.zeros(24))
    wanted = " ".join(name.removesuffix(".bias") for name in local)
    print(f"{published_name:16} {answer:24} {'right' if answer == wanted else 'not yet'}")

# %% [markdown]
# The whole map is `HF` in `tfkit/models/gpt2.py`; it works both ways, and a tensor that is in no row is an error. It also knows what the names do not tell: GPT-2's matrices are stored as `[in, out]`.
#
# Below is the whole of GPT-2 under both sets of names, with one of its twelve layers; the same is printed by `tfkit anatomy gpt2` and `tfkit anatomy gpt2 --names hf` in a terminal.

# %% role="demo"
from itertools import zip_longest

from tfkit.models import gpt2
from tfkit.tools.anatomy import parts, published_parts, published_tensors

with torch.device("meta"):  # shapes and no memory
    published = tfkit.from_config("gpt2")
local_names = list(parts("GPT2", published, 5))
published_names = list(published_parts("GPT2Model", published_tensors(published, gpt2), 5))
for left, right in zip_longest(local_names, published_names):
    print(f"{left.name + '  ' + left.shapes if left else '':62} {right.name + '  ' + right.shapes if right else ''}")

# %% [markdown]
# One `c_attn` on the right is three matrices on the left, and its shape is transposed: GPT-2's authors wrote a layer of their own (`Conv1D`), which multiplies from the other side.
#
# ## Meet a real model
#
# How surprised is a trained model? Your loss tells you, in nats per token; SmolLM2 (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB) reads four texts. **Before you run it:** put them in order.

# %% role="experiment"
TEXTS = {"a sentence": "The children went to the beach because the weather was warm and sunny.",
         "its words, shuffled": "sunny because the went warm and to The was children the beach weather.",
         "Gettysburg Address": "Four score and seven years ago our fathers brought forth on this continent, a new nation,",
         "Declaration": "We hold these truths to be self-evident, that all men are created equal,"}  # fmt: skip
try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    with torch.no_grad(), tfkit.trace(real.model, ["*.weights"]) as t:
        for name, words in TEXTS.items():
            ids = torch.tensor(real.tokenizer.encode([words]))
            print(f"{name:20} {causal_lm_loss(real.model(ids).logits.float(), ids, pad_id=-1):.2f} nats per token")
    first = [t[f"layers.{layer}.attn.weights"][0, :, 1:, 0].mean().item() for layer in range(real.model.config.n_layers)]
    fig, ax = plt.subplots(figsize=(6.5, 2.6))
    ax.bar(range(len(first)), first), ax.set(xlabel="layer", ylabel="weight on the first token", ylim=(0, 1))
    plt.show()
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build causal_lm_loss first.")

# %% [markdown]
# *Figure: thirty bars, the mean weight that a token gives to the first one. Near zero in the first two layers, and from 0.5 to 0.9 in nearly all others.*
#
# Shuffled words cost more than twice as much per token: much of what was learned is about order. Of the two famous beginnings, this model knows one by heart: that of the Declaration of Independence costs less than half of the plain sentence. That of the Gettysburg Address costs *more* than the plain sentence, because its old-fashioned words are a surprise to whoever does not know it: a small model has room for few texts. So a loss can also show what was read often enough to be remembered. And look at the bars: a softmax must put its weight somewhere, and a head that finds nothing to attend to puts it on the first token, an *attention sink* (Xiao et al. 2023). If the first
# token is cut out of the cache of such a model, its predictions collapse.
#
# ## Find the fault
#
# With a memory there are more keys than queries, so the mask is not square, and a rule that is right for a square mask may be
# wrong here. To see who sees whom, take weights so simple that you can say what must come out: with queries and keys of zeros,
# attention is a plain mean of what is visible. Below is attention with a memory that somebody wrote, and what it gives for the
# smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="xl.memory_attention" seed=22
def test_every_token_sees_the_whole_memory(answer):
    nothing, same = torch.zeros(2, 2), torch.eye(2)
    output = answer(torch.ones(1, 2, 2), torch.zeros(1, 1, 2), nothing, nothing, same, 1)
    assert torch.allclose(output[0, 1], torch.tensor(2 / 3)), "the mean of one zero in the memory and two ones is 2/3"

# %% [markdown]
# ## Pitfalls
#
# - **Shifted twice, or not at all.** Many models shift the labels inside. A loss that falls to almost nothing is no success: the answer was in the input.
# - **A memory with a gradient** gives the right numbers at the wrong cost: the graph grows with each segment until the machine's memory is full.
# - **A mask aligned with the wrong corner.** With $M$ more columns than rows, `tril()` counts from the left; its diagonal must be `M`.
# - **A memory of another text.** Each row of a batch must continue where *that row* ended. Shuffled segments make the memory noise.
# - **The order taken for the steps**: `order[t]` is a position. For two positions a permutation is its own inverse; for a cycle of three it is not.
# - **A loss that is too good.** Train on noise before you train on text: what a model learns from noise has leaked.
# - **Perplexities compared across tokenizers.** Fewer, longer tokens are harder to guess one by one; compare per character or per word.
#
# ## What real models changed
#
# | | follows | sees | besides |
# |---|---|---|---|
# | GPT 2018 | the decoder of 2017 | the left, 512 tokens | learned positions, norm after the addition, then fine-tuned for each task |
# | GPT-2 2019 | GPT | 1,024 | norm before; no fine-tuning: the task is put into the text; bytes, so that nothing is unknown |
# | GPT-3 2020 | GPT-2 | 2,048; every second layer only nearby tokens | a hundred times the size |
# | CTRL 2019 | GPT-2 | 256 or 512 | sinusoidal positions; the first token is a *control code* that says what kind of text |
# | GPT-Neo, GPT-J 2021 | GPT-3, GPT-2 | 2,048 | Neo: every second layer sees 256 tokens; J: rotary positions, attention and feed-forward side by side |
# | Transformer-XL 2019 | the decoder of 2017 | the left, and a memory of states | scores by distance; rare words have narrower vectors |
# | XLNet 2019 | Transformer-XL | what an order allows | two streams; only the last sixth of each order is predicted, as the first ones are guesses from nothing |
#
# The GPTs have the same objective, the first one of this unit; what changed is size and text. In a terminal, `tfkit diff gpt gpt2` shows how little else did.

# %% [markdown] role="task" task="what-a-memory-teaches" points=2
# ## In your own words
#
# No gradient flows into Transformer-XL's memory, and yet the model learns to *use* it. How? And why would a table of absolute
# positions, as in GPT-2, not work here?
#
# ### BEGIN MARK SCHEME
# - 1 point: how the memory is read is trained: queries, keys and values of the memory are made with weights that do get gradients; only
#   the stored states are constants, made by the same layers one segment earlier.
# - 1 point: position 3 of the old segment and position 3 of the new one would have the same number. A distance stays right when a
#   segment becomes memory.
# - Related: `xl.memory_attention/gradient_into_the_memory`, `xl.memory_attention/memory_not_projected`,
#   `xl.relative_scores/distances_reversed`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Radford et al. 2018, [Improving Language Understanding by Generative Pre-Training](https://cdn.openai.com/research-covers/language-unsupervised/language_understanding_paper.pdf): GPT, in one page of method.
# - Radford et al. 2019, [Language Models are Unsupervised Multitask Learners](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf): GPT-2.
# - Dai et al. 2019, [Transformer-XL](https://arxiv.org/abs/1901.02860): sections 3.2 and 3.3 are sections 2 and 3 here; appendix B is the shift.
# - Yang et al. 2019, [XLNet](https://arxiv.org/abs/1906.08237): section 2.3 on the two streams, and the discussion with BERT in 2.6.
# - Keskar et al. 2019, [CTRL](https://arxiv.org/abs/1909.05858): one code at the beginning changes what is written.
# - Kaplan et al. 2020, [Scaling Laws for Neural Language Models](https://arxiv.org/abs/2001.08361), and Hoffmann et al. 2022, [Training Compute-Optimal Large Language Models](https://arxiv.org/abs/2203.15556): the lines, and the correction.
# - Brown et al. 2020, [Language Models are Few-Shot Learners](https://arxiv.org/abs/2005.14165): GPT-3.
