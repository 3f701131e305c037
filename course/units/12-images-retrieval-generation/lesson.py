# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 12 · Images, retrieval, generation
#
# **The question.** A transformer reads text and knows what its weights hold. How does it read something that is *not* text, such as a picture? And how does
# it know something that is *not* in its weights, such as yesterday's news or your own notes?
#
# Both answers are short. A picture becomes more tokens in the same sequence. A fact is looked up: one model, the retriever, finds documents; another, the reader, reads them. The
# interesting part is how the retriever learns, although no labels say which document would have helped. You write five functions; at the end a small reader
# answers questions from a handful of notes, and changes its answer the moment you change a note.

# %% role="setup"
import math

import torch
import torch.nn.functional as F
from torch import nn

from tfkit.decode import greedy_decode
from tfkit.nn import scaled_dot_product_attention

# %% [markdown]
# ## 1 · Two modalities in one sequence
#
# For attention it does not matter where a vector came from. It only needs all of them in one space, of one width. So MMBT (2019) takes the features that an image encoder computes
# for each region of a picture and projects them into the space of the token embeddings with one matrix. From there on a region *is* a token:
#
# $$\text{image}_i = f_i W + b + \text{segment}_0 + \text{position}_i \qquad \text{text}_j = e_j + \text{segment}_1 + \text{position}_j$$
#
# In the code $f$ is `image_features`, $e$ is `text_embeddings`, $W$ and $b$ are `w` and `b`. The **segment** says which modality a token is; BERT already had
# two rows for sentence A and sentence B. The **positions** start again for the text: the model's position embeddings were learned on text, and the first token of the
# text should stay at position 0, however many regions come before it.

# %% role="demo"
import matplotlib.pyplot as plt

from tfkit_lab import show

columns = [("f₁W + b", 0, 0), ("f₂W + b", 0, 1), ("f₃W + b", 0, 2), ("a", 1, 0), ("brown", 1, 1), ("goat", 1, 2), ("sleeps", 1, 3)]
fig, ax = plt.subplots(figsize=(7.5, 2.4))
for x, (content, segment, position) in enumerate(columns):
    for y, text in enumerate((f"position {position}", f"segment {segment}", content)):
        ax.text(x, y, text, ha="center", va="center", fontsize=9, color="black",
                bbox={"boxstyle": "round,pad=0.35", "fc": "#f8d9b8" if segment else "#cfe3f5", "ec": "#555555"})
    ax.text(x, 0.5, "+", ha="center", va="center", color="#777777"), ax.text(x, 1.5, "+", ha="center", va="center", color="#777777")
ax.text(1, 2.7, "image", ha="center", color="#2a6fb0"), ax.text(4.5, 2.7, "text", ha="center", color="#c07020")
ax.set(xlim=(-0.6, 6.6), ylim=(-0.5, 3)), ax.axis("off")
plt.show()

# %% [markdown]
# *Figure: a row of seven columns. The first three, blue, are image regions, the other four, orange, are words. Each column is a sum of three boxes: what it is,
# its segment (0 for the image, 1 for the text), its position. Positions run 0, 1, 2 under the image and start again with 0, 1, 2, 3 under the text.*
#
# **Predict, then run.** Take 4 regions with 16 features each, 3 tokens of text, width 32 and a batch of 1. What is the shape of the sequence? Which tokens change when region 2 is
# changed? And which after one step of attention?

# %% role="predict"
predict(
    "12.regions",
    predict.shape("What is the shape of the sequence?"),
    predict.number("Region 2 is changed: how many tokens change?"),
    predict.number("And after one step of attention?"),
)

# %% role="exercise" exercise="mmbt.inputs"

# %% role="demo"
guess = predicted("12.regions")
torch.manual_seed(0)
picture = torch.zeros(8, 8)
picture[:4, 4:] = 1.0  # one bright corner; four regions of 4 × 4 pixels
regions = picture.unfold(0, 4, 4).unfold(1, 4, 4).reshape(1, 4, 16)
words, w, b, segment, position = (0.3 * torch.randn(*shape) for shape in [(1, 3, 32), (16, 32), (32,), (2, 32), (10, 32)])
try:
    tokens = multimodal_inputs(regions, words, w, b, segment, position)
    changed = regions.clone()
    changed[:, 2] = 0.5
    moved = multimodal_inputs(changed, words, w, b, segment, position)
    attend = lambda x: scaled_dot_product_attention(x, x, x)[0]
    print("sequence:", tuple(tokens.shape))
    print("changed:                ", (moved != tokens).any(-1)[0].nonzero().flatten().tolist())
    print("changed after attention:", (attend(moved) != attend(tokens)).any(-1)[0].nonzero().flatten().tolist())
    guess.compare(tokens.shape, (moved != tokens).any(-1).sum(), (attend(moved) != attend(tokens)).any(-1).sum())
except NotImplementedError:
    print("Build multimodal_inputs first.")

# %% [markdown]
# ## 2 · Retrieval as contrast
#
# Now to what is not in the weights. DPR (2020) has two encoders: one turns a question into a vector $q$, the other a passage into a vector $c$. A passage fits when
# $q \cdot c$ is large. All passages' vectors are computed once and kept in an **index**; searching means finding the largest inner products.
#
# How do you train for "large"? The size of a single product means nothing: if all vectors are scaled up, all products grow. A passage must score *higher than others*. Which others? The
# cheapest idea is also a good one: in a batch, the passages of the other questions are wrong for this one, and their vectors have been computed already.
#
# $$L = -\frac{1}{B}\sum_{i=1}^{B} \log \frac{e^{\,q_i \cdot c_{p(i)}}}{\sum_{j=1}^{C} e^{\,q_i \cdot c_j}}$$
#
# $p(i)$ is `positives[i]`, the row of question $i$'s own passage. There may be more passages (`contexts` in the code) than questions: DPR adds one **hard negative** for each question, a passage that has
# the question's words but not its answer.
#
# **Predict, then run.** Take twelve passages, and vectors so small that all scores are nearly 0. How large is the loss?

# %% role="predict"
predict("12.contrast", predict.number("Twelve passages, all scores nearly 0: how large is the loss?", within=0.1))

# %% role="exercise" exercise="dpr.in_batch_loss"

# %% role="demo"
guess = predicted("12.contrast")
try:
    loss = in_batch_loss(1e-4 * torch.randn(8, 16), 1e-4 * torch.randn(12, 16), torch.arange(8))
    print(f"loss {loss:.3f}, and ln 12 = {math.log(12):.3f}")
    guess.compare(loss)
except NotImplementedError:
    print("Build in_batch_loss first.")

# %% [markdown]
# **What does contrast do to the scores?** The cell has eight questions and twelve passages, and each encoder is a single matrix. The questions' content is that of their passages,
# with some noise; four passages belong to no question.

# %% role="demo"
def map_of(ax, probabilities, title, own=()):
    ax.imshow(probabilities, cmap="Blues", vmin=0, vmax=1)
    ax.scatter(own, range(len(own)), s=90, facecolors="none", edgecolors="#c03030")
    ax.set_title(title, fontsize=9)


torch.manual_seed(1)
positives = torch.randperm(12)[:8]
content = torch.randn(12, 20)
asked = content[positives] + 0.3 * torch.randn(8, 20)
question_encoder, context_encoder = (nn.Parameter(0.02 * torch.randn(20, 16)) for _ in range(2))
optimizer = torch.optim.Adam([question_encoder, context_encoder], lr=0.02)
try:
    fig, axes = plt.subplots(1, 2, figsize=(7, 2.8))
    for step in range(101):
        questions, contexts = asked @ question_encoder, content @ context_encoder
        loss = in_batch_loss(questions, contexts, positives)
        if step in (0, 100):
            seen = (questions @ contexts.T).softmax(-1).detach()
            map_of(axes[step // 100], seen, f"after {step} steps: loss {loss.item():.2f}  (ln 12 = {math.log(12):.2f})", positives)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    plt.tight_layout(), plt.show()
except NotImplementedError:
    plt.close("all")
    print("Build in_batch_loss first.")

# %% [markdown]
# *Figure: two maps, eight questions by twelve passages, dark for a high probability; a red ring marks each question's own passage. Before training all cells are about equally pale. After training
# the dark cells are the ringed ones.*
#
# ## 3 · Which document helped? Sum over all
#
# For the contrastive loss the right document must be known. Often only the *answer* is known. RAG (2020) puts a reader after the retriever: the reader gets the question with one of the $D$ retrieved documents
# and gives probabilities for the answer's tokens. Which document helped is a **latent variable**, so it is summed over, each document weighted by its retrieval score, $p(d) = \mathrm{softmax}(\text{doc\_scores})_d$. There are two places for the sum.
#
# **RAG-token.** Every token may come from another document:
#
# $$\log p(y) = \sum_{t=1}^{T} \log \sum_{d=1}^{D} p(d)\; p(y_t \mid d, y_{<t})$$
#
# **RAG-sequence.** One document explains the whole answer:
#
# $$\log p(y) = \log \sum_{d=1}^{D} p(d) \prod_{t=1}^{T} p(y_t \mid d, y_{<t})$$
#
# In the code: `token_logits[B,D,T,V]` are the reader's logits for each document, `doc_scores[B,D]` the retriever's inner products, `targets[B,T]` the answer. Return log-probabilities `[B]`. Stay in
# logarithms throughout: the product of a hundred probabilities is 0 in float32, and its logarithm $-\infty$. Use `torch.logsumexp` for the sum over documents.
#
# ### RAG-token

# %% role="exercise" exercise="rag.token"

# %% [markdown]
# ### RAG-sequence

# %% role="exercise" exercise="rag.sequence"

# %% [markdown]
# ### The two compared
#
# **Predict, then run.** Two documents are equally likely, and the answer has two words. In which case is RAG-token's probability the larger one? Work both out by hand before you run the cell.
#
# | | document 1 gives the words | document 2 gives them |
# |---|---|---|
# | **whole**: one document knows all | 0.9, 0.9 | 0.1, 0.1 |
# | **pieces**: each knows one word | 0.9, 0.1 | 0.1, 0.9 |

# %% role="predict"
predict(
    "12.two-rules",
    predict.number("RAG-sequence: p(answer), where one document knows all", within=0.01),
    predict.number("Where each knows one word", within=0.01),
    predict.number("RAG-token: where one document knows all", within=0.01),
    predict.number("Where each knows one word", within=0.01),
)

# %% role="demo"
guess = predicted("12.two-rules")
cases = {"whole": [[0.9, 0.9], [0.1, 0.1]], "pieces": [[0.9, 0.1], [0.1, 0.9]]}
answer, equal = torch.zeros(1, 2, dtype=torch.long), torch.zeros(1, 2)
try:
    (fig, ax), found = plt.subplots(figsize=(5.5, 2.6)), {}
    for place, (name, rows) in enumerate(cases.items()):
        right = torch.tensor(rows)
        logits = torch.stack([right, 1 - right], -1).log().unsqueeze(0)  # [1,D,T,2]: word 0 is the answer
        for shift, rule, colour in ((-0.2, rag_token_log_probs, "#2a6fb0"), (0.2, rag_sequence_log_probs, "#c07020")):
            p = found[rule, name] = rule(logits, equal, answer).exp().item()
            ax.bar(place + shift, p, 0.38, color=colour, label=None if place else rule.__name__.split("_")[1])
            ax.text(place + shift, p + 0.01, f"{p:.2f}", ha="center", fontsize=9)
    ax.set_xticks(range(2), cases), ax.set(ylabel="p(answer)", ylim=(0, 0.5)), ax.legend()
    plt.show()
    guess.compare(*(found[rule, name] for rule in (rag_sequence_log_probs, rag_token_log_probs) for name in cases))
except NotImplementedError:
    plt.close("all")
    print("Build rag_token_log_probs and rag_sequence_log_probs first.")

# %% [markdown]
# *Figure: two pairs of bars. Where one document knows all, the sequence marginal (0.41) is higher than the token marginal (0.25). Where each document knows
# one word, the token marginal (0.25) is higher than the sequence marginal (0.09).*
#
# ## 4 · The retriever's gradient
#
# Why does the retriever learn from this sum? Differentiate RAG-sequence by a document's score:
#
# $$\frac{\partial \log p(y)}{\partial\, \text{doc\_scores}_d} = p(d \mid y) - p(d)$$
#
# The first term is Bayes' rule: how probable document $d$ is *once the right answer is known*. The score of a document that made the answer more probable than the others did goes up, the rest
# go down. No label says which document is the right one.
#
# **Predict, then run.** Four documents with weights 0.4, 0.3, 0.2, 0.1; the third gives the answer 0.8, the others 0.1. Whose score rises, whose falls most?

# %% role="predict"
predict(
    "12.rise-and-fall",
    predict.choice("Whose score rises?", "document 1", "document 2", "document 3", "document 4"),
    predict.choice("Whose falls most?", "document 1", "document 2", "document 3", "document 4"),
)

# %% role="demo"
guess = predicted("12.rise-and-fall")
before = torch.tensor([[0.4, 0.3, 0.2, 0.1]])
right = torch.tensor([0.1, 0.1, 0.8, 0.1])
scores = before.log().requires_grad_()
logits = torch.stack([right, 1 - right], -1).log().view(1, 4, 1, 2)
try:
    rag_sequence_log_probs(logits, scores, torch.zeros(1, 1, dtype=torch.long)).sum().backward()
    after = before * right / (before * right).sum()
    fig, ax = plt.subplots(figsize=(6, 2.6))
    for shift, height, colour, label in ((-0.27, before[0], "#bbbbbb", "p(d)"), (0, after[0], "#2a6fb0", "p(d | y)"), (0.27, scores.grad[0], "#c03030", "gradient")):
        ax.bar([d + shift for d in range(4)], height, 0.25, color=colour, label=label)
    ax.axhline(0, color="#888888", lw=0.8), ax.set_xticks(range(4), [f"document {d + 1}" for d in range(4)]), ax.legend()
    plt.show()
    print("gradient equals the difference:", torch.allclose(scores.grad, after - before, atol=1e-6))
    guess.compare(f"document {scores.grad[0].argmax() + 1}", f"document {scores.grad[0].argmin() + 1}")
except NotImplementedError:
    plt.close("all")
    print("Build rag_sequence_log_probs first.")

# %% [markdown]
# *Figure: for each of four documents three bars. Grey, before: 0.4, 0.3, 0.2, 0.1. Blue, after the answer is known: 0.17, 0.13, 0.67, 0.04. Red, the gradient: positive for the third, negative for all
# others, most for the first.*
#
# ## 5 · Which answer is the best one?
#
# A model that predicts the next token is decoded token by token (unit 07). RAG-token is such a model: the documents' mixture gives the probabilities of the next token. RAG-sequence is not. Its sum over documents
# comes after the product over tokens, so only *whole* answers have a probability, and beam search has no next-token probabilities to work with. The paper's solution (section 2.5) is **thorough decoding**:
#
# 1. each document's reader proposes an answer on its own, here the greedy one;
# 2. *every* document's reader scores every proposal: $\log p(y)$ is the sum that you have just built;
# 3. the proposal with the largest $\log p(y)$ is the answer.
#
# In the code `readers[d]` is a function that takes prefixes `ids[N,t]` and returns the logits `[N,V]` of the next token, as `step` did in unit 07. The start token has no probability of its own; the end token
# has. You have the parts already: `greedy_decode` proposes, and `rag_sequence_log_probs` scores.
#
# **Predict, then run.** Answers are one letter long. Three documents have the weights 0.4, 0.3 and 0.3. Which answer wins? And which one would the likeliest document have given on its own?
#
# | | A | B | C |
# |---|---|---|---|
# | document 1 (0.4) | 0.6 | 0.3 | 0.1 |
# | document 2 (0.3) | 0.1 | 0.6 | 0.3 |
# | document 3 (0.3) | 0.1 | 0.4 | 0.5 |

# %% role="predict"
predict(
    "12.thorough",
    predict.choice("Which answer has the largest probability?", "A", "B", "C"),
    predict.number("How large is it?", within=0.02),
    predict.choice("Which one would document 1 have given on its own?", "A", "B", "C"),
)

# %% role="exercise" exercise="rag.thorough"

# %% role="demo"
guess = predicted("12.thorough")
TABLE = [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.1, 0.4, 0.5]]


def letter_reader(row):
    """Writes a letter by the probabilities in the row, then the end (3); the start is 4."""
    letter, end = torch.tensor([*row, 0.0, 0.0]).log(), torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0]).log()
    return lambda ids: (letter if ids.size(1) == 1 else end).expand(len(ids), 5)


try:
    readers, weights = [letter_reader(row) for row in TABLE], torch.tensor([0.4, 0.3, 0.3])
    ids, log_prob = thorough_decode(readers, weights.log(), start_id=4, end_id=3, max_new_tokens=2)
    alone, _ = thorough_decode(readers[:1], weights[:1].log(), start_id=4, end_id=3, max_new_tokens=2)
    print(f"all documents: {'ABC'[ids[1]]} with probability {math.exp(log_prob):.2f}; document 1 alone: {'ABC'[alone[1]]}")
    guess.compare("ABC"[ids[1]], math.exp(log_prob), "ABC"[alone[1]])
except NotImplementedError:
    print("Build thorough_decode first.")

# %% [markdown]
# The price is that all $D$ proposals are read with all $D$ documents. The paper's *fast decoding* saves most of this: a document that did not propose an answer is assumed to give it the probability 0. Here that would have chosen A, with 0.24 against B's 0.18: documents
# 1 and 3 did not propose B, but they give it a good probability.
#
# ## The experiment: a reader with a handful of notes
#
# The documents are twelve notes of four words each: what six people keep and what they drink. The questions have the form "what does mira keep", and the answers are the last two words of one note. Each word is a token. **The facts are drawn anew at every training step.** So
# the reader cannot learn a single fact by heart; all it can learn is *to look in the note*. And the retriever is never told which note is the right one: its only signal is
# whether the answer became more probable.

# %% role="experiment"
NAMES = ["mira", "tomas", "ayo", "lena", "ravi", "noor"]
LOOKS, BEASTS, DRINKS = ["brown", "old", "tiny", "fine"], ["goats", "bees", "cats", "owls"], ["tea", "milk", "juice", "soup"]
WORDS = ["<pad>", "<s>", *NAMES, *LOOKS, *BEASTS, *DRINKS, "what", "does", "keep", "drink", "keeps", "drinks"]
SUBJECTS_AND_VERBS = [(name, verb) for name in NAMES for verb in ("keep", "drink")]


def to_ids(texts):
    return torch.tensor([[WORDS.index(word) for word in text.split()] for text in texts])


def draw_notes(generator):
    notes = []
    for name, verb in SUBJECTS_AND_VERBS:
        look, thing = torch.randint(4, (2,), generator=generator).tolist()
        notes.append(f"{name} {verb}s {LOOKS[look]} {(BEASTS if verb == 'keep' else DRINKS)[thing]}")
    return notes


QUESTIONS = to_ids([f"what does {name} {verb}" for name, verb in SUBJECTS_AND_VERBS])
print(*draw_notes(torch.Generator().manual_seed(7)), sep="\n")

# %% [markdown]
# **The retriever.** A text's vector is the mean of its words' embeddings; questions and notes have separate embedding tables, as DPR has two encoders. The notes' table is random and stays frozen, as RAG's index does: only the questions' table
# learns. `DenseIndex` holds the notes' vectors and finds the `k` largest inner products, exactly. The search itself has no gradient; the scores of what was found are computed again, with one.
#
# **The reader** is unit 05's transformer, one layer. It reads the question and *one* note, and writes two words.

# %% role="experiment"
from tfkit.nn import Seq2SeqTransformer, shift_right
from tfkit.retrieve import DenseIndex


def find(questions_table, notes_table, notes, k):
    """The k notes found for each question: doc_scores [B,k], rows [B,k]."""
    index = DenseIndex(notes_table(to_ids(notes)).mean(1))
    questions = 4 * questions_table(QUESTIONS).mean(1)
    _, rows = index.search(questions, k)
    return torch.einsum("be,bke->bk", questions, index.take(rows)), rows


def read(reader, notes, rows, answers):
    """The reader's logits for every question with every note that was found: [B,k,T,V]."""
    k = rows.size(1)
    source = torch.cat([QUESTIONS.unsqueeze(1).expand(-1, k, -1), to_ids(notes)[rows]], -1)
    target = shift_right(answers, 1).unsqueeze(1).expand(-1, k, -1)
    return reader(source.flatten(0, 1), target.flatten(0, 1)).unflatten(0, rows.shape)

# %% [markdown]
# A step of training is six lines. Half of the notes are found; if the right one is not among them, the question contributes nothing useful to this step. **Predict.** What is learned first: to read the note,
# or to retrieve the right one? Could the retriever learn before the reader does?

# %% role="predict"
predict(
    "12.reader-or-finder",
    predict.choice("What happens to the weight of the right note while the reader still only learns which words answers are made of?", "it stays low", "it rises already"),
)

# %% role="experiment"
def train(marginal, steps=400, k=6):
    """The tables, the reader, and for each step the answers' mean log-probability and the right note's mean weight."""
    torch.manual_seed(0)
    asks, keeps = nn.Embedding(len(WORDS), 32), nn.Embedding(len(WORDS), 32)
    reader = Seq2SeqTransformer(len(WORDS), len(WORDS), d_model=32, n_heads=4, d_ff=64, n_layers=1, pad_id=0)
    for table, size in ((asks, 0.3), (reader.src_embed, 32**-0.5), (reader.tgt_embed, 32**-0.5)):
        nn.init.normal_(table.weight, std=size)
    optimizer = torch.optim.Adam([*asks.parameters(), *reader.parameters()], lr=5e-3)
    generator, history = torch.Generator().manual_seed(1), []
    first = asks.weight.detach().clone()
    for step in range(steps):
        notes = draw_notes(generator)
        answers = to_ids(notes)[:, 2:]
        scores, rows = find(asks, keeps, notes, k)
        value = marginal(read(reader, notes, rows, answers), scores, answers).mean()
        optimizer.zero_grad(), (-value).backward(), optimizer.step()
        own = (scores.softmax(-1) * (rows == torch.arange(12).unsqueeze(1))).sum(-1).mean()
        history.append((value.item(), own.item()))
        if step % 50 == 49:
            print(f"\rstep {step + 1}/{steps}, log p(answer) {value.item():.2f}, weight of the right note {own.item():.2f}", end="", flush=True)
    print()
    return nn.Embedding.from_pretrained(first), asks, keeps, reader.eval(), history

# %% role="experiment"
guess = predicted("12.reader-or-finder")
try:
    untrained, asks, keeps, reader, history = train(rag_sequence_log_probs)  # about a minute
    fig, ax = plt.subplots(figsize=(6.5, 2.8))
    ax.plot([value for value, _ in history], color="#2a6fb0"), ax.set_xlabel("step")
    ax.set_ylabel("log p(answer)", color="#2a6fb0")
    other = ax.twinx()
    other.plot([own for _, own in history], color="#c07020"), other.set_ylabel("weight of the right note", color="#c07020")
    plt.show()
    guess.compare("it stays low" if sum(own for _, own in history[:40]) / 40 < 0.4 else "it rises already")
except NotImplementedError:
    reader = None
    print("Build rag_sequence_log_probs first.")

# %% [markdown]
# *Figure: two curves over the steps of training, on two axes. The answer's log-probability rises in two stages: at once, while the reader learns which words answers are made of; then it stays level,
# and rises again as the reader learns to use its note. The right note's weight starts near 0.1 and climbs to almost 1 together with that second rise.*
#
# **Before and after retrieval.** The notes are new. All three kinds of bars use the same trained reader; what differs is the retriever: all twelve notes equally likely (no retrieval), the retriever
# before training, and the retriever after it.

# %% role="experiment"
@torch.no_grad()
def weigh(table, notes):
    """doc_scores [B,12] in the order of the notes, and p(answer) [B] over all of them."""
    answers = to_ids(notes)[:, 2:]
    found, rows = find(table, keeps, notes, 12)
    scores = torch.empty_like(found).scatter(1, rows, found)
    everything = torch.arange(12).expand(12, -1)
    logits = read(reader, notes, everything, answers)
    p = {"equal": rag_sequence_log_probs(logits, torch.zeros_like(scores), answers), "found": rag_sequence_log_probs(logits, scores, answers)}
    return scores.softmax(-1), {name: value.exp() for name, value in p.items()}


if reader is not None:
    notes = draw_notes(torch.Generator().manual_seed(7))
    (then, poor), (now, good) = weigh(untrained, notes), weigh(asks, notes)
    fig, axes = plt.subplot_mosaic([["then", "now"], ["bars", "bars"]], figsize=(7.5, 6.2), height_ratios=[3, 2])
    for name, seen, title in (("then", then, "retriever before training"), ("now", now, "retriever after training")):
        map_of(axes[name], seen, title), axes[name].set(xlabel="note", ylabel="question")
    for shift, p, label, colour in ((-0.27, good["equal"], "no retrieval: all notes", "#bbbbbb"), (0, poor["found"], "retriever before training", "#c07020"),
                                    (0.27, good["found"], "retriever after training", "#2a6fb0")):
        axes["bars"].bar([n + shift for n in range(12)], p, 0.25, label=label, color=colour)
    axes["bars"].set_xticks(range(12), [f"{name}\n{verb}" for name, verb in SUBJECTS_AND_VERBS], fontsize=7)
    axes["bars"].set(ylabel="p(answer)"), axes["bars"].legend(fontsize=7, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    plt.tight_layout(), plt.show()

# %% [markdown]
# *Figure: above, two maps of twelve questions by twelve notes, dark where a note has a high weight. Before training the dark cells are anywhere; after it, nearly all are on the diagonal. Below, the answer's
# probability for each question: low with all notes equally likely, scattered or near zero with the untrained retriever, near one for almost all with the trained one.*
#
# Here is one question in detail: the four notes that are retrieved, the weight of each, and the probability that the reader gives to each word of the answer with that note. The sums in the last row are RAG-token's;
# what your two functions compute from the same numbers is printed below.

# %% role="experiment"
if reader is not None:
    with torch.no_grad():
        scores, rows = find(asks, keeps, notes, 4)
        answer = to_ids(notes)[:, 2:]
        logits = read(reader, notes, rows, answer)
    spoken = notes[0].split()[2:]
    display(show.retrieval("what does mira keep", [notes[row] for row in rows[0]], scores[0], spoken, logits[0], answer[0], "What each note gives"))
    for rule in (rag_sequence_log_probs, rag_token_log_probs):
        try:
            print(f"{rule.__name__:24} p(answer) {rule(logits[:1], scores[:1], answer[:1]).exp().item():.3f}")
        except NotImplementedError:
            print(f"Build {rule.__name__} first.")

# %% [markdown]
# *Figure: a table of the notes that were found, each with its weight and the probability of each word of the answer; the words are likely with the note that holds them and unlikely with the others.*
#
# **Change a note.** Without training and without a gradient, one line in the notes is rewritten. Every answer of two words is scored, and the best one printed. This is the advantage of retrieval: what the model knows can be read, checked,
# corrected and deleted. **Predict.** Which answers change? What happens to the answer when the note is removed altogether?

# %% role="predict"
predict(
    "12.rewritten",
    predict.choice("The note about mira is rewritten. Her answer …", "changes", "stays as it was"),
    predict.choice("The note is removed. The model …", "says what the note said", "says something else", "says that it does not know"),
)

# %% role="experiment"
@torch.no_grad()
def ask(question, notes, marginal):
    """The most probable answer and its probability, over everything that could be said in two words."""
    tries = [f"{look} {thing}" for look in LOOKS for thing in BEASTS + DRINKS]
    scores, rows = find(asks, keeps, notes, 4)
    values = [marginal(read(reader, notes, rows, ids.expand(12, -1)), scores, ids.expand(12, -1))[question] for ids in to_ids(tries).split(1)]
    best = max(range(len(tries)), key=lambda n: values[n])
    return f"{tries[best]:12} ({values[best].exp().item():.2f})"


guess = predicted("12.rewritten")
if reader is not None:
    try:
        changed = ["mira keeps tiny owls", *notes[1:]]
        without = notes[1:] + ["noor drinks old soup"]  # mira's animals are no longer in the notes
        for title, these in {"as they were": notes, "rewritten": changed, "removed": without}.items():
            print(f"{title:14} what does mira keep?  ", *(ask(0, these, rule) for rule in (rag_sequence_log_probs, rag_token_log_probs)))
        was, now, gone = (ask(0, these, rag_sequence_log_probs)[:12] for these in (notes, changed, without))
        guess.compare("changes" if now != was else "stays as it was", "says what the note said" if gone == was else "says something else")
    except NotImplementedError:
        print("Build rag_token_log_probs, too.")

# %% [markdown]
# **Without trying everything.** There were only 32 answers of two words, so all could be scored. In practice there are far too many. Your decoder needs only one proposal from each of four notes:

# %% role="experiment"
if reader is not None:
    try:
        scores, rows = find(asks, keeps, notes, 4)
        sources = [torch.cat([QUESTIONS[0], to_ids([notes[row]])[0]]) for row in rows[0]]
        readers = [lambda ids, source=source: reader(source.expand(len(ids), -1), ids)[:, -1] for source in sources]
        with torch.no_grad():
            ids, log_prob = thorough_decode(readers, scores[0], start_id=1, end_id=0, max_new_tokens=2)
        print("four proposals:", " ".join(WORDS[i] for i in ids[1:]), f"({math.exp(log_prob):.2f});", "all 32:", ask(0, notes, rag_sequence_log_probs))
    except NotImplementedError:
        print("Build thorough_decode first.")

# %% [markdown]
# With the note removed, the reader still answers, from whichever notes scored best. Nothing here has learned to say "I do not know": a probability given the notes is not
# a probability that the notes are right. Look at the two numbers in that row, RAG-sequence's and then RAG-token's: why do they differ, when they agreed in the rows above?
#
# **Try.** `train(rag_token_log_probs)`; a retriever that returns `k=2` notes; notes whose words are in another order at each step.
#
# ## DPR: retrieve, then read
#
# RAG generates its answer and sums over documents. DPR (Karpukhin et al. 2020), published a month earlier, *points* at it, with three models in a row:
#
# question → **question encoder** → the `k` best of an index that the **context encoder** made → **reader** → a span of one passage
#
# The reader is a third BERT. It reads question and passage together, `[CLS] question [SEP] passage`, and gives each passage a relevance, one number from the state at `[CLS]`, and each of its tokens two scores, for being the first and the last of the answer. The passage with the largest relevance is chosen, and in it the span with the largest sum. So the
# order in which passages were *retrieved* does not matter any more: the retriever must be fast and search millions; the reader can take a closer look at a few.
#
# The retriever's loss is your `in_batch_loss`; the reader learns which of four passages is the right one, and where the answer is in it. Unlike in RAG, both are given the right passage in training. Below, three small DPR models are trained on the notes of this unit, drawn anew at every step.
#
# **Predict, then run.** With `k = 4` of 12 notes retrieved, what sets the limit: the retriever or the reader? And does the reader always choose the note that was ranked first?

# %% role="predict"
predict(
    "12.find-then-read",
    predict.number("How many of 12 questions are answered right?", within=1),
    predict.choice("Can the reader make up for a note that was not retrieved?", "yes", "no"),
)

# %% role="experiment"
import tfkit

CLS = SEP = WORDS.index("<s>")  # one token does for both here
ASKED = F.pad(F.pad(QUESTIONS, (1, 0), value=CLS), (0, 1), value=SEP)  # [12,6]


def dpr(head, layers):
    model = tfkit.from_config("dpr", head=head, vocab_size=len(WORDS), d_model=32, n_layers=layers, n_heads=4, d_ff=64, max_length=16, dropout=0.0, attn_dropout=0.0)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, std=32**-0.5)
    return model


def train_dpr(steps=200):
    torch.manual_seed(0)
    asker, teller, judge = dpr("question_encoder", 1), dpr("context_encoder", 1), dpr("reader", 2)
    optimizer = torch.optim.Adam([*asker.parameters(), *teller.parameters(), *judge.parameters()], lr=2e-3)
    right, generator = torch.arange(12), torch.Generator().manual_seed(1)
    for _ in range(steps):
        notes = to_ids(draw_notes(generator))
        found = in_batch_loss(asker(ASKED).pooler_output / 32**0.5, teller(F.pad(notes, (1, 0), value=CLS)).pooler_output, right)
        wrong = (right[:, None] + torch.randint(1, 12, (12, 3), generator=generator)) % 12  # three notes that do not answer
        pairs = torch.cat([ASKED.repeat_interleave(4, 0), notes[torch.cat([right[:, None], wrong], 1).flatten()]], 1)
        read = judge(pairs)
        chosen = F.cross_entropy(read.relevance_logits.view(12, 4), torch.zeros(12, dtype=torch.long))
        spans = sum(F.cross_entropy(scores[::4], torch.full((12,), place)) for scores, place in ((read.start_logits, 8), (read.end_logits, 9)))
        optimizer.zero_grad(), (found + chosen + spans).backward(), optimizer.step()
    return asker.eval(), teller.eval(), judge.eval()

# %% role="experiment"
from tfkit.retrieve import RetrieveThenRead

guess = predicted("12.find-then-read")
try:
    asker, teller, judge = train_dpr()  # about ten seconds
    notes = draw_notes(torch.Generator().manual_seed(7))
    with torch.no_grad():
        index = DenseIndex(teller(F.pad(to_ids(notes), (1, 0), value=CLS)).pooler_output)
    pipeline, right = RetrieveThenRead(asker, judge, index, to_ids(notes).tolist(), start_id=CLS, sep_id=SEP), 0
    for question, note in zip(QUESTIONS.tolist(), notes):
        best = pipeline(question, k=4)[0]
        said = " ".join(WORDS[i] for i in best.ids)
        right += said == note.split(" ", 2)[2]
        print(f"{' '.join(WORDS[i] for i in question):22} {said:12} in: {notes[best.passage]:24} relevance {best.relevance:4.1f}")
    print(f"{right} of 12 right")
    guess.compare(right, "no")
except NotImplementedError:
    print("Build in_batch_loss first.")

# %% [markdown]
# A span can be checked against its passage, word by word; a generated answer cannot. On the other hand, an answer that is not a contiguous piece of some passage cannot be given. DPR with its reader answered 41.5% of the questions of Natural Questions exactly; RAG, which generates, 44.5%, among them some for which *no* retrieved document contained the answer.
#
# ## Pictures and captions
#
# CLIP (Radford et al. 2021) joins both halves of this unit. One transformer reads the patches of a picture, another one reads its caption, and each of them gives one vector of length 1. Their score is the cosine, times a factor that is learned too. The loss is your `in_batch_loss`, twice: each caption must find its picture in the batch, and each picture its caption.
#
# What is trained is a search, but it is a classifier as well, of classes that nobody has named in training: write a caption for each class, and choose the one with the highest score.
#
# Below, four shapes in four colours at four places make 64 things to draw. Red discs and blue crosses are left out of training, at all four places.
#
# **Predict, then run.** The model has seen red, and it has seen discs, but never a red disc. For each of these eight pictures it chooses among the captions of all 64 things.

# %% role="predict"
predict("12.captions", predict.number("Of the 8 pictures of things that it has not seen, how many get their caption?", within=1))

# %% role="experiment"
import itertools

COLOURS = {"red": (0.9, 0.1, 0.1), "green": (0.1, 0.7, 0.1), "blue": (0.1, 0.2, 0.9), "yellow": (0.9, 0.8, 0.1)}
SHAPES = {"disc": lambda x, y: x**2 + y**2 < 16, "square": lambda x, y: torch.maximum(x.abs(), y.abs()) < 3.5,
          "cross": lambda x, y: (torch.minimum(x.abs(), y.abs()) < 1.2) & (torch.maximum(x.abs(), y.abs()) < 4.2),
          "ring": lambda x, y: (x**2 + y**2 < 18) & (x**2 + y**2 > 6)}  # fmt: skip
PLACES = {"left": (4.5, 8), "right": (11.5, 8), "above": (8, 4.5), "below": (8, 11.5)}
THINGS = list(itertools.product(COLOURS, SHAPES, PLACES))
TOLD = ["<s>", "a", "</s>", *COLOURS, *SHAPES, *PLACES]
CAPTIONS = torch.tensor([[TOLD.index(word) for word in ("<s>", "a", *thing, "</s>")] for thing in THINGS])  # [64,6]
UNSEEN = torch.tensor([thing[:2] in (("red", "disc"), ("blue", "cross")) for thing in THINGS])  # [64]

# %% role="experiment"
def draw_things(things, generator):
    """One picture for each, moved by up to a pixel, with noise behind it -> [N,3,16,16]"""
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    pictures = 0.9 + 0.05 * torch.randn(len(things), 3, 16, 16, generator=generator)
    for picture, (colour, shape, place) in zip(pictures, things):
        dx, dy = (torch.tensor(PLACES[place]) + torch.randint(-1, 2, (2,), generator=generator)).tolist()
        picture[:, SHAPES[shape](x - dx, y - dy)] = torch.tensor(COLOURS[colour])[:, None]
    return pictures


fig, axes = plt.subplots(1, 6, figsize=(7.5, 1.6))
for ax, thing in zip(axes, THINGS[::11]):
    ax.imshow(draw_things([thing], torch.Generator().manual_seed(2))[0].permute(1, 2, 0).clamp(0, 1)), ax.axis("off")
    ax.set_title("a " + " ".join(thing), fontsize=6)
plt.show()

# %% [markdown]
# *Figure: six of the drawings, each of 16 by 16 pixels: one coloured shape on a light grey ground. Its caption stands above it: a colour, a shape and a place.*

# %% role="experiment"
def train_clip(steps=800):
    torch.manual_seed(0)
    model = tfkit.from_config("clip", vocab_size=len(TOLD), d_model=32, n_layers=2, n_heads=4, d_ff=64, max_length=6, eos_token_id=2,
                              d_image=32, n_image_layers=2, n_image_heads=4, d_image_ff=64, image_size=16, patch_size=4, d_projected=16)
    optimizer, generator = torch.optim.Adam(model.parameters(), lr=2e-3), torch.Generator().manual_seed(1)
    known, pairs = (~UNSEEN).nonzero().flatten(), torch.arange(28)
    for step in range(steps):
        batch = known[torch.randperm(len(known), generator=generator)[:28]]  # no caption twice
        out = model(CAPTIONS[batch], draw_things([THINGS[n] for n in batch], generator))
        factor = model.task_head.logit_scale.exp()
        loss = (in_batch_loss(factor * out.text_embeds, out.image_embeds, pairs) + in_batch_loss(factor * out.image_embeds, out.text_embeds, pairs)) / 2
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        if step % 200 == 0 or step == steps - 1:
            print(f"step {step:3}  loss {loss.item():.2f}, by chance {math.log(28):.2f}; factor {factor.item():.1f}")
    return model.eval()

# %% role="experiment"
guess = predicted("12.captions")
try:
    clip = train_clip()  # about 15 seconds
    with torch.no_grad():
        scores = clip(CAPTIONS, draw_things(THINGS, torch.Generator().manual_seed(7))).logits_per_image  # [64,64]
    right = scores.argmax(-1) == torch.arange(64)
    print(f"their own caption among all 64: {right[~UNSEEN].sum()} of 56 that were seen, {right[UNSEEN].sum()} of 8 that were not")
    for n in (~right).nonzero().flatten().tolist():
        print(f"  {' '.join(THINGS[n]):20} taken for {' '.join(THINGS[scores[n].argmax()])}")
    fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.4))
    map_of(axes[0], scores.softmax(-1), "all 64 pictures by all 64 captions")
    map_of(axes[1], scores[UNSEEN][:, UNSEEN].softmax(-1), "those that were not seen, among themselves")
    axes[1].set_yticks(range(8), [" ".join(thing) for thing, new in zip(THINGS, UNSEEN) if new], fontsize=7)
    plt.tight_layout(), plt.show()
    guess.compare(right[UNSEEN].sum())
except NotImplementedError:
    print("Build in_batch_loss first.")

# %% [markdown]
# *Figure: two maps of pictures by captions, dark where the model finds a pair. On the left, of all 64, most of what is dark lies on the diagonal. On the right are the eight that it has never seen: dark on the diagonal too, with some cells beside it.*
#
# None of these eight captions was ever a right answer in training, nor a wrong one. Where the model errs, look in the list at which word of the caption is wrong: not all three are equally hard to see in 16 patches. CLIP itself learned from 400 million pairs, with 32,768 of them in a batch; `tfkit read clip` shows it on one page.
#
# ## From your code to real models
#
# A published DPR question encoder is a BERT without its pooler; `tfkit diff bert dpr` in a terminal shows the whole difference. To load one, each name in its file must be matched with one of tfkit's names. Complete three rows.

# %% role="demo"
import tfkit
from tfkit.models.dpr import MAPS

MINE = {"embeddings.word_embeddings": "?", "encoder.layer.0.attention.self.query": "?", "encoder.layer.0.output.LayerNorm": "?"}

small = tfkit.from_config("dpr", d_model=8, n_heads=2, d_ff=16, n_layers=1, vocab_size=11, max_length=16)
print(*sorted({name.rpartition(".")[0] for name, _ in small.named_parameters()}), sep="\n")
for published, answer in MINE.items():
    (local,) = MAPS["question_encoder"].to_local(f"question_encoder.bert_model.{published}.weight", torch.zeros(8, 8))
    print(f"{published:40} {answer:24} {'right' if f'{answer}.weight' == local else 'not yet'}")

# %% [markdown]
# ## Meet a real model
#
# Here is retrieval with a trained encoder: all-MiniLM-L6-v2 (`tfkit get all-MiniLM-L6-v2` in a terminal, 83 MB) searches a small FAQ, compared with counting common words. The same vectors give your `in_batch_loss` over questions and answers.
#
# **Before you run it:** for which questions will counting words find the answer?

# %% role="experiment"
FAQ = {
    "How do I undo my last commit?": "Run git reset HEAD~1: the history goes back by one, the files stay as they are.",
    "Why is my loop so slow?": "Every pass goes through the interpreter. Use array operations, which do the work in compiled code.",
    "Can I hand in late?": "Until two days after the deadline, for ten percent less a day.",
    "My notebook does not start.": "The kernel has probably died for lack of memory. Restart it, and close other notebooks.",
    "What do I do when I am ill?": "Write to the teaching office before the exam; a doctor's note moves it to a later date.",
    "How are marks computed?": "Each exercise has points; the sum over all units, divided by the maximum, is the mark.",
    "May we work in pairs?": "Yes, but everyone writes their own code, and names the partner in the first cell.",
    "Where are the recordings?": "The lectures appear on the course page a day later, with subtitles.",
}
ASKED = ["I committed something by mistake, how do I get rid of it?", "my for takes forever", "Is it a problem if I submit tomorrow instead of today?", "jupyter crashed",
         "I have the flu and there is a test", "How is my grade calculated?", "Is teamwork allowed?", "I missed the lesson, can I watch it?"]  # fmt: skip
words = lambda text: set(text.lower().replace("?", "").replace(",", "").split())
try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    found = real.embed(ASKED) @ real.embed(list(FAQ.values())).T
    common = torch.tensor([[len(words(question) & words(answer)) for answer in FAQ.values()] for question in ASKED])
    right = torch.arange(len(ASKED))
    print(f"right answer first: MiniLM {(found.argmax(-1) == right).sum()} of {len(ASKED)}, common words {(common.argmax(-1) == right).sum()}")
    for question, row in zip(ASKED, found):
        print(f"{question:60} {list(FAQ.values())[row.argmax()][:60]}")
    print(f"in_batch_loss: {in_batch_loss(20 * real.embed(ASKED), real.embed(list(FAQ.values())), right).item():.2f}; by chance {math.log(len(FAQ)):.2f}")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build in_batch_loss first.")

# %% [markdown]
# Seven of eight, where counting common words finds one: hardly a word of these questions occurs in its answer. Look at the one that MiniLM missed, and ask it in other words. DPR's two encoders were trained with the loss that you built, on such pairs.
#
# ## Find the fault
#
# Probabilities have a test that needs no table of right numbers: over all possible answers they sum to one. With a vocabulary of
# two tokens there are only four answers of two tokens, few enough to add up their probabilities. Below is RAG's probability of a
# whole answer as somebody wrote it, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="rag.sequence" seed=28
def test_one_of_all_answers_is_given(answer):
    torch.manual_seed(0)
    logits, scores = torch.randn(1, 3, 2, 2), torch.randn(1, 3)
    every = [answer(logits, scores, torch.tensor([[i, j]])).exp().item() for i in (0, 1) for j in (0, 1)]
    assert abs(sum(every) - 1) < 1e-4, "the probabilities of all answers do not sum to 1"

# %% [markdown]
# ## Pitfalls
#
# - **Positions that continue** from the picture into the text give the same sentence other embeddings after a larger picture, and may run past the end of the table.
# - **Trained with one similarity, searched with another.** With cosine in training and inner products in the index, or the other way round, there is no error, but the wrong passages are found.
# - **A passage twice in the batch** makes a right answer a negative. Real batches are checked for it.
# - **Small batches teach little**: with $C$ passages the loss asks only that the right one be better than $C - 1$ random ones. Hence batches across machines, and hard negatives.
# - **Averaging logits** over documents, instead of probabilities, lets one document that is certain and wrong veto all others.
# - **The mean of logarithms is not the logarithm of the mean.** Weighting the documents' losses looks right and trains a reader to be good with *every* document, the useless ones included.
# - **A retrieved document is not a true one.** The marginal sums over what was retrieved; what was not retrieved cannot contribute.
#
# ## What real models changed
#
# | | here | elsewhere |
# |---|---|---|
# | image tokens | regions through one matrix (MMBT: pooled ResNet features, `[CLS]` before and `[SEP]` after them) | ViT: patches of pixels through one matrix, no ResNet; LLaVA: one matrix in front of a language model, since version 1.5 a small MLP |
# | text vector | mean of word vectors | DPR: BERT's state at `[CLS]`, one BERT for questions, another for passages |
# | negatives | all others in the batch | DPR: also one hard negative each, from a search by words (BM25); CLIP: both directions, a learned temperature, 32,768 pairs |
# | index | 12 notes, exact | RAG: 21 million documents of 100 words, approximate (HNSW) |
# | what learns | question encoder and reader | RAG: the same, the index stays frozen; REALM: rebuilds the index while it trains |
# | where documents meet | in the marginal | Fusion-in-Decoder: one decoder attends to all documents at once; kNN-LM: mixes at every token, like RAG-token |

# %% [markdown] role="task" task="nobody-told-the-finder" points=2
# ## In your own words
#
# RAG's retriever is trained without labels for the right document, and it improves all the same. Where does its signal come from?
# Describe one case in which it learns nothing, or something wrong.
#
# ### BEGIN MARK SCHEME
# - 1 point: the document is summed over. The gradient raises the score of documents that make the right answer likelier than
#   the others do (posterior minus prior).
# - 1 point for any one: the right document is not among those retrieved; the reader ignores documents, so all of them score alike; a document
#   helps for a wrong reason and is rewarded.
# - Related: `rag.sequence/retriever_detached`, `rag.sequence/logarithms_averaged`, `rag.token/documents_equally_likely`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Kiela et al. 2019, [Supervised Multimodal Bitransformers](https://arxiv.org/abs/1909.02950): pictures as tokens, in four pages of method.
# - Karpukhin et al. 2020, [Dense Passage Retrieval](https://arxiv.org/abs/2004.04906): section 3.2 is the loss, section 5 what mattered.
# - Radford et al. 2021, [Learning Transferable Visual Models From Natural Language Supervision](https://arxiv.org/abs/2103.00020): CLIP; section 2.3, and figure 3, the loss in a few lines.
# - Lewis et al. 2020, [Retrieval-Augmented Generation](https://arxiv.org/abs/2005.11401): section 2.1 has both marginals, 2.5 how to decode with each.
# - Guu et al. 2020, [REALM](https://arxiv.org/abs/2002.08909): its appendix A derives the gradient of section 4.
# - Izacard and Grave 2021, [Fusion-in-Decoder](https://arxiv.org/abs/2007.01282): all documents in one decoder, in place of the sum.
