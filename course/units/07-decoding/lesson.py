# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 07 · Decoding
#
# **The question.** A trained model gives probabilities for *one* next word. How do you get from there to a whole sentence, to a *good*
# one, and without computing everything again for each word?
#
# You build the two searches that are used for translation (greedy search and beam search), the sampling that is used for stories, the two filters that keep
# these readable, and the two ways to make all of it fast: the cache, and speculative decoding with a small draft model. At the end you step through your own
# search, forwards and backwards.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads

# %% [markdown]
# ## The idea
#
# The model factorises the probability of a sentence from left to right:
#
# $$\log P(y_1 \dots y_n) = \sum_{t=1}^{n} \log P(y_t \mid y_1 \dots y_{t-1})$$
#
# In training all $y$ are known, so all terms are computed at once. Here nothing is known: the second term needs the first word to have been
# *chosen*. There are $V^n$ sentences of length $n$, so nobody looks at all of them; decoding is a search in a tree, and each method
# is a rule for which branches to follow.
#
# Everything you build takes one function: `step(prefix_ids[N,t]) -> logits[N,V]`, the logits of the next word for each of `N` prefixes. It may be a transformer
# or, as in the next cell, a small table: follow its most likely first word. Which sentences can it still reach?

# %% role="demo"
import matplotlib.pyplot as plt

WORDS = ["<pad>", "<s>", "</s>", "the", "a", "cat", "dog", "bird"]
NEXT = {"<s>": {"the": 0.55, "a": 0.45}, "the": {"cat": 0.4, "dog": 0.35, "bird": 0.25}, "a": {"cat": 0.05, "dog": 0.9, "bird": 0.05}}


def toy_step(prefix_ids):
    logits = torch.full((len(prefix_ids), len(WORDS)), -20.0)
    for row, last in zip(logits, prefix_ids[:, -1].tolist()):
        for word, probability in NEXT.get(WORDS[last], {"</s>": 1.0}).items():
            row[WORDS.index(word)] = math.log(probability)
    return logits


fig, ax = plt.subplots(figsize=(6.5, 2.8))
places = {"<s>": (0, 2.5), "the": (1, 4), "a": (1, 1)} | {f"the {w}": (2, 5 - i) for i, w in enumerate(WORDS[5:])} \
    | {f"a {w}": (2, 2 - i) for i, w in enumerate(WORDS[5:])}
for name, (x, y) in places.items():
    parent = "<s>" if x == 1 else name.split()[0]
    if x:
        p = NEXT[parent][name.split()[-1]]
        ax.plot([x - 0.85, x - 0.15], [places[parent][1], y], color="#888888", lw=5 * p)
        ax.text(x - 0.3, y + 0.15, p, fontsize=8)
    ax.text(x, y, name, ha="center", va="center", bbox={"fc": "#cfe3f5", "ec": "none"}, color="black")
ax.set(xlim=(-0.3, 2.4), ylim=(-0.7, 5.6)), ax.axis("off")
plt.show()

# %% [markdown]
# *Figure: a tree. From the start, "the" has probability 0.55 and "a" 0.45. After "the" come
# "cat" with 0.4, "dog" with 0.35 and "bird" with 0.25; after "a" they have 0.05, 0.9 and 0.05.*
#
# ## 1 · Greedy search: the most likely word each time
#
# $$y_t = \arg\max_{w} P(w \mid y_1 \dots y_{t-1})$$
#
# For one sentence this is simple. The work is in the batch, where rows end at different times. A row that has emitted `end_id` keeps it and is filled with
# `pad_id` from then on; when *all* rows are finished, stop, for each step is a pass through the whole model. Only *generated* words can finish a row: in some
# models the start symbol is the end symbol.
#
# **Predict, then run.** What does greedy search find on the tree above, and what probability does that sentence have?

# %% role="predict"
predict(
    "07.greedy",
    predict.choice("What does greedy search find?", "the cat", "the dog", "a cat", "a dog"),
    predict.number("With what probability?", within=0.01),
)

# %% role="exercise" exercise="decoding.greedy"

# %% role="demo"
def say(ids):
    return " ".join(WORDS[i] for i in ids)


guess = predicted("07.greedy")
try:
    print(say(greedy_decode(toy_step, torch.tensor([1]), end_id=2, max_new_tokens=5, pad_id=0)[0].tolist()))
    first, second = (WORDS[i] for i in greedy_decode(toy_step, torch.tensor([1]), end_id=2, max_new_tokens=5, pad_id=0)[0].tolist() if i > 2)
    guess.compare(f"{first} {second}", NEXT["<s>"][first] * NEXT[first][second])
except NotImplementedError:
    print("Build greedy_decode first.")

# %% [markdown]
# ## 2 · Beam search: keep several hypotheses
#
# Keep the best `beam_size` beginnings instead of one. At each step *all* continuations of *all* live hypotheses compete for the `beam_size` places, by summed
# log-probability, also those that end here. A hypothesis that has ended is set aside: it takes no place in later steps, where `beam_size` places are free again.
# The search goes on until no hypothesis is live or `max_new_tokens` is reached. The result is the best `beam_size` hypotheses, ended or not.
#
# **Why a beam is not greedy `beam_size` times over.** All hypotheses compete for the same places: two good continuations may come from one hypothesis, and
# another hypothesis may be dropped. A beam of one *is* greedy; a beam of $V^n$ is a complete search.
#
# **Length.** Each further word adds a negative log-probability, so the bare sum prefers short sentences. Hence the score
#
# $$score = \frac{\sum_t \log P(y_t)}{n^{\alpha}}, \qquad n = \text{number of generated words, the end included}$$
#
# `length_penalty` is $\alpha$: 0 is the bare sum, 1 the mean per word. During the search all live hypotheses have the same length, so the penalty matters only
# when finished ones are ranked.
#
# **Predict, then run.** With a beam of two, what does beam search find on the tree? And what changes for $\alpha = 0$?

# %% role="predict"
predict(
    "07.beam",
    predict.choice("What does beam search with a beam of two find?", "the cat", "the dog", "a cat", "a dog"),
    predict.choice("And for α = 0?", "the same", "another sentence"),
)

# %% role="exercise" exercise="decoding.beam"

# %% role="demo"
guess = predicted("07.beam")
try:
    for beam_size in (1, 2, 4):
        ids, score = beam_search(toy_step, start_id=1, end_id=2, beam_size=beam_size, max_new_tokens=5)[0]
        print(f"beam {beam_size}: {say(ids):22} score {score:.3f}  probability {math.exp(score * (len(ids) - 1)):.3f}")
    answers = [beam_search(toy_step, start_id=1, end_id=2, beam_size=2, max_new_tokens=5, length_penalty=alpha)[0][0] for alpha in (1.0, 0.0)]
    guess.compare(say(i for i in answers[0] if i > 2), "the same" if answers[0] == answers[1] else "another sentence")
except NotImplementedError:
    print("Build beam_search first.")

# %% [markdown]
# Greedy search took "the", the likelier first word, and can reach 0.55 · 0.4 = 0.22 at best; a beam of two keeps "a" as well, and finds 0.45 · 0.9 = 0.41. With
# $\alpha = 0$ the order does not change here: all sentences of this tree have the same number of words.
#
# ## 3 · Sampling, but not from everything
#
# A translation has a best answer; a story does not. The most likely continuation is dull and repeats itself (Holtzman et al. 2020), so the next word is
# *sampled* instead.
#
# ### Sample the next word
#
# Lay the words side by side on the line from 0 to 1, in the order of their ids, each as wide as its probability. A uniform random number $u$ then falls on each word as often as it should:
#
# $$p = \mathrm{softmax}(\text{logits} / T) \qquad\qquad \text{word} = \min \{\, w : \sum_{j \le w} p_j > u \,\}$$
#
# $T$, the **temperature**, divides the *logits*: below 1 likely words become even likelier, above 1 the probabilities move closer together. For $T \to 0$ only
# the largest logit is left, so `temperature=0` means greedy; dividing by it would give NaN. The draws `u [B]`, one for each row, come in as an argument: then
# the same draws give the same text, which can be tested and repeated.
#
# **Predict, then run.** Three words have probabilities 0.5, 0.3 and 0.2. Which one does $u = 0.7$ draw? And for $T = 0.5$, where the three have 0.66, 0.24 and
# 0.11?

# %% role="predict"
predict(
    "07.draw",
    predict.choice("Which word does u = 0.7 draw?", "word 0", "word 1", "word 2"),
    predict.choice("And for T = 0.5?", "word 0", "word 1", "word 2"),
)

# %% role="exercise" exercise="decoding.sample"

# %% role="demo"
guess = predicted("07.draw")
three = torch.tensor([[0.5, 0.3, 0.2]]).log()
try:
    for temperature in (1.0, 0.5, 0.0):
        print(f"T = {temperature}: u = 0.7 draws word {sample_token(three, torch.tensor([0.7]), temperature).item()}")
    names = ("word 0", "word 1", "word 2")
    guess.compare(*(names[sample_token(three, torch.tensor([0.7]), temperature).item()] for temperature in (1.0, 0.5)))
    fig, ax = plt.subplots(figsize=(6.5, 2.2))
    many, chance = three.expand(20_000, -1), torch.rand(20_000, generator=torch.Generator().manual_seed(0))
    for row, temperature in enumerate((0.5, 1.0, 2.0)):
        shares, left = torch.bincount(sample_token(many, chance, temperature), minlength=3) / 20_000, 0.0
        for word, (share, colour) in enumerate(zip(shares.tolist(), ("#cfe3f5", "#f2c14e", "#e8e8e8"))):
            ax.barh(row, share, left=left, color=colour)
            ax.text(left + share / 2, row, f"word {word}: {share:.2f}", ha="center", va="center", fontsize=8, color="black")
            left += share
    ax.axvline(0.7, color="#c03030", ls=":"), ax.set(yticks=range(3), yticklabels=["T = 0.5", "T = 1", "T = 2"], xlabel="u")
    plt.show()
except NotImplementedError:
    plt.close("all")
    print("Build sample_token first.")

# %% [markdown]
# *Figure: three bars from 0 to 1, one for each temperature, cut into three words by how often each of 20,000 draws fell on it. At 0.5 word 0 has about two thirds, at 1 a half, at 2 about four tenths. A dotted line at 0.7 meets word 1 in all three.*
#
# When the words are sampled one by one, each *sentence* comes up with exactly the probability that the model gives to it. There is no search and no beam, and
# every run gives a different text.
#
# ### The tail
#
# But the tail of the distribution, thousands of words with a tiny probability each, has a lot of probability *together*: every few words one of them is
# drawn, and the text stops making sense. So the tail is cut off: a filter sets its logits to $-\infty$, whose probability is exactly 0. (Setting them to 0
# would not remove anything: a logit of 0 may be quite likely.)
#
# ### Top-k
#
# Keep a fixed number of words, the `k` likeliest, in a new tensor: `logits` stay as they are.

# %% role="exercise" exercise="decoding.top_k"

# %% [markdown]
# ### Top-p, the nucleus
#
# Keep the smallest set of most likely words whose total probability reaches `p`, including the word that crosses the threshold: few words where the model is
# certain, many where it is not.
#
# **Predict, then run.** Take one certain and one uncertain distribution over 12 words, with `k = 4` and `p = 0.8`: how many bars stay in each of the four
# panels?

# %% role="predict"
predict(
    "07.kept",
    predict.number("How many bars of the certain distribution stay with top-k?"),
    predict.number("With top-p?", within=1),
    predict.number("And of the uncertain one, with top-k?"),
    predict.number("With top-p?", within=2),
)

# %% role="exercise" exercise="decoding.top_p"

# %% role="demo"
guess = predicted("07.kept")
torch.manual_seed(3)
certain, uncertain = torch.randn(2, 12).sort(descending=True).values * torch.tensor([[3.0], [0.5]])
try:
    fig, axes = plt.subplots(2, 2, figsize=(7, 3.6), sharex=True)
    for row, (name, logits) in zip(axes, {"certain": certain, "uncertain": uncertain}.items()):
        for ax, (rule, kept) in zip(row, {"top-k, k = 4": top_k_filter(logits, 4), "top-p, p = 0.8": top_p_filter(logits, 0.8)}.items()):
            colours = ["#2a6fb0" if value > -math.inf else "#cccccc" for value in kept.tolist()]
            ax.bar(range(12), logits.softmax(-1), color=colours)
            ax.set_title(f"{name}, {rule}", fontsize=9)
    plt.tight_layout(), plt.show()
    guess.compare(*((kept > -math.inf).sum() for logits in (certain, uncertain) for kept in (top_k_filter(logits, 4), top_p_filter(logits, 0.8))))
except NotImplementedError:
    plt.close("all")
    print("Build top_k_filter and top_p_filter first.")

# %% [markdown]
# *Figure: four bar charts, the certain distribution above, the uncertain one below, top-k on the left, top-p on the right. Kept bars are blue, removed ones
# grey. Top-k keeps four in both; top-p keeps one or two of the certain one and most of the uncertain one.*
#
# ## 4 · The cache: do not compute the past twice
#
# Step `t` needs attention of *one* new query over `t` keys and values. The keys and values of earlier words are the same as in the step before, for
# the causal mask keeps the past from seeing the future: nothing that comes later can change them. So keep them.
#
# | for `n` words, one layer | without a cache | with it |
# |---|---|---|
# | rows through the projections | $1 + 2 + \dots + n = n(n+1)/2$ | $n$ |
# | scores | about $n^3/3$ | about $n^2/2$ |
# | memory kept | nothing | `2 · n · d_model` numbers |
#
# Your module takes the *new* positions only. Mind the mask: a chunk of several new positions after `past` cached ones may attend to all of the past and, within the
# chunk, causally. Compute nothing of the past again: the keys and values of a position are made once, when it is new, and not from inputs that the cache holds. And leave the cache you are given as it is: beam search continues one prefix in several ways.
#
# **Predict, then run.** The cache holds 6 positions, and a chunk of 3 comes in: what is the shape of the mask, and which cells are False?

# %% role="predict"
predict(
    "07.chunk",
    predict.shape("What is the shape of the mask, queries by keys?"),
    predict.number("How many of its cells are False?"),
)

# %% role="exercise" exercise="decoding.kv_cache"

# %% role="demo"
guess = predicted("07.chunk")
try:
    torch.manual_seed(0)
    attention, x = CachedSelfAttention(64, 4), torch.randn(1, 9, 64)
    whole, _ = attention(x)
    first, cache = attention(x[:, :6])
    rest, _ = attention(x[:, 6:], cache)
    print("largest difference:", (torch.cat([first, rest], 1) - whole).abs().max().item())
    guess.compare((rest.size(1), x.size(1)), (~torch.ones(3, 9).tril(6).bool()).sum())
except NotImplementedError:
    print("Build CachedSelfAttention first.")

# %% [markdown]
# **What does it save?** We feed the same positions one by one, with and without a cache, and measure the time of each step.

# %% role="experiment"
import time

try:
    torch.manual_seed(0)
    attention, x, cache = CachedSelfAttention(256, 4).eval(), torch.randn(1, 400, 256), None
    with_cache, without = [], []
    with torch.no_grad():
        for t in range(1, 401):
            start = time.perf_counter()
            _, cache = attention(x[:, t - 1:t], cache)
            middle = time.perf_counter()
            attention(x[:, :t])
            with_cache.append(1000 * (middle - start)), without.append(1000 * (time.perf_counter() - middle))
    fig, ax = plt.subplots(figsize=(6, 2.8))
    ax.plot(without, label="without a cache"), ax.plot(with_cache, label="with a cache")
    ax.set(xlabel="length of the prefix", ylabel="ms per step", ylim=(0, sorted(without)[-8])), ax.legend()
    plt.show()
except NotImplementedError:
    print("Build CachedSelfAttention first.")

# %% [markdown]
# *Figure: two curves of milliseconds per step over the length of the prefix. Without a cache the time grows with the length; with it, it stays nearly flat.*
#
# ## 5 · Speculative decoding with a small draft model
#
# With a cache, a step reads *all weights* of the model for a single token. The same weights could serve several positions at once in hardly any more time, but
# the later tokens are not known yet. So let a small model, the **draft** model, propose the next $n$ tokens, one after another. The large model then reads
# these *draft tokens* in *one* pass, and gives its own distribution at each of the $n+1$ positions. How many draft tokens may be accepted, if the text must be
# distributed exactly as if the large model had generated it alone (Leviathan et al. 2023)?
#
# A draft token $x$ was drawn from the draft model's distribution $q$ (`draft_probs[i]`); the large model's is $p$ (`target_probs[i]`). Token by token, from
# the left:
#
# - **accept** $x$ if its draw (`accept_u[i]`) is below $p(x) / q(x)$: always where the large model gives it more probability than the draft model, otherwise
#   with probability $p(x) / q(x)$. Token $x$ is then drawn and accepted with probability $q(x) \cdot \min(1, p(x)/q(x)) = \min(p(x), q(x))$;
# - at the **first rejection**, the replacement is drawn from the part of $p$ that $q$ does not cover: $\max(p - q, 0)$, divided by its sum. All later
#   draft tokens are dropped, since they followed a token that is no longer there;
# - if **all are accepted**, the pass has given one more row, `target_probs[n]`, from which another token is drawn at no cost.
#
# So each pass yields at least one token, and at most $n + 1$. For both draws you can use your `sample_token`: the logarithm of anything proportional to the
# probabilities will do for logits.
#
# **Predict, then run.** $p = (0.6, 0.3, 0.1)$, $q = (0.2, 0.5, 0.3)$. The draft model proposes token 1: how often is it accepted? If it is rejected, which
# tokens may replace it? And how often is a draft token accepted, whatever it is?

# %% role="predict"
predict(
    "07.refused",
    predict.number("How often is token 1 accepted when it is proposed?", within=0.01),
    predict.choice("Which tokens may replace it?", "token 0", "token 1", "token 2", several=True),
    predict.number("How often is a draft token accepted, whatever it is?", within=0.02),
)

# %% role="exercise" exercise="decoding.speculative"

# %% role="demo"
guess = predicted("07.refused")
p, q = torch.tensor([0.6, 0.3, 0.1]), torch.tensor([0.2, 0.5, 0.3])
try:
    chance = torch.Generator().manual_seed(0)
    draws = torch.rand(4000, 3, generator=chance)
    draft_tokens = sample_token(q.log().expand(4000, -1), draws[:, 0]).tolist()
    words = [accept_draft([token], q[None], p.repeat(2, 1), [u], last)[0]
             for token, (u, last) in zip(draft_tokens, draws[:, 1:].tolist())]
    shares = {"draft model, q": q.tolist(), "large model, p": p.tolist(), "first token of a round": [words.count(w) / 4000 for w in range(3)]}
    fig, ax = plt.subplots(figsize=(6, 2.4))
    for bar, ((name, heights), colour) in enumerate(zip(shares.items(), ("#cccccc", "#2a6fb0", "#f2c14e"))):
        ax.bar([w + 0.28 * (bar - 1) for w in range(3)], heights, 0.26, color=colour, label=name)
    ax.set(xlabel="token", ylabel="probability, or share", xticks=range(3)), ax.legend(fontsize=8)
    plt.show()
    guess.compare((p[1] / q[1]).clamp(max=1), [name for name, more in zip(("token 0", "token 1", "token 2"), p > q) if more], torch.minimum(p, q).sum())
except NotImplementedError:
    plt.close("all")
    print("Build sample_token and accept_draft first.")

# %% [markdown]
# *Figure: for each of three tokens three bars: the draft model's probability, the large model's, and how often it came out first in 4,000 rounds. What came
# out is as high as the large model's bar everywhere, and nowhere as high as the draft model's.*
#
# Token 1 is accepted in 0.3 / 0.5 = 60% of the cases; only token 0 is less likely under the draft model than under the large model, so it alone may replace
# it. Over all tokens, a draft token is accepted with probability $\alpha = \sum_x \min(p(x), q(x)) = 0.2 + 0.3 + 0.1 = 0.6$, which depends only on how
# similar the two distributions are.
#
# **What does it gain?** If every draft token is accepted with probability $\alpha$, a pass yields
# $1 + \alpha + \alpha^2 + \dots + \alpha^n = \frac{1 - \alpha^{n+1}}{1 - \alpha}$ tokens on average.
#
# **Predict, then run.** With eight draft tokens, how many tokens does a pass of the large model yield for $\alpha = 0.5$, and for $\alpha = 0.9$?
# From which $n$ on does another draft token gain almost nothing in each case?

# %% role="predict"
predict(
    "07.words-per-pass",
    predict.number("Eight draft tokens, α = 0.5: how many tokens does a pass yield?", within=0.3),
    predict.number("And for α = 0.9?", within=0.6),
    predict.number("Which draft token is the first that adds less than a tenth of a token, for α = 0.5?"),
)

# %% role="demo"
def words_per_pass(alpha, n, rounds=200):
    """Two tokens; the draft model proposes each half of the time, the large model gives token 0 probability 1.5 - alpha."""
    q, p = torch.tensor([0.5, 0.5]), torch.tensor([1.5 - alpha, alpha - 0.5])
    draws = torch.rand(rounds, 2 * n + 1, generator=torch.Generator().manual_seed(n)).tolist()
    drafts, targets = q.expand(n, -1), p.expand(n + 1, -1)
    return sum(len(accept_draft([int(u > 0.5) for u in row[:n]], drafts, targets, row[n:-1], row[-1])) for row in draws) / rounds


guess = predicted("07.words-per-pass")
try:
    fig, ax = plt.subplots(figsize=(6, 2.6))
    for alpha, colour in ((0.5, "#c03030"), (0.7, "#3a8a4d"), (0.9, "#2a6fb0")):
        ax.plot(range(1, 9), [words_per_pass(alpha, n) for n in range(1, 9)], "o", color=colour, label=f"α = {alpha}, measured")
        ax.plot(range(1, 9), [(1 - alpha ** (n + 1)) / (1 - alpha) for n in range(1, 9)], color=colour, lw=0.8, label=f"α = {alpha}, formula")
    ax.set(xlabel="draft tokens, n", ylabel="tokens per pass", ylim=(0, None)), ax.legend(fontsize=8, bbox_to_anchor=(1, 1))
    plt.show()
    guess.compare(words_per_pass(0.5, 8), words_per_pass(0.9, 8), next(n for n in range(1, 20) if 0.5**n < 0.1))
except NotImplementedError:
    plt.close("all")
    print("Build accept_draft first.")

# %% [markdown]
# *Figure: tokens per pass over the number of draft tokens, measured (dots) and by the formula (curves). For alpha 0.5 the curve is flat at 2 after about four draft tokens, for 0.7 it levels off near 3, for 0.9 it still rises at eight, to about 6.*
#
# ## The experiment: decode with the model you trained
#
# The next cell loads the translator from the end of unit 05. If there is none, the cell says so and trains a smaller one with the library's parts, for about a
# minute.

# %% role="experiment"
import json
from pathlib import Path

from safetensors.torch import load_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from tfkit.data import parallel_corpus
from tfkit.nn import Seq2SeqTransformer, shift_right

PAD, START, END = 0, 1, 2
folder = Path("..") / "my-translator"


def load_translator(folder):
    config = json.loads((folder / "config.json").read_text())
    corpus = parallel_corpus(name=config.pop("corpus", "jupyterlab-fr"))  # what it was held out from
    model = Seq2SeqTransformer(**config)
    model.load_state_dict(load_file(folder / "model.safetensors"))
    return model.eval(), Tokenizer.from_file(str(folder / "tokenizer.json")), corpus


# %% role="experiment"
def train_tokenizer(pairs):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    texts = [text for pair in pairs for text in (pair.source, pair.target)]
    special = ["<pad>", "<s>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=1000, special_tokens=special, show_progress=False))
    return tokenizer


# %% role="experiment"
def to_ids(tokenizer, sentences):
    rows = [torch.tensor([*tokenizer.encode(text).ids, END]) for text in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


def train_small(pairs, steps=400):
    torch.manual_seed(0)
    tokenizer = train_tokenizer(pairs)
    model = Seq2SeqTransformer(1000, 1000, d_model=64, n_heads=4, d_ff=128, n_layers=2, pad_id=PAD)
    nn.init.normal_(model.src_embed.weight, std=1 / 8), nn.init.normal_(model.tgt_embed.weight, std=1 / 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(steps):
        batch = [pairs[i] for i in torch.randint(len(pairs), (32,)).tolist()]
        src, target = (to_ids(tokenizer, [getattr(pair, side) for pair in batch]) for side in ("source", "target"))
        loss = F.cross_entropy(model(src, shift_right(target, START)).transpose(1, 2), target, ignore_index=PAD)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        print(f"\rstep {step + 1}/{steps}, loss {loss.item():.2f}", end="", flush=True)
    print()
    return model.eval(), tokenizer


# %% role="experiment"
if (folder / "model.safetensors").exists():
    translator, tokenizer, corpus = load_translator(folder)
    print(f"this is the translator that you trained in unit 05, on {len(corpus.train)} pairs")
else:
    print("no translator from unit 05 here: training a small one with the library's parts")
    corpus = parallel_corpus(name="jupyterlab-fr")
    translator, tokenizer = train_small(corpus.train)

# %% [markdown]
# Here is `step` for one sentence: the encoder runs **once**, then each call decodes the prefixes it is given.
#
# **Predict.** Does the translation with the higher score always read better?

# %% role="predict"
predict(
    "07.higher-score",
    predict.choice("Does the translation with the higher score always read better?", "yes", "no"),
)

# %% role="experiment"
def stepper_for(sentence):
    src = to_ids(tokenizer, [sentence])
    with torch.no_grad():
        memory = translator.encode(src)

    @torch.no_grad()
    def step(prefix):
        n = len(prefix)
        return translator.decode(prefix, memory.expand(n, -1, -1), src.expand(n, -1))[:, -1]

    return step


guess = predicted("07.higher-score")
for pair in corpus.test[:60:12]:
    try:
        step = stepper_for(pair.source)
        greedy = greedy_decode(step, torch.tensor([START]), END, 30, PAD)[0].tolist()
        best = beam_search(step, START, END, 4, 30, length_penalty=1.0)
        print(f"{pair.source}\n  reference {pair.target}\n  greedy    {tokenizer.decode(greedy)}")
        for ids, score in best[:2]:
            print(f"  beam      {tokenizer.decode(ids)}   ({score:.2f})")
    except NotImplementedError:
        print("Build greedy_decode and beam_search first.")
        break
guess.compare("no")

# %% [markdown]
# **Step through your own search.** `record_search` runs it and records each call of `step`, and what the search returns; after that you walk through it in the
# browser, forwards and backwards, by button or arrow key: the likeliest next words, the tree of hypotheses that your search went on with, and where the chosen
# layer and head looked. Your two searches are shown side by side: the first step at which they differ is marked, and a button leads there. Where a search is not
# built yet, the library's stands in for it.

# %% role="experiment"
from tfkit.decode import Greedy, TextbookBeam, record, record_search
from tfkit_lab import Stepper


def recorded(sentence, search, name, stand_in):
    source, common = to_ids(tokenizer, [sentence]), dict(token=tokenizer.id_to_token, end_id=END, title=sentence)
    try:
        return record_search(search, stepper_for(sentence), name=name, model=translator, source_ids=source, **common)
    except NotImplementedError:
        return record(translator, source, strategy=stand_in, start_id=START, max_new_tokens=25, **common)


sentence = corpus.test[12].source
Stepper(
    recorded(sentence, lambda step: beam_search(step, START, END, 4, 25), "your beam search", TextbookBeam(4)),
    recorded(sentence, lambda step: greedy_decode(step, torch.tensor([START]), END, 25, PAD), "your greedy search", Greedy()),
)

# %% [markdown]
# *Figure: the stepper, with the next words' probabilities as bars, a tree of hypotheses and a map of attention, all for the step chosen.*
#
# **And if it had said something else?** With the model at hand, every candidate can be taken instead of the chosen one, and the source can be another sentence.

# %% role="experiment"
Stepper.live(translator, to_ids(tokenizer, [sentence]), strategy=Greedy(), token=tokenizer.id_to_token, title=sentence,
             encode=lambda text: to_ids(tokenizer, [text])[0].tolist(), start_id=START, end_id=END, max_new_tokens=25)

# %% [markdown]
# ## From your code to real models
#
# Your searches work with any model behind `step`. Now it is GPT-2 (small and random; a published one would work as well), and `tfkit.substitute` puts the
# attention of unit 01 into each of its layers. `tfkit.generate` searches in the same tree, with a cache.
#
# **Predict.** The model has two layers and writes ten words. How often does the attention run in your greedy search, and how often in your beam search with a
# beam of four?

# %% role="predict"
predict(
    "07.how-often",
    predict.number("How often does the attention run in greedy search?"),
    predict.number("How often in beam search with a beam of four?"),
)

# %% role="demo"
import tfkit
from tfkit.decode import Greedy, TextbookBeam

guess = predicted("07.how-often")
gpt2 = tfkit.from_config("gpt2", head="causal_lm", vocab_size=50, d_model=16, n_heads=2, n_layers=2).eval()
for parameter in gpt2.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
gpt2_step, never = lambda prefix: gpt2(prefix).logits[:, -1], -1  # no word ends a row: ten words each
try:
    found = {}
    with torch.no_grad():
        with tfkit.substitute(gpt2, scaled_dot_product_attention) as seen:
            found[Greedy()] = greedy_decode(gpt2_step, torch.tensor([3]), never, 10, pad_id=0)[0].tolist()
        print("greedy:", seen)
        runs = seen.calls
        with tfkit.substitute(gpt2, scaled_dot_product_attention) as seen:
            found[TextbookBeam(4)] = beam_search(gpt2_step, 3, never, 4, 10)[0][0]
        print("beam:  ", seen)
        guess.compare(runs, seen.calls)
        for strategy, ids in found.items():
            library = tfkit.generate(gpt2, torch.tensor([[3]]), strategy, max_new_tokens=10, end_id=never, pad_id=0)[0].tolist()
            print(*ids, " as the library's" if ids == library else f" but the library's: {library}")
except NotImplementedError:
    print("Build greedy_decode and beam_search first.")

# %% [markdown]
# Twenty times each: four hypotheses are four rows of one batch. Beam search costs more memory and more arithmetic, not more steps, and on a GPU with capacity
# to spare it takes hardly longer.
#
# `tfkit.generate` ran the model on one new word at a time. That is what your cache is for: give it the weights of GPT-2's first layer and what that layer
# reads, a word at a time.

# %% role="demo"
words = torch.randint(50, (1, 10))
try:
    yours, cache, parts = CachedSelfAttention(16, 2), None, []
    yours.load_state_dict(gpt2.layers[0].attn.state_dict())
    with torch.no_grad(), tfkit.trace(gpt2) as seen:
        gpt2(words)
        for word in seen["layers.0.norm1.out"].split(1, dim=1):
            part, cache = yours(word, cache)
            parts.append(part)
    print(f"your cache, {len(parts)} words: {(torch.cat(parts, 1) - seen['layers.0.attn.out']).abs().max():.0e} from GPT-2's own numbers")
except NotImplementedError:
    print("Build CachedSelfAttention first.")

# %% [markdown]
# ## Meet a real model
#
# SmolLM2 is a Llama of 135 million parameters that was trained on two trillion tokens (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB). Your own
# sampling continues its text; the stepper shows the words that it had to choose from.
#
# **Before you run it:** what will greedy search do, if it goes on long enough?

# %% role="experiment"
def continued(real, prompt, choose, words=24):
    ids = torch.tensor(real.tokenizer.encode([prompt]))
    for _ in range(words):
        logits = real.model(ids).logits[:, -1].float()
        ids = torch.cat([ids, choose(logits)[:, None]], dim=1)
    return real.tokenizer.decode(ids.tolist())[0]


try:
    real, drawn = tfkit.Text("SmolLM2-135M-Instruct"), torch.Generator().manual_seed(0)
    u = lambda: torch.rand(1, generator=drawn)
    ways = {"greedy": lambda logits: logits.argmax(-1),
            "top 40, temperature 0.8": lambda logits: sample_token(top_k_filter(logits, 40), u(), 0.8),
            "nucleus 0.9": lambda logits: sample_token(top_p_filter(logits, 0.9), u()),
            "everything, temperature 1.5": lambda logits: sample_token(logits, u(), 1.5)}  # fmt: skip
    with torch.no_grad():
        for name, choose in ways.items():
            print(f"{name:28}", continued(real, "The old lighthouse keeper opened the door and", choose).replace("\n", " "))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build sample_token, top_k_filter and top_p_filter first.")

# %% role="experiment"
try:
    stepper = Stepper.live(tfkit.Text("SmolLM2-135M-Instruct"), "The old lighthouse keeper", max_new_tokens=8)
except (FileNotFoundError, ModuleNotFoundError) as missing:
    stepper = None
stepper

# %% [markdown]
# In the stepper, look at a few of its 270 heads: most give much of their weight to the first token. Unit 09 says why.
#
# ## Find the fault
#
# A cache saves time and must change nothing else. So its test needs no right numbers: a text that is read in pieces has to give
# what it gives when it is read at once. Below is an attention layer with a cache that somebody wrote, and what it gives for the
# smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="decoding.kv_cache" seed=0
def test_pieces_give_what_the_whole_gives(answer):
    torch.manual_seed(0)
    layer, x = answer(8, 2), torch.randn(1, 4, 8)
    first, cache = layer(x[:, :2])
    second, _ = layer(x[:, 2:], cache)
    assert torch.allclose(torch.cat([first, second], 1), layer(x)[0], atol=1e-5), "read in two pieces it differs"

# %% [markdown]
# ## Pitfalls
#
# - **A start symbol that is the end symbol** (BART): look for it among the generated words only, or every row is finished before it begins.
# - **Raw logits in a beam.** Rows of logits from different prefixes have no common zero; only log-probabilities may be added up and compared.
# - **Wider is not better.** With a very large beam translations get shorter and worse: the model's likeliest sentence is often the empty one (Stahlberg and Byrne 2019). A narrow beam does not find that sentence, and so hides a fault of the model.
# - **Temperature after the softmax** only rescales: it belongs to the logits. And filters come *after* the temperature in most libraries, which changes what the nucleus holds.
# - **Replacing a rejected draft token by a draw from $p$**: the text looks right, but tokens that the draft model favours are too frequent. Only a count over
#   thousands of draws shows it.
# - **The caches** of both models contain rejected draft tokens; both must be cut back to the accepted ones.
# - **A cache written in place** is shared by all hypotheses that came from one prefix.
# - **Filters take logits and return logits**, so that they can follow one another; softmax comes once, at the end.
#
# ## What real models changed
#
# | | here | elsewhere |
# |---|---|---|
# | length | $n^\alpha$ | GNMT: $((5+n)/6)^\alpha$; BART forbids an end before a minimum length |
# | ended hypotheses | set aside, no early stop | transformers: stop when `beam_size` have ended (`early_stopping`) |
# | repetition | nothing | CTRL divides the logits of words already used; n-gram blocking in summarisation |
# | draft tokens come from | a small model | the model's own first layers or additional heads (Medusa, EAGLE); n-grams of the prompt, which cost nothing |
# | cache | grows by concatenation | allocated once (static), shared between heads (multi-query), paged (vLLM) |

# %% [markdown]
# ## Put it into your model
#
# The weights are those of unit 06, and so are the bits. Now your `sample_token` lets the model write. After 100 steps it knows little more than how letters follow one
# another; with `steps=1000` it has words.

# %% role="experiment"
from course import my_model

my_model.add_unit("07-decoding")

# %% [markdown] role="task" task="wider-and-worse" points=2
# ## In your own words
#
# A beam of 4 translates better than greedy search. A beam of 100 translates worse, and shorter, although its sentences have a
# higher probability under the model. How can both be true? What does a length penalty repair, and what can it not?
#
# ### BEGIN MARK SCHEME
# - 1 point: the search is better, the model is at fault: its likeliest sentence is not the best translation. A sum of
#   log-probabilities falls with each word, so short sentences win, the empty one included.
# - 1 point: dividing by a power of the length makes different lengths comparable; it does not make the probabilities right.
# - Related: `decoding.beam/not_normalised`, `decoding.beam/penalty_multiplies`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Wu et al. 2016, [Google's Neural Machine Translation System](https://arxiv.org/abs/1609.08144), section 7: beam search with length and coverage.
# - Holtzman et al. 2020, [The Curious Case of Neural Text Degeneration](https://arxiv.org/abs/1904.09751): why sample, and why from the nucleus.
# - Stahlberg and Byrne 2019, [On NMT Search Errors and Model Errors](https://arxiv.org/abs/1908.10090): what a complete search finds.
# - Leviathan et al. 2023, [Fast Inference from Transformers via Speculative Decoding](https://arxiv.org/abs/2211.17192): algorithm 1 is section 5 here; the proof is one page.
# - Fan et al. 2018, [Hierarchical Neural Story Generation](https://arxiv.org/abs/1805.04833): top-k.
