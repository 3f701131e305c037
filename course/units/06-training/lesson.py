# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 06 · Training
#
# **The question.** In unit 05 your transformer learned to translate. Five things around it were taken on trust: a loss that asks for
# less than certainty, a learning rate that starts at almost nothing, an optimizer, the loop that calls it, and a vocabulary of *pieces* of words. Would it have learned without them?
#
# You build all five, each in some twenty lines. At the end you train a model with and without the first two: without one of them it
# learns next to *nothing*.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

# %% [markdown]
# ## The idea
#
# Four choices outside the model decide how it is trained, and are easy to overlook:
#
# 1. **the target**: what we ask for. Not probability 1 on the right token, but a little less, so that its logits need not grow forever;
# 2. **the rate**: how far each step goes. Almost nowhere at first, then far, then less and less far;
# 3. **the step**: which way. Not along the gradient, but along its mean over the last steps, with each parameter measured against its own gradients;
# 4. **the vocabulary**: what a token is. Neither a character (sentences get too long) nor a word of the language (there are too many, and a new one every day).

# %% role="demo"
import matplotlib.pyplot as plt

from tfkit_lab import show

fig, axes = plt.subplots(1, 3, figsize=(9, 2.6))
axes[0].bar([x - 0.2 for x in range(5)], [0, 0, 1, 0, 0], 0.4, color="#bbbbbb", label="hard")
axes[0].bar([x + 0.2 for x in range(5)], [0.05, 0.05, 0.8, 0.05, 0.05], 0.4, color="#2a6fb0", label="smoothed")
axes[0].set(title="the target", xlabel="token"), axes[0].legend(fontsize=8)
axes[1].plot([0, 100, *range(120, 801, 20)], [0, 1, *[(100 / s) ** 0.5 for s in range(120, 801, 20)]], color="#2a6fb0")
axes[1].set(title="the rate", xlabel="step", yticks=[])
for row, (name, pieces) in enumerate({"characters": "lowest", "pieces": ["low", "est"], "words": ["lowest"]}.items()):
    left = 0
    for piece in pieces:
        axes[2].barh(row, len(piece) - 0.15, left=left, color="#cfe3f5")
        axes[2].text(left + len(piece) / 2 - 0.08, row, piece, ha="center", va="center", color="black")
        left += len(piece)
axes[2].set(title="the vocabulary", xticks=[], yticks=range(3), yticklabels=["characters", "pieces", "words"], ylim=(2.6, -0.6))
plt.tight_layout()
plt.show()

# %% [markdown]
# *Figure: three panels. Left, the target over five tokens: a grey bar of height 1 on the right token, and beside it blue bars, 0.8 on the right token and 0.05 on each other one.
# Middle, the learning rate over the steps: a straight rise, a peak, a slow fall. Right, the word "lowest" cut into six letters, into "low" and "est", and left whole.*
#
# ## 1 · The target: label smoothing
#
# Cross-entropy with a hard target is $-\log P(\text{right token})$. It never reaches its minimum: from 0.99 to 0.999 there is still something to gain, and
# the only way to gain it is to drive the logits apart, forever. Label smoothing (Szegedy et al. 2016) asks for a distribution $q$ that can be *reached*:
#
# $$L = -\sum_{w=1}^{V} q(w) \log p(w), \qquad q(w) = \begin{cases} 1-\varepsilon & \text{the right token}\\ \dfrac{\varepsilon}{V-1} & \text{every other token}\end{cases}$$
#
# In the code $\varepsilon$ is `smoothing`, $\log p$ comes from `logits [B,T,V]`, the right tokens are `targets [B,T]`. Two things to mind:
#
# - **Padding.** Where `targets` is `pad_id` there is nothing to predict: those positions count neither in the sum nor in the number it is divided by.
# - **Who gets a share.** Here the $V-1$ *other* tokens do (the padding's column is one of them). torch's `label_smoothing` spreads over all $V$, so its right
#   token ends up with $1-\varepsilon+\varepsilon/V$.
#
# **Predict, then run.** `logits` is `[2, 7, 1000]`. What are the shapes of `log_p`, of the loss of each position, and of the result? And with all logits 0, what is
# the loss for $\varepsilon = 0$ and for $\varepsilon = 0.1$?

# %% role="predict"
predict(
    "06.smoothing",
    predict.shape("What is the shape of log_p?"),
    predict.shape("Of the loss of each position?"),
    predict.shape("Of the result?"),
    predict.number("All logits are 0: the loss for ε = 0", within=0.1),
    predict.number("And for ε = 0.1", within=0.1),
)

# %% role="exercise" exercise="training.label_smoothing"

# %% role="demo"
guess = predicted("06.smoothing")
try:
    logits, targets = torch.zeros(2, 7, 1000), torch.randint(1, 1000, (2, 7))
    for smoothing in (0.0, 0.1):
        print(f"smoothing {smoothing}: {label_smoothed_loss(logits, targets, smoothing, pad_id=0).item():.4f}", f"  log 1000 = {math.log(1000):.4f}")
    guess.compare(logits.shape, targets.shape, label_smoothed_loss(logits, targets, 0.1, pad_id=0).shape,
                  *(label_smoothed_loss(logits, targets, smoothing, pad_id=0) for smoothing in (0.0, 0.1)))
except NotImplementedError:
    print("Build label_smoothed_loss first.")

# %% [markdown]
# Where nothing is known, smoothing changes nothing: a uniform distribution costs $\log V$ against *any* target.
#
# **What it does to confidence.** Take the smallest model possible: the logits of one position, trained directly. How far above the others will the right token's
# logit climb? The loss is smallest where $p = q$, so with smoothing the gap stops at
#
# $$\log \frac{1-\varepsilon}{\varepsilon/(V-1)}$$
#
# **Predict, then run.** For $V = 20$ and $\varepsilon = 0.1$ that is $\log 171 \approx 5.1$. And for $\varepsilon = 0$?

# %% role="predict"
predict("06.confidence", predict.choice("Where does the gap stop for ε = 0?", "at log 20", "near 10", "nowhere"))

# %% role="demo"
def gap_over_time(smoothing, steps=2000, vocab=20):
    logits, gaps = torch.zeros(1, 1, vocab, requires_grad=True), []
    for _ in range(steps):
        (slope,) = torch.autograd.grad(label_smoothed_loss(logits, torch.tensor([[3]]), smoothing, pad_id=0), logits)
        logits = (logits - 2 * slope).detach().requires_grad_()
        gaps.append((logits[0, 0, 3] - logits[0, 0, 4]).item())
    return gaps


guess = predicted("06.confidence")
try:
    fig, ax = plt.subplots(figsize=(6.5, 2.8))
    for smoothing, colour in ((0.0, "#c03030"), (0.01, "#3a8a4d"), (0.1, "#2a6fb0")):
        ax.plot(gap_over_time(smoothing), color=colour, label=f"smoothing {smoothing}")
        if smoothing:
            ax.axhline(math.log((1 - smoothing) * 19 / smoothing), color=colour, ls="--", lw=0.8)
    ax.set(xlabel="step", ylabel="right logit above the others"), ax.legend(fontsize=8)
    plt.show()
    guess.compare("nowhere" if gap_over_time(0.0)[-1] > gap_over_time(0.0)[1000] + 0.1 else "near 10")
except NotImplementedError:
    plt.close("all")
    print("Build label_smoothed_loss first.")

# %% [markdown]
# *Figure: the gap between the right token's logit and the others over 2,000 steps. With smoothing 0.1 and 0.01 the curves level off at a dashed line; without smoothing the curve goes on rising.*
#
# Since the gradient vanishes at a finite gap, tokens that the model already predicts well no longer contribute to it, and those that it does *not* predict
# well yet have more influence. The price is a worse perplexity (the model is told to be unsure), while accuracy and BLEU get better. That is what Vaswani et
# al. report, in one sentence.
#
# ## 2 · The rate: warm-up, then decay
#
# **Why not start at full speed?** Three reasons, and they add up:
#
# - **Adam's running means are not reliable yet.** It divides the mean of the gradients by the root of the mean of their squares. After *one* step those two
#   are the same number, up to the sign: every parameter moves by the full rate, whether its gradient was huge or just noise.
# - **Post-norm.** In a fresh stack whose norms come after the residual, the last layers' gradients are large and the first layers' are small (Xiong et al. 2020).
# - **Too large a step cannot be undone.** Weights that were moved too far saturate the softmax of attention; there the gradient is near zero, and training does not recover.
#
# **Predict, then run.** Take two parameters with gradients 1000 and 0.001. How far does the first step of Adam move them, at rate 0.01? And plain gradient descent?

# %% role="predict"
predict(
    "06.first-step",
    predict.numbers("How far does the first step of Adam move the two, at rate 0.01? (without the sign)", 2, within=0.001),
    predict.numbers("How far does plain gradient descent?", 2, within=0.001),
)

# %% role="demo"
guess = predicted("06.first-step")
moves = []
for optimizer_class in (torch.optim.Adam, torch.optim.SGD):
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([1000.0, 0.001])
    optimizer_class([parameter], lr=0.01).step()
    moves.append(parameter.abs())
    print(f"{optimizer_class.__name__:5}", parameter.tolist())
guess.compare(*moves)

# %% [markdown]
# So the rate itself starts near zero, and rises in a straight line until the running means are reliable. Then it falls, slowly, because long steps near a minimum
# overshoot it (Vaswani et al. 2017, section 5.3; the schedule is called "Noam" after one of the authors):
#
# $$rate = d_{model}^{-0.5} \cdot \min\left(step^{-0.5},\ step \cdot warmup^{-1.5}\right)$$
#
# `step` counts from 1. Of the two expressions, one rises and one falls, and the smaller one counts: at first the rising one, after they have crossed the falling
# one.
#
# **Predict, then run.** At which step do they cross, and how high is the peak for $d_{model} = 512$ and $warmup = 4000$? What is left of it at step 16,000?

# %% role="predict"
predict(
    "06.noam",
    predict.number("At which step do the two lines cross, for a warm-up of 4000?"),
    predict.number("How high is the peak?", within=0.0001),
    predict.number("What share of it is left at step 16,000?", within=0.03),
)

# %% role="exercise" exercise="training.noam"

# %% role="demo"
guess = predicted("06.noam")
try:
    print("peak:", noam_rate(4000, 512, 4000), " at 16,000:", noam_rate(16000, 512, 4000))
    guess.compare(max(range(1, 16001), key=lambda step: noam_rate(step, 512, 4000)), noam_rate(4000, 512, 4000), noam_rate(16000, 512, 4000) / noam_rate(4000, 512, 4000))
    fig, ax = plt.subplots(figsize=(6.5, 2.6))
    for width, warmup in ((128, 100), (128, 400), (512, 400)):
        ax.plot([noam_rate(step, width, warmup) for step in range(1, 2001)], label=f"d_model {width}, warm-up {warmup}")
    ax.set(xlabel="step", ylabel="learning rate"), ax.legend(fontsize=8)
    plt.show()
except NotImplementedError:
    print("Build noam_rate first.")

# %% [markdown]
# *Figure: learning rates over 2,000 steps. Warm-up 100 rises steeply to a high peak, warm-up 400 has half its height and comes later, and after its peak both fall along the same curve; four times the width halves the whole curve.*
#
# ## 3 · The step: AdamW
#
# So far `optimizer.step()` was just a call. Here is what it does to each parameter tensor $\theta$ (`param`) with its gradient $g$ (`grad`). All tensors have one
# shape, and everything is done entry by entry:
#
# $$m' = \beta_1 m + (1-\beta_1)\, g \qquad v' = \beta_2 v + (1-\beta_2)\, g^2 \qquad \hat m = \frac{m'}{1-\beta_1^{step}} \qquad \hat v = \frac{v'}{1-\beta_2^{step}}$$
#
# $$\theta' = \theta - lr \left( \frac{\hat m}{\sqrt{\hat v} + \epsilon} + \lambda\, \theta \right)$$
#
# - $m$ and $v$, the **moments**, are running means of the gradient and of its square. Where gradients agree from step to step the fraction is near 1 or -1, where they only contradict each other it is near 0; how *large* they are cancels.
# - Both start at 0, so at first they are too close to 0: after $t$ steps the shares in the mean add up to only $1-\beta^t$. Dividing by that is the
#   **bias correction**. It is for this step's update alone; what is handed to the next step are $m'$ and $v'$ as they are.
# - $\lambda$ is `weight_decay`: each step shrinks every weight by a small share. It stands *outside* the fraction. That is the W in AdamW (Loshchilov and Hutter 2019): a penalty that is added to the gradient, as L2 regularisation is, would be divided by $\sqrt{\hat v}$ like everything else in there.
#
# **Predict, then run.** $\beta_1 = 0.9$, and the first gradient is 4. What is $m'$ after the first step, and what $\hat m$? How far does a parameter at 0 move for $lr = 0.1$?

# %% role="predict"
predict(
    "06.moments",
    predict.number("What is m after the first step?", within=0.001),
    predict.number("What is it corrected?", within=0.001),
    predict.number("How far does the parameter move? (without the sign)", within=0.001),
)

# %% role="exercise" exercise="training.adamw"

# %% role="demo"
guess = predicted("06.moments")
try:
    zero = torch.zeros(1)
    moved, m, v = adamw_step(zero, torch.tensor([4.0]), zero, zero, step=1, lr=0.1)
    print(f"m {m.item():.3f}, corrected {m.item() / (1 - 0.9):.3f}; the parameter moves by {moved.item():.3f}")
    guess.compare(m, m / (1 - 0.9), moved.abs())
    weight, other = (nn.Parameter(torch.tensor([1.0, -2.0, 0.5])) for _ in range(2))
    optimizer, (m, v) = torch.optim.AdamW([other], lr=0.05, weight_decay=0.1), torch.zeros(2, 3)
    for step in range(1, 101):
        (slope,) = torch.autograd.grad((weight**4 - weight).sum(), weight)
        updated, m, v = adamw_step(weight.detach(), slope, m, v, step, lr=0.05, weight_decay=0.1)
        weight.data = updated
        optimizer.zero_grad(), (other**4 - other).sum().backward(), optimizer.step()
    print("after 100 steps:", weight.tolist(), f" from torch's own: {(weight - other).abs().max().item():.0e}")
except NotImplementedError:
    print("Build adamw_step first.")

# %% [markdown]
# **Why the W?** Take two weights at 1 that the task does not need: their gradients are pure noise, with a standard deviation of 30 for one and of 0.3 for the other.
# Weight decay should bring both to 0.
#
# **Predict, then run.** We try both ways: $\lambda\theta$ outside the fraction, or added to the gradient. Which of the four weights stays near 1?

# %% role="predict"
predict(
    "06.decay",
    predict.mask("Which of the weights stays near 1?", ["outside the fraction", "in the gradient"], ["large gradients", "small gradients"]),
)

# %% role="demo"
def decayed(outside, strength=1.0, steps=1000):
    noise = torch.Generator().manual_seed(0)
    weight, m, v, path = torch.ones(2), torch.zeros(2), torch.zeros(2), []
    for step in range(1, steps + 1):
        slope = torch.randn(2, generator=noise) * torch.tensor([30.0, 0.3])
        slope = slope if outside else slope + strength * weight
        weight, m, v = adamw_step(weight, slope, m, v, step, lr=0.003, weight_decay=strength if outside else 0.0)
        path.append(weight.tolist())
    return path


guess = predicted("06.decay")
try:
    fig, axes = plt.subplots(1, 2, figsize=(8, 2.6), sharey=True)
    for ax, outside in zip(axes, (True, False)):
        for path, label in zip(zip(*decayed(outside)), ("large gradients", "small gradients")):
            ax.plot(path, label=label)
        ax.set(title="decay outside: AdamW" if outside else "decay in the gradient: L2", xlabel="step")
    axes[0].legend(fontsize=8), plt.tight_layout(), plt.show()
    guess.compare([[weight > 0.5 for weight in decayed(outside)[-1]] for outside in (True, False)])
except NotImplementedError:
    plt.close("all")
    print("Build adamw_step first.")

# %% [markdown]
# *Figure: two panels over 1,000 steps, two curves each, all from 1. Decay outside: both curves fall together and are near 0 at the end. Decay in the gradient: the weight with small gradients falls to 0
# somewhat sooner; the one with large gradients stays near 1.*
#
# In the gradient, the decay counts only in proportion to the noise: 1 against 30 is next to nothing. So the weights with the largest gradients decay least. Outside
# the fraction, every weight loses the same share.
#
# ## 4 · The loop
#
# Loss, rate and step have to meet. Until now a loop was given to you; from here on you have one of your own. For each step it does, in this order:
#
# 1. **Accumulate.** `loss.backward()` *adds* to the gradients that are there. So several small batches can make one step, as if they had been one large batch that
#    does not fit into memory: set the gradients to zero once, call `backward` for each batch of the step, and let the sum be a *mean* over these batches. The last
#    step may have fewer of them, and is divided by as many as it has.
# 2. **Clip.** If the global norm $\|g\|$, that of all gradients as one long vector, is above `max_norm`, all are multiplied by $max\_norm / \|g\|$. The direction
#    stays, and one odd batch cannot throw the weights far off.
# 3. **Set the rate** of this step, counted from 1, in all of the optimizer's groups of parameters (`optimizer.param_groups`, each a dict with `"lr"`), and **step**.
# 4. **Measure** on held-out batches after every `evaluate_every` steps and after the last one: in eval mode, without gradients, and then back to train mode. Keep a
#    *copy* of the weights with the lowest held-out loss. `model.state_dict()` refers to the parameters themselves, which the next step changes.
#
# `held_out_loss` does the measuring, `train_loop` the rest. `loss_of(model, batch)` is a function that gives the mean loss of one batch; all batches have one size.
# `model` may come to `train_loop` in eval mode; it is trained in train mode.
#
# **Predict, then run.** There are 10 batches of 8 rows, `accumulate=4`, and nothing is clipped. How many steps are taken? A second run has `accumulate=1` and the same rows
# in 3 large batches, of 32, 32 and 16. How far apart are the weights of the two runs at the end?

# %% role="predict"
predict(
    "06.accumulate",
    predict.number("How many steps do 10 batches make with accumulate=4?"),
    predict.choice("How far apart are the weights of the two runs?", "by rounding errors", "by about a hundredth", "four times as far from the start"),
)

# %% role="exercise" exercise="training.train_loop"

# %% role="demo"
guess = predicted("06.accumulate")


def squared_error(model, batch):
    return (model(batch[:, :3]) - batch[:, 3:]).square().mean()


try:
    torch.manual_seed(0)
    first, batches = nn.Linear(3, 1), list(torch.randn(10, 8, 4))
    ends, histories = [], []
    for parts, accumulate in ((batches, 4), ([torch.cat(batches[i:i + 4]) for i in (0, 4, 8)], 1)):
        model = nn.Linear(3, 1)
        model.load_state_dict(first.state_dict())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        history, best = train_loop(model, squared_error, parts, [batches[0]], optimizer, lambda step: 0.1, evaluate_every=1, accumulate=accumulate, max_norm=math.inf)
        ends.append(model.weight.detach()), histories.append(history)
    for step, loss in histories[0]:
        print(f"step {step}: held-out loss {loss:.4f}")
    gap = (ends[0] - ends[1]).abs().max().item()
    print(f"largest difference of the weights: {gap:.0e}")
    guess.compare(len(histories[0]), "by rounding errors" if gap < 1e-5 else "by about a hundredth")
except NotImplementedError:
    print("Build held_out_loss and train_loop first.")

# %% [markdown]
# The same weights, but for rounding: with accumulation memory no longer limits the size of a batch. What it costs is time. (With sentences of different lengths the
# mean of means is not the mean over all tokens; see the pitfalls.)
#
# ## 5 · The vocabulary: between characters and words
#
# | | vocabulary | sentences | a word never seen |
# |---|---|---|---|
# | characters | about 100 | long, at a quadratic cost in attention | no problem |
# | words | 50,000 and never enough | short | becomes `<unk>`: lost |
# | **pieces** | as many as you like | nearly as short | spelled from pieces |
#
# Byte-pair encoding (Sennrich et al. 2016) finds the pieces by counting. Start from characters, with a symbol `</w>` for "here the word ends". Then, again and
# again: **join the pair of neighbouring symbols that occurs most often.** Each merge makes one new symbol, so the number of merges sets the size of the vocabulary.
#
# $$\text{best pair} = \arg\max_{(a,b)} \sum_{word} count(word) \cdot \#\{(a,b) \text{ in } word\}$$
#
# The rules that make the answer unique: every adjacent pair counts (three in `aaaa`); a tie goes to the pair that comes first in the alphabet; merging goes from left to right (`aaa` becomes
# `aa a`); when no word has two symbols left, or there is no word at all, stop.
#
# **Predict, then run.** The paper's example: `low` 5 times, `lower` 2, `newest` 6, `widest` 3. Which pair is merged first, and how often does it occur? Which are the second and the third?

# %% role="predict"
predict(
    "06.merges",
    predict.choice("Which pair is merged first?", "l + o", "e + s", "s + t", "w + </w>"),
    predict.number("How often does it occur?"),
    predict.choice("Which is merged third?", "es + t", "est + </w>", "l + o", "lo + w"),
)

# %% role="exercise" exercise="tokenizers.bpe_train"

# %% role="demo"
guess = predicted("06.merges")
COUNTS = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
try:
    for number, (left, right) in enumerate(learn_bpe(COUNTS, 10), 1):
        print(f"{number:2}  {left} + {right}")
    guess.compare(" + ".join(learn_bpe(COUNTS, 1)[0]), COUNTS["newest"] + COUNTS["widest"], " + ".join(learn_bpe(COUNTS, 3)[2]))
except NotImplementedError:
    print("Build learn_bpe first.")

# %% [markdown]
# **And a new word?** `lowest` was not in the text. To cut it, *replay* what was learned: start from its characters and `</w>`, and apply each merge once, in the
# order in which they were learned. Do not look for the longest piece first: it is the order that makes a word come out the same in training and in use.
#
# **Predict, then run.** Into which pieces do those ten merges cut `lowest`? And `wow`, of which only the letters are known?

# %% role="predict"
predict("06.lowest", predict.number("Into how many pieces is lowest cut?"), predict.number("Into how many is wow?"))

# %% role="exercise" exercise="tokenizers.bpe_apply"

# %% role="demo"
guess = predicted("06.lowest")
try:
    for word in ("newest", "lowest", "slower", "wow"):
        print(f"{word:8}", apply_bpe(word, learn_bpe(COUNTS, 10)))
    guess.compare(len(apply_bpe("lowest", learn_bpe(COUNTS, 10))), len(apply_bpe("wow", learn_bpe(COUNTS, 10))))
except NotImplementedError:
    print("Build learn_bpe and apply_bpe first.")

# %% role="demo"
def piece_of(word, merges):
    """For each symbol of the word, the number of the piece that it is in."""
    found = apply_bpe(word, merges)
    return [number for number, piece in enumerate(found) for _ in piece.replace("</w>", "_")]


try:
    merges = learn_bpe(COUNTS, 10)
    turns = ["letters", *(f"{left}+{right}" for left, right in merges)]
    rows = torch.tensor([piece_of("lowest", merges[:count]) for count in range(len(turns))])
    display(show.matrices({"number of the piece": rows}, turns, [*"lowest", "</w>"], "lowest, after each merge", ("merge", "symbol")))
except NotImplementedError:
    print("Build learn_bpe and apply_bpe first.")

# %% [markdown]
# *Figure: a row for each of the ten merges, a column for each letter of "lowest" and one for `</w>`; squares of the same piece have the same colour. At the top
# there are seven pieces. "e" joins "s" and then "t", the end of the word joins them, and "l", "o" and "w" join one after another: at the bottom there are two
# pieces, "low" and "est" with the end. Merges that do not occur in the word leave its row as it was.*
#
# **On real text.** Now you learn 300 merges from the English side of unit 05's corpus, and cut the *test* sentences with 0 to 300 of them. Your code counts
# everything anew for each merge, so give it half a minute.
#
# **Predict.** How many pieces does a word have on average, with no merge and with 300? Where does most of the gain come from?

# %% role="predict"
predict(
    "06.pieces",
    predict.number("How many pieces does a word have on average, with no merge?", within=1),
    predict.number("And with 300?", within=0.5),
    predict.choice("Where does most of the gain come from?", "the first 100 merges", "the second 100", "the last 100"),
)

# %% role="experiment"
from collections import Counter

from tfkit.data.translation import english_french

guess = predicted("06.pieces")
corpus = english_french()
seen, unseen = (Counter(word for pair in pairs for word in pair.source.lower().split()) for pairs in (corpus.train, corpus.test))
missing = sum(count for word, count in unseen.items() if word not in seen) / unseen.total()
print(f"{len(seen)} different words to learn from; {missing:.0%} of the test's words are not among them")
try:
    merges = learn_bpe(seen, 300)
    steps = [0, 10, 25, 50, 100, 150, 200, 250, 300]
    pieces = [sum(n * len(apply_bpe(word, merges[:k])) for word, n in unseen.items()) / unseen.total() for k in steps]
    fig, ax = plt.subplots(figsize=(6.5, 2.6))
    ax.plot(steps, pieces, "o-"), ax.set(xlabel="merges", ylabel="pieces per word", ylim=(0, None))
    plt.show()
    for word in ("recursively", "reinitialize", "notebooks", "transformers"):
        print(f"{word:14}", " ".join(apply_bpe(word, merges)))
    guess.compare(pieces[0], pieces[-1], "the first 100 merges" if pieces[0] - pieces[4] > pieces[4] - pieces[-1] else "the last 100")
except NotImplementedError:
    print("Build learn_bpe and apply_bpe first.")

# %% [markdown]
# *Figure: pieces per word of the test sentences over the number of merges: a curve that falls from more than six, steeply at first, to about two and a half.*
#
# ## The experiment: without smoothing, without warm-up
#
# The task could not be simpler: copy six random symbols. The model is unit 05's, with three post-norm layers of width 64. Your own loop trains it, three times for 300
# steps, with the same seed and the same batches and without clipping:
#
# | run | rate | smoothing |
# |---|---|---|
# | both | your `noam_rate`, warm-up 150 | 0.1 |
# | no smoothing | your `noam_rate`, warm-up 150 | 0 |
# | no warm-up | the *same peak*, from the first step on, then the same fall | 0 |
#
# **Predict.** Which of them learns to copy? Draw the curves of the share of right symbols, and of the probability that the model gives to the right one. Where does the second curve end for each run?

# %% role="predict"
predict(
    "06.copying",
    predict.choice("Which of them learns to copy?", "both", "no smoothing", "no warm-up", several=True),
    predict.numbers("Where does the probability of the right symbol end, for the three in this order?", 3, within=0.15),
)

# %% role="experiment"
from tfkit.nn import Seq2SeqTransformer, shift_right

PAD, START, VOCAB, WARMUP = 0, 1, 12, 150


def new_model():
    torch.manual_seed(0)
    model = Seq2SeqTransformer(VOCAB, VOCAB, d_model=64, n_heads=4, d_ff=256, n_layers=3, pad_id=PAD)
    for table in (model.src_embed, model.tgt_embed):
        nn.init.normal_(table.weight, std=64**-0.5)
    return model


def train(name, rate_at, smoothing, steps=300):
    model, right, sure = new_model(), [], []

    def loss_of(model, ids):
        logits = model(ids, shift_right(ids, START))
        if model.training:
            right.append((logits.argmax(-1) == ids).float().mean().item())
            sure.append(logits.detach().softmax(-1).gather(-1, ids[..., None]).mean().item())
        return label_smoothed_loss(logits, ids, smoothing, PAD)

    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    *batches, held_out = [torch.randint(2, VOCAB, (32, 6)) for _ in range(steps + 1)]
    history, _ = train_loop(model, loss_of, batches, [held_out], optimizer, rate_at, evaluate_every=100, max_norm=math.inf)
    print(f"{name}: {right[-1]:.0%} right; held-out loss", *(f"{loss:.2f}" for _, loss in history), flush=True)
    return right, sure


# %% role="experiment"
def smooth(values, width=10):
    return [sum(values[max(0, i - width):i + 1]) / len(values[max(0, i - width):i + 1]) for i in range(len(values))]


guess = predicted("06.copying")
try:
    warm = lambda step: noam_rate(step, 64, WARMUP)
    cold = lambda step: noam_rate(max(step, WARMUP), 64, WARMUP)
    runs = {"both": (warm, 0.1), "no smoothing": (warm, 0.0), "no warm-up": (cold, 0.0)}
    curves = {name: train(name, *how) for name, how in runs.items()}
    fig, axes = plt.subplots(1, 2, figsize=(8.5, 3), sharex=True, sharey=True)
    for (name, curve), colour in zip(curves.items(), ("#2a6fb0", "#3a8a4d", "#c03030")):
        for ax, values in zip(axes, curve):
            ax.plot(smooth(values), color=colour, label=name)
    axes[0].set(title="share of right symbols", xlabel="step"), axes[0].legend(fontsize=8)
    axes[1].set(title="probability of the right symbol", xlabel="step")
    axes[1].axhline(0.9, color="#888888", ls="--", lw=0.8)
    plt.tight_layout(), plt.show()
    guess.compare([name for name, (right, _) in curves.items() if right[-1] > 0.8], [smooth(sure)[-1] for _, sure in curves.values()])
except NotImplementedError:
    print("Build label_smoothed_loss, noam_rate and train_loop first.")

# %% [markdown]
# *Figure: two panels over 300 steps, three curves each. Left, the share of right symbols: with warm-up both runs climb to nearly 1, with or without smoothing; without warm-up the curve stays below a fifth, little better than guessing (a tenth). Right,
# the probability given to the right symbol: without smoothing it climbs towards 1, with smoothing it comes near 0.9 and goes no further, without warm-up it stays at 0.1.*
#
# The run without warm-up has the same model, the same data and the same highest rate; it only reached that rate *too early*. It is not just a little behind: it
# does not recover from the first steps within 300, although half of them were taken at the very rates at which the other two runs went on learning.
#
# **Try it.** A third of the peak without a warm-up (`lambda step: cold(step) / 3`): does it learn, and how fast? How short may the warm-up be? And with one layer instead of three?
#
# ## From your code to real models
#
# BART was fine-tuned with the smoothing of section 1. Below, a small one gets your loss and, through `tfkit.substitute`, the attention of unit 01 in every layer.
# Units 01 and 03 compared the *numbers* of a model; training depends on its *gradients*, so those are compared now.
#
# **Predict.** How far apart are the gradients of two correct implementations of attention? And one parameter of each attention gets no gradient at all, whatever the
# loss: which? (What does softmax make of a number that is added to *all* scores of a row?)

# %% role="predict"
predict(
    "06.no-gradient",
    predict.choice("How far apart are the gradients of two correct implementations of attention?", "by rounding errors", "by about a hundredth", "by as much as the gradients themselves"),
    predict.choice("Which parameter gets no gradient at all?", "q_proj.bias", "k_proj.bias", "v_proj.bias"),
)

# %% role="demo"
import tfkit
from tfkit.nn import scaled_dot_product_attention

guess = predicted("06.no-gradient")
torch.manual_seed(0)
bart = tfkit.from_config("bart", head="seq2seq_lm", vocab_size=50, d_model=16, n_heads=2, n_layers=2, n_decoder_layers=2, n_decoder_heads=2).eval()
for parameter in bart.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
words, named = torch.randint(4, 50, (16, 6)), dict(bart.named_parameters())


def gradients():
    loss = label_smoothed_loss(bart(input_ids=words, labels=words).logits, words, 0.1, pad_id=1)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


try:
    right = gradients()
    with tfkit.substitute(bart, scaled_dot_product_attention) as seen:
        yours = gradients()
    print(f"{seen}; its gradients: {max((yours[name] - right[name]).abs().max() for name in right):.0e}")
    for part in ("q_proj.bias", "k_proj.bias", "v_proj.bias"):
        print(f"largest gradient of a {part}: {max(yours[name].abs().max() for name in yours if name.endswith(part)):.0e}")
    guess.compare("by rounding errors",
                  min(("q_proj.bias", "k_proj.bias", "v_proj.bias"), key=lambda part: max(yours[name].abs().max() for name in yours if name.endswith(part))))
except NotImplementedError:
    print("Build label_smoothed_loss first.")

# %% [markdown]
# A bias on the keys adds $q \cdot b$ to every score of the query's row, and softmax sees only differences: the gradient is 0, and what is printed is rounding error. T5
# and many later models have no biases in attention. Now think of Adam's first step: it divides *this* gradient, too, by its own size. Without `eps` in the
# denominator, rounding would move a parameter as far as a real gradient does.
#
# ## Meet a real model
#
# In all-MiniLM-L6-v2 (`tfkit get all-MiniLM-L6-v2` in a terminal, 83 MB) the biases of queries, keys and values were trained for hundreds of thousands of steps.
# **Before you run it:** how large is each, if the reasoning about the keys' bias is right? And into how many pieces does a vocabulary of 30,000 cut the words of
# section 5?

# %% role="experiment"
try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    for part in ("q_proj", "k_proj", "v_proj"):
        print(part, *(f"{getattr(layer.attn, part).bias.abs().mean().item():.4f}" for layer in real.model.layers))
    for word in ("recursively", "reinitialize", "notebooks", "transformers", "antidisestablishmentarianism"):
        print(f"{word:30}", *(real.tokenizer.decode([[piece]])[0] for piece in real.tokenizer.encode([word])[0]))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# The keys' biases are some hundreds of times smaller than the queries': no gradient ever moved them. Words that are frequent in English are one piece. The others are
# cut, but not where your merges cut them: its vocabulary was learned from other texts, and WordPiece looks for the longest piece that fits, from left to right. There
# *recursively* is `rec ##urs ##ively`; with your merges it was `re cur si v e ly`.
#
# ## Find the fault
#
# Most faults of a training loop change no shape and stop nothing. The loss falls all the same, and what is wrong shows hours
# later, if at all. So one tests a loop on a model that is so small that every number is known beforehand: one weight, and a
# loss that is this weight. Below is a loop that somebody wrote, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="training.train_loop" seed=16
def test_each_step_is_taken_at_its_rate(train_loop):
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def loss_of(model, sign):
        return sign * model.weight.sum()

    _, best = train_loop(model, loss_of, [1.0], [1.0], optimizer, lambda step: 0.5, 1)
    assert abs(best["weight"].item() + 0.5) < 0.01, "one step at a rate of 0.5 leads from 0 to -0.5"

# %% [markdown]
# ## Pitfalls
#
# - **Warm-up in epochs.** The formula counts *optimizer steps*. With gradient accumulation one step is several batches.
# - **Keeping the best weights by reference.** `best = model.state_dict()` is another name for weights that go on changing.
# - **Saving the corrected moments.** The next step corrects them again. And training that resumes from a checkpoint without the moments starts them anew, at a rate
#   that has long been warmed up.
# - **Step 0.** $0^{-0.5}$ does not exist: schedules count from 1, but loops from 0.
# - **Comparing losses.** A smoothed loss is never 0, not even for a perfect model: its smallest value is the target's own entropy. Compare models by plain
#   cross-entropy on held-out text.
# - **Means of means.** With padding, the mean over a batch is not the mean of its sentences' means, and not the mean of two half-batches' means either.
# - **Smoothing a teacher.** A model that was trained with smoothing is a worse teacher for distillation (Müller et al. 2019): what it knew about *which* other tokens are nearly right has been flattened.
# - **A tokenizer learned on the test set** leaks test data into the training; and a model is tied to its tokenizer, down to the last merge.
#
# ## What real models changed
#
# | part | here, 2017 | later |
# |---|---|---|
# | schedule | linear rise, then $1/\sqrt{step}$ | linear fall (BERT), cosine (GPT-3), Adafactor with $1/\sqrt{step}$ (T5) |
# | why warm-up | post-norm needs it | pre-norm (GPT-2) needs less; RAdam corrects Adam's first steps; still warmed up by habit, and for large batches |
# | optimizer | Adam with $\beta_2 = 0.98$, no decay | AdamW with a decay of 0.01 (BERT) or 0.1 (GPT-3), $\beta_2$ 0.95 to 0.999; Adafactor keeps a row and a column instead of $v$ (T5) |
# | smoothing | 0.1 | fine-tuned with 0.1: BART, Pegasus; with 0.2: mBART; GPT and BERT were pretrained without |
# | pieces | BPE over characters with `</w>` | over *bytes*: nothing is unknown (GPT-2, RoBERTa, BART) |
# | which merge | the most frequent pair | the one that raises likelihood most: WordPiece (BERT); unigram models, which *remove* pieces (T5, ALBERT, XLNet, with SentencePiece) |
# | spaces | the end of a word is marked | its beginning: `Ġ` (GPT-2), `▁` (SentencePiece) |

# %% [markdown]
# ## Put it into your model
#
# The model stays as it is in unit 05, and so do the optimizer, its highest rate (0.002) and the number of steps. Now your own `train_loop` trains it, with clipping, and
# your schedule sets the rate. Expect slightly *worse* bits, by a tenth with the library's parts: of the 100 steps 20 rise to that rate and the others fall from it, and unit 05
# has it at every step. Where the rate is too high, it pays: with 0.02 the same runs end at 3.73 bits in unit 05 and at 3.65 with your loop and schedule.

# %% role="experiment"
from course import my_model

my_model.add_unit("06-training")

# %% [markdown] role="task" task="two-losses" points=2
# ## In your own words
#
# Two students train the same model. One uses label smoothing of 0.1 and reports a loss of 1.2, the other uses none and reports
# 0.9. What follows for the quality of their models? How would you compare them?
#
# ### BEGIN MARK SCHEME
# - 1 point: nothing follows. The smoothed loss has a floor, the entropy of its target, which even a perfect model does not
#   go below; the two numbers measure different things.
# - 1 point: one measure for both, on held-out text: plain cross-entropy over real tokens (or accuracy, BLEU), and the same
#   tokenizer.
# - Related: `training.label_smoothing/smoothing_ignored`, `training.label_smoothing/padding_counted`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), section 5: optimizer, schedule and smoothing on one page.
# - Xiong et al. 2020, [On Layer Normalization in the Transformer Architecture](https://arxiv.org/abs/2002.04745): why post-norm needs a warm-up.
# - Kingma and Ba 2015, [Adam](https://arxiv.org/abs/1412.6980): section 3 derives the correction of the moments.
# - Loshchilov and Hutter 2019, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101): the W.
# - Müller et al. 2019, [When Does Label Smoothing Help?](https://arxiv.org/abs/1906.02629): pictures of what it does inside.
# - Sennrich et al. 2016, [Neural Machine Translation of Rare Words with Subword Units](https://arxiv.org/abs/1508.07909): BPE, with its code in the paper.
# - Kudo and Richardson 2018, [SentencePiece](https://arxiv.org/abs/1808.06226): the same from raw text, without splitting at spaces.
