# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 14 · Fast
#
# **The question.** FlashAttention computes *exactly* what unit 01's attention computes, does more arithmetic for it, and is several times faster. How can more work take less time?
#
# It can because arithmetic is not the bottleneck. A GPU of 2023, the H100, does 990 trillion multiplications and additions per second, and reads 3.35 trillion *bytes* per second from its memory. In the time in which it reads one number of two bytes, it could do 590 operations. What is slow is **memory traffic**:
# what is written to the GPU's large memory and read again.
#
# So everything in this unit follows one rule: *do not store what you can recompute.* You build attention that never stores its matrix of scores, forward and backward, a loss that never stores all its logits, a cache without wasted space, and 8-bit weights. At the end the same attention runs as a real kernel.

# %% role="setup"
import os

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit.nn import masked_softmax, scaled_dot_product_attention
from tfkit.tools.memory import peak_bytes
from tfkit_lab import show

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # for the kernel at the end; read when triton is first imported

# %% [markdown]
# ## 1 · Merge attention over two halves
#
# Suppose that the keys come in two halves, and attention over each half has been computed. You have the two outputs $o_1$, $o_2$, but the scores were not kept. Can you still compute the attention over *all* keys?
#
# A softmax divides by the sum $\sum_j e^{s_j}$. The sum over all keys is the sum of the two halves' sums. So each half has to keep one more number: the logarithm of its sum, the **log-sum-exp** ($\text{lse}$). It is a logarithm because the sum itself can overflow: float32 ends at $e^{88}$.
#
# $$\text{lse} = \log\left(e^{\text{lse}_1} + e^{\text{lse}_2}\right) \qquad o = e^{\text{lse}_1 - \text{lse}}\, o_1 + e^{\text{lse}_2 - \text{lse}}\, o_2$$
#
# A half without any keys has $\text{lse} = -\infty$ and $o = 0$, and contributes nothing; if neither half has any, the same two values are the result. `torch.logaddexp` computes the first formula without overflow.

# %% role="predict"
predict("14.merge", predict.number("o₁ = 10 with lse₁ = 0, o₂ = 20 with lse₂ = log 3. What is the attention over both halves?", within=0.01))

# %% role="exercise" exercise="fast.merge"

# %% role="demo"
guess = predicted("14.merge")
try:
    both, lse = merge_attention(torch.tensor([10.0]), torch.tensor(0.0), torch.tensor([20.0]), torch.tensor(3.0).log())
    guess.compare(both[0])
    scores, values = torch.randn(7, generator=torch.Generator().manual_seed(0)), torch.arange(7.0)[:, None]
    halves = [(part.softmax(0) @ value, part.logsumexp(0)) for part, value in zip(scores.split(4), values.split(4), strict=True)]
    print("from two halves", merge_attention(*halves[0], *halves[1])[0].item(), " at once", (scores.softmax(0) @ values).item())
except NotImplementedError:
    print("Build merge_attention first.")

# %% [markdown]
# ## 2 · Attention without the score matrix
#
# Now cut the keys into blocks, and go through them once. For each query keep three quantities: the largest score so far $m$, the sum of weights so far $\ell$, and the sum of weighted values so far $a$. This is the **online softmax** (Milakov and Gimelshein 2018):
#
# $$m' = \max\big(m, \max_j s_j\big) \qquad \ell' = e^{m - m'}\,\ell + \sum_j e^{s_j - m'} \qquad a' = e^{m - m'}\, a + \sum_j e^{s_j - m'}\, v_j$$
#
# The factor $e^{m-m'}$ rescales what was summed with an earlier maximum. After the last block the output is $a/\ell$ and $\text{lse} = m + \log \ell$. There are never more than `Q * block` scores at once, however long the text is. This is FlashAttention (Dao et al. 2022).
#
# With `causal=True` and fewer queries than keys, the queries are the *last* positions, as with a cache: query $i$ sees keys $j \le i + K - Q$. Sum in float32 or better; the output and the lse are in q's dtype again.
#
# **Predict, then run.** One query's scores come in three blocks: 2, 1, then 5, 0, then 4, 3. After the first block, the sums are rescaled whenever a larger score comes.

# %% role="predict"
predict("14.rescaled", predict.number("Scores 2, 1 | 5, 0 | 4, 3: how often must the sums be rescaled?"))

# %% role="exercise" exercise="fast.flash_attention"

# %% role="demo"
guess = predicted("14.rescaled")
scores = torch.tensor([2.0, 1.0, 5.0, 0.0, 4.0, 3.0])
tops = [block.max().item() for block in scores.split(2)]
corrected = sum(new > max(before) for new, before in ((tops[i], tops[:i]) for i in (1, 2)))
guess.compare(corrected)
torch.manual_seed(0)
q, k, v = torch.randn(2, 5, 8), torch.randn(2, 9, 8), torch.randn(2, 9, 8)
try:
    for block in (1, 4, 100):
        output, lse = flash_attention(q, k, v, block, causal=True)
        expected = scaled_dot_product_attention(q, k, v, torch.ones(5, 9).bool().tril(4))[0]
        print(f"blocks of {block:3}: largest difference from ordinary attention {(output - expected).abs().max().item():.0e}")
except NotImplementedError:
    print("Build flash_attention first.")

# %% [markdown]
# What does the correction do to the weights? With the six scores of the prediction, *your* function reads one block, then two, then all three; its $\text{lse}$ gives the attention weight of each key so far, $e^{s_j - \text{lse}}$.

# %% role="demo"
try:
    column, so_far = scores.view(1, 6, 1), torch.zeros(3, 6)
    for blocks in (1, 2, 3):
        part = column[:, : 2 * blocks]
        _, lse = flash_attention(torch.ones(1, 1, 1), part, part, 2)
        so_far[blocks - 1, : 2 * blocks] = (part - lse.unsqueeze(-1)).exp().flatten()
    read, keys = ["1", "1+2", "1+2+3"], [f"{score:.0f}" for score in scores]
    display(show.matrices({"weight so far": so_far}, read, keys, "One query, block by block", ("blocks read", "key with the score")))
except NotImplementedError:
    print("Build flash_attention first.")

# %% [markdown]
# *Figure: three rows, six keys. After one block, the keys with scores 2 and 1 share the whole attention, 0.73 and 0.27. Then comes the score 5: in the second row it has nearly everything, and the first two have shrunk together, to a fifteenth of what they were. The third block takes a third
# of its share; its scores are smaller.*
#
# Both early weights were multiplied by the *same* factor, so only their sums have to be kept. That is why the scores of a block can be discarded.
#
# How much memory does it save? The next cell measures the peak memory of each version exactly: the largest number of bytes that are allocated at the same time.

# %% role="demo"
LENGTHS, BLOCK = [128, 256, 512, 1024, 2048], 64
ways = {"the full matrix": lambda x: scaled_dot_product_attention(x, x, x), "yours, in blocks": lambda x: flash_attention(x, x, x, BLOCK)}
try:
    need = {name: [peak_bytes(lambda: way(torch.randn(1, length, 16))) / 2**20 for length in LENGTHS] for name, way in ways.items()}
    fig, ax = plt.subplots(figsize=(5.5, 2.6))
    for (name, found), color in zip(need.items(), ("#c44e52", "#2a6fb0"), strict=True):
        ax.loglog(LENGTHS, found, "o-", color=color, label=name)
        ax.annotate(f"{found[-1]:.1f} MB", (LENGTHS[-1], found[-1]), xytext=(6, -3), textcoords="offset points", color=color)
    ax.set(xlabel="length of the text", ylabel="peak memory (MB)", xticks=LENGTHS, xticklabels=LENGTHS, xlim=(110, 4200))
    ax.set_yticks([0.1, 1, 10], ["0.1", "1", "10"]), ax.set_ylim(0.08, 60)
    ax.minorticks_off(), ax.legend(frameon=False), plt.show()
except NotImplementedError:
    print("Build flash_attention first.")

# %% [markdown]
# *Figure: memory against length, both axes logarithmic. The line of the full matrix is twice as steep as that of the blocks: four times the memory for twice the text, against twice the memory. At 2,048 tokens the full matrix takes tens of megabytes, the blocks a few.*
#
# ## 3 · Counting memory traffic
#
# In ordinary attention, every operation on a GPU reads its input from the large memory and writes its result back: the product writes $L^2$ scores; scaling, masking and softmax each read and write them; the product with the values reads them: $8 L^2$ numbers.
# A **kernel** is a program that runs on the GPU as one piece, and keeps what it works on in the processors' own small memory, which is about ten times faster. In such a kernel, each processor takes a *tile* of $T$ queries, goes through all keys and values once, and writes only the output. The keys and values are read once for each of the $L/T$ tiles:
#
# $$\text{full matrix: } 8 L^2 + 4 L D \qquad\qquad \text{tiles: } \frac{L}{T} \cdot 2 L D + 2 L D$$
#
# **Predict, then run.** Take $L = 4096$, $D = 64$ and tiles of $T = 128$ queries.

# %% role="predict"
predict("14.traffic", predict.number("By what factor do tiles reduce the traffic? (To the nearest whole number.)", within=0.5))

# %% role="demo"
guess = predicted("14.traffic")
table = lambda length, width=64: 8 * length**2 + 4 * length * width
tiled = lambda length, width=64, tile=128: length / tile * 2 * length * width + 2 * length * width
guess.compare(table(4096) / tiled(4096))
flops, per_byte = 4 * 4096**2 * 64, 990e12 / 3.35e12
print(f"operations per byte: full matrix {flops / (2 * table(4096)):.0f}, tiles {flops / (2 * tiled(4096)):.0f}; an H100 can do {per_byte:.0f} while it reads one")
fig, ax = plt.subplots(figsize=(5.5, 1.7))
sizes = [2 * table(4096) / 2**20, 2 * tiled(4096) / 2**20]
ax.barh(["full matrix", "tiles of 128"][::-1], sizes[::-1], color=["#2a6fb0", "#c44e52"])
for row, size in enumerate(sizes[::-1]):
    ax.text(size + 4, row, f"{size:.0f} MB", va="center", fontsize=9)
ax.set(xlabel="read and written for one head, 4,096 tokens", xlim=(0, 320))
plt.show()

# %% [markdown]
# *Figure: two bars. With the full matrix 258 MB are read and written for one head, with tiles 33 MB.*
#
# Attention with the full matrix does 16 operations for each byte that it moves, and the GPU could do 296: its arithmetic units are idle 95 percent of the time. Larger tiles mean less traffic, until they no longer fit: FlashAttention's tile sizes are chosen to fill the processors' small memory. (Your Python loop takes *all* queries at once and only blocks of keys; what it shares with the kernel is the arithmetic.)
#
# ## 4 · The backward pass without the score matrix
#
# Training needs gradients, and autograd stores the weights of the forward pass, again a matrix of $L^2$ numbers. FlashAttention stores only $o$ and $\text{lse}$, and *recomputes* the weights, block by block, now directly: $P_{ij} = e^{s_{ij} - \text{lse}_i}$. This is more arithmetic and less traffic. For one block of keys:
#
# $$dV = P^\top dO \qquad dP = dO\, V^\top \qquad dS = P \odot (dP - \delta) / \sqrt{D} \qquad dQ \mathrel{+}= dS\, K \qquad dK = dS^\top Q$$
#
# What is $\delta$? Raising one score lowers all other weights of its row, and that costs the weighted mean of the row's $dP$, over *all* keys: $\delta_i = \sum_j P_{ij}\, dP_{ij}$. It looks as if the whole row were needed after all. But substitute $dP_{ij} = dO_i \cdot v_j$:
#
# $$\delta_i = \sum_j P_{ij}\, (dO_i \cdot v_j) = dO_i \cdot \sum_j P_{ij}\, v_j = dO_i \cdot o_i$$
#
# This is the dot product of two vectors that are both available. It makes the backward pass in blocks possible.

# %% role="predict"
predict("14.delta", predict.choice("All values v are the same vector. The gradient of the queries is then …", "zero", "largest", "that of the first key alone"))

# %% role="exercise" exercise="fast.flash_backward"

# %% role="demo"
guess = predicted("14.delta")
torch.manual_seed(0)
q, k, d_o = torch.randn(1, 3, 4), torch.randn(1, 6, 4), torch.randn(1, 3, 4)
try:
    same = torch.randn(1, 1, 4).expand(1, 6, 4)
    o, lse = flash_attention(q, k, same, 2)
    d_q, d_k, d_v = flash_backward(q, k, same, o, lse, d_o, 2)
    guess.compare("zero" if d_q.abs().max() < 1e-5 else "largest")
    print("largest entry of d_q:", f"{d_q.abs().max().item():.0e}", " of d_v:", f"{d_v.abs().max().item():.2f}")
except NotImplementedError:
    print("Build flash_attention and flash_backward first.")

# %% [markdown]
# If all values are the same, it does not matter which keys a query attends to. Now both passes together make a function that autograd can use, which stores only inputs, output and lse between them:

# %% role="demo"
class Flash(torch.autograd.Function):
    """Your two functions, as one step that autograd goes through."""

    @staticmethod
    def forward(context, q, k, v, block):
        output, lse = flash_attention(q, k, v, block, True)
        context.save_for_backward(q, k, v, output, lse)
        context.block = block
        return output

    @staticmethod
    def backward(context, d_o):
        return *flash_backward(*context.saved_tensors, d_o, context.block, True), None


def step(way, length):
    """A forward and a backward pass."""
    q, k, v = (torch.randn(1, length, 16, requires_grad=True) for _ in range(3))
    way(q, k, v).sum().backward()


by_matrix = lambda q, k, v: scaled_dot_product_attention(q, k, v, torch.ones(q.size(1), q.size(1)).bool().tril())[0]
try:
    for name, way in (("full matrix", by_matrix), ("blocks, autograd", lambda q, k, v: flash_attention(q, k, v, 64, True)[0]), ("blocks, both passes", lambda q, k, v: Flash.apply(q, k, v, 64))):
        print(f"{name:19} {peak_bytes(lambda: step(way, 1024)) / 2**20:6.1f} MB peak memory, forward and backward, 1,024 tokens")
except NotImplementedError:
    print("Build flash_attention and flash_backward first.")

# %% [markdown]
# The middle line shows that in training, blocks in the forward pass alone are not enough. Autograd stores every block's weights for the backward pass, and all blocks together are the full matrix again: 4 MB here, and four times that for twice the text. Only the memory of the last version grows in proportion to the text and not to its square.
#
# ## 5 · A loss without all the logits
#
# At the other end of the model is a second large matrix: the logits, one for each position and each token of the vocabulary. With large vocabularies it is the largest tensor in training, though the loss needs just two numbers of each row: the target's logit and the log-sum-exp.
#
# The remedy is the same: take `chunk` positions at a time, add up their losses, and discard their logits. Targets of -100 do not count, and the mean is over *all* that do, not over the chunks' means. Sum in float32: in bfloat16, 512 + 1 is 512.

# %% role="predict"
predict("14.logits", predict.number("Llama 3 has 128,256 tokens in its vocabulary. How many GB (10⁹ bytes) are the logits of 8,192 tokens in float32?", within=0.1))

# %% role="exercise" exercise="fast.chunked_loss"

# %% role="demo"
guess = predicted("14.logits")
guess.compare(128256 * 8192 * 4 / 1e9)
torch.manual_seed(0)
h, w, targets = torch.randn(512, 32), torch.randn(4000, 32), torch.randint(0, 4000, (512,))
targets[::7] = -100
try:
    print(f"at once {F.cross_entropy(h @ w.T, targets).item():.6f}   {peak_bytes(lambda: F.cross_entropy(h @ w.T, targets)) / 2**20:5.1f} MB")
    for chunk in (128, 16):
        loss = chunked_cross_entropy(h, w, targets, chunk)
        print(f"by {chunk:4} {loss.item():.6f}   {peak_bytes(lambda: chunked_cross_entropy(h, w, targets, chunk)) / 2**20:5.1f} MB")
except NotImplementedError:
    print("Build chunked_cross_entropy first.")

# %% [markdown]
# That was the forward pass. In training autograd would store each chunk's logits, as it stored the blocks' weights. `torch.utils.checkpoint` around each chunk drops them and recomputes them in the backward pass: again more arithmetic for less memory.
#
# ## 6 · A cache in pages
#
# A server answers many people at once, and does not know in advance how long an answer will be. If it reserves room for the longest possible one, most of the memory stays empty: in the servers of 2023, 60 to 80 percent of the cache was unused (Kwon et al. 2023).
#
# Operating systems solved this long ago. The memory is cut into **pages** of, say, 16 tokens. A text's cache may be on any pages, in any order, and a **page table** says which: `tables[b]` are the numbers of text `b`'s pages, in the order of the text. A new page is taken when the last one is full. Two texts with the same beginning can even *share* their first pages.
#
# What is on a page after a text's last token is left over from another text and must not count. The entries of `tables` for pages that are not needed are -1 or any other page's number, and a text of no tokens gives zeros.

# %% role="predict"
predict("14.pages", predict.number("Texts of 5, 17 and 33 tokens, pages of 16 tokens: how many pages are needed?"))

# %% role="exercise" exercise="fast.paged_attention"

# %% role="demo"
guess = predicted("14.pages")
lengths, SIZE = torch.tensor([5, 17, 33]), 16
needed = -(-lengths // SIZE)
guess.compare(needed.sum())
torch.manual_seed(2)
order = torch.randperm(8).tolist()
tables = torch.full((3, 3), -1)
for text, count in enumerate(needed.tolist()):
    tables[text, :count] = torch.tensor([order.pop() for _ in range(count)])
pages = torch.zeros(8, SIZE)
for text in range(3):
    for place in range(int(lengths[text])):
        pages[tables[text, place // SIZE], place % SIZE] = text + 1
for text, count in enumerate(lengths.tolist(), 1):
    print(f"text {text}, {count:2} tokens: pages {[int(page) for page in tables[text - 1] if page >= 0]}")
show.matrices({"whose token (0: free)": pages.long()}, title="A cache in pages", axes=("page", "slot in the page"))

# %% [markdown]
# *Figure: eight pages of sixteen slots. The three texts are spread over six of them, each page in the colour of its text; the last page of every text is partly empty, and two pages are free. The lines above it give each text's pages in the order of the text.*

# %% role="demo"
torch.manual_seed(0)
stored_keys, stored_values, q = torch.randn(8, SIZE, 2, 4), torch.randn(8, SIZE, 2, 4), torch.randn(3, 2, 4)
try:
    paged = paged_attention(q, stored_keys, stored_values, tables, lengths)
    for text, count in enumerate(lengths.tolist()):
        own = tables[text, : needed[text]]
        keys, values = (store[own].flatten(0, 1)[:count].transpose(0, 1) for store in (stored_keys, stored_values))
        alone = scaled_dot_product_attention(q[text].unsqueeze(1), keys, values)[0].squeeze(1)
        print(f"text of {count:2} tokens: largest difference from attention over its own keys {(paged[text] - alone).abs().max().item():.0e}")
    print(f"slots used: {int(needed.sum()) * SIZE} for {int(lengths.sum())} tokens; with room for 48 tokens reserved for each text: {3 * 48}")
except NotImplementedError:
    print("Build paged_attention first.")

# %% [markdown]
# ## 7 · One byte per weight
#
# When a model generates *one* token, every weight is read once and used for one product. So the time for a token is the size of the weights divided by the memory bandwidth, and half the bytes take half the time. **Quantisation** stores integers of 8 bits, and for each row of the matrix one number, its **scale**, which turns them back into weights:
#
# $$\text{scale}_i = \frac{\max_j |w_{ij}|}{2^{\text{bits}-1} - 1} \qquad q_{ij} = \operatorname{round}\left(\frac{w_{ij}}{\text{scale}_i}\right) \qquad w_{ij} \approx q_{ij} \cdot \text{scale}_i$$
#
# Zero stays zero, and positive and negative numbers are treated alike. A row of zeros has scale 1. Clamp to $\pm(2^{\text{bits}-1} - 1)$: in bfloat16 the division can give 127.5, which rounds to 128, which becomes -128 in int8. (Dividing in float32 is right, too: in bfloat16 the check accepts integers that differ by one.)

# %% role="predict"
predict("14.outlier", predict.choice("One weight of a row is made 100 times larger than the others. The other weights of that row …", "stay as exact as they were", "lose most of their digits", "all become zero exactly when bits = 8"))

# %% role="exercise" exercise="fast.quantize"

# %% role="demo"
guess = predicted("14.outlier")
torch.manual_seed(0)
weights = torch.randn(2, 64)
weights[1, 0] = 100 * weights[1].abs().mean()
try:
    off = (dequantize_rows(*quantize_rows(weights)) - weights)[:, 1:].abs().mean(1) / weights[:, 1:].abs().mean(1)
    print(f"relative error of the other weights: ordinary row {off[0].item():.1%}, row with one large weight {off[1].item():.1%}")
    guess.compare("lose most of their digits" if off[1] > 10 * off[0] else "stay as exact as they were")
except NotImplementedError:
    print("Build quantize_rows and dequantize_rows first.")

# %% [markdown]
# ## The experiment: how few bits are enough?
#
# A small Llama is trained on the help pages of Python, character by character, for about a minute. Then the weights of all its layers are rounded to fewer and fewer bits, by your functions, and it reads pages that it has not seen. **Predict** before you run.

# %% role="predict"
predict("14.bits", predict.choice("The fewest bits per weight at which the loss is still within 2 percent of the unrounded model's", "8", "5 or 6", "3 or 4", "2"))

# %% role="experiment"
from pydoc_data.topics import topics

letters = torch.tensor([min(ord(letter), 127) for letter in "\n".join(topics[name] for name in sorted(topics))])


def draw_batch(source, count, generator, length=64):
    starts = torch.randint(0, len(source) - length, (count,), generator=generator).tolist()
    return torch.stack([source[start : start + length] for start in starts])


def train_reader(steps=500):
    """A Llama of two layers that has read the first 400,000 characters in part."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    sizes = {"vocab_size": 128, "d_model": 64, "n_layers": 2, "n_heads": 4, "n_kv_heads": 2, "d_ff": 168, "max_length": 256}
    model = tfkit.from_config("llama", head="causal_lm", **sizes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.95))
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 40) * (1 - step / (steps + 1)))
    for _ in range(steps):
        ids = draw_batch(letters[:400_000], 16, generator)
        optimizer.zero_grad(), model(ids, labels=ids).loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0), optimizer.step(), rate.step()
    return model.eval().requires_grad_(False)

# %% role="experiment"
guess = predicted("14.bits")
reader, unseen = train_reader(), draw_batch(letters[400_000:], 200, torch.Generator().manual_seed(1))
bits_per_character = lambda: reader(unseen, labels=unseen).loss.item() / torch.tensor(2.0).log().item()
whole, exact = {name: value.clone() for name, value in reader.state_dict().items()}, bits_per_character()
try:
    found = {}
    for bits in range(8, 1, -1):
        for name, module in reader.named_modules():
            if isinstance(module, nn.Linear):
                module.weight.copy_(dequantize_rows(*quantize_rows(whole[f"{name}.weight"], bits)))
        found[bits] = bits_per_character()
    reader.load_state_dict(whole)
    fewest = min(bits for bits, loss in found.items() if loss < 1.02 * exact)
    guess.compare("2" if fewest == 2 else "3 or 4" if fewest < 5 else "5 or 6" if fewest < 7 else "8")
    fig, ax = plt.subplots(figsize=(5.5, 2.6))
    ax.plot(list(found), list(found.values()), "o-", color="#2a6fb0"), ax.axhline(exact, color="#888888", lw=0.9, ls="--")
    ax.text(2, exact, "unrounded", va="bottom", ha="right", fontsize=9, color="#666666")
    ax.set(xlabel="bits per weight", ylabel="bits per character", xticks=list(found)), ax.invert_xaxis(), plt.show()
    print(f"unrounded {exact:.3f}  ", "  ".join(f"{bits} bits: {loss:.3f}" for bits, loss in found.items()))
except NotImplementedError:
    print("Build quantize_rows and dequantize_rows first.")

# %% [markdown]
# *Figure: the loss against the bits per weight, from 8 on the left to 2 on the right. From 8 to 5 bits the curve lies on the line of the unrounded model; then it bends upwards, and with 2 bits the model has lost most of what it had learned.*
#
# Large models have a further problem: some columns of their activations can be a hundred times larger than the others, like the one large weight in a row above. That is why methods that round *activations* to int8 as well treat these columns separately (Dettmers et al. 2022).
#
# ## From your code to real models
#
# First, your attention takes the place of the library's in each layer of a Llama. The library compares every result.

# %% role="demo"
def my_attention(q, k, v, mask=None):
    """Your function, with the causal mask that a Llama asks for; the weights, from lse, for the comparison alone."""
    output, lse = flash_attention(q, k, v, 16, causal=True)
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    return output, (scores - lse.unsqueeze(-1)).exp().tril(k.size(-2) - q.size(-2))


try:
    sizes = {"d_model": 48, "n_heads": 6, "n_kv_heads": 2, "d_ff": 96, "n_layers": 3, "vocab_size": 50}
    llama = tfkit.from_config("llama", head="causal_lm", **sizes).eval()
    with torch.no_grad(), tfkit.substitute(llama, my_attention) as seen:
        llama(torch.arange(40)[None])
    print(seen)
except NotImplementedError:
    print("Build flash_attention first.")

# %% [markdown]
# Then, the kernel. The published FlashAttention is written in CUDA C++, not in Python. **Triton** is a language in between: it looks like Python, and is compiled for the GPU. Each *program* gets a number (`program_id`), loads its own tile of queries, and runs your loop. Compare it with your function: `top`, `total`, `output` and `kept` are the same four lines.

# %% role="demo"
from pathlib import Path

from IPython.display import Markdown

kernel = Path(tfkit.nn.__path__[0], "triton_flash.py").read_text(encoding="utf-8")
body = kernel[kernel.index("@triton.jit") : kernel.index("def triton_flash_attention")].rstrip()
display(Markdown(f"```python\n{body}\n```"))

# %% [markdown]
# On a GPU it is compiled. For machines without one, Triton has an interpreter that runs the same kernel, program after program, on the CPU: slow, but with the same numbers, and with a debugger. The compiler and the interpreter come with `pip install triton` (1 GB, Linux).

# %% role="experiment"
import time

try:
    from tfkit.nn.triton_flash import triton_flash_attention

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    q, k, v = (torch.randn(1, 2, 128, 32, device=device) for _ in range(3))
    triton_flash_attention(q, k, v, causal=True)  # the first call compiles
    start = time.perf_counter()
    output, lse = triton_flash_attention(q, k, v, causal=True)
    took = time.perf_counter() - start
    mine = flash_attention(q, k, v, 32, causal=True)
    differs = max((output - mine[0]).abs().max().item(), (lse - mine[1]).abs().max().item())
    print(f"the kernel on {device}: {took * 1e3:.1f} ms; largest difference from yours {differs:.0e}")
except ModuleNotFoundError as missing:
    print(f"Triton is not here ({missing}). To run the kernel: pip install triton, on Linux.")
except NotImplementedError:
    print("Build flash_attention first.")

# %% [markdown]
# ## Meet a real model
#
# SmolLM2 has 30 layers of seven matrices each (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB). First your attention runs in all layers, in blocks. Then your `quantize_rows` rounds the matrices, and the model reads a paragraph
# and continues a sentence.
#
# In the last line of the table the rows are cut into groups of 32 weights, and each group has a scale of its own: `quantize_rows` does this if it is given the matrix with 32 columns. **Before you run it:** the small model above needed four bits. Does a model that is a
# thousand times as large need more or fewer?

# %% role="experiment"
from tfkit.decode import Greedy

PARAGRAPH = """Most of the light that reaches the bottom of a forest has passed through leaves on its way. Leaves keep the red and the blue and let the green go by,
so that whatever grows below has to live on what is left. Some plants have answered with larger leaves, others by flowering early in spring, before the trees above have any."""


def rounded(weight, bits, columns=None):
    """The weight [O,I] with so many bits for each number, and a scale for each row, or for each `columns` numbers of a row."""
    pieces = weight if columns is None else weight.reshape(-1, columns)
    return dequantize_rows(*quantize_rows(pieces, bits)).reshape(weight.shape)

# %% role="experiment"
try:
    smol = tfkit.Text("SmolLM2-135M-Instruct", dtype="float32")
    ids = torch.tensor(smol.tokenizer.encode([PARAGRAPH]))
    with torch.no_grad(), tfkit.substitute(smol.model, my_attention) as seen:
        smol.model(ids)
    print(seen)
    matrices = [part for part in smol.model.layers.modules() if isinstance(part, nn.Linear)]
    trained = [part.weight.detach() for part in matrices]
    for bits, columns in ((32, None), (8, None), (5, None), (4, None), (3, None), (4, 32)):
        for part, weight in zip(matrices, trained):
            part.weight = nn.Parameter(weight if bits == 32 else rounded(weight, bits, columns), requires_grad=False)
        with torch.no_grad():
            nats = smol.model(ids, labels=ids).loss.item()
        name = "as it was" if bits == 32 else f"{bits} bits" + (", a scale for 32" if columns else "")
        words = smol.generate("The old lighthouse keeper", Greedy(), max_new_tokens=14).replace("\n", " ")
        print(f"{name:24} {nats:5.2f} nats   The old lighthouse keeper{words}")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build flash_attention, quantize_rows and dequantize_rows first.")

# %% [markdown]
# Eight bits cost almost nothing here, too. With four, the loss of the small model was a hundredth higher, and that of this one is a tenth higher; with three, no meaningful text is left. In a row of 576 weights or more, the largest one decides how coarsely all the others are rounded. With a scale for every 32 of
# them, four bits are better than five with a scale for each row: the scales add half a bit per weight, if they have 16 bits. The file that you downloaded stores its weights in this way, in four bits and with two numbers for each block of 32.
#
# ## Find the fault
#
# The size of a chunk is a matter of memory, and the result must not depend on it: that is a test for everything that works in
# pieces. Choose a chunk size that does not divide the number of positions, so that not all pieces have the same size. Below is a
# loss without all the logits, as somebody wrote it, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="fast.chunked_loss" seed=4
def test_the_chunk_changes_nothing(answer):
    torch.manual_seed(0)
    h, w, targets = torch.randn(5, 3), torch.randn(4, 3), torch.tensor([0, 1, 2, 3, 0])
    assert torch.allclose(answer(h, w, targets, 2), answer(h, w, targets, 5), atol=1e-5), "another chunk, another loss"

# %% [markdown]
# ## Pitfalls
#
# - **No correction when the maximum rises.** With random scores of equal size the error is small, and a test with a coarse tolerance passes. Test with scores that rise from block to block.
# - **-inf minus -inf.** A row may see no key of a block, for example if the blocks are read in another order. Then its maximum is still $-\infty$, and $-\infty - (-\infty)$ is NaN.
# - **Memory saved only in the forward pass.** Blocks or chunks that autograd stores save nothing. Measure the memory of a whole training step.
# - **A mean of means.** Chunks have different numbers of targets that count.
# - **The last page.** It is often only partly filled by this text; the rest is left over from another one.
# - **Operations taken for time.** Fewer operations do not always take less time, nor more operations more. Count bytes first.
#
# ## What real models changed
#
# | | here | elsewhere |
# |---|---|---|
# | loop | keys outside, all queries inside | FlashAttention-2: queries outside, one tile per processor; FlashAttention-3 (H100): loads the next block while this one is multiplied |
# | rescaling | at each block | FlashAttention-4: only when the maximum rises enough to matter |
# | merging halves | one cache, in pages | flash-decoding: the keys of one long text on many processors; ring attention: on many machines; both end in your `merge_attention` |
# | loss in chunks | logits recomputed in the backward pass | Liger, Cut Cross-Entropy: gradients in the same pass, logits never leave the small memory |
# | pages | one query per text | vLLM: pages shared between texts with the same beginning; SGLang: shared prefixes are found in a tree |
# | int8 rows | scale from the largest weight | GPTQ, AWQ: 4 bits, chosen so that the layer's *output* changes least; FP8, MXFP4: short floating-point numbers, in MXFP4 with one scale for every 32 |

# %% [markdown] role="task" task="what-makes-it-faster" points=2
# ## In your own words
#
# A colleague replaces the attention of a model by FlashAttention. Training on texts of 8,192 tokens becomes three times faster; generating answers one token at a time, for one user, becomes no faster at all. Explain both. What would make generation faster?
#
# ### BEGIN MARK SCHEME
# - 1 point: in training, ordinary attention reads and writes the matrix of L² scores, and FlashAttention does not; when one token is generated there is only one query, so the matrix has a single row, and what takes the time is reading the weights (and the cache) once for each token.
# - 1 point for any one: fewer bytes to read (quantised weights, shared or latent keys, a quantised cache); more users at once, so that a weight that was read is used for many; several tokens at a time (speculative decoding).
# - Related: `fast.flash_attention/all_scores_at_once`, `fast.quantize/floating_integers`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Dao et al. 2022, [FlashAttention](https://arxiv.org/abs/2205.14135): section 3.1 and appendix B.2 derive what you built; Dao 2023, [FlashAttention-2](https://arxiv.org/abs/2307.08691).
# - Milakov and Gimelshein 2018, [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867): the running maximum and sum, in section 3.
# - Kwon et al. 2023, [Efficient Memory Management for LLM Serving with PagedAttention](https://arxiv.org/abs/2309.06180).
# - Dettmers et al. 2022, [LLM.int8()](https://arxiv.org/abs/2208.07339): where the large columns are, and when they appear.
# - Wijmans et al. 2024, [Cut Your Losses in Large-Vocabulary Language Models](https://arxiv.org/abs/2411.09009).
# - Williams et al. 2009, [Roofline](https://doi.org/10.1145/1498765.1498785): operations and bytes in one diagram.
