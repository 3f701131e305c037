# %% [markdown]
# # 01 · From recurrence to attention
#
# **The question.** A network that reads a sentence word by word has to remember it. How much fits into one
# memory, and what changes when the memory may be *looked up* instead?
#
# You build four functions: one recurrent step, an encoder made of such steps, the attention that was first added
# to it, and the attention that replaced it. At the end you measure the bottleneck yourself.
#
# Shape letters: `B` batch, `S` source length, `L` length, `Q`/`K` number of queries and keys, `E` width of a word
# vector, `D` width of a query or key; in this unit `H` is the width of a hidden state (from unit 02 on: the number of heads).
#
# In every unit: what earlier cells of the notebook define is there when an answer is checked, so use it. Where an earlier answer is wrong or missing, the
# check tries the library's in its place, and your mistake costs its own exercise alone. Leave your arguments as they are, unless the text asks you to
# change them: results are new tensors.

# %% role="setup"
import math

import torch
from torch import nn
from torch.nn import functional as F

# %% role="demo"
import time

import matplotlib.pyplot as plt

import tfkit.nn as reference
from tfkit_lab import show

torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other

# %% [markdown]
# ## Before you begin: ten questions (optional)
#
# The course takes for granted some Python, PyTorch and linear algebra. Answer each question, then open it to see. With eight right or more, begin. Otherwise
# PyTorch's [Learn the basics](https://docs.pytorch.org/tutorials/beginner/basics/intro.html) is an evening well spent; nothing is counted here.
#
# **Python**
#
# <details><summary>1. What is <code>[x * x for x in range(4) if x % 2]</code>?</summary><code>[1, 9]</code>: the squares of the odd numbers below 4.</details>
# <details><summary>2. <code>def f(a, *, b=2)</code>: how do you call it with <code>b</code> 3?</summary><code>f(1, b=3)</code>: what stands after the star is given by its name only.</details>
# <details><summary>3. A class inherits from <code>nn.Module</code>. Which of its methods does <code>model(x)</code> run?</summary><code>forward</code>. Its parameters come from <code>model.parameters()</code>.</details>
#
# **PyTorch**
#
# <details><summary>4. <code>x</code> has the shape <code>[2,3,4]</code>. And <code>x.sum(1)</code>? And <code>x.transpose(1, 2)</code>?</summary><code>[2,4]</code> and <code>[2,4,3]</code>.</details>
# <details><summary>5. <code>a</code> is <code>[5,1,3]</code> and <code>b</code> is <code>[4,3]</code>. Which shape has <code>a + b</code>?</summary><code>[5,4,3]</code>: shapes are compared from the right, and an axis of size 1 is repeated.</details>
# <details><summary>6. After <code>loss.backward()</code>: where is the gradient of <code>w</code>, and what does a second call do?</summary>In <code>w.grad</code>. A second call adds to it, so training loops set it to zero before each step.</details>
# <details><summary>7. Why does one write <code>with torch.no_grad():</code>?</summary>Nothing is recorded for gradients: measuring a model takes less time and memory.</details>
#
# **Linear algebra and probability**
#
# <details><summary>8. A matrix <code>[2,3]</code> times a matrix <code>[3,4]</code>: which shape, and what is an entry?</summary><code>[2,4]</code>. An entry is the dot product of a row of the first and a column of the second.</details>
# <details><summary>9. What is the dot product of (1, 2) and (2, -1), and what does it say?</summary>0: the two vectors are at a right angle. It is large for long vectors that point the same way.</details>
# <details><summary>10. What is the softmax of (5, 5, 5)? What does cross-entropy cost if the right class has the probability 1/4?</summary>A third each: adding the same number to all changes nothing. It costs log 4, about 1.39.</details>

# %% [markdown]
# ## 1 · One recurrent step
#
# A recurrent network keeps a *state* `h`, a vector that summarises everything read so far. Reading one more word `x`
# replaces it (Elman 1990):
#
# $$h_t = \tanh(x_t W_x + h_{t-1} W_h + b)$$
#
# In the code: `x [B,E]`, `h [B,H]`, `w_x [E,H]`, `w_h [H,H]`, `b [H]`. Three things to notice:
# - the same weights serve every step, so a sentence of any length will do;
# - tanh keeps every number of the state between -1 and 1, so the state cannot explode (its gradient still can: section 2);
# - without tanh, a hundred steps would collapse into one matrix product.
#
# **Predict.** `x` is `[2,3]` and the state has width 5. What are the shapes of `w_x`, `w_h`, `b` and of the result?
# Write them down, then build the step.

# %% role="predict"
predict(
    "01.step-shapes",
    predict.shape("What is the shape of w_x?"),
    predict.shape("Of w_h?"),
    predict.shape("Of b?"),
    predict.shape("Of the result?"),
)

# %% role="exercise" exercise="rnn.cell"

# %% role="demo"
guess = predicted("01.step-shapes")
try:
    state = rnn_cell(torch.randn(2, 3), torch.zeros(2, 5), torch.randn(3, 5), torch.randn(5, 5), torch.zeros(5))
    print("new state", tuple(state.shape), "between", state.min().item(), "and", state.max().item())
    guess.compare((3, 5), (5, 5), (5,), state.shape)
except NotImplementedError:
    print("Build rnn_cell first, then run this cell again.")

# %% [markdown]
# ## 2 · A whole sentence
#
# The encoder starts from an empty memory, $h_0 = 0$, and applies the step once per word. Keep **every** state: the
# last one is a summary of the sentence, and the others will be needed in section 3.
#
# Look at the loop you are about to write. Step `t` needs the result of step `t - 1`. However many processors you own,
# a sentence of a thousand words takes a thousand steps one after the other, in training as well. Remember this line of
# code; most of this course follows from getting rid of it.

# %% role="exercise" exercise="rnn.encode"

# %% [markdown]
# **Predict.** We change one word, the fourth of eight. Which of the eight states change? And when we look at the
# gradient of the *last* state, which words does it reach, and how strongly?

# %% role="predict"
predict(
    "01.changed-word",
    predict.mask("Which of the eight states change? (The fourth word is word 3.)", ["state"], 8),
    predict.choice("Which word moves the last state most?", "the first", "the one in the middle", "the last"),
)

# %% role="demo"
def influence(encode, length=30, width=32):
    """How strongly each word moves the last state: the norm of the gradient, per position."""
    x = torch.randn(1, length, width, requires_grad=True)
    w_x, w_h = torch.randn(width, width) / width**0.5, torch.randn(width, width) * 0.9 / width**0.5
    encode(x, w_x, w_h, torch.zeros(width))[:, -1].sum().backward()
    return x.grad.norm(dim=-1).squeeze(0)


guess = predicted("01.changed-word")
try:
    x, weights = torch.randn(1, 8, 4), (torch.randn(4, 5), torch.randn(5, 5), torch.randn(5))
    changed = x.clone()
    changed[:, 3] += 1
    difference = (rnn_encode(x, *weights) - rnn_encode(changed, *weights)).abs().sum(-1)
    print("states moved by word 3:", (difference > 0).squeeze(0).tolist())
    guess.compare(difference > 0, {0: "the first", 29: "the last"}.get(influence(rnn_encode).argmax().item(), "the one in the middle"))
except NotImplementedError:
    print("Build rnn_encode first, then run this cell again.")

# %% role="demo"
plt.figure(figsize=(6, 2.6))
plt.semilogy(range(1, 31), influence(reference.rnn_encode), marker="o", markersize=3)
plt.xlabel("position of the word")
plt.ylabel("gradient reaching it")
plt.title("What the last state remembers of each word")
plt.show()

# %% [markdown]
# *Figure, in words: thirty words on the horizontal axis, on a logarithmic vertical axis the strength with which each
# moves the last state. The line falls almost steadily from the last word to the first, over several powers of ten.*
#
# Each step multiplies the gradient by $W_h$ and by the slope of tanh, which is at most 1. Over thirty steps that
# makes thirty factors, and the first word hardly counts any more (the *vanishing gradient*). With a larger $W_h$ the
# product can grow instead (the *exploding gradient*; Pascanu et al. 2013), which is why recurrent networks are
# trained with clipped gradients, as in section 6. LSTM and GRU cells let the gradient pass more easily, but the path
# is as long as before.
#
# ## 3 · The bottleneck, and looking back
#
# The first neural translators (Cho et al. 2014; Sutskever et al. 2014) gave the decoder one thing only: the encoder's
# last state. A sentence of five words and one of fifty had to pass through the same `H` numbers. That is the
# **bottleneck**. Cho et al. saw the quality fall quickly with the length of the sentence. Sutskever et al., with four
# layers of LSTM of 1,000 units each and the source read backwards, reported no such difficulty: it took a large model
# and a trick to manage without looking back.

# %% role="demo"
figure, axes = plt.subplots(1, 2, figsize=(8, 2.3))
for axis, title, widths in zip(axes, ("fixed context", "attention"), ((0, 0, 0, 0, 3), (0.5, 4, 1, 0.5, 1.5))):
    for place, width in enumerate(widths):
        if width:
            axis.annotate("", (2, 0.9), (place, 0.15), arrowprops={"arrowstyle": "-", "lw": width, "color": "tab:orange"})
        if place:
            axis.annotate("", (place - 0.12, 0), (place - 0.88, 0), arrowprops={"arrowstyle": "->"})
        axis.plot(place, 0, "o", markersize=20, color="tab:blue")
        axis.text(place, 0, f"$h_{place + 1}$", color="white", ha="center", va="center")
    axis.text(2, 1, "decoder", ha="center", va="center", bbox={"facecolor": "white"})
    axis.set(title=title, xlim=(-0.5, 4.5), ylim=(-0.3, 1.25))
    axis.axis("off")
plt.show()

# %% [markdown]
# *Figure, in words: two rows of five circles, the encoder's states, each fed by its left neighbour. On the left, only the
# last circle has a line up to the decoder: the bottleneck. On the right every circle has one, thick or thin by its
# weight, and the decoder takes the weighted sum.*
#
# Bahdanau et al. (2015) let the decoder look at *all* encoder states, at each word it writes, and decide by itself
# which of them matter now. In its simplest form (Luong et al. 2015), the decoder's state is the **query**, the
# encoder's states are the **keys**, and
#
# $$e_s = h^{\rm dec}\cdot h_s, \qquad a_s = \frac{\exp e_s}{\sum_{s'}\exp e_{s'}}, \qquad c = \sum_s a_s h_s$$
#
# - the *score* $e_s$ says how well state `s` answers the query,
# - the *weights* $a$ distribute one unit of attention over the states,
# - the *context* $c$ is the average of the states under these weights. It has the shape of one state, `[B,H]`, but is
#   computed anew for each query.
#
# Everything here has a gradient, so *where to look* is learned from the task alone. Picking the single best state
# would not have one.
#
# **The mask.** Sentences in a batch differ in length, and the short ones are filled up with padding. `mask [B,S]` is
# True where a word is real. A masked position gets the score $-\infty$, because $\exp(-\infty)$ is exactly 0. (Unit 02
# explains why nothing else works, and what to do with a row in which *all* positions are masked; its weights and context shall be zero, as the function's
# description says, but here mistakes in such rows cost no points.)

# %% role="exercise" exercise="attention.attend"

# %% [markdown]
# **Predict.** There are three states; the query equals the second, and the third is padding. What do the weights sum
# to? Which is the largest? Is the last one small, or zero?

# %% role="predict"
predict(
    "01.three-states",
    predict.number("What do the weights sum to?"),
    predict.choice("Which weight is the largest?", "the first", "the second", "the third"),
    predict.choice("Is the last one small, or zero?", "small", "zero"),
)

# %% role="demo"
guess = predicted("01.three-states")
try:
    keys = torch.tensor([[[2.0, 0.0], [0.0, 2.0], [0.0, 2.0]]])
    context, weights = attend(keys[:, 1], keys, torch.tensor([[True, True, False]]))
    print("weights", weights.tolist(), "sum", weights.sum().item())
    print("context", context.tolist())
    guess.compare(weights.sum(), ("the first", "the second", "the third")[weights.argmax()], "small" if weights[0, 2] else "zero")
except NotImplementedError:
    print("Build attend first, then run this cell again.")

# %% [markdown]
# ## 4 · Attention without recurrence
#
# Vaswani et al. (2017) asked: if attention brings every word within reach, what is the recurrence still for? Drop it.
# Every position becomes a query, all at once, and keys and values become separate vectors:
#
# $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$
#
# In the code: `q [...,Q,D]`, `k [...,K,D]`, `v [...,K,Dv]`; the leading `...` is any number of batch axes. Rows of the
# weights `[...,Q,K]` are queries and sum to one. The mask broadcasts to `[...,Q,K]`. The paper's $d_k$ is our `D`.
#
# A *query* says what a position looks for, a *key* what it can be found by, a *value* what it passes on. In a model, `q`,
# `k` and `v` are three learned linear maps of the word vectors (unit 03); here they are given. If all three come from
# the same words, it is *self-attention*.
#
# **Why divide by the square root of `D`?** Let the components of a query and a key be independent with mean 0 and
# variance 1. Their dot product adds `D` such products, so its variance is `D` and its typical size $\sqrt D$. At
# `D = 512` scores of ±20 are common, the softmax gives nearly all its weight to one key, and the gradient of such
# a saturated softmax is nearly zero: nothing is learned. Dividing by $\sqrt D$ (not by `D`) brings the variance
# back to 1 at every width.

# %% role="exercise" exercise="attention.scaled_dot_product"

# %% [markdown]
# **Predict.** Take 64 random keys. With scores that are *not* scaled, how large is the largest weight at `D = 4`? At
# `D = 1024`? And if the scores are divided by `D`?

# %% role="predict"
predict(
    "01.largest-weight",
    predict.number("Not scaled, D = 4: how large is the largest of 64 weights?", within=0.15),
    predict.number("Not scaled, D = 1024?", within=0.1),
    predict.number("Divided by D, at D = 1024?", within=0.02),
)

# %% role="demo"
def largest_weight(width, divisor):
    """Mean over 200 queries of the largest of their 64 weights."""
    q, k = torch.randn(200, width), torch.randn(64, width)
    return torch.softmax(q @ k.T / divisor, dim=-1).amax(-1).mean()


guess = predicted("01.largest-weight")
widths = [4, 16, 64, 256, 1024]
plt.figure(figsize=(6, 2.8))
for name, divisor in [("not scaled", lambda d: 1), ("/ sqrt(D)", lambda d: d**0.5), ("/ D", lambda d: d)]:
    plt.semilogx(widths, [largest_weight(d, divisor(d)) for d in widths], marker="o", label=name)
plt.xlabel("width D")
plt.ylabel("largest weight")
plt.legend()
plt.show()
guess.compare(largest_weight(4, 1), largest_weight(1024, 1), largest_weight(1024, 1024))

# %% [markdown]
# *Figure, in words: width D from 4 to 1024 along the bottom, largest of 64 weights on the left axis. Without scaling
# the curve climbs from about 0.3 to nearly 1. Divided by sqrt(D) it stays flat, near 0.1. Divided by D it sinks to
# 1/64, where all keys get the same weight.*
#
# ## 5 · Training is parallel, decoding is not
#
# With attention no position waits for another: a few matrix products give the states of a whole sentence. In
# *training* the right words are known, so all positions are computed at once. When the model *writes*, each word
# depends on the words before it, which have to be written first: here even a transformer proceeds word by word (unit
# 07).
#
# The price is that the weights have `L × L` entries: twice the length is four times the work.

# %% role="experiment"
def milliseconds(function, *arguments, repeats=5):
    """The fastest of a few runs: the others were disturbed by something."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def compare_speed(encode, attention, width=64, lengths=(16, 64, 256, 1024)):
    """Milliseconds of a recurrence and of an attention over the same sentence, per length."""
    w_x, w_h, b = torch.randn(width, width) / 8, torch.randn(width, width) / 8, torch.zeros(width)
    rows = []
    for length in lengths:
        x = torch.randn(1, length, width)
        rows.append((length, milliseconds(encode, x, w_x, w_h, b), milliseconds(attention, x, x, x)))
    return rows

# %% role="experiment"
try:
    with torch.no_grad():
        rows = compare_speed(rnn_encode, scaled_dot_product_attention)
    for length, recurrence, attention in rows:
        print(f"length {length:5d}   recurrence {recurrence:7.2f} ms   attention {attention:7.2f} ms")
    lengths, recurrences, attentions = zip(*rows)
    plt.figure(figsize=(6, 2.8))
    plt.loglog(lengths, recurrences, marker="o", label="recurrence")
    plt.loglog(lengths, attentions, marker="o", label="attention")
    plt.xlabel("length")
    plt.ylabel("milliseconds")
    plt.legend()
    plt.show()
except NotImplementedError:
    print("Build rnn_encode and scaled_dot_product_attention first, then run this cell again.")

# %% [markdown]
# *Figure, in words: length from 16 to 1024 on the horizontal axis, milliseconds on the vertical, both logarithmic.
# The recurrence grows in proportion to the length from the start. Attention is many times faster on short sentences,
# but its time grows faster on long ones, where the quadratic cost shows.*
#
# ## 6 · Experiment: measure the bottleneck
#
# The task is to repeat a sequence of random letters, 2 to 12 of them. There is nothing to understand, only to
# remember. You compare two models with the same encoder and the same decoder, made of *your* functions:
# - **fixed**: the decoder gets the encoder's last state, at every step;
# - **attention**: the decoder looks back with your `attend`.
#
# Both are told the position of each letter (a learned vector per position), so that neither has to count.
#
# **Predict.** Imagine the curve of accuracy against length: where does *fixed* begin to fall? Does *attention* fall
# at all?

# %% role="predict"
predict(
    "01.bottleneck",
    predict.number("From which length on does the fixed context repeat fewer than 9 letters out of 10? (13 means: at no length)", within=1),
    predict.choice("Does attention fall below 9 of 10 at any length?", "yes", "no"),
)

# %% role="experiment"
LETTERS, WIDTH, LONGEST, PAD = 20, 48, 12, 0


class Copier(nn.Module):
    """Encoder, decoder, and one of two ways from the one to the other."""

    def __init__(self, looks_back):
        super().__init__()
        self.looks_back = looks_back
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.out = nn.Linear(2 * WIDTH, LETTERS)
        small = lambda *shape: nn.Parameter(torch.randn(*shape) / WIDTH**0.5)
        self.encoder = nn.ParameterList([small(WIDTH, WIDTH), small(WIDTH, WIDTH), small(WIDTH)])
        self.decoder = nn.ParameterList([small(WIDTH, WIDTH), small(WIDTH, WIDTH), small(WIDTH)])

    def forward(self, ids):
        mask, places = ids != PAD, self.places.weight[: ids.size(1)]
        states = rnn_encode(self.letters(ids) + places, *self.encoder)
        last = states[torch.arange(len(ids)), mask.sum(1) - 1]
        previous = torch.cat([torch.zeros_like(ids[:, :1]), ids[:, :-1]], dim=1)
        queries = rnn_encode(self.letters(previous) + places, *self.decoder)
        found = [attend(query, states, mask) for query in queries.unbind(1)] if self.looks_back else []
        self.looked = [weights for _, weights in found]  # where each letter looked: [B,S]
        reads = [context for context, _ in found] or [last] * queries.size(1)
        return self.out(torch.cat([queries, torch.stack(reads, dim=1)], dim=-1))

# %% role="experiment"
def letters(batch, generator):
    """Random sequences of 2 to 12 letters, filled up with padding."""
    ids = torch.randint(1, LETTERS, (batch, LONGEST), generator=generator)
    lengths = torch.randint(2, LONGEST + 1, (batch, 1), generator=generator)
    return ids.masked_fill(torch.arange(LONGEST) >= lengths, PAD)


def train_copier(looks_back, steps=400):
    """Train one copier; return it, and its accuracy per length, 2 to 12, on fresh sequences."""
    torch.manual_seed(1)
    generator, model = torch.Generator().manual_seed(2), Copier(looks_back)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        ids = letters(64, generator)
        loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            print(f"{'attention' if looks_back else 'fixed':9s} step {step:4d}   loss {loss.item():.2f}")
    return model, accuracy_by_length(model, letters(2000, generator))

# %% role="experiment"
@torch.no_grad()
def accuracy_by_length(model, ids):
    """Share of letters repeated correctly, for each length from 2 to 12."""
    hits = (model(ids).argmax(-1) == ids) & (ids != PAD)
    lengths = (ids != PAD).sum(1)
    return [(hits[lengths == n].sum() / (n * (lengths == n).sum())).item() for n in range(2, LONGEST + 1)]


guess = predicted("01.bottleneck")
try:
    copiers, results = {}, {}
    for name in ("fixed", "attention"):
        copiers[name], results[name] = train_copier(name == "attention")
    guess.compare(next((n for n, share in enumerate(results["fixed"], 2) if share < 0.9), 13),
                  "yes" if min(results["attention"]) < 0.9 else "no")
except NotImplementedError:
    results = {}
    print("Build rnn_encode and attend first, then run this cell again.")

# %% role="experiment"
plt.figure(figsize=(6, 2.8))
for name, accuracies in results.items():
    plt.plot(range(2, LONGEST + 1), accuracies, marker="o", label=name)
if results:
    plt.ylim(0, 1.05)
    plt.xlabel("length of the sequence")
    plt.ylabel("letters repeated correctly")
    plt.legend()
    plt.show()

# %% [markdown]
# *Figure, in words: length 2 to 12 on the horizontal axis, share of letters repeated correctly on the vertical. The fixed
# context falls steadily as sequences get longer; attention stays near 1 at every length.*
#
# The two models differ in one line. One has to write a whole sequence into 48 numbers; the other leaves it where it is
# and looks it up.
#
# **Where does it look?** Below are the weights of *your* `attend` for one sequence of eight letters: a row for each letter
# that is written, a column for each one that was read. **Before you run it:** nobody told the model which letter to look at.
# What should the picture look like before the training, and after it?

# %% role="experiment"
if results:
    torch.manual_seed(1)
    copiers["before training"] = Copier(looks_back=True)
    ids = torch.tensor([[3, 9, 1, 17, 9, 5, 12, 1]])
    read = [chr(ord("a") + letter) for letter in ids[0].tolist()]
    maps = {}
    for name in ("before training", "attention"):
        with torch.no_grad():
            copiers[name](ids)
        maps[name.replace("attention", "after training")] = torch.cat(copiers[name].looked)
    display(show.matrices(maps, read, read, "Where each letter looks", ("letter written", "letter read")))

# %% [markdown]
# *Figure, in words: two maps of eight by eight squares, letters written down the side, letters read along the top.
# Before the training each row falls on one or a few letters, in no order. After it all of the weight lies on the
# diagonal: each letter looks at its own source, even where a letter occurs twice.*
#
# That is an *alignment*, and it was learned from the task alone. Between two languages it is not simply a diagonal:
# Bahdanau et al. (2015, figure 3) show where English and French order their words differently. Unit 05 draws it for
# your own translator.
#
# What does the falling curve measure? Not yet how much 48 numbers can *hold*: twelve letters out of 19 are only 51
# bits. It measures how much the model has *learned*, in 400 updates, to store there and to read out again through a
# long chain of steps. With `steps=3000` the fixed model gets about nine letters out of ten right at length 4 and four
# out of ten at length 12; a `WIDTH` of 96 in place of 48 changes far less. Try both, and `LONGEST = 24`. The
# capacity of any fixed width is used up at some length, but a single vector becomes hard to use long before that.
#
# ## From your code to real models (come back after unit 04 if the formula is too much)
#
# BERT, GPT-2, XLNet and T5, which units 08 to 10 are about, are stacks of what you built in section 4.
# `tfkit.substitute` puts *your* function into every layer of such a model, and compares each of its results with the
# library's. The models below are small and random; a published one, read with `tfkit.from_pretrained(folder)`, works
# with your function, too.
#
# **Predict.** In GPT-2 no word sees a later one. T5 does not divide by $\sqrt D$, and like XLNet it adds to each
# score a number that depends on the distance. Your function takes `q`, `k`, `v` and a mask. How can it serve all of
# them?

# %% role="predict"
predict(
    "01.one-function",
    predict.choice("How does your function serve models that add a number to each score?", "by a mask of those numbers", "by more columns in q and k", "not at all: they need another function"),
)

# %% role="demo"
import tfkit

guess = predicted("01.one-function")
ids, small = torch.randint(1, 50, (2, 6)), {"vocab_size": 50, "d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 32}
try:
    for name in ("bert", "gpt2", "xlnet", "t5"):
        model = tfkit.from_config(name, **{key: small[key] for key in small if (name, key) != ("gpt2", "d_ff")}).eval()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
        asked = {"input_ids": ids} | ({"decoder_input_ids": ids} if name == "t5" else {})
        right = model(**asked).last_hidden_state
        with tfkit.substitute(model, scaled_dot_product_attention) as seen:
            yours = model(**asked).last_hidden_state
        print(f"{seen}; its states: {(yours - right).abs().max():.0e}")
    guess.compare("by more columns in q and k")
except NotImplementedError:
    print("Build scaled_dot_product_attention first, then run this cell again.")

# %% [markdown]
# "No later word" is a mask. A factor on the scores is a factor on the query: `substitute` multiplies `q` by the
# square root of its width, extra columns included, and your division undoes this. A number $b_{ij}$ that is added to the score of query $i$ and key $j$
# becomes part of the dot product. Append $Q$ columns: query $i$ holds the unit vector $e_i$ in them (a 1 in column
# $i$, 0 in the others), and key $j$ holds $b_{1j}, \dots, b_{Qj}$, what is to be added for each query:
#
# $$[\,q_i\,;\,e_i\,]\cdot[\,k_j\,;\,b_{1j}, \dots, b_{Qj}\,] = q_i\cdot k_j + b_{ij}$$
#
# If your result differs from the library's, `substitute` says in which layer, at which entry, and by how much.
#
# ## Pitfalls
# - `softmax(dim=...)`: the axis that sums to one is the axis of **keys**, the last one.
# - `k.transpose(-2, -1)`, not `k.transpose(1, 2)`: count axes from the end, since the number of leading axes varies.
# - The scale uses the width of the queries and keys, not of the values, and not the number of keys.
# - `-1e9` instead of $-\infty$: a row in which everything is hidden becomes an average of all that was hidden.
# - Keep the state a function of the state before it: a stray `.detach()` gives the right numbers but stops the
#   learning.
#
# ## What real models changed
# | | here | there |
# |---|---|---|
# | the cell | tanh | LSTM or GRU, which gate what is kept (the translators of 2014 to 2016) |
# | the score | dot product | a small network on query and key (Bahdanau et al.); a matrix between them (Luong et al.) |
# | the scale | 1/sqrt(D) | T5 has none: smaller initial weights make up for it |
# | the kernel | all `L × L` weights are written to memory | FlashAttention computes the same block by block and never stores them |

# %% [markdown]
# ## Put it into your model
#
# A small model grows beside your notebooks, in `my_model/`. What has passed its check is in it as your own code, as it stands in your notebook now, and the rest comes from the library until you have built it.
# Open `my_model/__init__.py`: the file grows with you and says whose each part is, your parts stand beside it in files of their own, and `from my_model import rnn_encode` works in any notebook beside it.
#
# It reads the bytes of JupyterLab's English and French strings and predicts the next one: your `rnn_encode`, and a linear layer. The cell trains it for 100 steps, some
# seconds, and begins the table that each of the next units adds a line to. Fewer bits per byte on held-out text are better; 8 would be guessing among all bytes.

# %% role="experiment"
from course import my_model

my_model.add_unit("01-recurrence-to-attention")

# %% [markdown] role="task" task="a-wider-state" points=2
# ## In your own words
#
# A colleague doubles the width of the state instead of using attention: "96 numbers hold more than 48, so the bottleneck is
# gone." With 3,000 steps this moved the accuracy at length 12 from about 0.38 to 0.43. Going from 400 to 3,000 steps, at width
# 48, had moved it from 0.19 to 0.38. What do these numbers say about what limits the fixed context? And why does attention not
# meet this limit?
#
# ### BEGIN MARK SCHEME
# - 1 point: at these lengths there are enough floats (12 letters are 51 bits); what is lacking is training: every
#   letter has to be written into one vector and kept through all later steps. A wider vector does not shorten that
#   path. (A fixed width does have a limited capacity; an answer that says only that the curve falls later gets
#   the point if it adds that training matters more here.)
# - 1 point: attention keeps one state for *each* word and picks by content: what is kept grows with the sentence, and the
#   path from a letter to where it is needed is one step.
# - Not enough: "attention has more parameters"; "the gradient vanishes" without saying along which path.
# - A weak answer often comes from `rnn.encode/last_state_only` or `attention.attend/winner_takes_all`.
# ### END MARK SCHEME

# %% [markdown]
# ## Reading
# - Pascanu, Mikolov, Bengio 2013, *On the difficulty of training recurrent neural networks*, [arXiv:1211.5063](https://arxiv.org/abs/1211.5063)
# - Cho et al. 2014, *On the properties of neural machine translation*, [arXiv:1409.1259](https://arxiv.org/abs/1409.1259): figure 4, quality against length
# - Sutskever, Vinyals, Le 2014, *Sequence to sequence learning with neural networks*, [arXiv:1409.3215](https://arxiv.org/abs/1409.3215)
# - Bahdanau, Cho, Bengio 2015, *Neural machine translation by jointly learning to align and translate*, [arXiv:1409.0473](https://arxiv.org/abs/1409.0473)
# - Luong, Pham, Manning 2015, *Effective approaches to attention-based neural machine translation*, [arXiv:1508.04025](https://arxiv.org/abs/1508.04025)
# - Vaswani et al. 2017, *Attention is all you need*, section 3.2.1, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
