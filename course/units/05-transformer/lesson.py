# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 05 · The transformer
#
# **The question.** You have attention, masks and heads. How do they become a model that reads an English sentence and
# writes a French one, and why can it be *trained* on all words at once although it must *write* them one by one?
#
# At the end of this unit your own model translates sentences it has never seen, after a few minutes of training on this
# computer's processor, and you compare it with a method that learns nothing. For that, type `tfkit get vscode-fr` in a
# terminal now (0.6 MB, needs npm). With the small set that comes with the course it learns words, not sentences.
# You build five parts, from small to whole; each has a check right below it.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.nn import MultiHeadAttention, causal_mask, decoder_mask, padding_mask, sinusoidal_positions

# %% [markdown]
# ## The idea
#
# Attention alone only *mixes*: what leaves it is a weighted mean of what went in. The transformer alternates mixing
# **between** positions (attention) with a computation **at** each position (a small feed-forward network), and wraps both in
# the same way: *keep what you had, add what you found, normalise*.
#
# The picture below shows the whole model for one source sentence. On the left the **encoder** reads the source and
# ends with one vector for each source word, the *memory*. On the right the **decoder** reads the target written so far. In
# each of its layers it attends to the target (masked self-attention), then to the memory (cross-attention), and then
# applies a feed-forward network.
# The recurrent model of unit 01 had to squeeze the sentence through one last state; here every target word may look
# at every source word, in every layer. The bottleneck is gone.

# %% role="demo"
import matplotlib.pyplot as plt

LEFT = ["source ids", "embedding · √d + positions", "self-attention\nadd & norm", "feed-forward\nadd & norm", "memory"]
RIGHT = ["target ids, shifted right", "embedding · √d + positions", "masked self-attention\nadd & norm",
         "cross-attention\nadd & norm", "feed-forward\nadd & norm", "output projection", "logits"]


def column(ax, boxes, x, repeated):
    for i, text in enumerate(boxes):
        colour = "#cfe3f5" if i in repeated else "#eeeeee"
        ax.text(x, i, text, ha="center", va="center", fontsize=9, color="black",
                bbox={"boxstyle": "round,pad=0.4", "fc": colour, "ec": "#555555"})
        if i:
            ax.annotate("", (x, i - 0.3), (x, i - 0.7), arrowprops={"arrowstyle": "->", "color": "#555555"})
        if i in repeated:  # the residual: past the part, into its "add"
            side = x - 0.09 - 0.0325 * max(map(len, text.split("\n")))
            ax.plot([x, x - 0.9, x - 0.9], [i - 0.55, i - 0.55, i], color="#2a6fb0", lw=1)
            ax.annotate("", (side, i), (x - 0.93, i), arrowprops={"arrowstyle": "->", "color": "#2a6fb0"})


fig, ax = plt.subplots(figsize=(7.5, 5.2))
column(ax, LEFT, 0, {2, 3})
column(ax, RIGHT, 3, {2, 3, 4})
ax.annotate("", (2.4, 3.15), (0.4, 4), arrowprops={"arrowstyle": "->", "color": "#c03030", "lw": 1.8})
ax.text(1.2, 3.8, "keys, values", color="#c03030", fontsize=9)
ax.text(-1.35, 2.5, "× N", fontsize=12), ax.text(4.25, 3, "× N", fontsize=12)
ax.set(xlim=(-1.6, 4.6), ylim=(-0.6, 6.6)), ax.axis("off")
plt.show()

# %% [markdown]
# *Figure: two columns of boxes. Left, from the bottom: source ids, embedding times √d plus positions, self-attention with add and norm,
# feed-forward with add and norm, memory. Right: shifted target ids, embedding times √d plus positions, masked
# self-attention, cross-attention, feed-forward, each with add and norm, output projection, logits. An arrow leads from the memory to the
# cross-attention, and round each sublayer with add and norm a blue arrow leads from its input to its addition: the residual.*
#
# ## 1 · The feed-forward network: each position by itself
#
# $$\mathrm{FFN}(x) = \max(0,\ x W_{up} + b_{up})\,W_{down} + b_{down}$$
#
# `up` widens each vector from `d_model` to `d_ff` (four times as wide in the paper), ReLU sets its negative numbers to 0, `down` brings it back.
# It is applied to every position **alone**, with the same weights. Two thirds of an encoder layer's parameters are here.
# Without ReLU between them the two matrices would collapse into one.
#
# **Predict, then run.** `x` is `[2, 7, 64]`, `d_ff` is 256. What is the shape after `up`, and after the whole network?
#
# **Exercise.** Build it. The names `up` and `down` matter: the check loads its own weights into them. It makes a `FeedForward(d_model, d_ff)`, with ReLU and
# without dropout. `activation` is the function between `up` and `down`: the check leaves it alone, and BERT's layer needs it at the end of the lesson.
# `dropout` is the share of its outputs that training sets to 0, and you may leave it out. The check also trains the network for a few steps, from the values that your
# `__init__` gives it: the loss must fall at least about half as far as with the values that `nn.Linear` draws.

# %% role="predict"
predict("05.feed-forward", predict.shape("What is the shape after up?"), predict.shape("And after the whole network?"))

# %% role="exercise" exercise="transformer.feed_forward"

# %% role="demo"
guess = predicted("05.feed-forward")
try:
    ff, x = FeedForward(64, 256), torch.randn(2, 7, 64)
    print("after up:", tuple(ff.up(x).shape), " after the whole network:", tuple(ff(x).shape))
    moved = x.clone()
    moved[:, 3] += 1  # change position 3 only
    changed = (ff(moved) - ff(x)).abs().sum(-1)[0] > 0
    print("outputs that moved:", changed.nonzero().flatten().tolist())
    guess.compare(ff.up(x).shape, ff(x).shape)
except NotImplementedError:
    print("Build FeedForward first.")

# %% [markdown]
# ## 2 · An encoder layer: keep, add, normalise
#
# $$x \leftarrow \mathrm{LayerNorm}_1(x + \mathrm{SelfAttention}(x)) \qquad x \leftarrow \mathrm{LayerNorm}_2(x + \mathrm{FFN}(x))$$
#
# **Why the residual, `x + …`?** The input is passed on unchanged beside what each sublayer (attention or feed-forward network) computes. So a sublayer need
# only learn what to *change*; a token keeps its own content, however much attention mixes in; and the gradient has a path past every sublayer, so a deep stack
# of layers learns.
#
# **Why normalise?** Adding again and again makes values grow. Layer norm brings every position back to mean 0 and
# variance 1 (over its `d_model` numbers, not over the batch), then applies a learned scale and offset.
#
# **Where?** The paper normalises *after* the addition (post-norm), and so do you here. From GPT-2 on most models normalise *before* each sublayer (pre-norm):
# then the residual path is clean from bottom to top, and deep stacks train without a careful warm-up. Post-norm often reaches a slightly better final quality,
# but is harder to train.
#
# `MultiHeadAttention` from unit 03 returns `(output, weights)`: you need the output.

# %% role="exercise" exercise="transformer.encoder_layer"

# %% [markdown]
# **Predict, then run.** We measure the gradient that reaches the input of freshly initialised stacks of 1 to 24 encoder layers, with and without residuals.
# Which of the two is larger, and by what factor?

# %% role="predict"
predict(
    "05.residuals",
    predict.choice("Which gradient is larger at the input of 24 layers?", "with residuals", "without"),
    predict.choice("By what factor?", "less than 3", "3 to 30", "more than 30"),
)

# %% role="demo"
def gradient_at_input(depth, residual):
    torch.manual_seed(0)
    x = torch.randn(1, 10, 32, requires_grad=True)
    y = x
    for _ in range(depth):
        layer = EncoderLayer(32, 4, 64)
        if residual:
            y = layer(y)
        else:
            y = layer.norm2(layer.ff(layer.norm1(layer.self_attn(y, y, y)[0])))
    (y * torch.randn_like(y)).sum().backward()
    return x.grad.norm().item()


guess = predicted("05.residuals")
try:
    depths = [1, 2, 4, 8, 12, 16, 24]
    fig, ax = plt.subplots(figsize=(6, 3))
    for residual, label in ((True, "with residuals"), (False, "without")):
        ax.semilogy(depths, [gradient_at_input(depth, residual) for depth in depths], "o-", label=label)
    ax.set(xlabel="layers", ylabel="gradient at the input"), ax.legend()
    plt.show()
    ratio = gradient_at_input(24, True) / gradient_at_input(24, False)
    guess.compare("with residuals" if ratio > 1 else "without", "less than 3" if ratio < 3 else "3 to 30" if ratio < 30 else "more than 30")
except NotImplementedError:
    plt.close("all")
    print("Build FeedForward and EncoderLayer first.")

# %% [markdown]
# *Figure: two curves over the depth of the stack, gradient size on a logarithmic axis. With residuals the curve stays
# nearly level; without them it falls a hundredfold.*
#
# ## 3 · A decoder layer: self-attention, cross-attention, feed-forward
#
# $$\begin{aligned}
# x &\leftarrow \mathrm{LN}_1(x + \mathrm{SelfAttention}(x;\ \text{self\_mask}))\\
# x &\leftarrow \mathrm{LN}_2(x + \mathrm{CrossAttention}(\text{queries } x,\ \text{keys and values } memory;\ \text{memory\_mask}))\\
# x &\leftarrow \mathrm{LN}_3(x + \mathrm{FFN}(x))
# \end{aligned}$$
#
# The **queries** come from the decoder, which looks something up; the **keys and values** come from the memory, in which
# it looks: in code, the arguments are [`x, memory, memory`](#show:code=cross_attn). So cross-attention has weights `[B,H,T,S]`: one row per target word, one column per source word.
# Each mask belongs to one attention: `self_mask` hides the future, `memory_mask` hides the source's padding.
#
# **Predict, then run.** Target length 5, source length 9, 4 heads, batch 2. What shape do the weights of the cross-attention have?

# %% role="predict"
predict("05.cross-attention", predict.shape("What shape do the weights of the cross-attention have?"))

# %% role="exercise" exercise="transformer.decoder_layer"

# %% role="demo"
guess = predicted("05.cross-attention")
try:
    layer = DecoderLayer(32, 4, 64)
    x, memory = torch.randn(2, 5, 32), torch.randn(2, 9, 32)
    _, weights = layer.cross_attn(x, memory, memory)
    print("cross-attention weights:", tuple(weights.shape), " output:", tuple(layer(x, memory, causal_mask(5)).shape))
    guess.compare(weights.shape)
except NotImplementedError:
    print("Build DecoderLayer first.")

# %% [markdown]
# ## 4 · What the decoder is fed: shift right
#
# To learn, the decoder gets the *right* translation as input (teacher forcing) and has to predict it. If position `t`
# were fed word `t`, its input would be the answer, and the model would learn to copy. So the target moves **one
# place to the right**, in a tensor of its own (`ids` are still the labels), and a start symbol takes the free place:
#
# | position | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | the decoder reads | `<s>` | le | chat | dort |
# | it has to predict | le | chat | dort | `</s>` |
#
# Together with the causal mask this is all that is needed: position `t` knows words `0 … t-1` and predicts word `t`.
# [Position 2](#show:in=table&cols=2) has read `<s>`, le and chat, and has to predict dort.
#
# **Why training is parallel and decoding is not.** In training all words of the target are known, so *all* rows of this table are computed in one forward
# pass; the causal mask hides from each row the words that it has to predict. A recurrent network cannot do that: its state at `t` needs its state at `t-1`.
# When decoding, row 2 needs the word that row 1 has produced, and that word does not exist before row 1 is done. So at test time the transformer, too, takes
# one step after the other (unit 07).

# %% role="exercise" exercise="transformer.shift_right"

# %% role="demo"
try:
    target = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])  # 2 = </s>, 0 = padding
    print("predict:", target.tolist())
    print("read:   ", shift_right(target, start_id=1).tolist())
except NotImplementedError:
    print("Build shift_right first.")

# %% [markdown]
# ## 5 · The whole model
#
# $$x_0 = \sqrt{d_{model}}\;\mathrm{Embedding}(ids) + \mathrm{Positions}$$
#
# **Why times √d?** The paper gives no reason. Its published code, tensor2tensor, initialises the embeddings with variance $1/d$ (the same matrix also
# produces the logits), while sines and cosines have a size near one. Without the factor, the positions would be far larger than the embeddings. **Why
# positions at all?** Attention does not know order: shuffle the source words and the encoder's outputs are shuffled in the same way. `sinusoidal_positions`
# is unit 04's; here it is given.
#
# **Predict, then run.** d = 512. What is, on average, the norm of an embedding of variance 1/d, of a position vector, and of the embedding after scaling?

# %% role="predict"
predict(
    "05.lengths",
    predict.number("What is the norm of an embedding of variance 1/d?", within=0.3),
    predict.number("Of a position vector?", within=2),
    predict.number("Of the embedding after scaling?", within=3),
)

# %% role="demo"
guess = predicted("05.lengths")
d = 512
embedding = torch.randn(100, d) / math.sqrt(d)
for name, rows in {"embedding": embedding, "position": sinusoidal_positions(100, d), "scaled": embedding * math.sqrt(d)}.items():
    print(f"{name:10} {rows.norm(dim=-1).mean().item():6.2f}")
guess.compare(*(rows.norm(dim=-1).mean() for rows in (embedding, sinusoidal_positions(100, d), embedding * math.sqrt(d))))

# %% [markdown]
# **Exercise.** Put it together. The masks are built inside, from the ids: the encoder's self-attention and the decoder's cross-attention hide the source's
# padding, the decoder's self-attention uses `decoder_mask`. `encode` and `decode` are methods of their own, because at test time one encodes once and decodes
# many times. The extra method `embed` is a convenience; you may do without it. The check trains your model for a few steps, too: from its own weights, and from
# those that your model starts with.

# %% role="exercise" exercise="transformer.seq2seq"

# %% [markdown]
# **Predict, then run: which input moves which logit?** We change one target input word and look at which logits move; then one source word. Draw the two
# patterns before you run the cell.

# %% role="predict"
predict(
    "05.who-moves-whom",
    predict.mask("A target input word is changed (row): which logits move (column)?", 6, 6),
    predict.mask("A source word is changed: which logits move?", 6, 6),
)

# %% role="demo"
from tfkit_lab import show

guess = predicted("05.who-moves-whom")
try:
    torch.manual_seed(0)
    model = Seq2SeqTransformer(20, 20, d_model=32, n_heads=4, d_ff=64, n_layers=2, pad_id=0).double()
    src, tgt_in = torch.randint(3, 20, (1, 6)), torch.randint(3, 20, (1, 6))
    before = model(src, tgt_in)
    maps = torch.zeros(2, 6, 6)
    for i in range(6):
        other_src, other_tgt = src.clone(), tgt_in.clone()
        other_src[0, i], other_tgt[0, i] = 1, 1
        for n, after in enumerate((model(src, other_tgt), model(other_src, tgt_in))):
            maps[n, i] = ((after - before).abs().sum(-1) > 1e-12)[0].float()
    moved = {"change a target input": maps[0] > 0, "change a source word": maps[1] > 0}
    display(show.matrices(moved, title="Which input moves which logit?", axes=("word changed", "logit that moves")))
    guess.compare(maps[0], maps[1])
except NotImplementedError:
    print("Build Seq2SeqTransformer first.")

# %% [markdown]
# *Figure: two maps, changed word by moved logit. For target inputs only [the triangle on and right of the diagonal](#show:map=0&part=self,future) is filled: a change moves its own and later
# positions only. For source words [the whole square](#show:map=1) is filled.*
#
# **Walk through one step.** From the ids to the likeliest next word, stage by stage, with the numbers that your own code computes. The arrow keys step through
# the stages; layer and head can be chosen; point at a number to see which product it comes from. The weights are still random: after the training below you
# will walk through it again.

# %% role="demo"
try:
    source, written = "the cat sat down".split(), "<s> le chat".split()
    ids, target_ids = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[1, 9, 10]])
    with torch.no_grad():
        walk = show.walk(model.float(), ids, target_ids, tokens=written, keys=source, token=lambda i: f"word {i}", title="Your model, untrained")
    display(walk)
except (NotImplementedError, NameError):
    print("Build Seq2SeqTransformer first.")

# %% [markdown]
# *Figure: the stages of one forward pass in a row, from the text to the drawn token; below them the chosen stage's matrices, with a word at each row and
# column and their numbers in the cells.*
#
# ## Training it: two tricks of 2017
#
# **Label smoothing.** The loss does not ask for probability 1 on the right word but for 0.9, and spreads the rest over the others. A
# model that must never be quite certain keeps its logits small and generalises better; perplexity gets worse, BLEU better.
#
# **Warm-up.** $rate = d_{model}^{-0.5} \cdot \min(step^{-0.5},\ step \cdot warmup^{-1.5})$. In a fresh post-norm stack the gradients of the upper layers are
# large, and Adam's running means are not reliable yet: the full rate from the start would move the weights too far. So the rate rises linearly for `warmup`
# steps, then falls.

# %% role="demo"
from tfkit.train import noam_rate

fig, ax = plt.subplots(figsize=(6, 2.6))
for warmup in (200, 800):
    ax.plot([noam_rate(step, 128, warmup) for step in range(1, 2001)], label=f"warm-up {warmup}")
ax.set(xlabel="step", ylabel="learning rate"), ax.legend()
plt.show()

# %% [markdown]
# *Figure: the learning rate over 2,000 steps for warm-ups of 200 and 800: a straight rise to a peak, then a slow fall; the longer
# warm-up peaks later and lower.*
#
# ## The experiment: English → French
#
# The data are real: strings from user interfaces, in English and in French. The small set, about 2,000 pairs from JupyterLab, comes with the course: it is
# enough for words, not for sentences. The larger one is VS Code's, 9,000 pairs (MIT licence), and has to be fetched once, in a terminal: `tfkit get vscode-fr`.
# With it your model writes short sentences that make sense; long ones often do not. For German or Spanish, fetch `vscode-de` or `vscode-es` in the
# same way, and write `LANGUAGE = "de"` or `"es"` below.
#
# The data contain a **trap**: "Save file" and "Save all files" are near-duplicates, and a random split would put one in training and the other in the test. So
# near-duplicates are gathered in clusters, and whole clusters are held out. Test sentences that resemble nothing in training are called *far*.
#
# The baseline is a **translation memory**: find the most similar training sentence and copy its translation. It learns nothing at all.

# %% role="experiment"
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from tfkit.data import TranslationMemory, parallel_corpus, score

LANGUAGE = "fr"  # or "de", "es": see above
corpus = parallel_corpus(LANGUAGE)  # VS Code's strings, or else another text that was fetched, or else the small set
LARGE = len(corpus.train) > 5000
print(f"{corpus.name}: {len(corpus.train)} to learn from, {len(corpus.test)} held out, of these far: {sum(p.is_dissimilar for p in corpus.test)}")
if not LARGE:
    print("This is the small set. `tfkit get vscode-fr` in a terminal (with npm, 0.6 MB) brings the larger one; then run this cell again.")

PAD, START, END, UNKNOWN = 0, 1, 2, 3
tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))  # pieces of words; unit 06 builds this by hand
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
tokenizer.decoder = decoders.Metaspace()
texts = [text for pair in corpus.train for text in (pair.source, pair.target)]
special = ["<pad>", "<s>", "</s>", "<unk>"]
VOCAB = 4000 if LARGE else 1500
tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCAB, special_tokens=special, show_progress=False))


def to_ids(sentences):
    rows = [torch.tensor([*tokenizer.encode(text).ids, END]) for text in sentences]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


print(tokenizer.encode(corpus.train[0].source).tokens, "→", tokenizer.encode(corpus.train[0].target).tokens)

# %% [markdown]
# Here is one training step in full: read the source, feed the shifted target, compare all predictions with the target at once. Read it before you run it: which
# line would you have to change for a recurrent decoder?
#
# `hide` keeps the model from learning sentences by heart: it replaces about one piece in ten by the unknown one, so that no sentence comes twice in the same
# form.

# %% role="experiment"
from tfkit.train import quick_bfloat16


def hide(ids, share=0.1):
    return ids.masked_fill((torch.rand(ids.shape) < share) & (ids > UNKNOWN), UNKNOWN)


def training_step(model, batch, optimizer, rate):
    for group in optimizer.param_groups:
        group["lr"] = rate
    with torch.autocast("cpu", torch.bfloat16, enabled=quick_bfloat16()):  # twice as fast where the processor has it
        logits = model(hide(batch.src), hide(shift_right(batch.tgt, START))).float()
    loss = F.cross_entropy(logits.flatten(0, 1), batch.tgt.flatten(), ignore_index=PAD, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

# %% [markdown]
# The loop around it goes through the sentences in batches of similar length. The weights that are kept are not the last ones but the mean of those from the
# last part of the training, as in the paper, which averaged its last checkpoints. The limit is in minutes of *processor* time, so that a machine that does other
# work at the same time makes you wait longer, but leaves the model about as good.

# %% role="experiment"
import time

from torch.optim.swa_utils import AveragedModel

from tfkit.train import PairBatches, noam_rate


def train(model, pairs, epochs, minutes, tokens, warmup=300):
    rows = [tuple([*tokenizer.encode(text).ids, END] for text in (pair.source, pair.target)) for pair in pairs]
    batches = PairBatches(rows, tokens=tokens, pad_id=PAD)  # sentences of like length together: little padding
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    losses, start, mean = [], time.thread_time(), AveragedModel(model)
    for epoch in range(epochs):
        for batch in batches(torch.Generator().manual_seed(epoch)):
            losses.append(training_step(model, batch, optimizer, noam_rate(len(losses) + 1, D_MODEL, warmup)))
            spent = (time.thread_time() - start) / 60
            if max(epoch / epochs, spent / minutes) > 0.6:
                mean.update_parameters(model)
        print(f"\repoch {epoch + 1}/{epochs}, loss {sum(losses[-20:]) / len(losses[-20:]):.2f}, {spent:.1f} processor minutes", end="", flush=True)
        if spent > minutes:
            break
    print()
    if mean.n_averaged:
        model.load_state_dict(mean.module.state_dict())
    return losses


# %% [markdown]
# English and French share their pieces, and so, as in the paper, one embedding table is used three times: for the source, for the target, and, transposed, for
# the logits. It has a third of the parameters of three tables, and learns from all three uses.
#
# The first hundred steps look like failure: the loss stays near 7, as if the model predicted every piece by its frequency alone. Then it falls. What was
# trained is kept in the folder `my-translator`, beside the units' folders and not in this one, so that it is not handed in: the next time it is read from
# there. `safetensors` holds numbers and names and nothing else; unlike a pickle it cannot run code when somebody opens it.

# %% role="experiment"
import json
from pathlib import Path

from safetensors.torch import load_file, save_file

EPOCHS, TOKENS = (30, 2000) if LARGE else (20, 1200)
MINUTES, AGAIN = 6, False  # AGAIN = True: train although one is kept
D_MODEL, folder = 128, Path("..") / "my-translator"
torch.manual_seed(0)
try:
    sizes = {"src_vocab": VOCAB, "tgt_vocab": VOCAB, "d_model": D_MODEL, "n_heads": 4, "d_ff": 256, "n_layers": 2, "pad_id": PAD}
    translator = Seq2SeqTransformer(**sizes)
    config = {**sizes, "corpus": corpus.name}
    nn.init.normal_(translator.src_embed.weight, std=D_MODEL**-0.5)  # small, as in the paper's code: hence the factor √d
    translator.tgt_embed.weight = translator.out_proj.weight = translator.src_embed.weight
    if not AGAIN and (folder / "config.json").exists() and json.loads((folder / "config.json").read_text()) == config:
        translator.load_state_dict(load_file(folder / "model.safetensors"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        print("read from", folder.name)
    else:
        losses = train(translator, corpus.train, EPOCHS, MINUTES, TOKENS)
        folder.mkdir(exist_ok=True)
        save_file({name: tensor.clone() for name, tensor in translator.state_dict().items()}, folder / "model.safetensors")
        tokenizer.save(str(folder / "tokenizer.json"))
        (folder / "config.json").write_text(json.dumps(config))
except NotImplementedError:
    translator = None
    print("Build all five parts first, then train here.")

# %% [markdown]
# **The test.** The model translates the held-out sentences piece by piece, always taking the most likely one (you build that function in unit 07;
# here it is the library's). Beside it stands the translation memory. BLEU counts matching word sequences, chrF matching character sequences; look at *far* in
# particular, where there is nothing to copy.

# %% role="experiment"
from tfkit.decode import greedy_decode


@torch.no_grad()
def translate(model, sentences, longest=50):
    model.eval()
    found, order = {}, sorted(sentences, key=len)  # like lengths together
    for some in (order[at : at + 64] for at in range(0, len(order), 64)):
        src = to_ids(some)
        memory = model.encode(src)  # once for the whole sentence
        start = torch.full((len(some),), START)
        ids = greedy_decode(lambda prefix: model.decode(prefix, memory, src)[:, -1], start, END, longest, PAD)
        found |= zip(some, [tokenizer.decode(row) for row in ids.tolist()])  # special symbols are left out
    return [found[text] for text in sentences]


if translator is not None:
    asked = corpus.test[:400]
    english = [pair.source for pair in asked]
    written = translate(translator, english)
    print("your model         ", score(written, asked))
    print("translation memory ", score(TranslationMemory(corpus.train)(english), asked))
    short = [(pair, text) for pair, text in zip(asked, written) if 3 <= len(pair.source.split()) <= 5]
    far = [(pair, text) for pair, text in zip(asked, written) if pair.is_dissimilar]
    for title, some in (("Short sentences", short[:: len(short) // 10 + 1]), ("Sentences of any length, far from all others", far[::40])):
        print(f"\n{title}:")
        for pair, text in some:
            print(f"\n{pair.source}\n  yours:     {text}\n  reference: {pair.target}")

# %% [markdown]
# In another run with the larger set, two and a half minutes of one processor core gave BLEU 20.6 and chrF 48.1 on these 400 sentences, and on the far ones 15.9 and 43.8; the
# translation memory has 13.5 and 37.6, and on far ones 8.7 and 32.8. With the last weights instead of the mean, BLEU was 16.4: the translations repeat words and do not stop.
# Sentences of up to twelve words had BLEU 24, longer ones 15: they begin well, but half of the long ones repeat a pair of words. With the small set, the two are
# about level: the model has too little to learn from, as every line shows.
#
# **Does it look where we would look?** Below is the cross-attention of the last layer for one held-out sentence: the mean over the heads, then each head.

# %% role="experiment"
if translator is not None:
    sentence = next(pair.source for pair in corpus.test if pair.is_dissimilar and 4 <= len(pair.source.split()) <= 6)
    src, tgt = to_ids([sentence]), to_ids([translate(translator, [sentence])[0]])
    seen = {}
    hook = translator.decoder[-1].cross_attn.register_forward_hook(lambda m, i, o: seen.update(weights=o[1]))
    with torch.no_grad():
        translator(src, shift_right(tgt, START))
    hook.remove()
    french, english = ([tokenizer.id_to_token(i) for i in row.tolist()] for row in (tgt[0], src[0]))
    weights = {"mean of the heads": seen["weights"][0].mean(0)} | {f"head {h}": head for h, head in enumerate(seen["weights"][0])}
    display(show.matrices(weights, french, english, sentence, ("translation", "English")))

# %% [markdown]
# *Figure: maps with the French pieces written so far as rows and the English pieces as columns; strong cells show where each French piece
# looks. After so short a training the mean is only roughly diagonal.*
#
# Here is the whole computation of the last piece, once more stage by stage: look at the cross-attention of the upper layer, and at the candidates among which
# the last stage chooses. Type an English sentence of your own into the field.

# %% role="experiment"
if translator is not None:
    def pieces(row):
        return [tokenizer.id_to_token(i) for i in row.tolist()]

    def walked(english):
        read, written = to_ids([english]), to_ids(translate(translator, [english]))
        given = shift_right(written, START)
        with torch.no_grad():
            return show.walk(translator, read, given, tokens=pieces(given[0]), keys=pieces(read[0]), token=tokenizer.id_to_token, title=english)

    display(show.walk_over(walked, sentence))

# %% [markdown]
# *Figure: the same stages, of the trained model, with English and French pieces at the rows and columns of the matrices.*
#
# Unit 07 decodes with this model.

# %% [markdown]
# ## From your code to real models
#
# Marian is the transformer of 2017 as it is used for translation: the Opus-MT project has published one for each of more than a thousand pairs of languages.
# Its layers have the same parts with the same names as yours, so your layers can take its weights as they are. (The published ones have SiLU in place of ReLU;
# the small random one below has ReLU.)
#
# **Predict.** Each tensor of a layer goes to the tensor of yours that has the same name. How many tensors does an encoder layer have, how many does a decoder
# layer have? And which masks do the layers need?

# %% role="predict"
predict(
    "05.tensors",
    predict.number("How many tensors does an encoder layer have?"),
    predict.number("And a decoder layer?"),
    predict.choice("Which masks does a decoder layer need?", "the future, in its self-attention", "the source's padding, in its cross-attention", "the source's padding, in its self-attention", several=True),
)

# %% role="demo"
import tfkit

guess = predicted("05.tensors")
torch.manual_seed(0)
marian = tfkit.from_config("marian", vocab_size=50, d_model=16, n_heads=2, n_decoder_heads=2, n_layers=2, n_decoder_layers=2,
                           d_ff=32, d_decoder_ff=32, activation="relu", pad_token_id=0).eval()  # fmt: skip
for parameter in marian.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
source, written = torch.randint(3, 49, (2, 7)), torch.randint(3, 49, (2, 5))
source[1, 5:] = 0  # padding
try:
    with torch.no_grad(), tfkit.trace(marian) as seen:
        right = marian(input_ids=source, attention_mask=(source != 0).long(), decoder_input_ids=written).last_hidden_state
        x, y = seen.all("drop.out")  # words and positions, as they enter the two stacks
        for published in marian.encoder:
            yours = EncoderLayer(16, 2, 32)
            print("encoder layer:", yours.load_state_dict(published.state_dict()), len(published.state_dict()), "tensors")
            x = yours(x, padding_mask(source, 0))
        for published in marian.decoder:
            yours = DecoderLayer(16, 2, 32)
            print("decoder layer:", yours.load_state_dict(published.state_dict()), len(published.state_dict()), "tensors")
            y = yours(y, x, causal_mask(5), padding_mask(source, 0))
    print(f"largest state {right.abs().max():.1f}; yours and Marian's are {(y - right).abs().max():.0e} apart")
    guess.compare(len(marian.encoder[0].state_dict()), len(marian.decoder[0].state_dict()),
                  ["the future, in its self-attention", "the source's padding, in its cross-attention"])
except NotImplementedError:
    print("Build FeedForward, EncoderLayer and DecoderLayer first.")

# %% [markdown]
# Four layers of yours, with Marian's weights, give Marian's numbers. Little is left outside them: embeddings, positions, and the output projection. For GPT-2
# and T5 matching names would not be enough, since they normalise before each sublayer.
#
# ## Meet a real model
#
# all-MiniLM-L6-v2 is a trained BERT of six layers (`tfkit get all-MiniLM-L6-v2` in a terminal, 83 MB), and BERT's layer is the encoder layer of 2017, with GELU in place of ReLU. So its weights fit into yours.
#
# **Before you run it:** each layer keeps what it had and adds what it found. How much of a word's vector is left after six?

# %% role="experiment"
def as_my_layer(bert_layer):
    """Your layer with the weights of one of BERT's."""
    yours = EncoderLayer(384, 12, 1536)
    yours.ff = FeedForward(384, 1536, activation=F.gelu)
    yours.norm1.eps = yours.norm2.eps = 1e-12
    yours.load_state_dict({name.replace("attn.", "self_attn."): tensor for name, tensor in bert_layer.state_dict().items()})
    return yours.eval()


try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    ids = torch.tensor(real.tokenizer.encode(["The bank by the river was steep, the bank in town was closed."], specials=True))
    with torch.no_grad(), tfkit.trace(real.model, ["embed.out"]) as t:
        right = real.model(ids).last_hidden_state
        states = [t["embed.out"]]
        for bert_layer in real.model.layers:
            states.append(as_my_layer(bert_layer)(states[-1]))
    print(f"six layers of yours: {(states[-1] - right).abs().max():.0e} from MiniLM's own numbers")
    fig, ax = plt.subplots(figsize=(6, 2.6))
    ax.plot([F.cosine_similarity(state, states[0], dim=-1).mean() for state in states], "o-", label="to the embedding")
    pieces = real.tokenizer.decode([[piece] for piece in ids[0].tolist()])
    one, two = (place for place, piece in enumerate(pieces) if piece == "bank")
    ax.plot([F.cosine_similarity(state[0, one], state[0, two], dim=0) for state in states], "o-", label="of the two banks")
    ax.set(xlabel="layers", ylabel="cosine", ylim=(0, 1.03)), ax.legend(), plt.show()
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build FeedForward and EncoderLayer first.")

# %% [markdown]
# *Figure: two curves over the layers. The similarity to the embedding falls in nearly equal steps from 1 to 0.4. That of the two banks to each other stays
# above 0.9 all the way.*
#
# Because of the residuals the vectors change slowly: no layer replaces what the layers before it computed. And the two banks do not move apart, as they do in
# models that have to predict words: this one was trained to give the whole sentence one meaning.
#
#
# ## Find the fault
#
# Below is a whole transformer with one fault. It was given weights, and so was the published model, and both read the
# same sentences: the symptom says up to which layer they agree, and how far apart they are then. That is how one looks for
# a fault in a large model: compare with a model that is right, layer by layer, and read only the code of the first layer
# that differs, and how it is called. Name the lines that you suspect, write a test that needs no published model, and
# repair the code. Then the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="page.transformer" seed=1
def test_padding_is_not_read(page):
    torch.manual_seed(0)
    model = page.MODEL(page.Config(vocab_size=20, d_model=16, n_layers=2, n_heads=2, d_ff=32)).eval()
    source, mask, target = torch.tensor([[3, 4, 5, 0]]), torch.tensor([[1, 1, 1, 0]]), torch.tensor([[1, 6, 7]])
    before = model(source, mask, target)
    source[0, 3] = 9
    assert torch.allclose(before, model(source, mask, target)), "another token in the padding changes the output"

# %% [markdown]
# ## Pitfalls
#
# - **Fresh norms hide mistakes.** Every `LayerNorm` starts as ones and zeros, so a shared or swapped norm shows only after training.
# - **A forgotten causal mask looks like success.** The training loss falls wonderfully, and the translations are useless.
# - **A forgotten source mask** makes a translation depend on the batch the sentence happens to be in.
# - **Probabilities instead of logits** go through softmax twice: nothing crashes, the gradient just nearly vanishes.
# - **A random split of near-duplicates** measures memory, not translation. Always put a baseline beside your number.
#
# ## What real models changed
#
# | part | here, 2017 | later |
# |---|---|---|
# | norm | after the addition | before it (GPT-2, T5, mBART); T5 and LLaMA drop mean and offset (RMSNorm) |
# | activation | ReLU | GELU (BERT, GPT), gated ones (T5 1.1, LLaMA) |
# | positions | sines, added once | learned (BERT, GPT-2), relative biases (T5), rotary (GPT-J) |
# | embeddings | three tables here | one shared table in the paper, BART, T5 |
# | shape | encoder and decoder | encoder only (BERT), decoder only (GPT) |

# %% [markdown]
# ## Put it into your model
#
# Your encoder layer under a causal mask is the block of a decoder-only model. Two of them take the place of the single attention.

# %% role="experiment"
from course import my_model

my_model.add_unit("05-transformer")

# %% [markdown] role="task" task="one-pass" points=2
# ## In your own words
#
# In training the decoder works on a target of 20 words in a single pass; when it translates, it needs about 20. Why can it not
# do there what it does here? And which two parts of the model keep every position from seeing the word it has to predict?
#
# ### BEGIN MARK SCHEME
# - 1 point: in training the right words are known in advance; when translating each word depends on those chosen before it.
# - 1 point: the shift (position i is given the words before i) and the causal mask (and sees nothing later). Both are
#   needed: without the shift the answer is in its own column, without the mask in the next.
# - Related: `transformer.shift_right/not_shifted`, `transformer.seq2seq/causal_mask_missing`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762): sections 3 and 5 are what you have just built.
# - Rush, [The Annotated Transformer](https://nlp.seas.harvard.edu/annotated-transformer/): the paper, line by line in PyTorch.
# - Xiong et al. 2020, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): why post-norm needs warm-up.
# - He et al. 2016, [Deep Residual Learning](https://arxiv.org/abs/1512.03385): where the residual comes from.
