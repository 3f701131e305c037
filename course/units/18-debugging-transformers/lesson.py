# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 18 · Debugging transformers
#
# **The question.** A transformer with a fault seldom stops with an error. It trains, its loss falls, and something is wrong with what comes out. Where do you look first?
#
# Reading the code again is the slowest way. Each tool of this unit asks the *running model* one question, in a few lines and in seconds, and the answer rules out most of the code. You build four of them, see which faults each can find and which it cannot, and then hunt three faults, two of them in whole models.
#
# | | question | what it can find |
# |---|---|---|
# | 1 | Do the shapes mean what they should? | axes that are mixed up, broadcasting |
# | 2 | Can it learn one batch by heart? | whatever keeps it from learning |
# | 3 | Which inputs reach which outputs? | masks, leaks, axes that are mixed |
# | 4 | Which parameters get a gradient? | parts that are not used or cut off |
# | 5 | Where does it first differ from a model that is right? | everything else, if there is such a model |
# | 6 | Since which change? | the same, if there is a version that was right |

# %% role="setup"
import math
from contextlib import ExitStack

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

# %% role="demo"
from autograder.hunts import pages
from tfkit_lab import show

torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other

# %% [markdown]
# ## 0 · A symptom
#
# `tfkit read gpt2` prints GPT-2 on one page, and that page computes the same as the published model. Somebody has copied it, and something went wrong. *Do not print the copy:* in practice it would be thousands of lines long, and nobody would know which ones to read.
#
# Both models learn the same text, the introductions of all pages in this library, one character at a time.

# %% role="demo"
TEXT = " ".join(" ".join(page.source.text.split('"""')[1].lower().split()) for page in pages.pages().values())
SIGNS = sorted(set(TEXT))
IDS = torch.tensor([SIGNS.index(sign) for sign in TEXT])
RIGHT = pages.page("gpt2").source.text
COPY = pages.draw_page_hunt("gpt2", "18-debugging-transformers", 8).code


def make_model(code, width=32, seed=0):
    """A small model of the page with this code; its weights depend on the seed alone."""
    exec(code, space := {"__name__": "page"})
    torch.manual_seed(seed)
    model = space["MODEL"](space["Config"](vocab_size=len(SIGNS), d_model=width, n_layers=2, n_heads=4, max_length=64))
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=0.08)
    return model


def loss_on(model, rows):
    """The mean loss over all next characters of rows [B,L+1]."""
    return F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

# %% role="experiment"
def train(model, steps=300):
    """Train on random rows of the text -> the loss at each step."""
    generator, losses = torch.Generator().manual_seed(1), []
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        starts = torch.randint(0, len(IDS) - 25, (16,), generator=generator)
        loss = loss_on(model, IDS[starts[:, None] + torch.arange(25)])
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        losses.append(loss.item())
    return losses


plt.figure(figsize=(6, 2.6))
start = torch.tensor([[SIGNS.index(sign) for sign in "the mask "]])
for name, code in (("the page", RIGHT), ("the copy", COPY)):
    model = make_model(code)
    losses = train(model)
    written = "".join(SIGNS[i] for i in model.generate(start, 50)[0])
    print(f"{name}: loss {losses[0]:.2f} at first, {losses[-1]:.2f} at the end; it writes {written!r}")
    plt.plot(losses, label=name)
plt.xlabel("step"), plt.ylabel("training loss"), plt.legend(), plt.show()

# %% [markdown]
# *Figure: training step on the horizontal axis, loss on the vertical. Both curves start at the same height. That of the page falls slowly; that of the copy falls faster, to nearly zero.*
#
# The copy's loss is far lower, and what it writes is useless. **Predict:** what explains both? Your answer is compared in section 3, where a tool decides.

# %% role="predict"
predict("18.symptom", predict.choice("What explains a low loss together with useless text?", "it has learned the text by heart", "the learning rate is too high", "it sees what it should predict", "its positions are wrong"))

# %% [markdown]
# ## 1 · Shapes first
#
# Many mistakes mix up two axes. PyTorch notices it only if the sizes do not fit, and broadcasting makes many sizes fit that should not. So test with sizes that are **all different** (`B`, `L`, `E`, heads, vocabulary), and write the shape beside each line, as the pages do.
#
# **Predict.** Below are six wrong lines. With `B = L = E = 4` none of them raises an error. How many do with `B = 2`, `L = 3`, `E = 4`?

# %% role="predict"
predict("18.shapes", predict.number("How many of the six wrong lines raise an error when all sizes differ?"))

# %% role="demo"
guess = predicted("18.shapes")
WRONG = {
    "positions of the batch": lambda x: x + torch.ones(x.size(0), x.size(2)),
    "mean over positions, axis lost": lambda x: x - x.mean(1),
    "mean over columns, axis lost": lambda x: x - x.mean(-1),
    "padding mask [B,L] on scores [B,L,L]": lambda x: (x @ x.mT).masked_fill(x[..., 0] > 0, 0.0),
    "softmax over the queries": lambda x: (x @ x.mT).softmax(-2) @ x,
    "attention weights transposed": lambda x: (x @ x.mT).softmax(-1).mT @ x,
}


def stops(line, *sizes):
    try:
        line(torch.randn(*sizes, generator=torch.Generator().manual_seed(0)))
    except RuntimeError:
        return True
    return False


for name, line in WRONG.items():
    print(f"{name:38} error with 4, 4, 4: {stops(line, 4, 4, 4)}   with 2, 3, 4: {stops(line, 2, 3, 4)}")
guess.compare(sum(stops(line, 2, 3, 4) for line in WRONG.values()))

# %% [markdown]
# What is left are lines in which two axes have the same size by nature: queries and keys of self-attention. No shape tells them apart. That is what section 3 is for.
#
# ## 2 · One batch by heart
#
# A model that is sound can learn four rows by heart in seconds. If it cannot, no amount of data will help: something keeps it from learning. And before the first step there is a number to compare with: a model that knows nothing gives every one of `V` tokens the same probability, so its loss is close to $\log V$. If it is much higher, the weights start too large; if it is lower, the model already knows something that it should not.
#
# Stop at the goal, after `steps` steps, or as soon as the loss is NaN or infinite. The losses that are returned are those *before* each step and after the last, so after `n` steps there are `n + 1` losses.

# %% role="exercise" exercise="debugging.overfit"

# %% [markdown]
# **Predict.** The copy has a fault, as you saw. Does it pass this test?

# %% role="predict"
predict("18.overfit", predict.choice("Can the copy learn one batch by heart?", "yes", "no"), predict.number("What is the loss of a model that knows nothing, with 64 characters?", within=0.05))

# %% role="demo"
guess = predicted("18.overfit")
BATCH = IDS[torch.tensor([0, 400, 900, 1500])[:, None] + torch.arange(25)]


def by_heart(model):
    return overfit(lambda: loss_on(model, BATCH), torch.optim.Adam(model.parameters(), lr=1e-2), goal=0.1, steps=60)


try:
    for name, code in (("the page", RIGHT), ("the copy", COPY)):
        reached, losses = by_heart(make_model(code))
        print(f"{name}: loss {losses[0]:.2f} before the first step (log V is {math.log(len(SIGNS)):.2f}), {losses[-1]:.2f} after {len(losses) - 1} steps")
    guess.compare("yes" if reached else "no", math.log(64))
except NotImplementedError:
    print("Build overfit first.")

# %% [markdown]
# It passes, so this test does not find the fault. A model that sees the answer learns a batch just as soon. A test that is passed rules something out, here whatever keeps the model from learning, and nothing more.
#
# ## 3 · Information flow
#
# Which inputs reach which outputs? For a causal model the answer has to be the lower triangle, whatever the weights. There are two ways to find out:
# - **change** row `j` of the input and see which rows of the output change;
# - ask for the **gradient** of each entry of output `i`, and see at which rows of the input it is not zero.
#
# Both have a trap. A layer norm takes the mean of a row away, and an RMS norm its size: adding one number to a row, or doubling it, then changes nothing behind the norm but the last digits, and that is rounding, not information. And gradients of several columns can cancel in a sum, as they do behind a softmax, whose columns always sum to 1. So change each column by a number of its own, or ask for the gradient of each column separately (`torch.autograd.functional.jacobian` gives all of them at once).
#
# What a mask hides has a gradient of exactly zero, so nothing needs a tolerance here. Do not leave gradients behind in the parameters: the next optimizer step would use them.

# %% role="exercise" exercise="debugging.information_flow"

# %% [markdown]
# **Predict.** One layer lets each position see itself and the one before it. Two such layers stand one above the other. Which inputs reach which outputs of the second?

# %% role="predict"
predict("18.two-layers", predict.mask("Press what is True after two layers; rows are outputs, columns inputs.", 5, 5))

# %% role="demo"
guess = predicted("18.two-layers")


def neighbour(x):
    return x + 0.5 * F.pad(x, (0, 0, 1, -1)).tanh()  # [L,E]: itself, and the row before


def through_layers(model):
    """What the model's layers make of embeddings, as a function [L,E] -> [L,E]."""

    def run(x):
        x = x.unsqueeze(0)
        for layer in model.layers:
            x = layer(x)
        return x[0]

    return run


try:
    noise = torch.randn(8, 32, generator=torch.Generator().manual_seed(0))
    guess.compare(information_flow(lambda x: neighbour(neighbour(x)), noise[:5, :2]))
    flows = {name: information_flow(through_layers(make_model(code)), noise) for name, code in (("the page", RIGHT), ("the copy", COPY))}
    places = [str(place) for place in range(8)]
    display(show.matrices(flows, places, places, "Information flow through two layers", ("output", "input")))
    predicted("18.symptom").compare("it sees what it should predict" if flows["the copy"].triu(1).any() else "it has learned the text by heart")
except NotImplementedError:
    print("Build information_flow first.")

# %% [markdown]
# *Figure: two squares of 8 by 8, outputs down, inputs across, dark where an input reaches an output. On the left, the page: the lower triangle with the diagonal. On the right, the copy: two more diagonals above it are dark.*
#
# Each position of the copy sees two tokens of the future: one for each of its two layers. So its mask is off by one, and the token that it should predict is in its input. When it writes, there is no future to copy, and it has learned little else. Finding this took no training.
#
# ## 4 · Gradient flow
#
# A parameter learns only if a gradient reaches it. Take one loss and look at all parameters. *Silent* ones have no gradient, or zeros alone: the part is not called, its result is thrown away, something was detached, or a ReLU never opens. *Broken* ones have NaN or infinite entries; the first of them, from the output backwards, is where to look.
#
# Single zeros are normal: an embedding's rows of tokens that do not occur have zeros. So are gradients whose entries sum to zero, such as those of the bias before a softmax. The bias of the keys gets almost no gradient in a sound model either: it adds one number to all scores of a query, the softmax takes that away, and what is left is rounding. And `.grad` may still hold what an earlier step left there, which says nothing about this loss.

# %% role="exercise" exercise="debugging.gradient_flow"

# %% [markdown]
# **Predict.** In another copy the last of two layers is forgotten: `forward` goes through all layers but the last. How many parameters (by name) of GPT-2 are silent? A layer has two norms, four projections of its attention and two of its feed-forward network, each with a weight and a bias.

# %% role="predict"
predict("18.silent", predict.number("How many named parameters are silent?"))

# %% role="demo"
guess = predicted("18.silent")


class LossOf(nn.Module):
    """A model together with its loss, as `gradient_flow` takes it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, rows):
        return loss_on(self.model, rows)


try:
    for fault in ("last_layer_left_out", "keys_from_query_weights", "mask_inverted"):
        silent, broken = gradient_flow(LossOf(make_model(pages.find_page_hunt(f"page.gpt2/{fault}").code)), BATCH)
        print(f"{fault:24} silent {len(silent):2} {silent[:2]}\n{'':24} broken {len(broken):2} {broken[:2]}")
        if fault == "last_layer_left_out":
            guess.compare(len(silent))
except NotImplementedError:
    print("Build gradient_flow first.")

# %% [markdown]
# The second one computes the keys with the weights of the queries. No error, a loss that falls, the right information flow; but the weights of the keys are silent, and that names the line.
#
# ## 5 · Compare with a model that is right
#
# Often there is a reference: the published model, last month's version, a slow implementation that one trusts. Give both the same weights and the same input, and record what *every* submodule returns, in the order in which they return, by forward hooks. The first output that differs says where to look.
#
# The details decide whether the answer is right. An output that is changed in place later must have been copied. The order is that of the calls, not that of the definitions, and a layer that is called twice has two records. A layer's own arithmetic, such as the residual connection, belongs to no inner part, so layers are recorded as well, and the model itself, whose name is empty. A model that calls another submodule than the reference differs there, whatever that one returns. `<`, `>` and `==` with NaN are False: ask whether a difference is *small enough*. Equal infinities agree, although their difference is NaN. And hooks must go again, even after an error.

# %% role="exercise" exercise="debugging.first_difference"

# %% [markdown]
# **Predict.** In a third copy the scores are not divided by $\sqrt{D}$. Whose output is the first to differ?

# %% role="predict"
predict("18.difference", predict.choice("Which output differs first, if the scale of the scores is missing?", "layers.0.attn.q_proj", "layers.0.attn.o_proj", "layers.0.attn", "layers.0"))

# %% role="demo"
guess = predicted("18.difference")


def copy_of(fault):
    """A copy with this fault, with the weights of the right model."""
    model = make_model(pages.find_page_hunt(f"page.gpt2/{fault}").code)
    model.load_state_dict(make_model(RIGHT).state_dict())
    return model


try:
    scale = copy_of("scale_left_out")
    guess.compare(first_difference(scale, make_model(RIGHT), BATCH[:, :-1]))
    mine, right = recorded_outputs(scale, BATCH[:, :-1]), recorded_outputs(make_model(RIGHT), BATCH[:, :-1])
    gaps = [(one - other).abs().max().item() for (_, one), (_, other) in zip(mine, right)]
    plt.figure(figsize=(6, 4))
    plt.barh([name or "the model" for name, _ in mine], gaps, color="#2a6fb0", left=1e-9)
    plt.xscale("log"), plt.gca().invert_yaxis(), plt.axvline(1e-5, color="gray", linestyle="--")
    plt.xlabel("largest difference"), plt.tick_params(axis="y", labelsize=7), plt.show()
except NotImplementedError:
    print("Build recorded_outputs and first_difference first.")

# %% [markdown]
# *Figure: a bar for each submodule, from top to bottom in the order in which they return, and a dashed line at the tolerance of 0.00001. The embeddings, the first norm and the projections of queries, keys and values have no bar. From the output projection of layer 0 on, every bar goes far beyond the line.*
#
# The projection `o_proj` is innocent. What differs is its *input*, which the lines of `attn` between `v_proj` and `o_proj` compute. So read what lies between the last output that agrees and the first that does not: here five lines out of sixty.
#
# ## Which tool finds what?
#
# Here are twelve faults in GPT-2, and your four tools look at each of them.
#
# **Predict.** How many of the twelve does learning one batch by heart find, that is, how many do not reach the goal within 60 steps, about twice what the page needs?

# %% role="predict"
predict("18.tools", predict.number("How many of the twelve faults does one batch by heart find?"), predict.choice("Which tool finds most?", "one batch by heart", "information flow", "gradient flow", "comparison with the page"))

# %% role="demo"
guess = predicted("18.tools")
FAULTS = ["activation_left_out", "causal_mask_off_by_one", "heads_interleaved", "keys_from_query_weights", "last_layer_left_out", "mask_inverted",
          "norm_left_out", "positions_left_out", "residual_detached", "residual_left_out", "softmax_over_queries", "weights_transposed"]  # fmt: skip
TOOLS = ["one batch by heart", "information flow", "gradient flow", "comparison with the page"]


def findings(fault):
    """Which of the four tools find it."""
    code = pages.find_page_hunt(f"page.gpt2/{fault}").code
    noise = torch.randn(5, 16, generator=torch.Generator().manual_seed(0))
    flow = information_flow(through_layers(make_model(code, width=16)), noise)
    differs = first_difference(copy_of(fault), make_model(RIGHT), BATCH[:, :-1]) is not None
    return [not by_heart(make_model(code))[0], not torch.equal(flow, torch.ones(5, 5).bool().tril()), any(gradient_flow(LossOf(make_model(code)), BATCH)), differs]


try:
    found = torch.tensor([findings(fault) for fault in FAULTS])
    plt.figure(figsize=(5, 4))
    plt.imshow(found.int(), cmap="Blues", vmax=1.4, aspect="auto")
    plt.yticks(range(12), FAULTS), plt.xticks(range(4), TOOLS, rotation=20, ha="right"), plt.show()
    guess.compare(found[:, 0].sum(), TOOLS[int(found.sum(0).argmax())])
except NotImplementedError:
    print("Build all four tools first.")

# %% [markdown]
# *Figure: a table of twelve faults and four tools. One batch by heart finds three: the inverted mask, whose loss is NaN, and the residual connection that is detached or left out. Information flow finds four: both masks, the softmax over the queries and the transposed weights. Gradient flow finds five: the inverted mask, and the four faults that leave parameters unused. The comparison with the page finds all but one: the detached residual connection, whose output is right and whose gradient is not.*
#
# No tool finds everything, and each of these faults is found by at least one. What one batch by heart finds depends on its steps: without a working residual connection the model only learns more slowly, and with `steps=100` in `by_heart` it reaches the goal, too. Comparison finds most, and it needs a model that is right. The other three need none, so they come first.
#
# ## 6 · Bisecting
#
# If it worked last week, the fault is in one of the changes since then. Test the version in the middle: if it is right, the fault came later, and if not, earlier. Each test halves what is left. `git bisect` does this with commits, and it works as well with configurations, training data or the layers of a checkpoint. The test has to be quick and must not be a matter of taste: one of the tools above.

# %% role="predict"
predict("18.bisect", predict.number("How many tests do 1,000 changes take, at most?"))

# %% role="demo"
guess = predicted("18.bisect")
CHANGES = [("math.sqrt(q.size(-1))", "q.size(-1) ** 0.5"), (", dtype=torch.bool).tril()", ").tril().bool()"), ("q @ k.transpose(-2, -1)", "q @ k.mT"),
           ("x = x + self.attn(self.norm1(x))", "x = x + self.attn(x)"), ("self.embed.weight.T", "self.embed.weight.mT"),
           ('float("-inf")', "-math.inf"), (".flatten(2)", ".flatten(-2)"), ("weights @ v", "torch.matmul(weights, v)")]  # fmt: skip


def version(number):
    """The page after so many changes."""
    code = RIGHT
    for old, new in CHANGES[:number]:
        code = code.replace(old, new)
    return code


def is_right(number):
    same = [make_model(code)(BATCH[:, :-1]) for code in (version(number), RIGHT)]
    return torch.allclose(*same, atol=1e-5)


good, bad = 0, len(CHANGES)
while bad - good > 1:
    middle = (good + bad) // 2
    good, bad = (middle, bad) if is_right(middle) else (good, middle)
    print(f"tested version {middle}: the fault came with one of the changes {good + 1} to {bad}")
print("the change:", " => ".join(CHANGES[bad - 1]))
guess.compare(math.ceil(math.log2(1000)))

# %% [markdown]
# ## Find the fault: three hunts
#
# Now it is your turn. In each hunt you see code with one fault and its symptom. Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Begin with the symptom, choose the tool, and read the code last. The hunts earn no points for the course.
#
# **The first** is in a tool. Tools have faults, too, and one that is wrong sends you to the wrong place.

# %% role="hunt" hunt="debugging.gradient_flow" seed=27
def test_gradient_flow(answer):
    model = nn.Sequential(nn.Embedding(3, 2), nn.Flatten(0), nn.Linear(2, 1, bias=False), nn.Flatten(0))
    one = nn.Module()
    one.inner, one.forward = model, lambda ids: model(ids).sum()
    assert answer(one, torch.tensor([1])) == ([], []), "an embedding is silent because of tokens that do not occur"

# %% [markdown]
# **The second** is a whole model. It computes exactly what GPT-2 computes, and yet one of its gradients is wrong.

# %% role="hunt" hunt="page.gpt2" seed=22
def test_gpt2(page):
    torch.manual_seed(0)
    model = page.MODEL(page.Config(vocab_size=20, d_model=16, n_layers=2, n_heads=2, max_length=8))
    model(torch.tensor([[3, 4, 5]])).square().sum().backward()
    assert model.embed.weight.grad[7].any(), "the output weights of a token that is not in the input get no gradient"

# %% [markdown]
# **The third** is a Llama. Its mask is right.

# %% role="hunt" hunt="page.llama" seed=8
def test_llama(page):
    torch.manual_seed(0)
    model = page.MODEL(page.Config(vocab_size=20, d_model=16, n_layers=2, n_heads=2, n_kv_heads=1, d_ff=32))
    ids = torch.tensor([[3, 4, 5, 6]])
    before = model(ids)[:, :3]
    ids[0, 3] = 9
    assert torch.allclose(before, model(ids)[:, :3], atol=1e-6), "an earlier output has changed"

# %% [markdown]
# ## Pitfalls
#
# - **Changing two things at once.** If it works then, you do not know why; if it does not, you do not know why either.
# - **A test that was never seen to fail.** Try it on a fault that you made yourself.
# - **Sizes that are equal.** `B = L = 4` hides mixed axes; a batch of one hides all that is done across the batch.
# - **Dropout while comparing.** Call `eval()` on both models, or they differ everywhere.
# - **The tolerance.** In bfloat16, right models differ by a hundredth; compare in float32, or even in float64.
# - **A falling loss as a proof.** Nine of the twelve faulty models above learned their batch by heart within 60 steps.
# - **Believing the name.** The submodule that differs first only receives what is wrong; the fault lies before it.
#
# ## What is done elsewhere
#
# | | here | elsewhere |
# |---|---|---|
# | one batch by heart | four rows | Karpathy's recipe (2019) has it, together with the loss before the first step and dependencies charted by gradients |
# | first difference | hooks, one input | ports of models to another library are tested in this way, layer by layer |
# | bisecting | eight changes | `git bisect`; delta debugging (Zeller and Hildebrandt 2002) also shortens the input that shows the fault |
# | gradient flow | silent and broken | large trainings log the gradient's norm at every step, and some skip a step whose norm is far too large |

# %% [markdown] role="task" task="which-test-first" points=2
# ## In your own words
#
# A colleague's translation model reaches a good training loss. On test sentences it is good with a batch size of 1, and bad with 32 sentences of different lengths. No error is raised. Which tool would you use first, on which input, and what would you expect to see? Name one fault that explains everything.
#
# ### BEGIN MARK SCHEME
# - 1 point: information flow (by change or by gradient) from the padding positions of a short sentence in a batch to the outputs of its real positions; expected: it is not zero, though it should be.
# - 1 point for one fault that explains all: the padding mask is left out or hides rows instead of columns, in the encoder or in cross-attention, or is taken for [Q,K]; a norm or a mean that runs over the batch or the padding counts, too. Not enough: "overfitting", which a batch size does not change.
# - Related: `debugging.information_flow/same_number_added`, `masks.padding/marks_the_padding`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Karpathy 2019, [A Recipe for Training Neural Networks](https://karpathy.github.io/2019/04/25/recipe/): the order in which to build and to distrust.
# - Zeller and Hildebrandt 2002, [Simplifying and Isolating Failure-Inducing Input](https://doi.org/10.1109/32.988498): bisecting what cannot simply be halved.
# - Zhang et al. 2022, [OPT: Open Pre-trained Transformer Language Models](https://arxiv.org/abs/2205.01068): section 2.5 tells how a large training went wrong, and what was done.
