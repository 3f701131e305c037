# %% [markdown]
# # Look inside
#
# Language models, taken apart. Every picture below was recorded from a real model. Point at a word to highlight it
# wherever it occurs on this page; use the arrow keys to step and to move. The page loads nothing from the network, so
# you can save it or send it to a friend.
#
# - **Trained models:** [attention](#What-does-%E2%80%9Cit%E2%80%9D-mean?) · [beam search](#One-word-after-the-other) ·
#   [logit lens](#When-does-it-know?) · [contributions](#What-raised-the-logit-of-this-token?) ·
#   [activation patching](#The-head-that-fetches-%E2%80%9CItaly%E2%80%9D) ·
#   [every number of one step](#Every-number-of-one-step) ·
#   [attention of your own](#The-same-walk-through-attention-of-your-own)
# - **Decoding:** [two runs](#Greedy,-and-a-sample) · [diverse beams](#Diverse-beams,-over-an-encoder-decoder) ·
#   [contrastive search](#Contrastive-search) · [speculative decoding](#Speculative-decoding)
# - **Attention patterns:** [memory](#Memory:-Transformer-XL) ·
#   [windows](#Window,-global-and-random-keys:-Longformer-and-BigBird) · [buckets](#Buckets:-Reformer) ·
#   [order](#An-order-and-two-streams:-XLNet) · [masks](#Masks,-and-what-really-flows) ·
#   [streams](#Streams-that-look-ahead:-ProphetNet) · [positions](#Positions)
# - **Training and use:** [objectives](#What-is-to-be-learned) · [retrieval](#Retrieval) · [training](#Training) ·
#   [anatomy](#Anatomy:-from-BERT-to-RoBERTa)
#
# ## What does “it” mean?
# MiniLM reads this sentence, and nobody ever taught it grammar. In layer 3, one of its heads attends from “it” to
# “animal”. Choose other heads: some attend to the previous word, some to the next one, some to the full stop.

# %%
import torch

import tfkit
from tfkit.decode import Beam, Contrastive, Diverse, Greedy, Sample, Speculative, record
from tfkit_lab import Stepper, show


def opened(picture, **place):
    """The picture, with its cursor where there is something to see."""
    picture.place = place
    return picture


reader = tfkit.Text("all-MiniLM-L6-v2")
read = reader.tokenizer.inner.encode("The animal didn't cross the street because it was too tired.")
how = dict(tokens=read.tokens, title="MiniLM reads a sentence")
opened(show.attention(reader.model, input_ids=torch.tensor([read.ids]), **how), layer=3, head=1, row=10, col=2)

# %% [markdown]
# ## One word after the other
# SmolLM2 completes a sentence. Beam search keeps the three best hypotheses and drops the others; step through it to
# see what the model almost said.

# %%
text = tfkit.Text("SmolLM2-135M-Instruct")


def tokens(words):
    return torch.tensor(text.tokenizer.encode([words], specials=False)[0])


def word(token):
    return text.tokenizer.inner.decode([token])


def completed(strategy, title, prompt="The opposite of hot is", count=10):
    generator = torch.Generator().manual_seed(3)
    how = dict(token=word, strategy=strategy, title=title, generator=generator, budget=90_000)
    return record(text.model, tokens(prompt), max_new_tokens=count, **how)


Stepper(completed(Beam(3), "SmolLM2 completes a sentence"), step=4)

# %% [markdown]
# ## When does it know?
# What SmolLM2 would predict after each of its 30 layers, for each word of a text (the “logit lens”): the deeper the
# colour, the more confident the prediction, and a frame marks a correct one. The first twenty layers mostly predict
# commas. In “The capital of Italy is”, Rome appears only in the very last one.

# %%
asked = tokens("The capital of France is Paris. The capital of Italy is")
opened(show.logit_lens(text.model, asked, token=word, title="SmolLM2, layer by layer"), row=29, col=11)

# %% [markdown]
# ## What raised the logit of this token?
# The logits are a sum: each layer adds the output of its attention and of its feed-forward network. The bars show how
# much each of them adds to the logit of “Rome”. Choose another word above them.

# %%
show.contributions(text.model, asked, token=word, title="Who said Rome?")

# %% [markdown]
# ## The head that fetches “Italy”
# With Spain in the prompt, the answer is Madrid. Now replace the output of one head at a time by its output in the text
# about Italy (activation patching): which of the 270 heads brings Rome back? One of them does most of it alone.

# %%
rome, madrid = (int(tokens(name)[0]) for name in (" Rome", " Madrid"))
spain = tokens("The capital of France is Paris. The capital of Spain is")
ahead = lambda out: out.logits[0, -1, rome] - out.logits[0, -1, madrid]
show.patching(
    text.model, {"input_ids": asked[None]}, {"input_ids": spain[None]}, ahead, title="From Madrid back to Rome"
)

# %% [markdown]
# ## Every number of one step
# From the text to the sampled token: each stage opens to show all its numbers, and each number tells how it was
# computed. The model is a GPT-2 so small that all of it fits here; it was trained on sixteen sentences.

# %%
vocabulary = "<pad> </s> <mask> the a black small cat dog mat sat ran on to . <2> <1> <0>"
words = vocabulary.split()


def model(seed, name="gpt2", head="causal_lm", **fields):
    torch.manual_seed(seed)
    size = dict(vocab_size=len(words), d_model=32, n_heads=4) | ({} if "layers" in fields else {"n_layers": 2})
    made = tfkit.from_config(name, head=head, **size | fields)
    for parameter in made.parameters():
        parameter.data += 0.05 * torch.randn_like(parameter)  # surer of itself than fresh weights are
    return made.eval()


def ids(text):
    return torch.tensor([words.index(word) for word in text.split()])


said = [f"the {a} {b} {c} ." for a in ("black", "small") for b in ("cat", "dog") for c in
        ("sat on the mat", "ran to the cat", "sat on a small mat", "ran on")]  # fmt: skip
rows = [ids(f"{one} </s>") for one in said]
batch = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
next_word = dict(input_ids=batch, labels=batch.masked_fill(batch == 0, -100))


def taught(made, steps, inputs=lambda: next_word):
    """The model after some steps on sixteen sentences, and its losses."""
    optimizer, losses = torch.optim.AdamW(made.train().parameters(), lr=3e-3), []
    for _ in range(steps):
        loss = made(**inputs()).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return made.eval(), losses


writer, losses = taught(model(0, max_length=64), 120)


def decoded(strategy, title):
    generator = torch.Generator().manual_seed(1)
    return record(
        writer,
        ids("the black"),
        token=words.__getitem__,
        strategy=strategy,
        end_id=1,
        max_new_tokens=10,
        title=title,
        generator=generator,
    )


prompt = "the black cat sat on the"
how = dict(tokens=prompt.split(), token=words.__getitem__, title="One step of a small GPT-2")
show.walk(writer, input_ids=ids(prompt)[None], **how)

# %% [markdown]
# ## The same walk through attention of your own
# The walk records whatever is computed, in anybody's code. Here the mask is applied after the softmax, a common
# mistake: the rows no longer sum to 1, and the stage at which this happens shows its line of code.
#
# **Try it:** open the softmax and then the stage after it, and compare the sums at the ends of the rows.


# %%
def my_attention(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    weights = scores.softmax(-1)
    masked = weights * mask
    return masked @ v


torch.manual_seed(3)
q, k, v = torch.randn(3, 1, 2, 6, 8)
how = dict(tokens=prompt.split(), title="Attention, masked too late")
opened(show.walk(my_attention, q, k, v, torch.ones(6, 6).tril(), **how), stage=4, row=2)

# %% [markdown]
# ## Greedy, and a sample
# Two runs of one model side by side, from the same prompt: which candidates are left after temperature, top-k and
# top-p, where the two texts diverge, and how the cache grows.
#
# **Try it:** press “First difference”. Which candidates did the sample have left at that step, and which did the
# greedy run choose?

# %%
once = "Once upon a time, there was a"
greedy, drawn = (
    completed(Greedy(), "Greedy, and a sample", once, 12),
    completed(Sample(1.1, top_k=40, top_p=0.9), "", once, 12),
)
Stepper(greedy, drawn, step=2)

# %% [markdown]
# ## Diverse beams, over an encoder-decoder
# This model was trained to reverse a sentence. The search has two groups of two beams; the second group is penalised
# for tokens that the first has just chosen.
#
# **Try it:** step on, and look at the column of penalties: which words does the second group have to pay for?

# %%
translator = model(2, name="transformer", head="seq2seq_lm", d_ff=64, dropout=0.0)
mirrored = [torch.cat([row[:-1].flip(0), row[-1:]]) for row in rows]
goals = torch.nn.utils.rnn.pad_sequence(mirrored, batch_first=True, padding_value=-100)
backwards = dict(input_ids=batch, attention_mask=batch != 0, labels=goals)
taught(translator, 250, lambda: backwards)
diverse = Diverse(4, groups=2, penalty=1.0)
how = dict(token=words.__getitem__, strategy=diverse, max_new_tokens=8, end_id=1, title="Backwards, in diverse beams")
Stepper(record(translator, ids("the small dog ran on . </s>"), **how), step=3)

# %% [markdown]
# ## Contrastive search
# Likely tokens that differ from the text so far: a candidate's score falls with its similarity to the earlier hidden
# states.
#
# **Try it:** step on. Where does the column “value” prefer another token than the column “p”?

# %%
Stepper(decoded(Contrastive(4, 0.6), "Contrastive search"), step=2)

# %% [markdown]
# ## Speculative decoding
# A draft model proposes four tokens; each is accepted with probability min(1, p / q). Everything after a rejected token
# is discarded.
#
# **Try it:** step on, and count how many draft tokens are accepted each time.

# %%
draft, _ = taught(model(1, n_layers=1, max_length=64), 30)
Stepper(decoded(Speculative(draft, 4, Sample()), "Speculative decoding"))

# %% [markdown]
# ## Memory: Transformer-XL
# The hidden states of the previous segment are keys too. Colours and the table tell the kinds of keys apart; faint
# cells may be attended to, but have no weight.
#
# **Try it:** move to another word with the arrow keys. How much of its attention goes to the sentence before?

# %%
sentence = "the black cat sat on the small mat ."
small = dict(d_ff=64, dropout=0.0)
remembering = model(3, name="transformer_xl", d_embed=32, d_head=8, cutoffs=(), mem_len=9, same_length=False, **small)
before = "the small dog ran on to the mat ."
taught(remembering, 100)
mems = remembering(input_ids=ids(before)[None]).mems
how = dict(input_ids=ids(sentence)[None], mems=mems, tokens=sentence.split(), keys=f"{before} {sentence}".split())
opened(show.attention(remembering, title="Transformer-XL: memory", **how), layer=1, row=4, col=6)

# %% [markdown]
# ## Window, global and random keys: Longformer and BigBird
# Longformer's first token is global: it attends to all positions, and all attend to it. BigBird attends to blocks: the
# neighbouring ones, the first and the last, and, in training only, some random ones.
#
# **Try it:** go down a column with the arrow keys. Where does the window end, and which key is seen from everywhere?

# %%
several = " ".join([sentence] * 4)
stories = torch.stack([torch.cat([rows[(i * j + j) % 16][:-1] for j in range(1, 7)])[:36] for i in range(16)])


def gaps():
    """Stories of several sentences, a fifth of whose words are hidden."""
    hidden = torch.rand(stories.shape) < 0.2
    return dict(input_ids=stories.masked_fill(hidden, 2), labels=stories.masked_fill(~hidden, -100))


first = torch.zeros(1, 36, dtype=torch.int64)
first[0, 0] = 1
near = model(4, name="longformer", head="masked_lm", max_length=64, window=8, attn_dropout=0.0, **small)
taught(near, 150, gaps)
how = dict(input_ids=ids(several)[None], tokens=several.split())
windows = show.attention(near, global_attention_mask=first, title="Longformer: window and global", **how)
opened(windows, layer=1, row=15, col=13)

# %%
blocks = model(5, name="bigbird", head="masked_lm", max_length=64, block=3, n_random=1, attn_dropout=0.0, **small)
taught(blocks, 150, gaps)
opened(show.attention(blocks, training=True, title="BigBird: window, global, random", **how), row=15, col=10)

# %% [markdown]
# ## Buckets: Reformer
# A random hash puts similar vectors into the same bucket; sorted by bucket, the picture shows the chunks that are
# attended to. The other layer has local attention.
#
# **Try it:** take the tick from “Sort by bucket”. Where are the chunks now?

# %%
parts = dict(local_chunk=6, lsh_chunk=6, n_buckets=6, hash_seed=0, axial=False, max_length=64, d_head=8)
hashed = model(6, name="reformer", layers=("local", "lsh"), **small, **parts)
taught(hashed, 100, lambda: dict(input_ids=stories, labels=stories))
opened(show.attention(hashed, title="Reformer: chunks and buckets", **how), layer=1, row=20, col=12, sorted=1)

# %% [markdown]
# ## An order and two streams: XLNet
# Words are predicted in an order that is chosen here. The content stream sees the current word and those earlier in the
# order, the query stream only the latter. Sorted by this order, both masks are triangles.
#
# **Try it:** take the tick from “Sort by turn”. Is the mask still a triangle?

# %%
streams = model(7, name="xlnet", head="masked_lm", **small)
order = [4, 1, 7, 0, 8, 2, 5, 3, 6]
how = dict(input_ids=ids(sentence)[None], order=order, tokens=sentence.split())
opened(show.two_streams(streams, title="XLNet, in a chosen order", **how), layer=1, row=5, col=2, sorted=1)

# %% [markdown]
# ## Masks, and what really flows
# A mask defines which position may attend to which. Which inputs really influence which outputs is measured: here for a
# layer that applies its mask, and for one that forgets it.
#
# **Try it:** point at a square above the diagonal, in one map after the other. In which one does the future arrive?

# %%
from tfkit.nn import CachedSelfAttention
from tfkit.nn.attention import MultiHeadAttention
from tfkit.nn.masks import causal_mask

torch.manual_seed(0)
kept, forgetful, x = CachedSelfAttention(16, 4), MultiHeadAttention(16, 4), torch.randn(9, 16)
show.masks(
    {"causal": causal_mask(9), "flow where it is kept": show.flow(kept, x)},
    sentence.split(),
    through=lambda x: forgetful(x, x, x),
    x=x,
    title="A mask kept, and one forgotten",
)

# %% [markdown]
# ## Streams that look ahead: ProphetNet
# The main stream reads the text. The first predicting stream predicts the next word, and the second the word after it,
# from one word less; besides the keys shown, each of their queries has a key of its own.
#
# **Try it:** point at the diagonal, in one map after the other. Which of them see the word itself?

# %%
from tfkit.nn.ngram_attention import make_ngram_context

plan = make_ngram_context(torch.zeros(1, 9, 32), 2, 0, 9, None, buckets=32, max_distance=128)
predicting = {f"predicting stream {n + 1}": mask[:, :-1] for n, mask in enumerate(plan.predicting_mask[0, 0])}
show.masks({"main stream": plan.main_mask[0, 0]} | predicting, sentence.split(), title="ProphetNet's streams")

# %% [markdown]
# ## Positions
# How does a word know its place? Sinusoids are a clock with many hands, from fast to slow. Vectors that are rotated by
# their place match best when they are near. T5 counts distance in buckets: narrow ones near by, wide ones far off.
#
# **Try it:** go down a map row by row with the arrow keys. Which columns change most from one position to the next?

# %%
show.positions(40, 32)

# %% [markdown]
# ## What is to be learned
# One sentence, as four objectives corrupt it; draw again for other examples. BERT's random words come from the first
# ids of the vocabulary, so the words stand there and the symbols behind them.

# %%
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.masked_lm import MaskedLM
from tfkit.objectives.permutation_lm import PermutationLM
from tfkit.objectives.span_corruption import SpanCorruption

listed = words[3:15] + words[:3] + words[15:]
n_words, pad, end, blank, sentinel = 12, 12, 13, 14, 17
whole = torch.tensor([listed.index(word) for word in f"{sentence} </s>".split()])
show.corruption(
    {
        "masked words (BERT)": MaskedLM(blank, n_words, 0.3),
        "span corruption (T5)": SpanCorruption(sentinel, end, pad_id=pad, density=0.3),
        "infilling (BART)": Denoising(blank, pad),
        "permutation (XLNet)": PermutationLM(0.4),
    },
    whole,
    listed.__getitem__,
    special=whole == end,
)

# %% [markdown]
# ## Retrieval
# MiniLM finds the notes that are near the question, and SmolLM2 reads each of them before it answers. The columns say
# how likely each note makes each word of the answer: only one of them knows when the library opens.
#
# **Try it:** choose the other word of the answer. Do the notes agree on it?

# %%
question, start = "When does the library open?", "Answer: The library opens"
notes = [
    "The library opens at nine and closes at six.",
    "The bakery opens at five and has fresh bread.",
    "Dogs have to be on a lead in the park.",
    "The train to Lyon leaves from platform four.",
]
answer = tokens(" at nine")


def read_with(note):
    """The logits of the answer's tokens, with a note before the question: [T,V]."""
    before = tokens(f"{note}\nQuestion: {question}\n{start}")
    with torch.no_grad():
        return text.model(torch.cat([before, answer])[None]).logits[0, len(before) - 1 : -1]


near = (reader.embed([question]) @ reader.embed(notes).T)[0]
show.retrieval(
    question,
    notes,
    10 * near,
    [word(token) for token in answer.tolist()],
    torch.stack([*map(read_with, notes)]),
    answer,
)

# %% [markdown]
# ## Training
# What the model above went through. Every column of pixels shows the least and the most of its steps.
#
# **Try it:** drag the slider. At which step has the loss fallen by half?

# %%
show.training({"loss": losses})

# %% [markdown]
# ## Anatomy: from BERT to RoBERTa
# Two models laid over one another. The bars are parameters, and signs say what is new, gone or changed: RoBERTa has
# more words, two more positions, and one kind of segment in place of two.
#
# **Try it:** open all parts, and look for the lines with a sign.

# %%
show.anatomy("bert-base-uncased", "roberta-base")
