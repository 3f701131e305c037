# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 13 · From GPT-2 to today
#
# **The question.** GPT-2 is from 2019. Open the files of a current model such as Llama, Qwen, Mistral or DeepSeek: there are still token embeddings, attention, feed-forward networks and residual connections. What changed
# in between, and what was each change good for?
#
# Less than one might think, and each change does one job: the norm keeps **activations** in range, the gate uses **parameters** better, the rotation gives **positions** without a table, shared keys, latent keys and windows with sinks make the **cache** fit into memory, and experts give **more parameters for
# the same amount of computation**. You build all of them; at the end the first four make up one layer of a real Llama.

# %% role="setup"
import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit.nn import masked_softmax, merge_heads, scaled_dot_product_attention, split_heads

# %% [markdown]
# ## 1 · A norm without a mean
#
# LayerNorm does two things: it subtracts the mean of a vector's columns and divides by their standard deviation. Zhang and Sennrich (2019) left out the first, and models became no worse:
#
# $$\operatorname{rms\_norm}(x) = \frac{x}{\sqrt{\operatorname{mean}(x^2) + \varepsilon}} \odot w$$
#
# It saves one of two reductions over the vector, that of the mean, and has no bias. The norm comes *before* each sub-layer, so that the residual connection leads straight from the embeddings to the output.
#
# Compute the mean of the squares in float32 or better, whatever the dtype of x, and return x's own dtype.

# %% role="predict"
predict("13.norm", predict.number("x = [3, 4]: what is the first column of rms_norm(x), with weights of 1?", within=0.01))

# %% role="exercise" exercise="modern.rms_norm"

# %% role="demo"
guess = predicted("13.norm")
try:
    x = torch.tensor([[3.0, 4.0]])
    normed = rms_norm(x, torch.ones(2))
    guess.compare(normed[0, 0])
    print("rms_norm  ", normed.tolist(), " layer_norm", F.layer_norm(x, (2,)).tolist())
    print("of 10 · x ", rms_norm(10 * x, torch.ones(2)).tolist())
except NotImplementedError:
    print("Build rms_norm first.")

# %% [markdown]
# ## 2 · A gate in the feed-forward network
#
# GPT-2's feed-forward network is $W_2\,\text{gelu}(W_1 x)$. A **gated** one has a second matrix beside the first, and the two branches are multiplied column by column:
#
# $$\text{SwiGLU}(x) = W_{\text{down}}\big(\text{silu}(W_{\text{gate}}\, x) \odot W_{\text{up}}\, x\big) \qquad \text{silu}(z) = z\,\sigma(z)$$
#
# Shazeer (2020) tried five kinds of gate, found all of them better at equal parameters, and offered "no explanation as to why". As there are three matrices instead of two, the inner width is made two thirds as large.

# %% role="predict"
predict("13.gate", predict.number("d_model 12, d_ff 32: how many parameters does a SwiGLU without biases have?"))

# %% role="exercise" exercise="modern.swiglu"

# %% role="demo"
guess = predicted("13.gate")
try:
    count = sum(parameter.numel() for parameter in SwiGLU(12, 32).parameters())
    guess.compare(count)
    print("SwiGLU", count, " GPT-2's, four times as wide as the model:", 2 * 12 * 48)
except NotImplementedError:
    print("Build SwiGLU first.")

# %% [markdown]
# ## 3 · Rotary embeddings with paired halves
#
# Unit 04 rotated pairs of neighbouring columns, as GPT-J and Meta's own LLaMA code do. Hugging Face's files pair column $i$ with column $i + D/2$. It is the same rotation with the columns in another order, so both learn equally well; but
# if code for the one loads a checkpoint of the other, there is no error, but the model generates nonsense. (The files were converted by reordering the rows of `q_proj` and `k_proj`.)
#
# $$\begin{aligned} x'_i &= x_i \cos\theta - x_{i+D/2}\sin\theta \\ x'_{i+D/2} &= x_{i+D/2}\cos\theta + x_i\sin\theta \end{aligned} \qquad \theta = \text{position} \cdot \text{base}^{-2i/D}$$
#
# The `positions` come as an argument and in any order: with a cache, a token's position is not its index in the tensor. Compute the angles in float32 or better: bfloat16 cannot tell position 1,000 from 1,001. The result has the dtype of `x` again.

# %% role="predict"
predict("13.halves", predict.choice("With the columns paired this way, scores between rotated queries and keys depend on …", "the distance alone, as before", "both positions"))

# %% role="exercise" exercise="modern.rotary_halves"

# %% role="demo"
guess = predicted("13.halves")
torch.manual_seed(0)
query, key = torch.randn(1, 8), torch.randn(1, 8)
try:
    at = lambda x, position: apply_rotary_halves(x, torch.tensor([position]))
    scores = [float(at(query, position) @ at(key, position - 3).T) for position in (3, 10, 200)]
    guess.compare("the distance alone, as before" if max(scores) - min(scores) < 1e-3 else "both positions")
    print("three positions apart, at 3, 10 and 200:", *(f"{score:.4f}" for score in scores))
except NotImplementedError:
    print("Build apply_rotary_halves first.")

# %% [markdown]
# ## 4 · Share keys and values
#
# While a model generates, it reads all keys and values of the text once for every new token. With the 32 layers of 32 heads of width 128 of a model of 8 billion parameters, the keys and values of four texts of 8,000 tokens are already more to read than the weights (17 GB against 16). **Grouped-query attention** (2023) keeps all query heads and lets several of them share *one* head of keys and values. Query head $h$ reads key-value head
# $\lfloor h / (H/KV) \rfloor$: neighbouring heads share. With $KV = H$ it is ordinary attention, with $KV = 1$ "multi-query attention".
#
# $$\text{bytes per token} = 2 \cdot \text{layers} \cdot KV \cdot D \cdot \text{bytes per number}$$

# %% role="predict"
predict("13.cache", predict.number("Llama 3 8B: 32 layers, 32 query heads of width 128, 8 key-value heads, 2 bytes per number. How large is its cache for 8,192 tokens, in GB (10⁹ bytes)?", within=0.1))

# %% role="exercise" exercise="modern.grouped_query"

# %% role="demo"
guess = predicted("13.cache")
size = lambda heads: 2 * 32 * heads * 128 * 2 * 8192 / 1e9
guess.compare(size(8))
fig, ax = plt.subplots(figsize=(5.5, 1.9))
ax.barh(["32 heads", "8 heads", "1 head"][::-1], [size(32), size(8), size(1)][::-1], color="#2a6fb0")
for row, heads in enumerate((1, 8, 32)):
    ax.text(size(heads) + 0.05, row, f"{size(heads):.2f} GB", va="center", fontsize=9)
ax.set(xlabel="cache of 8,192 tokens", xlim=(0, 5.2))
plt.show()

# %% [markdown]
# *Figure: three bars. With 32 key-value heads the cache takes 4.29 GB, with 8 heads 1.07 GB, with one 0.13 GB.*
#
# ## 5 · A window that keeps the first tokens
#
# A sliding window bounds the cache: only the last `window` tokens are kept. But the predictions of a model that is run like this collapse as soon as the *first* tokens leave the window, although their content is not needed. Softmax weights must sum to one; a head that finds nothing of interest has to put them somewhere,
# and learns to put them on the first tokens. These are **attention sinks** (2023). The remedy is to keep the first few tokens in the cache permanently.

# %% role="predict"
predict("13.sinks", predict.number("Length 8, window 3, 1 sink: how many keys does the last query see?"))

# %% role="exercise" exercise="modern.sink_mask"

# %% role="demo"
from tfkit_lab import show

guess = predicted("13.sinks")
try:
    guess.compare(sink_mask(8, 3, 1)[-1].sum())
    seen = {f"window {window}, sinks {sinks}": sink_mask(16, window, sinks) for window, sinks in ((16, 0), (5, 0), (5, 2))}
    display(show.masks(seen, title="A window, and the first tokens"))
except NotImplementedError:
    print("Build sink_mask first.")

# %% [markdown]
# *Figure: three masks of 16 by 16. Left the whole causal triangle; in the middle a band of five along the diagonal; right the same band, and the first two columns all the way down.*
#
# ## 6 · Many experts, few at a time
#
# A **mixture of experts** has many feed-forward networks and a small matrix, the **router**, that says for each token which $k$ of them it goes through. So it can have many more parameters than it uses for any one token: Mixtral has 47 billion and uses 13 billion per token.
#
# First comes the choice. The weights of the $k$ chosen experts are the softmax over *their* logits, so they sum to one.

# %% role="exercise" exercise="modern.route"

# %% [markdown]
# Now comes the layer. Each token's result is the weighted sum of the outputs of its $k$ experts. The experts are your SwiGLU. Every expert must be run on its own tokens only: that is what saves the computation.

# %% role="predict"
predict("13.experts", predict.number("8 experts, 2 per token: which share of the experts' parameters does a token use?", within=0.01))

# %% role="exercise" exercise="modern.experts"

# %% role="demo"
guess = predicted("13.experts")
torch.manual_seed(0)
try:
    layer, tokens = MixtureOfExperts(16, 32, 8, 2), torch.randn(4, 25, 16)
    guess.compare(layer.k / len(layer.experts))
    _, chosen = route(layer.router(tokens.flatten(0, 1)), 2)
    counts = torch.bincount(chosen.flatten(), minlength=8)
    print("tokens of each expert", counts.tolist(), " out", tuple(layer(tokens).shape))
except NotImplementedError:
    print("Build SwiGLU, route and MixtureOfExperts first.")

# %% [markdown]
# Nothing so far makes the router use all experts equally. An expert that is chosen often learns faster, gets better and is chosen even more often. So training adds a **balance loss** (Fedus et al. 2021):
#
# $$L = X \sum_{e=1}^{X} f_e\, P_e$$
#
# $f_e$ is the share of all $N k$ choices that fell on expert $e$, and has no gradient; $P_e$ is the mean over the tokens of the softmax over *all* experts, and has one. The loss is 1 in perfect balance, and larger when the experts with high probabilities are also those chosen most often.

# %% role="predict"
predict("13.balance", predict.number("Four experts, k = 1, and the router is certain and sends every token to the same one: how large is the loss?", within=0.05))

# %% role="exercise" exercise="modern.balance_loss"

# %% role="demo"
guess = predicted("13.balance")
torch.manual_seed(0)
try:
    favourite = torch.tensor([[9.0, 0.0, 0.0, 0.0]]).repeat(20, 1)
    guess.compare(balance_loss(favourite, 1))
    logits = nn.Parameter(torch.randn(200, 4) + torch.tensor([2.0, 0.0, 0.0, -1.0]))
    optimizer, history = torch.optim.SGD([logits], lr=20.0), []
    for _ in range(120):
        loss = balance_loss(logits, 1)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        history.append(torch.bincount(logits.argmax(-1), minlength=4) / 200)
    print("shares before", [round(share, 2) for share in history[0].tolist()], " after", [round(share, 2) for share in history[-1].tolist()])
except NotImplementedError:
    print("Build balance_loss first.")

# %% [markdown]
# ## 7 · Cache one small vector
#
# DeepSeek's **latent attention** (2024) goes further than sharing. For each token it caches a single vector $c_j$ of width $C$, and head $h$ *unpacks* its own key $c_j W_k^{(h)}$ and value $c_j W_v^{(h)}$ from it. Unpacking for the whole text at every step would cost more than it saves. But a score is
#
# $$q \cdot (c_j W_k) = (q W_k^\top) \cdot c_j$$
#
# so the *query* can be projected into the space of $c$, once, and keys are never computed. Nor are values: first take the weighted mean of the $c_j$, then unpack that. The result stays what `scaled_dot_product_attention` gives for the unpacked keys and values, its scale included.

# %% role="predict"
predict("13.latent", predict.choice("The scores are divided by the root of …", "D, the width of a head", "C, the width of the latent vector"))

# %% role="exercise" exercise="modern.latent_attention"

# %% role="demo"
guess = predicted("13.latent")
torch.manual_seed(0)
q, c, w_k, w_v = torch.randn(1, 4, 3, 8), torch.randn(1, 6, 2), torch.randn(4, 2, 8), torch.randn(4, 2, 8)
try:
    unpacked = scaled_dot_product_attention(q, c[:, None] @ w_k, c[:, None] @ w_v)[0]
    same = torch.allclose(latent_attention(q, c, w_k, w_v), unpacked, atol=1e-5)
    guess.compare("D, the width of a head" if same else "C, the width of the latent vector")
    print("as with unpacked keys and values:", same, " cached numbers per token:", c.size(-1), "instead of", 2 * 4 * 8)
except NotImplementedError:
    print("Build latent_attention first.")

# %% [markdown]
# ## The experiment: what is the gain?
#
# Three models of the same size are trained on the help pages of Python, character by character, for 400 steps each: GPT-2 as it was, and two Llamas, one of which shares a single head of keys and values. **Predict** before you run: by how much is Llama better than GPT-2, and how much of that does the sharing cost?

# %% role="predict"
predict("13.bought", predict.choice("After 400 steps, in bits per character …", "all three are about equal", "Llama is clearly ahead, and sharing costs little", "Llama is ahead, and sharing costs all of it"))

# %% role="experiment"
from pydoc_data.topics import topics

letters = torch.tensor([min(ord(letter), 127) for letter in "\n".join(topics[name] for name in sorted(topics))])
TRAIN, TEST, LENGTH = letters[:400_000], letters[400_000:], 64


def draw_batch(source, count, generator):
    starts = torch.randint(0, len(source) - LENGTH, (count,), generator=generator).tolist()
    return torch.stack([source[start : start + LENGTH] for start in starts])


def learn(name, steps=400, **fields):
    """A model of two layers after `steps` steps -> bits per character on text that it has not read, parameters."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    sizes = {"vocab_size": 128, "d_model": 64, "n_layers": 2, "n_heads": 4, "max_length": 256}
    model = tfkit.from_config(name, head="causal_lm", **sizes, **fields)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.95))
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 40) * (1 - step / (steps + 1)))
    for _ in range(steps):
        ids = draw_batch(TRAIN, 16, generator)
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad(), loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0), optimizer.step(), rate.step()
    ids = draw_batch(TEST, 200, torch.Generator().manual_seed(1))
    with torch.no_grad():
        bits = model.eval()(ids, labels=ids).loss.item() / torch.tensor(2.0).log().item()
    return bits, sum(parameter.numel() for parameter in model.parameters())

# %% role="experiment"
guess = predicted("13.bought")
without_dropout = {"dropout": 0.0, "embed_dropout": 0.0, "attn_dropout": 0.0}
results = {
    "GPT-2": learn("gpt2", d_ff=256, **without_dropout),
    "Llama, 4 key-value heads": learn("llama", d_ff=168, n_kv_heads=4),
    "Llama, 1 key-value head": learn("llama", d_ff=200, n_kv_heads=1),
    "Llama, hardly any rotation": learn("llama", d_ff=168, n_kv_heads=4, rope_theta=1e30),
}
for name, (bits, parameters) in results.items():
    print(f"{name:26} {parameters:7,} parameters   {bits:.2f} bits per character")
old, new, shared, _ = (bits for bits, _ in results.values())
kinds = ("all three are about equal", "Llama is clearly ahead, and sharing costs little", "Llama is ahead, and sharing costs all of it")
guess.compare(kinds[0] if old - new < 0.1 else kinds[1] if shared - new < (old - new) / 2 else kinds[2])

# %% [markdown]
# At this size and length most of the lead comes from the rotation, as the last line shows: with a base of $10^{30}$ all pairs of columns but the first hardly turn, and the lead is nearly gone. GPT-2 has to learn from scratch what "the character before" means, at each of its positions. With more steps the lead shrinks. Narang et al. (2021) compared such changes in models as large as the base T5: there the norm and the gate each help a little. Shared keys and values save most of the cache.
#
# ## From your code to real models
#
# Here is one layer of a real Llama, put together from what you built, with the weights of the library's model: the norm, the rotation, the shared keys and values, and the gate.

# %% role="demo"
def my_layer(layer, x, config):
    """What layer.forward computes, by your functions. x [B,L,E]"""
    places, heads, shared = torch.arange(x.size(1)), config.n_heads, config.n_kv_heads
    normed = rms_norm(x, layer.norm1.weight, config.eps)
    q, k = split_heads(layer.attn.q_proj(normed), heads), split_heads(layer.attn.k_proj(normed), shared)
    q, k = (apply_rotary_halves(part, places, config.rope_theta) for part in (q, k))
    k, v = (part.repeat_interleave(heads // shared, 1) for part in (k, split_heads(layer.attn.v_proj(normed), shared)))
    x = x + layer.attn.o_proj(merge_heads(scaled_dot_product_attention(q, k, v, sink_mask(x.size(1), x.size(1), 0))[0]))
    gated = SwiGLU(config.d_model, config.d_ff)
    gated.load_state_dict(layer.ff.state_dict())
    return x + gated(rms_norm(x, layer.norm2.weight, config.eps))


try:
    text = tfkit.Text("SmolLM2-135M-Instruct")
    llama, ids = text.model, torch.tensor(text.tokenizer.encode(["The capital of France is"]))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"A small random Llama, as the weights are not here: {missing}")
    sizes = {"d_model": 48, "n_heads": 6, "n_kv_heads": 2, "d_ff": 96, "n_layers": 3, "vocab_size": 50}
    llama, text, ids = tfkit.from_config("llama", head="causal_lm", **sizes), None, torch.arange(12)[None]

# %% role="demo"
try:
    with torch.no_grad():
        x = llama.embed(ids)
        for layer in llama.eval().layers:
            x = my_layer(layer, x, llama.config)
        mine = F.linear(rms_norm(x, llama.norm.weight, llama.config.eps), llama.lm_head.weight if hasattr(llama, "lm_head") else llama.embed.weight)
        print(f"{len(llama.layers)} layers computed by your functions; largest difference of the logits {(mine - llama(ids).logits).abs().max().item():.0e}")
    if text is not None:
        print("the next token:", text.tokenizer.decode([[int(mine[0, -1].argmax())]])[0])
except NotImplementedError:
    print("Build rms_norm, SwiGLU, apply_rotary_halves and sink_mask first.")

# %% [markdown]
# ## Meet a real model
#
# If its weights are here (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB), SmolLM2 generates text with your code: each of its thirty layers is computed by your four functions, and the next token is sampled as in unit 07. There is no cache, so every step processes the whole text again.

# %% role="experiment"
from tfkit.decode import sample_token, top_p_filter

try:
    if text is not None:
        with torch.no_grad():
            written, chance = ids, torch.rand(16, 1, generator=torch.Generator().manual_seed(0))
            for u in chance:
                x = llama.embed(written)
                for layer in llama.layers:
                    x = my_layer(layer, x, llama.config)
                logits = F.linear(rms_norm(x[:, -1], llama.norm.weight, llama.config.eps), llama.embed.weight)
                written = torch.cat([written, sample_token(top_p_filter(logits.float(), 0.9), u, 0.8)[:, None]], dim=1)
        print(text.tokenizer.decode(written.tolist())[0])
    else:
        print("The weights are not here: tfkit get SmolLM2-135M-Instruct")
except NotImplementedError:
    print("Build rms_norm, SwiGLU, apply_rotary_halves and sink_mask first.")

# %% [markdown]
# ## Find the fault
#
# The output of a mixture depends on a router with random weights, so nobody knows beforehand which numbers are right. A test
# chooses a case in which the router does not matter: what must come out if all experts are copies of one? Below is a mixture of
# experts that somebody wrote, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="modern.experts" seed=27
def test_copies_of_one_expert_are_that_expert(answer):
    torch.manual_seed(0)
    layer, x = answer(4, 6, 3, 2), torch.randn(1, 5, 4)
    first, *others = layer.experts
    for one in others:
        one.load_state_dict(first.state_dict())
    assert torch.allclose(layer(x), first(x), atol=1e-5), "three copies of one expert give something else"

# %% [markdown]
# ## Pitfalls
#
# - **The right rotation in the wrong order of columns.** No shape reveals it, only the text that is generated.
# - **`repeat` for `repeat_interleave`.** The heads are then shared 0, 1, 0, 1 instead of 0, 0, 1, 1: a model trained that way works, but a published checkpoint does not.
# - **Angles in bfloat16.** Positions are exact only up to 256, so short texts show no error.
# - **Softmax over all experts, then the best k.** The weights no longer sum to one, and the layer's output gets smaller the more experts there are.
# - **A balance loss of counts alone.** Counts have no gradient, so such a loss teaches the router nothing.
# - **Parameters, computation and cache confused.** They are three different costs: say which one a change saves.
#
# ## What real models changed
#
# | | here | elsewhere |
# |---|---|---|
# | norm | RMS, before each sub-layer | Gemma: weights stored as $w - 1$, and since Gemma 2 also a norm after each sub-layer; OLMo 2: only after it; Qwen 3: of queries and keys as well |
# | feed-forward | SwiGLU | Gemma: the same with GELU |
# | positions | base 10,000 | Llama 3: base 500,000, since Llama 3.1 with slow pairs stretched for longer texts; Gemma 3: two bases; every fourth layer of some models: none |
# | keys and values | shared by groups | DeepSeek-V3: latent, with a small rotated part beside it that all heads share |
# | window | with sinks as tokens | gpt-oss: a learned score for each head that takes the place of a sink token |
# | balance | a loss | DeepSeek-V3: a bias on the router's scores, adjusted by a rule after each step, and only a very small loss |
#
# `tfkit diff gpt2 llama` in a terminal shows what the two files have in common; `tfkit read llama` is the whole model on a page.

# %% [markdown]
# ## Put it into your model
#
# Rotary positions, RMS norm before each part and SwiGLU take the places of what units 04 and 05 had put in. The loop, the steps and the text stay the same.

# %% role="experiment"
from course import my_model

my_model.add_unit("13-from-gpt2-to-today")

# %% [markdown]
# ## A page to send to a friend
#
# What has grown since unit 01 fits on one page, `my-model.html` beside this notebook: a text that your model writes and that one can step through byte by byte, which of its parts are your own, and the table. It needs no server and no network. It shows none of your code, and not your name. After 100 steps the model knows which letters go together and little more; `my_model.add_unit("13-from-gpt2-to-today", steps=1000)` trains it longer, and the page then shows that model.

# %% role="experiment"
my_model.publish("my-model.html", prompt="Open")

# %% [markdown] role="task" task="what-would-you-change" points=2
# ## In your own words
#
# You have to serve a chat model to many users at once, with conversations of 30,000 tokens, on GPUs whose memory is full. Which of the changes of this unit do you try first, what exactly does it save, and what can go wrong?
#
# ### BEGIN MARK SCHEME
# - 1 point: the cache is what grows with users and length; grouped or latent keys divide it by H/KV (or by 2HD/C), a window bounds it. Experts or the gate do not help: they change parameters and computation.
# - 1 point for any one: fewer key-value heads cost quality, and an existing model has to be trained further; a window forgets what lies before it, and without sinks the model's predictions collapse; latent keys need the products absorbed, or unpacking costs more than it saves.
# - Related: `modern.grouped_query/full_keys`, `modern.sink_mask/sinks_left_out`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Touvron et al. 2023, [LLaMA](https://arxiv.org/abs/2302.13971): section 2 lists its changes to GPT in half a page.
# - Zhang and Sennrich 2019, [Root Mean Square Layer Normalization](https://arxiv.org/abs/1910.07467); Shazeer 2020, [GLU Variants Improve Transformer](https://arxiv.org/abs/2002.05202).
# - Ainslie et al. 2023, [GQA](https://arxiv.org/abs/2305.13245): how to turn a trained model into one with shared keys.
# - Xiao et al. 2023, [Efficient Streaming Language Models with Attention Sinks](https://arxiv.org/abs/2309.17453).
# - Fedus et al. 2021, [Switch Transformers](https://arxiv.org/abs/2101.03961); Jiang et al. 2024, [Mixtral of Experts](https://arxiv.org/abs/2401.04088).
# - DeepSeek-AI 2024, [DeepSeek-V2](https://arxiv.org/abs/2405.04434): section 2.1 derives latent attention.
