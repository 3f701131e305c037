# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 17 · Your own language model
#
# **The question.** You have built all the parts. What is the best language model that you can train in two minutes on one processor?
#
# Here there is no reference to agree with, and no stub that says which lines are missing: there is one class, a budget, and a number that is measured. Every choice that you make, from what the sixteen units before have shown, spends a part of the same 120 seconds: width, depth, context length, optimiser, learning-rate schedule, tokenisation.
#
# New letters: $b_t$ the byte at position $t$.

# %% role="setup"
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

# %% [markdown]
# ## A text that no model has seen
#
# Which text? Every existing text can be found somewhere, and the score of a model that was trained on the test means nothing. So the language is *invented*: `SyntheticLanguage(seed)` draws words, genders, endings, a grammar and preferences, and writes as much as you like. Here you practise with seeds of your own. When your work is measured, a language is drawn that did not exist before.

# %% role="demo"
from autograder.capstone import SyntheticLanguage

practice = SyntheticLanguage("practice")
text, cost = practice.text(400_000, "to train on")
print(text[:360])
print(f"{len(text):,} bytes, {len(set(text))} different ones, {cost / len(text):.3f} bits per byte")

# %% [markdown]
# Look closely. Articles and adjectives agree with the noun, verbs with the subject. The speaker is named again at the end of the sentence. Verbs have favourite objects. All this can be learned; the rest is chance, and the probability of each choice is known. The bits of these choices add up to the number in the last line: **on average, no model can need fewer**.
#
# ## Bits per byte
#
# Perplexities of different tokenizers cannot be compared (unit 09). Bits per byte can:
#
# $$\text{bits per byte} = -\frac{1}{n} \sum_{t=1}^{n} \log_2 P(b_t \mid b_1 \dots b_{t-1})$$
#
# It is also the size of the text after compression with this model, per byte: every language model can be used to compress text.
#
# **Predict, then run.** Three models need almost no training: all bytes equally likely; each byte as probable as it is frequent in the text; each byte predicted from the one before it. How many bits per byte does each need?

# %% role="predict"
predict(
    "17.simple",
    predict.number("All 256 bytes equally likely", within=0.01),
    predict.number("By the frequency of each byte", within=0.5),
    predict.number("From the byte before", within=0.5),
)

# %% role="demo"
guess = predicted("17.simple")
ids = torch.tensor(list(text.encode()))
new = torch.tensor(list(practice.text(50_000, "new")[0].encode()))
pairs = torch.ones(256, 256).index_put((ids[:-1], ids[1:]), torch.ones(len(ids) - 1), accumulate=True) - 0.999
once = pairs.sum(0) / pairs.sum()
after = pairs / pairs.sum(1, keepdim=True)
bits = [8.0, -once[new].log2().mean().item(), -after[new[:-1], new[1:]].log2().mean().item()]
for name, found in zip(("equally likely", "by frequency", "from the byte before"), bits):
    print(f"{name:24} {found:.2f} bits per byte; the text's own: {cost / len(text):.2f}")
guess.compare(*bits)

# %% [markdown]
# From there down to 0.57 is your task.
#
# ## What is asked
#
# A class `LanguageModel`, made without arguments, with two methods:
#
# - `fit(ids, seconds)`: `ids` is int64 `[n]`, 400,000 bytes of the language. Train until `seconds` of *processor time* are used up (`time.process_time()` measures it), then return. A quarter more is tolerated; after that, training is stopped and there are no points.
# - `log_probs(prefixes)`: `prefixes` is int64 `[N, t]`, `t` from 1 to 95 bytes; each row starts at the end of a sentence. It returns `[N, 256]`: the log-probability of each byte as the next one.
#
# **How it is measured.** Your class is trained in a sandbox, without a network. Only then are 64 pieces of new text drawn, outside it. They are presented *byte by byte*: your model gets the first byte of each piece and answers with a distribution; then it gets the second, and so on. A byte is sent only when the probabilities for it have come back.
# So no model can look ahead, whatever its code does: causality need not be trusted, because it follows from the order of the messages. The logarithms are added up outside the sandbox, too.
#
# The following are rejected, each with a sentence that says why: rows that do not add up to 1 (a model could give *every* byte the probability 1, and need no bits at all); a prefix that gets a different answer when it is presented again on its own; training beyond the budget; a probability of 0 for the byte that came; fewer bits than the text has.
#
# **Points** are given in bands of bits per byte *above the text's own*: up to 0.6, 0.25, 0.12 and 0.08 bits above are worth 3, 6, 8 and 10 points, unless your course has set other bands.
#
# ## Where the seconds go
#
# Before you write, make a budget. A step of training takes about $6\,N$ operations per token for $N$ weights; a processor core does some $4\cdot10^{10}$ per second. **Predict.** How often can a model of 100,000 weights, with a byte as its token, read the whole text in 120 seconds?

# %% role="predict"
predict("17.budget", predict.choice("How often does it read the 400,000 bytes?", "less than once", "about 20 times", "about 500 times"))

# %% role="experiment"
guess = predicted("17.budget")
torch.set_num_threads(1)
torch.manual_seed(0)
WIDTHS, rates = (32, 64, 128), {}
for width in WIDTHS:
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True, norm_first=True, dropout=0.0)
    stack = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    mask, x = nn.Transformer.generate_square_subsequent_mask(96), torch.randn(16, 96, width)
    for step in range(6):
        began = time.process_time() if step == 2 else began if step > 2 else 0.0
        stack(x, mask=mask, is_causal=True).sum().backward()
    weights = sum(p.numel() for p in stack.parameters())
    rates[weights] = 4 * 16 * 96 / (time.process_time() - began)
    print(f"width {width:4}, {weights:8,} weights: {rates[weights]:9,.0f} bytes per second, the text {120 * rates[weights] / 400_000:5.1f} times in 120 s")
times = 120 * min(rates.items(), key=lambda pair: abs(pair[0] - 100_000))[1] / 400_000
guess.compare("less than once" if times < 1 else "about 20 times" if times < 100 else "about 500 times")

# %% [markdown]
# A wider model learns more from each byte but sees fewer of them. The scaling laws of unit 09 say that both matter; you find the best size for your budget by trying.
#
# ## Build it
#
# In the units before, the following helped: a norm before each sub-layer, rotary positions (04), tied embeddings (05), AdamW with warm-up and a learning rate that decays until the time is up (06), a gated feed-forward layer (13), a compiled or fused attention (14). Subword tokens (06) make sequences shorter, but then `log_probs` has to give the probability of the *next byte*: a sum over tokens.
# Your own parts may be in cells that you add, or come from `tfkit.nn`, which has those of all units. The sandbox gets only the code below, the cells that you add and the imports above.
#
# `LEADERBOARD = True` puts your result on the class's leaderboard. It shows no name unless you choose one: `LEADERBOARD_NAME = "…"`.

# %% role="project" project="language-model" points=10
LEADERBOARD = False  # True: my bits per byte may be on the class's list
LEADERBOARD_NAME = ""  # what to call me there; empty: "somebody"


class LanguageModel(nn.Module):
    CONTEXT = 96  # of the bytes before, at most these are read

    def __init__(self, d_model=64, n_heads=4, n_layers=2):
        super().__init__()
        ### BEGIN SOLUTION
        self.embed, self.position = nn.Embedding(256, d_model), nn.Embedding(self.CONTEXT, d_model)
        self.n_heads, self.norm = n_heads, nn.LayerNorm(d_model)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm1": nn.LayerNorm(d_model), "norm2": nn.LayerNorm(d_model),
            "qkv": nn.Linear(d_model, 3 * d_model, bias=False), "out": nn.Linear(d_model, d_model, bias=False),
            "up": nn.Linear(d_model, 4 * d_model), "down": nn.Linear(4 * d_model, d_model),
        }) for _ in range(n_layers))  # fmt: skip
        for table in (self.embed, self.position):
            nn.init.normal_(table.weight, std=0.02)
        ### END SOLUTION

    def forward(self, ids):
        """ids int64 [B,L] -> the logits of the next byte at each place [B,L,256]"""
        ### BEGIN SOLUTION
        x = self.embed(ids) + self.position.weight[: ids.size(1)]
        for part in self.layers:
            heads = part["qkv"](part["norm1"](x)).chunk(3, -1)
            q, k, v = (head.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for head in heads)
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + part["out"](mixed)
            x = x + part["down"](F.gelu(part["up"](part["norm2"](x))))
        return self.norm(x) @ self.embed.weight.T
        ### END SOLUTION

    def fit(self, ids, seconds):
        """Train on ids int64 [n] for so many seconds of the processor."""
        ### BEGIN SOLUTION
        torch.manual_seed(0)
        began, batch, peak = time.process_time(), 16, 3e-3
        optimizer = torch.optim.AdamW(self.parameters(), lr=peak, betas=(0.9, 0.98), weight_decay=0.01)
        ends = (ids == 10).nonzero().flatten()  # a text is asked from the end of a sentence on
        ends = ends[ends < len(ids) - self.CONTEXT - 1]
        while (spent := (time.process_time() - began) / seconds) < 0.97:
            for group in optimizer.param_groups:
                group["lr"] = peak * min(1.0, spent / 0.05 + 0.02) * (1 - spent)
            starts = ends[torch.randint(len(ends), (batch,))]
            rows = ids[starts[:, None] + torch.arange(self.CONTEXT + 1)]
            loss = F.cross_entropy(self(rows[:, :-1]).transpose(1, 2), rows[:, 1:])
            optimizer.zero_grad(), loss.backward()
            nn.utils.clip_grad_norm_(self.parameters(), 1.0)
            optimizer.step()
        self.eval()
        ### END SOLUTION

    @torch.no_grad()
    def log_probs(self, prefixes):
        """prefixes int64 [N,t] -> the log-probabilities of the next byte [N,256]"""
        ### BEGIN SOLUTION
        return self(prefixes[:, -self.CONTEXT :])[:, -1].log_softmax(-1)
        ### END SOLUTION

# %% [markdown]
# ## Try it here
#
# Twenty seconds of training show whether the code runs; losses are in nats, and divided by $\ln 2$ they are in bits. The second half of the cell makes the same checks as the measurement.

# %% role="experiment"
try:
    torch.manual_seed(0)
    model = LanguageModel()
    model.fit(ids, 20.0)
    pieces = [("\n" + practice.text(96, f"piece {n}")[0])[:96] for n in range(32)]
    rows, bits = torch.tensor([list(piece.encode()) for piece in pieces]), 0.0
    for t in range(1, 96, 5):  # every fifth byte, to save time
        answer = model.log_probs(rows[:, :t])
        assert answer.shape == (32, 256) and torch.allclose(answer.exp().sum(1), torch.ones(32), atol=1e-3), "no distribution"
        bits -= answer.gather(1, rows[:, t : t + 1]).mean().item() / math.log(2) / 19
    print(f"after 20 seconds: {bits:.2f} bits per byte")
    alone = model.log_probs(rows[:1, :40])
    print("asked alone, the same answer:", torch.allclose(alone, model.log_probs(rows[:, :40])[:1], atol=1e-3))
except NotImplementedError:
    model = None
    print("Build LanguageModel first.")

# %% [markdown]
# *Which bytes* cost the most bits? Here is the beginning of a new text, byte by byte: what each byte costs with the table that knows only the byte before, and what it costs with your model after its twenty seconds.

# %% role="experiment"
from tfkit_lab import show

if model is not None:
    piece = ("\n" + practice.text(96, "a piece to look at")[0])[:26]
    row = torch.tensor([list(piece.encode())])
    yours = torch.stack([-model.log_probs(row[:, :t])[0, row[0, t]] for t in range(1, row.size(1))]) / math.log(2)
    costs = torch.stack([-after[row[0, :-1], row[0, 1:]].log2(), yours])
    display(show.matrices({"bits": costs}, ["pairs", "yours"], list(piece[1:]), "What each byte costs", ("model", "byte")))

# %% [markdown]
# *Figure: two rows over the first 25 bytes of a sentence. With the table of pairs every byte costs something, one to five bits. With the model, blanks and words that follow from the words before cost almost nothing; the letters of names and nouns, which it does not know yet, cost as much as before.*
#
# In a terminal, `autograder capstone check 17-capstone.ipynb` measures it as your course will: two minutes of training in the sandbox, then byte by byte. `--seconds 10` is for trying out, and `--seed 1` draws the same language again, so that two of your versions can be compared.
#
# **What to try first.** Print the loss every second. Does it still fall when the time is up? Then a smaller model, or a larger learning rate, might get further. Is it flat long before that? Then the model may be too small. Look at *which bytes* cost bits: the first letter of a word costs most, the endings should cost nothing. If they do cost something, what would the model have to remember, and from how far back?
#
# ## Meet a real model
#
# SmolLM2 (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB) has 135 million weights and has read two trillion tokens. It has read nothing of your language. Here it reads a page of it, and a page of Python's manual, without any training: all that it learns
# of the language, it learns in its context. Its tokens are not bytes, but the bits of all tokens together can be divided by the number of bytes that they stand for.
#
# **Before you run it:** how many bits per byte does it need for your language at the beginning of the page, and how many at the end? Does it need fewer than the table "from the byte before", which has seen 400,000 bytes?

# %% role="experiment"
import matplotlib.pyplot as plt
from pydoc_data.topics import topics

import tfkit

PAGES = {"your language": practice.text(1600, "a page")[0], "Python's manual": topics["naming"][:1600]}
try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    fig, ax = plt.subplots(figsize=(6.5, 3))
    for name, page in PAGES.items():
        pieces = torch.tensor(real.tokenizer.encode(["\n" + page]))
        with torch.no_grad():
            logits = real.model(pieces).logits[0, :-1].float()
        needed = F.cross_entropy(logits, pieces[0, 1:], reduction="none") / math.log(2)  # bits of each token
        lengths = torch.tensor([len(piece.encode()) for piece in real.tokenizer.decode([[i] for i in pieces[0, 1:].tolist()])])
        parts = [(lengths.cumsum(0) - 1) // 200 == part for part in range(8)]  # the tokens that end in each 200 bytes
        line = [(needed[part].sum() / lengths[part].sum()).item() for part in parts]
        ax.plot(range(100, 1600, 200), line, "o-", label=name)
        print(f"{name:16} first 200 bytes {line[0]:.2f} bits per byte, last 200 {line[-1]:.2f}")
    before = -after[new[:-1], new[1:]].log2().mean().item()
    for level, name in ((before, "from the byte before"), (cost / len(text), "your language's own bits")):
        ax.axhline(level, color="#888888", lw=0.9, ls="--"), ax.text(560, level, name, fontsize=8, va="bottom")
    ax.set(xlabel="bytes read", ylabel="bits per byte", ylim=(0, None)), ax.legend(), plt.show()
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# *Figure: bits per byte over the bytes read, in sections of 200. For your language the line starts at 4, is at 2.5 after 200 bytes, and from there on varies between 2 and 2.8, around the dashed line "from the byte before" at 2.6. For Python's manual it stays near 1. Another dashed line, at 0.58,
# shows your language's own bits.*
#
# After two hundred bytes it is as good as a table that has counted 400,000. That is *in-context learning* (Brown et al. 2020): no weight has changed; the model uses the text read so far. After that it does not improve. It does not pick up the genders and endings from its context, although they recur on every page; gradient descent can learn them, and
# yours has two minutes for it. The manual takes 1 bit per byte, about what GPT-2 needs for Wikipedia in the table below; it may have been in the training text.
#
# ## Find the fault
#
# Before you train your own model, look at one with a fault: a whole GPT-2. Its symptom is how it differs from the published
# model, how a small copy of it learns, and what that copy then writes. Compare its loss with what it writes: does a low loss show
# a good model here? Name the lines that you suspect, write a test that needs no published model, and repair the code. Then the
# last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="page.gpt2" seed=47
def test_earlier_outputs_stay(page):
    torch.manual_seed(0)
    model = page.MODEL(page.Config(vocab_size=20, d_model=16, n_layers=2, n_heads=2, max_length=8)).eval()
    ids = torch.tensor([[3, 4, 5, 6]])
    before = model(ids)[:, :3]
    ids[0, 3] = 9
    assert torch.allclose(before, model(ids)[:, :3], atol=1e-5), "another last token changes earlier outputs"

# %% [markdown]
# ## Pitfalls
#
# - **Wall-clock time** runs on while others use the machine. The budget is in processor time, of all threads together.
# - **Dropout at the end.** `eval()` belongs after the training loop; otherwise the same prefix gets different answers.
# - **A prefix longer than the position table.** Prefixes have up to 95 bytes; the table must be that long, or the prefix must be cut.
# - **Log-probabilities of tokens** are not those of bytes. If you use subwords, add up the probabilities of all tokens that begin with the byte.
# - **The last step's learning rate.** A learning rate that is still high at the end of the budget costs some tenths of a bit.
# - **Tuned to one seed.** Your work is measured on another language. Choices that help with several seeds are likely to help there; those that help with one may be luck.
#
# ## What real models changed
#
# | | budget | text | bits per byte |
# |---|---|---|---|
# | yours | 120 seconds of one processor | 400,000 bytes of an invented language | |
# | GPT-2, 1.5 billion | not published | 40 GB of web pages | 0.93 on enwik8 (Wikipedia with its markup), without training on it |
# | Transformer-XL, 277 million | | enwik8 itself, 90 MB | 0.99 |
# | nanoGPT's and nanochat's speed runs | minutes to hours on eight GPUs | web pages | a fixed target: the *time* is what is measured |

# %% [markdown] role="task" task="what-it-cost" points=2
# ## In your own words
#
# Which two choices helped most, by how many bits per byte each, and what did you try that did not help? Give the numbers of your own runs, with seed and seconds.
#
# ### BEGIN MARK SCHEME
# - 1 point: two choices, each with a number before and after, from runs of equal budget.
# - 1 point: something that did not help, with its number, and a reason that fits the numbers (the loss still fell, the model was
#   too small, fewer tokens were seen).
# - Not enough: a list of techniques without measurements.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Shannon 1951, [Prediction and Entropy of Printed English](https://doi.org/10.1002/j.1538-7305.1951.tb01366.x): bits per letter, measured by letting people guess letter by letter.
# - Delétang et al. 2023, [Language Modeling Is Compression](https://arxiv.org/abs/2309.10668).
# - Hoffmann et al. 2022, [Training Compute-Optimal Large Language Models](https://arxiv.org/abs/2203.15556): the same question, for budgets a billion times as large.
