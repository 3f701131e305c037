# %% [markdown]
# # 02 · Masks
#
# **The question.** Attention lets every position look at every other. Which ones must it *not* look at, and how does one
# forbid it so that nothing leaks?
#
# You build the two masks that every transformer needs, their combination, and the softmax that applies them. At the
# end you train a model with a mask that is off by one, and see it copy the answer from its input.
#
# One rule, here and in every unit: a mask is boolean and **True = may attend**. It broadcasts to the scores
# `[B,H,Q,K]`; rows are queries (who looks), columns are keys (who is looked at).

# %% role="setup"
import math

import torch
from torch import nn
from torch.nn import functional as F

from tfkit.nn import scaled_dot_product_attention

# %% role="demo"
import matplotlib.pyplot as plt

import tfkit.nn as reference
from tfkit_lab import show

torch.manual_seed(0)
torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other

# %% [markdown]
# ## 1 · The causal mask: no looking ahead
#
# In training, a decoder gets the whole target sentence at once, and every position predicts the word that comes next.
# The next word is right there in the input, one column further on. Unless it is hidden, the model learns to copy it,
# reaches a loss of nearly zero, and can do nothing when it has to write by itself.
#
# So position `i` may look at positions `0 … i`: itself and the past. This one mask is what makes training **parallel**:
# `L` predictions, each with its own past, in one pass. A recurrent network would need `L` steps.
#
# May a position see *itself*? Yes. The decoder's input is shifted by one (unit 05): position `i` holds the word *before*
# the one that it predicts.
#
# **Predict.** Write down the mask for `length = 4`: [row 2](#show:rows=2) says whom position 2 may look at, and
# [column 2](#show:cols=2) who may look at position 2. How many entries are True for length `L`?

# %% role="predict"
predict(
    "02.causal",
    predict.mask("Press the cells that are True in the mask of length 4.", 4, 4),
    predict.choice("How many are True for length L?", "L", "L² / 2", "L (L + 1) / 2", "L²"),
)

# %% role="exercise" exercise="masks.causal"

# %% role="demo"
guess = predicted("02.causal")
try:
    print(causal_mask(4).int())
    count = causal_mask(100).sum().item()  # which of the four formulas gives it?
    formulas = {100: "L", 5000: "L² / 2", 5050: "L (L + 1) / 2", 10000: "L²"}
    guess.compare(causal_mask(4), formulas[count])
except NotImplementedError:
    print("Build causal_mask first, then run this cell again.")

# %% [markdown]
# ## 2 · The padding mask: no looking at padding
#
# Sentences in a batch have different lengths; the short ones are filled with `pad_id`. No position should attend to
# the padding. Hide **columns**: no query may look at a padding key. The rows of the padding stay as they are, since
# their output is never used, and a row that sees nothing is dealt with in section 4.
#
# Shape: `[B,1,1,S]`. The two axes of size 1 broadcast over heads and queries.
#
# **Predict.** What would happen with shape `[B,S]` against scores `[B,H,Q,K]` when `B = 4`, `Q = K = S = 4`? An error, or
# something worse?

# %% role="predict"
predict(
    "02.two-axes",
    predict.choice("A mask [4,4] against scores [4,H,4,4]: what happens?", "an error", "it is taken for [B,S], and works", "it is taken for [Q,K]: another mask, and no error"),
)

# %% role="exercise" exercise="masks.padding"

# %% role="demo"
guess = predicted("02.two-axes")
try:
    ids = torch.tensor([[5, 6, 7, 0], [8, 0, 0, 0], [5, 6, 0, 0], [8, 7, 6, 5]])
    mask = padding_mask(ids, pad_id=0)
    print(tuple(mask.shape), "\n", mask.squeeze().int())
    scores, two_axes = torch.zeros(4, 3, 4, 4), ids != 0  # [B,H,Q,K] and [B,S]
    right = scores.masked_fill(~reference.padding_mask(ids, pad_id=0), -math.inf)
    try:
        taken = scores.masked_fill(~two_axes, -math.inf)
        print("scores of sentence 1 with [B,1,1,S]\n", right[1, 0], "\nand with [B,S]\n", taken[1, 0])
        guess.compare("it is taken for [B,S], and works" if torch.equal(taken, right) else "it is taken for [Q,K]: another mask, and no error")
    except RuntimeError as error:
        print("with [B,S]:", error)
        guess.compare("an error")
except NotImplementedError:
    print("Build padding_mask first, then run this cell again.")

# %% [markdown]
# A `[4,4]` mask [is taken for `[Q,K]`](#show:code=two_axes): the padding of sentence 0 becomes that of query 0, in every sentence. There is
# no error, just a wrong model. With `B = 2` you would get an error; with a single sentence, `[1,S]`, the mask would
# even be right. So whether a test finds the mistake depends on its sizes. Always give the mask all four axes.
#
# ## 3 · The decoder mask: both at once
#
# A decoder hides the future *and* the padding: a key is shown if it passes both tests. The result has one mask per
# sentence: `[B,1,T,T]`. Padding concerns [the columns](#show:map=2&cols=4..5) alone, wherever it stands, even in front.

# %% role="exercise" exercise="masks.decoder"

# %% role="demo"
ids = torch.tensor([[5, 6, 7, 8, 0, 0]])
noise = torch.Generator().manual_seed(0)
queries, words = torch.randn(6, 4, generator=noise), torch.randn(6, 4, generator=noise)


def decoder_attention(keys):
    return scaled_dot_product_attention(queries.expand_as(keys), keys, keys, decoder_mask(ids, 0)[0, 0])


try:
    masks = {"causal": causal_mask(6), "padding": padding_mask(ids, 0)[0, 0].expand(6, 6), "decoder": decoder_mask(ids, 0)[0, 0]}
    sentence = "the cat sat down <pad> <pad>".split()
    display(show.masks(masks, sentence, through=decoder_attention, x=words))
except NotImplementedError:
    print("Build the three masks first, then run this cell again.")

# %% [markdown]
# *Figure, in words: four squares of 6 by 6, queries down, keys across, dark where looking is allowed. First, causal:
# [the lower triangle with the diagonal](#show:map=0&part=past,self). Second, padding:
# [the first four columns](#show:map=1&cols=0..3). Third, both: the lower triangle,
# [cut off after the fourth column](#show:map=2&cols=4..5). Fourth, information flow: which keys move which outputs of an attention with your
# decoder mask. It is the same as the third.*
#
# ## 4 · The masked softmax: minus infinity first
#
# $$a_j = \frac{\exp s_j}{\sum_{j'} \exp s_{j'}}$$
#
# A hidden key must get weight 0 *and* must not take part in the sum in the denominator. Four attempts that look
# alike:
#
# | | what happens |
# |---|---|
# | score 0 | zero is an ordinary score: exp(0) = 1, so the key gets an ordinary share |
# | weight 0 after the softmax | the hidden keys have already taken their share: the rest no longer sums to 1 |
# | score -1e9 | fine until all keys of a row are hidden: equal scores give equal shares, an average of what is hidden. Besides, float16 ends at 65504 |
# | score $-\infty$ | $\exp(-\infty) = 0$ exactly, in the numerator and in the denominator |
#
# One case is left. If **all** keys of a row are hidden, the sum is 0 and 0/0 is NaN; one NaN in one row makes every
# gradient NaN, and training is over. Such rows do occur (a batch filled up with empty sentences, a window of padding).
# Their weights must be zeros.
#
# Replacing the NaN in the result repairs only the forward pass. In the backward pass the softmax multiplies a gradient of
# zero by the NaN, which is NaN again. If the scores were hidden with `masked_fill`, it stops there, since `masked_fill`
# passes no gradient to what it filled; if $-\infty$ was added to them, it goes on into every parameter. It is safest
# never to compute the NaN in the forward pass.

# %% role="exercise" exercise="masks.softmax"

# %% [markdown]
# **Predict.** Take scores 1, 2, 3, of which the last is hidden, and a second row with everything hidden. Write down
# both rows of weights, and then the gradient: which entries are exactly 0?

# %% role="predict"
predict(
    "02.hidden-scores",
    predict.numbers("What are the weights for scores 1, 2, 3, the last hidden?", 3, within=0.02),
    predict.numbers("With everything hidden?", 3, within=0.02),
    predict.mask("Which entries of the gradient are exactly 0?", ["last hidden", "all hidden"], 3),
)

# %% role="demo"
guess = predicted("02.hidden-scores")
try:
    scores = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    weights = masked_softmax(scores, mask)
    weights[:, 0].sum().backward()
    print(weights.detach())
    print("gradient", scores.grad)
    guess.compare(weights[0], weights[1], scores.grad == 0)
except NotImplementedError:
    print("Build masked_softmax first, then run this cell again.")

# %% [markdown]
# **How much leaks?** Of 32 random scores, more and more are hidden.

# %% role="demo"
def astray(weights, mask):
    """Weight on hidden keys, or missing from the sum, on average over rows."""
    missing = (1 - weights.sum(-1)).abs() if mask.any() else 0 * weights.sum(-1)
    return ((weights * ~mask).sum(-1) + missing).mean().item()


scores, curves = torch.randn(500, 32), {"score 0": [], "zeroed after": [], "-1e9": [], "-inf": []}
for hidden in range(33):
    mask = torch.arange(32) < 32 - hidden
    curves["score 0"].append(astray(scores.masked_fill(~mask, 0).softmax(-1), mask))
    after = scores.softmax(-1).masked_fill(~mask, 0)
    curves["zeroed after"].append((1 - after.sum(-1)).mean().item())
    curves["-1e9"].append(astray(scores.masked_fill(~mask, -1e9).softmax(-1), mask))
    curves["-inf"].append(astray(reference.masked_softmax(scores, mask.expand(500, 32)), mask))
plt.figure(figsize=(6, 2.8))
for (name, values), style in zip(curves.items(), ("-", "--", "-.", ":")):
    plt.plot(values, style, label=name)
plt.xlabel("hidden keys, of 32")
plt.ylabel("weight astray")
plt.legend()
plt.show()

# %% [markdown]
# *Figure, in words: number of hidden keys from 0 to 32 on the horizontal axis, weight that ends up where it must not, or
# gets lost, on the vertical. "Score 0" and "zeroed after the softmax" rise along nearly the same line to 1. "-1e9" lies
# at 0 and jumps to 1 at the very end, where nothing is left to see. Minus infinity, with empty rows set to zero, stays
# at 0 throughout.*
#
# ## 5 · Experiment: a mask that shows the answer
#
# The data are a Markov chain of letters: each letter makes the next one more or less probable. The lowest
# loss that a model can reach from the past alone is known: the chain's entropy. We train one attention
# layer to predict the next letter three times, with three masks:
# - **causal**: yours;
# - **one ahead**: the triangle is off by one, so position `i` sees `i + 1`, the answer;
# - **no mask**: everything is visible.
#
# Afterwards each is tested as it will be used: with the future hidden, because at test time there is none.
# The chain is yours alone: its seed and its number of letters are drawn from your name. Compare with a neighbour.
#
# **Predict.** Which training curve looks best? Which model is best in the test? Can a loss below the entropy be good news?

# %% role="predict"
predict(
    "02.cheat",
    predict.choice("Which training loss ends lowest?", "the honest mask", "a mask that shows the next letter"),
    predict.choice("Which model is best in the test?", "causal", "one ahead", "no mask"),
    predict.choice("Can a loss below the entropy be good news?", "yes", "no"),
)

# %% role="experiment"
from autograder import variant

mine = variant("02-masks", letters=[10, 11, 12, 13, 14], seed=range(100))
LETTERS, LENGTH, WIDTH = mine.letters, 24, 48
CHAIN = torch.softmax(2 * torch.randn(LETTERS, LETTERS, generator=torch.Generator().manual_seed(mine.seed)), dim=-1)


class OneLayer(nn.Module):
    """One attention over letters and places, and a guess at the next letter."""

    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, LETTERS)

    def forward(self, ids, mask):
        x = self.letters(ids) + self.places.weight[: ids.size(1)]
        scores = self.q_proj(x) @ self.k_proj(x).transpose(-2, -1) / math.sqrt(WIDTH)
        return self.out(x + masked_softmax(scores, mask) @ self.v_proj(x))


def draw_chains(batch, generator):
    """Sequences of LENGTH + 1 letters from the chain."""
    ids = [torch.randint(0, LETTERS, (batch, 1), generator=generator)]
    for _ in range(LENGTH):
        ids.append(torch.multinomial(CHAIN[ids[-1].squeeze(1)], 1, generator=generator))
    return torch.cat(ids, dim=1)

# %% role="experiment"
def train_layer(mask, honest, steps=400):
    """Train with `mask`; return the training losses and the test loss with the future hidden."""
    torch.manual_seed(1)
    generator, model = torch.Generator().manual_seed(2), OneLayer()
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=3e-3), []
    for _ in range(steps):
        ids = draw_chains(32, generator)
        loss = F.cross_entropy(model(ids[:, :-1], mask).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    ids = draw_chains(500, generator)
    with torch.no_grad():
        test = F.cross_entropy(model(ids[:, :-1], honest).flatten(0, 1), ids[:, 1:].flatten())
    return losses, test.item()

# %% role="experiment"
def entropy():
    """Uncertainty of the next letter, averaged over how often each letter comes up in long chains."""
    often = torch.linalg.matrix_power(CHAIN, 64)[0]
    return -(often.unsqueeze(1) * CHAIN * CHAIN.log()).sum().item()


guess = predicted("02.cheat")
runs = {}
try:
    honest, everything = causal_mask(LENGTH), torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    for name, mask in (("causal", honest), ("one ahead", everything.tril(1)), ("no mask", everything)):
        runs[name] = train_layer(mask, honest)
        print(f"{name:10s} last training loss {runs[name][0][-1]:.2f}   test loss {runs[name][1]:.2f}")
    print(f"entropy of the chain {entropy():.2f}   guessing blindly {math.log(LETTERS):.2f}")
    guess.compare("the honest mask" if min(runs, key=lambda name: runs[name][0][-1]) == "causal" else "a mask that shows the next letter",
                  min(runs, key=lambda name: runs[name][1]), "no")
except NotImplementedError:
    print("Build causal_mask and masked_softmax first, then run this cell again.")

# %% role="experiment"
if runs:
    plt.figure(figsize=(6, 2.8))
    for name, (losses, _) in runs.items():
        plt.plot(losses, label=name)
    plt.axhline(entropy(), linestyle="--", color="gray", label="entropy")
    plt.xlabel("step")
    plt.ylabel("training loss")
    plt.legend()
    plt.show()

# %% [markdown]
# *Figure, in words: training step on the horizontal axis, training loss on the vertical, and a dashed horizontal line
# at the chain's entropy. The causal curve comes down to the line and stays there. The two others go on through it,
# towards zero: they have found the answer in their input.*
#
# A training loss that is too good is the most common sign of a wrong mask. The test: change a *later* word and see
# whether an *earlier* output moves. The fourth square of section 3 shows the result of such a test for your mask.
#
# ## Find the fault
#
# Nobody writes masks from nothing for long: one reads those of others, and looks for what is wrong with them. Below is a
# decoder mask that somebody wrote, and what it gives for the smallest input that shows its fault. Name the lines that you
# suspect, write a test that fails on this code and passes on every right one, and repair it. Then the last cell says
# what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="masks.decoder" seed=3
def test_padding_is_hidden_from_itself_too(answer):
    mask = answer(torch.tensor([[0, 0, 5, 6]]), 0)
    assert not mask[..., :2].any(), "a key of the padding is shown"

# %% [markdown]
# ## Pitfalls
# - The wrong triangle: `triu` shows the future instead of the past. Rows are queries, columns are keys.
# - `tril(-1)` hides a position from itself, and the first row is then empty.
# - Hiding padding's rows instead of its columns.
# - Assuming that the padding's id is 0; each vocabulary has its own.
# - Counting the real words and showing that many from the left: when a decoder-only model generates in batches, the
#   padding comes first.
# - Libraries differ in what True means. `nn.MultiheadAttention` takes True for *hidden*;
#   `F.scaled_dot_product_attention` takes True for *may attend*, as we do; the models of Hugging Face's transformers
#   take 1 for real words.
#
# ## What real models changed
# | | mask |
# |---|---|
# | BERT and its family | padding only: an encoder sees both sides |
# | GPT and its family | causal; in batches, padding in front |
# | T5, BART | an encoder without a causal mask, a decoder with one, and the encoder's padding hidden in cross-attention |
# | Longformer, BigBird (unit 11) | a window and a few global positions, so that the cost grows with `L`, not its square |
# | XLNet (unit 09) | any order of prediction, written as a mask |
#
# Fused kernels take `is_causal=True` instead of a mask and skip the hidden half altogether.

# %% [markdown]
# ## Put it into your model
#
# Beside its own state, each position now has what the earlier states hold: your attention from unit 01, under your causal mask.

# %% role="experiment"
from course import my_model

my_model.add_unit("02-masks")

# %% [markdown] role="task" task="too-good-a-loss" points=2
# ## In your own words
#
# The training loss of a language model falls far below everybody else's, and what the model writes is nonsense. Name the
# likely mistake, explain *both* observations by it, and describe a test of a few lines that needs no training.
#
# ### BEGIN MARK SCHEME
# - 1 point: positions see the word they must predict. In training it is copied; when writing there is no future to copy.
# - 1 point: change a later word, and no earlier output may move (or: the gradient of an earlier output by a later input is 0).
# - Not enough: "overfitting". It explains neither a loss below the entropy nor nonsense on the training texts.
# - Related: `masks.causal/sees_one_ahead`, `masks.decoder/future_visible`, `masks.softmax/mask_after_softmax`.
# ### END MARK SCHEME

# %% [markdown]
# ## Reading
# - Vaswani et al. 2017, *Attention is all you need*, section 3.2.3, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Radford et al. 2019 and Devlin et al. 2019 for the two kinds of visibility; the latter: [arXiv:1810.04805](https://arxiv.org/abs/1810.04805)
# - Dao et al. 2022, *FlashAttention*, [arXiv:2205.14135](https://arxiv.org/abs/2205.14135)
