# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 10 · Sequence-to-sequence objectives
#
# **The question.** T5, BART, Pegasus and ProphetNet are the encoder-decoder that you built in unit 05, with small changes. Nobody
# gave them translations to learn from: they read plain text. What were they trained to do with it, and why do they turn out so different?
#
# You build the four tasks. Each takes something away from a text and says what must be written; that is all. Then you build the mask with which a single stack of layers replaces encoder and decoder. At the end you see what each task makes of
# one sentence under different seeds, and what each costs.

# %% role="setup"
import torch
import torch.nn.functional as F

# %% [markdown]
# ## The idea
#
# An encoder-decoder learns from pairs: something to read, something to write. Plain text has no pairs, so the objective makes them:
#
# $$x \;\longrightarrow\; \big(c(x),\ y(x)\big), \qquad \text{loss} = -\sum_t \log P\big(y_t \mid y_{<t},\, c(x)\big)$$
#
# $c$ corrupts the text (`inputs` in the code), $y$ is the text to be written (`targets`). The model, the loss and the optimiser of units 05 and 06 stay as they are.
# The choice of $c$ and $y$ decides what the model must understand in order to succeed, how long its inputs and targets are, hence what
# a step costs, and which real task it will find easy afterwards.

# %% role="demo"
import matplotlib.pyplot as plt

from tfkit_lab import show


def draw(*rows):
    """Pairs of a label and tokens, one line each; what stands in angle brackets is yellow."""
    fig = plt.figure(figsize=(10, 0.32 * len(rows)))
    ax = fig.add_axes((0, 0, 1, 1))
    for y, (label, tokens) in enumerate(rows):
        ax.text(0, -y, label, fontsize=9, weight="bold", color="black")
        x = 20.0
        for token in tokens:
            colour = "#f2c14e" if token.startswith("<") else "#e8e8e8"
            ax.text(x, -y, token, fontsize=9, family="monospace", color="black", bbox={"fc": colour, "ec": "none", "pad": 1.5})
            x += len(token) + 1.3
    ax.set(xlim=(-1, 133), ylim=(0.6 - len(rows), 0.7)), ax.axis("off")
    plt.show()


draw(("the text", "It rained all day . We stayed at home . Nobody came .".split()),
     ("T5 reads", "It rained <X> . We <Y> home . Nobody came .".split()),
     ("    writes", "<X> all day <Y> stayed at <Z>".split()),
     ("BART reads", "We <mask> . Nobody came . It rained all day .".split()),
     ("    writes", "It rained all day . We stayed at home . Nobody came .".split()),
     ("Pegasus reads", "It rained all day . <mask> Nobody came .".split()),
     ("    writes", "We stayed at home .".split()),
     ("ProphetNet writes", "We stayed at home .".split()),
     ("    and", "stayed at home .".split()))

# %% [markdown]
# *Figure: one text of three short sentences, and for each model a line that it reads and lines that it writes. T5 reads the text with two spans replaced by sentinels and
# writes only those spans. BART reads the sentences in another order with one mask in place of three words and writes the whole text. Pegasus reads the text with a
# whole sentence masked and writes that sentence. ProphetNet writes two lines: the next token, and the token after it.*
#
# ## 1 · T5: write only what is missing
#
# Cut the text $x$ into pieces: what stays, $s_0, s_1, \dots$, and between them the spans that are removed, $m_1, m_2, \dots$. Each span is replaced by a *sentinel* of its own, a token
# from a list `sentinels`:
#
# $$\text{inputs} = s_0\ \langle X\rangle\ s_1\ \langle Y\rangle\ s_2 \qquad\qquad \text{targets} = \langle X\rangle\ m_1\ \langle Y\rangle\ m_2\ \langle Z\rangle$$
#
# `spans` holds the pairs `(start, end)`; `tokens[start:end]` is removed. A sentinel in the targets says *which* span follows it, and the next unused one marks the end of
# the targets. BERT's masks stand for one token each; here one sentinel stands for a whole span, so the model must find out its length, and both sequences become shorter than the text.
#
# **A common mistake.** The paper's example (Raffel et al. 2020, 3.1.4) is *Thank you for inviting me to your party last week .*, from which "for inviting" and "last" are taken. The targets are
# `<X> for inviting <Y> last <Z>`, full stop not included. An explanation that is often
# copied takes "dog", "is" and "cute" from *My dog is very cute .* and gives the inputs `My <x> very <y> .` and the targets `<x> dog is <y> cute . <z>`. There the full stop is in both: it was never taken
# away, so it need not be written, and the targets should be `<x> dog is <y> cute <z>`.
#
# **Predict, then run.** A text of `L` tokens loses `n` of them in `k` spans. How long are the inputs, how long the targets?

# %% role="predict"
predict(
    "10.spans",
    predict.choice("How long are the inputs?", "L - n", "L - n + k", "L - n + k + 1", "L"),
    predict.choice("How long are the targets?", "n", "n + k", "n + k + 1", "n + 2k"),
)

# %% role="exercise" exercise="objectives.span_corruption"

# %% role="demo"
guess = predicted("10.spans")
TEXT = "Thank you for inviting me to your party last week .".split()
try:
    inputs, targets = span_corruption(TEXT, [(2, 4), (8, 9)], ["<X>", "<Y>", "<Z>"])
    draw(("the text", TEXT), ("inputs", inputs), ("targets", targets))
    print(f"L = {len(TEXT)}, n = 3, k = 2: inputs {len(inputs)} = L - n + k, targets {len(targets)} = n + k + 1")
    guess.compare({8: "L - n", 10: "L - n + k", 11: "L"}[len(inputs)], {3: "n", 5: "n + k", 6: "n + k + 1", 7: "n + 2k"}[len(targets)])
except NotImplementedError:
    print("Build span_corruption first.")

# %% [markdown]
# *Figure: the example, its inputs and its targets on three lines, with the sentinels in yellow.*
#
# Now the example with the dog. Your function makes the pair; then each of the two pairs is *undone*: every sentinel of the inputs is replaced by what the targets have for it. Only one of them gives back the original sentence.

# %% role="demo"
def put_back(inputs, targets):
    """The text that the pair was made of: each sentinel of the inputs becomes what follows it in the targets."""
    pieces, sentinel = {}, None
    for token in targets:
        sentinel = token if token in ("<x>", "<y>", "<z>") else sentinel
        pieces.setdefault(sentinel, []).extend([] if token == sentinel else [token])
    return [word for token in inputs for word in pieces.get(token, [token])]


DOG = "My dog is very cute .".split()
try:
    inputs, targets = span_corruption(DOG, [(1, 3), (4, 5)], ["<x>", "<y>", "<z>"])
    retold = "<x> dog is <y> cute . <z>".split()
    draw(("the text", DOG), ("inputs", inputs), ("targets", targets), ("as retold", retold))
    for name, pair in {"targets": targets, "as retold": retold}.items():
        print(f"{name:10} put back: {' '.join(put_back(inputs, pair)):26} the same text: {put_back(inputs, pair) == DOG}")
except NotImplementedError:
    print("Build span_corruption first.")

# %% [markdown]
# *Figure: the sentence about the dog, its inputs `My <x> very <y> .`, your targets, and below them the copied targets, which have a full stop more.*
#
# With the copied targets the sentence ends in two full stops. A model trained on them would learn to write, after the last span, a token that was never removed.
#
# ## 2 · BART: write the whole text again
#
# $$\text{inputs} = c(x) \qquad\qquad \text{targets} = x$$
#
# BART's targets never change, so $c$ may be *anything*; it is a denoising autoencoder. The paper tries five kinds of noise. Masking single tokens you know from BERT; you build the four others:
#
# | function | what it does | what the model must find out |
# |---|---|---|
# | `delete_tokens(tokens, keep)` | tokens vanish without a trace | *where* something is missing |
# | `infill(tokens, spans, mask)` | each span becomes **one** mask | *how many* tokens are missing: none at all where a mask was inserted for an empty span |
# | `permute_sentences(sentences, order)` | place `i` takes `sentences[order[i]]` | which sentence follows which |
# | `rotate(tokens, start)` | the text begins at token `start`, and what came before it follows at the end | where the text begins |
#
# BART itself was trained with infilling (30% of the tokens, span lengths from a Poisson distribution with mean 3) on shuffled sentences.
#
# **Predict, then run.** With `order = [2, 0, 1]`, which sentence comes first? And where does the first sentence go?

# %% role="predict"
predict(
    "10.permuted",
    predict.choice("Which sentence comes first?", "the first", "the second", "the third"),
    predict.choice("Where does the first sentence go?", "to the first place", "to the second", "to the third"),
)

# %% role="exercise" exercise="objectives.denoise"

# %% role="demo"
guess = predicted("10.permuted")
STORY = [s.split() for s in ("It rained all day .", "We stayed at home .", "Nobody came .")]
try:
    flat = [token for sentence in STORY for token in sentence]
    shuffled = permute_sentences(STORY, [2, 0, 1])
    draw(("the text", flat),
         ("delete_tokens", delete_tokens(flat, [place not in (1, 6) for place in range(len(flat))])),
         ("infill", infill(flat, [(2, 4), (6, 6)], "<mask>")),
         ("permute_sentences", [token for sentence in shuffled for token in sentence]),
         ("rotate", rotate(flat, 7)))
    guess.compare(("the first", "the second", "the third")[STORY.index(shuffled[0])],
                  ("to the first place", "to the second", "to the third")[shuffled.index(STORY[0])])
except NotImplementedError:
    print("Build the four kinds of noise first.")

# %% [markdown]
# *Figure: a text of three sentences, and below it the same after each kind of noise. Only infilling leaves masks; one of its two replaces nothing.*
#
# Now the places are drawn at random, as in training. Compare how much your T5 and your BART have to write for two spans.

# %% role="demo"
VOCAB = [*dict.fromkeys(token for sentence in STORY for token in sentence), "<mask>", "<X>", "<Y>", "<Z>"]


def two_spans(generator):
    """Two spans of one to three of the 14 tokens, apart from each other."""
    starts, lengths = torch.randint(0, 4, (2,), generator=generator), torch.randint(1, 4, (2,), generator=generator)
    return [(start, start + length) for start, length in zip((starts + torch.tensor([0, 8])).tolist(), lengths.tolist())]


def as_objective(corrupt):
    """The view's form of corrupt(tokens, spans) -> (inputs, targets): ids in and out."""
    def objective(batch, generator):
        made = corrupt([VOCAB[i] for i in batch["input_ids"][0]], two_spans(generator))
        return {name: torch.tensor([[VOCAB.index(token) for token in tokens]]) for name, tokens in zip(("input_ids", "labels"), made)}

    return objective


OBJECTIVES = {
    "T5: span_corruption": as_objective(lambda tokens, spans: span_corruption(tokens, spans, ["<X>", "<Y>", "<Z>"])),
    "BART: infill": as_objective(lambda tokens, spans: (infill(tokens, spans, "<mask>"), tokens)),
}
try:
    display(show.corruption(OBJECTIVES, torch.tensor([VOCAB.index(token) for token in flat]), VOCAB.__getitem__, draws=8, title="What is read, what is written"))
except (NotImplementedError, NameError):
    print("Build span_corruption and the four kinds of noise first.")

# %% [markdown]
# *Figure: the text, and for each of the two objectives what goes in and what is to be written. T5 writes the two spans with their sentinels; BART writes the whole text.*
#
# ## 3 · Pegasus: write the most important sentences
#
# A summary says in a few sentences what the whole text says in many. So Pegasus removes whole sentences and has them written: each chosen sentence becomes one `mask`, the targets are
# the chosen ones, one after another, **in the order of the document**. This is so close to summarising that a thousand real summaries, often fewer, are enough for fine-tuning.
#
# Which sentences? Those that are most like the rest of the document, by the overlap of their words (ROUGE-1 F1),
#
# $$s_i = \mathrm{rouge}\big(x_i,\ D \setminus \{x_i\}\big), \qquad \text{chosen} = \text{the } m \text{ largest } s_i$$
#
# That choice is made for you by `principal_sentences` in `tfkit`; `gap_sentences` gets the numbers, in any order.
#
# **Predict, then run.** Two neighbours are chosen. How many masks are in the inputs?

# %% role="predict"
predict("10.neighbours", predict.number("Two neighbours are chosen. How many masks are in the inputs?"))

# %% role="exercise" exercise="objectives.gap_sentences"

# %% role="demo"
from tfkit.objectives.gap_sentences import principal_sentences

guess = predicted("10.neighbours")
NEWS = [s.split() for s in ("Rain fell .", "The old mill by the river burned down .", "The river rose .", "Nobody was in the mill .")]
try:
    chosen = principal_sentences(NEWS, 1)
    inputs, targets = gap_sentences(NEWS, chosen, "<mask>")
    draw(("the text", [token for sentence in NEWS for token in sentence]), ("inputs", inputs), ("targets", targets))
    print("chosen:", chosen)
    guess.compare(gap_sentences(NEWS, [1, 2], "<mask>")[0].count("<mask>"))
except NotImplementedError:
    print("Build gap_sentences first.")

# %% [markdown]
# *Figure: four sentences about a fire at a mill; in the inputs the longest of them is one mask, and it alone is the targets.*
#
# **Both at once.** The paper's figure 1 shows a second task beside the first: in the sentences that stay, 15% of the tokens are replaced by a mask of another kind, `[MASK2]`, and the *encoder* is to predict them, as in BERT, while the decoder writes the missing
# sentence. The two losses are added,
#
# $$\mathcal{L} = \underbrace{-\sum_t \log P(y_t \mid y_{<t},\ c(x))}_{\text{decoder: the sentences that are gone}} \;\; \underbrace{-\sum_{i \in M} \log P(x_i \mid c(x))}_{\text{encoder: the words that are hidden}}$$
#
# and one pass through the encoder serves both. `joint_gap_sentences` makes the three rows; a Pegasus with random weights gives both losses, each near $\log V$. Its encoder has no output matrix, so its logits are computed with the embedding table.

# %% role="demo"
import tfkit
from tfkit.objectives.gap_sentences import joint_gap_sentences

hidden = torch.rand(len(NEWS), 9, generator=torch.Generator().manual_seed(5)) < 0.25  # more than 15%: the text is short
inputs, asked, targets = joint_gap_sentences(NEWS, [1], "[MASK1]", "[MASK2]", lambda sentence, place: hidden[sentence, place].item())
draw(("inputs", inputs), ("encoder predicts", [token or "·" for token in asked]), ("decoder writes", targets))

VOCABULARY = ["<pad>", "</s>", "[MASK1]", "[MASK2]", *dict.fromkeys(sum(NEWS, []))]
read_ids, asked_ids, write_ids = (torch.tensor([[VOCABULARY.index(token) if token else -100 for token in row]]) for row in (inputs, asked, targets))
torch.manual_seed(0)
pegasus = tfkit.from_config("pegasus", head="seq2seq_lm", vocab_size=len(VOCABULARY), d_model=16, n_heads=2, n_layers=1, d_ff=32, max_length=40).eval()
with torch.no_grad():
    decoder_loss = pegasus(input_ids=read_ids, labels=write_ids).loss
    states = pegasus.encode(read_ids).last_hidden_state  # [1,S,E]
    encoder_loss = F.cross_entropy((states @ pegasus.embed.weight.T).transpose(1, 2), asked_ids)
print(f"decoder {decoder_loss:.2f} + encoder {encoder_loss:.2f} = {decoder_loss + encoder_loss:.2f};  log V = {torch.tensor(float(len(VOCABULARY))).log():.2f}")

# %% [markdown]
# *Figure: three lines. The inputs have one `[MASK1]` where the second sentence was and `[MASK2]` for single words; the encoder is to predict those words alone; the decoder writes the sentence about the mill.*
#
# Masked tokens improved the summaries of models fine-tuned early in pretraining, but limited those of models pretrained for longer, so the published Pegasus was trained on gap sentences alone. That an objective did not help is a result, too.
#
# ## 4 · ProphetNet: predict more than the next token
#
# A model that only has to predict the next token can do well by looking at the last few. ProphetNet's decoder has `N` streams; at each position stream 0 predicts the next token, stream 1 the one after it, and so on:
#
# $$\text{loss} = \frac{1}{N} \sum_{n=0}^{N-1}\ \operatorname*{mean}_{t}\ \Big(\!-\log P_n\big(y_{t+n} \mid y_{<t},\, c(x)\big)\Big)$$
#
# In the code `logits[n, :, t]` belongs to $P_n$ at position $t$, and `targets[:, t]` is $y_t$, which stream 0 predicts there; stream `n` is scored against `targets[:, t + n]`.
# Targets past the end of the row, and padding, do not count. Each stream has a mean of its own (it has fewer targets than the one before), and a stream with nothing at all to predict is left out.
# If all targets are padding, the loss is 0, with a gradient (of zeros), so that training can go on.
# (In the paper each stream has a weight $\alpha_n$; here all are $1/N$.) At test time only stream 0 is used; the others are there so that in training the states learn to plan ahead.

# %% role="demo"
words = "We stayed at home .".split()
fig, ax = plt.subplots(figsize=(6, 1.7))
for n in range(3):
    for t in range(5):
        there = t + n < 5
        ax.add_patch(plt.Rectangle((t, -n), 0.94, 0.9, color="#cfe3f5" if there else "#f0f0f0"))
        ax.text(t + 0.47, 0.45 - n, words[t + n] if there else "", ha="center", va="center", color="black")
    ax.text(-0.1, 0.45 - n, f"stream {n}", ha="right", va="center")
ax.set(xlim=(-1, 5), ylim=(-2.1, 1)), ax.axis("off")
plt.show()

# %% [markdown]
# *Figure: a table with a row for each of three streams and a column for each of five positions. The cell says which token is the stream's target; each row is the one above, shifted
# left by one, and the last cells of the lower rows are empty.*
#
# **Predict, then run.** Three streams, one row of four tokens and one of a single token. How many terms does each stream's mean have? And what is the loss of a model that knows nothing, with a vocabulary of 10?

# %% role="predict"
predict(
    "10.streams",
    predict.numbers("How many terms do the means of streams 0, 1 and 2 have?", 3),
    predict.number("The loss of a model that knows nothing, with a vocabulary of 10", within=0.05),
)

# %% role="exercise" exercise="objectives.future_ngram"

# %% role="demo"
guess = predicted("10.streams")
try:
    targets = torch.tensor([[5, 3, 8, 2], [7, 0, 0, 0]])
    print("terms:", [int((targets[:, n:] != 0).sum()) for n in range(3)])
    clueless = torch.zeros(3, 2, 4, 10)
    print(f"knows nothing: {future_ngram_loss(clueless, targets, 0):.3f} = log 10")
    sure = F.one_hot(targets, 10).float().mul(20).expand(3, -1, -1, -1)
    print(f"repeats the next token in every stream: {future_ngram_loss(sure, targets, 0):.3f}")
    guess.compare([(targets[:, n:] != 0).sum() for n in range(3)], future_ngram_loss(clueless, targets, 0))
except NotImplementedError:
    print("Build future_ngram_loss first.")

# %% [markdown]
# ## 5 · One stack instead of two: a prefix
#
# All this can be done without an encoder. Put inputs and targets into *one* row, and let one decoder read it: of the row's $L$ positions the first $n$ are the **prefix**. With the causal mask of unit 02, a token of the
# prefix would not see the tokens after it, though they are all known: an encoder would have used both sides. The T5 paper (section 3.2, figure 4) compares three masks for this reason. The third is the **prefix LM**:
#
# $$\text{position } i \text{ sees } j \quad\Longleftrightarrow\quad j \le i \ \text{ or } \ (i < n \text{ and } j < n)$$
#
# `prefix_lengths [B]` holds the $n$ of each text, from 0 to `length`; the mask is `[B,1,L,L]`, because it is applied to scores `[B,H,L,L]`. Only what follows the prefix is predicted; the labels of the prefix itself are -100.
#
# **Predict, then run.** Five positions. What does the mask look like for $n = 0$, for $n = 3$, and for $n = 5$? Which of them already have a name?

# %% role="predict"
predict(
    "10.prefix",
    predict.mask("The mask for n = 3", 5, 5),
    predict.choice("For n = 0 it is …", "the causal mask", "a mask that hides nothing", "a mask that hides all"),
    predict.choice("For n = 5?", "the causal mask", "a mask that hides nothing", "a mask that hides all"),
)

# %% role="exercise" exercise="objectives.prefix_lm"

# %% role="demo"
guess = predicted("10.prefix")
try:
    masks = prefix_lm_mask(torch.tensor([0, 3, 5]), 5)
    grids = {f"n = {n}": mask[0] for n, mask in zip((0, 3, 5), masks)}
    display(show.matrices(grids, title="Prefix masks", axes=("position", "sees position")))
    guess.compare(masks[1, 0], "the causal mask" if torch.equal(masks[0, 0], torch.ones(5, 5).tril().bool()) else "a mask that hides all",
                  "a mask that hides nothing" if masks[2].all() else "the causal mask")
except NotImplementedError:
    print("Build prefix_lm_mask first.")

# %% [markdown]
# *Figure: three grids of five rows and five columns, dark where row i sees column j. For n = 0 a lower triangle: the decoder's mask. For n = 5 all cells: an encoder. For n = 3 the triangle, and the square of the first three rows and columns as well.*
#
# **Which tokens affect which outputs?** Take two layers of the attention of unit 01, one row of six tokens, and a prefix of 3. Each token is changed in turn, and all outputs are compared with those before.
#
# **Predict, then run.** Which outputs change when token 2 is changed? And when token 4 is? Can the answer influence the states of its own question, the prefix, in two layers?

# %% role="predict"
predict(
    "10.prefix-moves",
    predict.mask("Prefix of 3. Which outputs change?", ["token 2 is changed", "token 4 is changed"], 6),
    predict.choice("Can the answer influence the states of its question, in two layers?", "yes", "no"),
)

# %% role="demo"
from tfkit.nn import scaled_dot_product_attention as attend

guess = predicted("10.prefix-moves")
torch.manual_seed(0)
words, layers = torch.randn(1, 1, 6, 8), torch.randn(2, 8, 8) / 8**0.5
try:
    seen = prefix_lm_mask(torch.tensor([3]), 6)

    def two_layers(x):
        for w in layers:
            x = x + attend(x, x, x @ w, seen)[0]
        return x

    moves = []
    for changed in range(6):
        other = words + 3 * F.one_hot(torch.tensor(changed), 6)[:, None]
        moved = (two_layers(other) - two_layers(words)).abs().amax(-1)[0, 0] > 1e-5
        moves.append(moved.tolist())
        print(f"changing token {changed} changes the outputs", moved.nonzero().flatten().tolist())
    guess.compare([moves[2], moves[4]], "yes" if any(any(row[:3]) for row in moves[3:]) else "no")
except NotImplementedError:
    print("Build prefix_lm_mask first.")

# %% [markdown]
# A change in the prefix affects all outputs; a change after it affects only its own output and later ones. Nothing leads back into the prefix, so its keys and values can be cached as a decoder's are (unit 07), although the prefix is read in both directions.
#
# In the T5 paper's comparison the encoder-decoder came out best, at twice the parameters but the same cost per step, since each token passes through one of the two halves only; the prefix LM came close to it with half of the parameters, and the purely causal model was worse than both.
#
# ## 6 · Text to text: the task is a prefix, too
#
# The objective was T5's first idea; the second is in its name, *Text-to-Text Transfer Transformer*. Every task, whether translation, summary, classification or even a regression, becomes an input text and an output text, with a few words in front that say which task it is. No task needs a head of its own, and all are trained in one batch
# with one loss. The cell below writes the tasks of SuperGLUE, a benchmark by which encoders were compared, in this form.
#
# **Predict, then run.** STS-B asks how similar two sentences are, as a number from 1 to 5. How can a model that writes words be trained on 2.57?

# %% role="predict"
predict("10.regression", predict.choice("What does T5 write for a similarity of 2.57?", "2.57", "2.6", "3", "similar"))

# %% role="demo"
from tfkit.objectives.text_to_text import LABELS, SUPERGLUE, mark_pronoun, similarity_label, text_to_text

guess = predicted("10.regression")
FIELDS = {"passage": "Ice is frozen water.", "question": "is ice water", "hypothesis": "It rained.", "premise": "The street is wet.", "choice1": "It rained.", "choice2": "It was hot.",
          "answer": "water", "paragraph": "Ice is frozen water.", "query": "@placeholder is frozen water.", "entities": "Ice, Water", "sentence1": "A cold drink.", "sentence2": "A cold person.", "word": "cold",
          "text": mark_pronoun("The fish ate the worm. It was tasty.", 5)}  # fmt: skip
print(text_to_text("translation", source_language="English", target_language="German", text="That is good."))
print(text_to_text("stsb", sentence1="A man eats.", sentence2="Someone eats."), "->", similarity_label(2.57))
for task in SUPERGLUE:
    print(f"{text_to_text(task, **FIELDS)}  ->  {' | '.join(LABELS.get(task, ['words of the text']))}")
guess.compare(similarity_label(2.57))

# %% [markdown]
# A score is rounded to a fifth, so that 21 strings are enough for all of them: 2.57 becomes `2.6`. In the Winograd tasks (`wsc`) a pronoun is put between asterisks and T5 writes what it stands for, instead of saying yes or no about a pair. An answer that is none of the labels counts as wrong; the authors never saw one from a trained model. The price is that a classifier with $k$ classes is now a decoder
# that could write anything.
#
# ## 7 · A token for the language
#
# A model that translates from one language into one other need not be told which one to write. A model of 50 languages must be. The published models do it in three ways, and each has its own table of languages: mBART puts the code of its language after each text, and its decoder begins with that of the target; mBART-50 and M2M-100 put it in front; XLM, an encoder, adds a vector to *every* token (unit 08). With the
# wrong code there is no error: the model writes another language.
#
# **Predict, then run.** How many ordered pairs of languages does M2M-100 translate?

# %% role="predict"
predict("10.directions", predict.number("How many directions does M2M-100 translate?", within=200))

# %% role="demo"
from tfkit.text.languages import language_ids

guess = predicted("10.directions")
for name in ("mbart-large-cc25", "mbart-large-50", "m2m100_418M", "xlm-mlm-tlm-xnli15-1024", "xlm-mlm-100-1280"):
    table = language_ids(name)
    some = ", ".join(f"{code} {table[code]}" for code in list(table)[:6])
    print(f"{name:24} {len(table):3} languages   {some} …")
guess.compare(100 * 99)

# %% [markdown]
# XLM's numbers are rows of a table of languages, those of the others are ids of tokens after the rest of the vocabulary. Most of M2M-100's $100 \cdot 99$ directions were never trained on pairs of sentences: the languages were grouped in families, and only *bridge* languages were paired across them (Fan et al. 2020).
#
# **XLM-ProphetNet** is ProphetNet for a hundred languages: the objective of section 4 on Wikipedia in 100 languages, with XLM-R's vocabulary of 250,000 tokens, and no language code at all. So what decides in which language it writes? What it was fine-tuned on. Fine-tuned to write headlines in English alone, it writes headlines for French and Russian articles, too, which
# is what the benchmark XGLUE measures.
#
# ## 8 · BERT2BERT: encoder and decoder from trained models
#
# BART and T5 train encoder and decoder together. Rothe et al. (2019) asked whether that is necessary, as BERT exists already. **BERT2BERT** uses it twice. The encoder is BERT as it is. The decoder is BERT with a causal mask and, after each self-attention, a cross-attention, the only part that begins with random weights. With `tie_encoder_decoder` the two halves
# share *one* set of weights except for the cross-attention ("BERTShare"). The decoder may also be a GPT-2, whose vocabulary is another than the encoder's.
#
# **Predict, then run.** How much of BERT2BERT has to be learned from scratch?

# %% role="predict"
predict("10.afresh", predict.choice("What share of BERT2BERT's weights starts at random?", "about 1%", "about 11%", "about a half"))

# %% role="demo"
from tfkit import registry
from tfkit.tools.anatomy import parts, published_parts, published_tensors

guess = predicted("10.afresh")
for name in ("bert2bert", "bert-share", "bert2gpt"):
    with torch.device("meta"):  # shapes and no memory
        pair = tfkit.from_config(name)
    every = sum(p.numel() for p in pair.parameters())
    fresh = sum(p.numel() for path, p in pair.named_parameters() if "cross_" in path)
    share = fresh / every
    print(f"{name:11} {every / 1e6:4.0f} million weights, {share:4.0%} of them cross-attention")
    if name == "bert2bert":
        guess.compare("about 1%" if share < 0.05 else "about 11%" if share < 0.2 else "about a half")
        local_names = [f"{row.name.strip()} {row.shapes}" for row in parts("", pair.decoder.layers[0].cross_attn, 1)][1:]
        tensors = published_tensors(pair, registry.load("encoder_decoder"))
        begin = "decoder.bert.encoder.layer.0.crossattention."
        published_names = {path.removeprefix(begin): shape for path, shape in tensors.items() if path.startswith(begin)}
print("\nthe new part, as tfkit names it:", *local_names, "\nas the published file does:", sep="\n  ")
print(*(f"  {row.name} {row.shapes}" for row in published_parts("crossattention", published_names, 3)), sep="\n")

# %% [markdown]
# A tenth is new, and that is what fine-tuning has to teach: *look at the source*. In their comparison such pairs were as good as models trained for generation from the start, on summaries and on rephrasing; in translation it was the pretrained *encoder* that mattered, and a decoder that began with random weights lost little. The whole tree of parts
# is printed by `tfkit anatomy bert2bert --names hf` in a terminal, under the names that files have, and by `tfkit anatomy bert2bert` under tfkit's; T5's by `tfkit anatomy t5-base --names hf`.
#
# ## The experiment: one sentence, four tasks
#
# First, is it true that the model is the same? The cell lists what a decoder layer of each consists of, as `tfkit` builds it.

# %% role="experiment"
from tfkit.tools.compare import modules

parts = {name: {path.removeprefix("decoder.*."): kind.split(":")[0] for path, kind in modules(name).items() if path.startswith("decoder.*.")}
         for name in ("transformer", "bart", "pegasus", "t5", "prophetnet")}
for name, found in parts.items():
    more = sorted(set(found) - set(parts["transformer"]))
    norm = found["norm1"]
    print(f"{name:12} {len(found)} modules with weights, {norm:9}  more than the transformer of 2017: {', '.join(more) or 'nothing'}")

# %% [markdown]
# All have self-attention, cross-attention, a feed-forward network and three norms; ProphetNet alone has one more module, for its streams' relative
# positions. So the difference is the task. The library has each objective as a class that works on whole batches: first it draws, then it corrupts. Below you see the same sentence under different seeds. Change the seeds,
# the density or the rate, and run it again.
#
# **Predict.** In how many of the draws can you guess every missing word? Which task gives the model the most to write?

# %% role="predict"
predict("10.most-to-write", predict.choice("Which task gives the model the most to write?", "T5's", "BART's"))

# %% role="experiment"
from tfkit.objectives.denoising import Denoising
from tfkit.objectives.span_corruption import SpanCorruption

guess = predicted("10.most-to-write")
SENTENCE = "the river rose and the old mill by the bridge burned down . nobody came .".split()
WORDS = ["<pad>", "</s>", "<mask>", *dict.fromkeys(SENTENCE), *(f"<{n}>" for n in range(19, -1, -1))]
IDS = {word: number for number, word in enumerate(WORDS)}
T5 = SpanCorruption(first_sentinel=IDS["<0>"], eos_id=1, density=0.3)
BART = Denoising(mask_id=2, pad_id=0, stop_ids=(IDS["."],), rate=0.3)
batch = {"input_ids": torch.tensor([[IDS[word] for word in SENTENCE] + [1]])}
batch["special_tokens_mask"] = (batch["input_ids"] == 1).long()


def read(ids):
    return [WORDS[i] for i in ids.tolist() if i >= 0]


for name, objective in {"T5": T5, "BART": BART}.items():
    for seed in range(3):
        made = objective(batch, torch.Generator().manual_seed(seed))
        draw((f"{name}, seed {seed}, reads", read(made["input_ids"][0])), ("    writes", read(made["labels"][0])))
written = {name: len(read(objective(batch, torch.Generator().manual_seed(0))["labels"][0])) for name, objective in (("T5's", T5), ("BART's", BART))}
guess.compare(max(written, key=written.get))

# %% [markdown]
# *Figure: three draws for T5 and three for BART, each a line that is read and one that is written. T5 writes a few words between sentinels, BART the whole sentence every time, though its masks and
# the order of its two halves change.*
#
# The same with *your* `gap_sentences`, and the library's choice of sentence beside every other choice: what is left when the most important sentence is gone?

# %% role="experiment"
try:
    best = principal_sentences(NEWS, 1)
    for number in range(len(NEWS)):
        inputs, targets = gap_sentences(NEWS, [number], "<mask>")
        draw(("Pegasus reads" if [number] == best else "it might read", inputs), ("    writes", targets))
except NotImplementedError:
    print("Build gap_sentences first.")

# %% [markdown]
# *Figure: the four sentences with each of them masked in turn, and that sentence below. The library chooses the second, about the mill that burned down.*
#
# ## What does it cost?
#
# A token costs somewhat more in a decoder layer than in an encoder layer, which has no cross-attention ($16\,d^2$ weights against $12\,d^2$ with $d_{ff} = 4d$), and attention costs the square of the length. Two hundred texts of 300 to 500 tokens, each corrupted as T5, BART and Pegasus do; ProphetNet's task is to write masked spans,
# 15% of the text, with each token predicted twice.
#
# **Predict.** Where does each objective lie in a plot of tokens to write over tokens to read?

# %% role="predict"
predict(
    "10.square",
    predict.choice("Which writes the most?", "T5", "BART", "Pegasus", "ProphetNet"),
    predict.choice("Which writes the least?", "T5", "BART", "Pegasus", "ProphetNet"),
    predict.choice("Which reads the least?", "T5", "BART", "Pegasus", "ProphetNet"),
)

# %% role="experiment"
def corrupted(objective, length, seed):
    ids = torch.arange(10, 10 + length).unsqueeze(0)
    made = objective({"input_ids": ids}, torch.Generator().manual_seed(seed))
    return made["attention_mask"].sum().item(), (made["labels"] != -100).sum().item()


def pegasus_lengths(length, generator):
    cuts = torch.randperm(length - 1, generator=generator)[: length // 20].sort().values + 1
    sizes = torch.diff(torch.cat([torch.tensor([0]), cuts, torch.tensor([length])]))
    gone = torch.randperm(len(sizes), generator=generator)[: round(0.3 * len(sizes))]  # 30% of the sentences
    written = sizes[gone].sum().item()
    return length - written + len(gone), written


points, generator = {"T5": [], "BART": [], "Pegasus": [], "ProphetNet": []}, torch.Generator().manual_seed(0)
for seed, length in enumerate(torch.randint(300, 500, (200,), generator=generator).tolist()):
    points["T5"].append(corrupted(SpanCorruption(first_sentinel=9999, eos_id=1), length, seed))
    points["BART"].append(corrupted(Denoising(mask_id=2, pad_id=0), length, seed))
    points["Pegasus"].append(pegasus_lengths(length, generator))
    points["ProphetNet"].append((length, round(0.15 * length)))

# %% role="experiment"
guess = predicted("10.square")
fig, ax = plt.subplots(figsize=(6, 4))
for (name, pairs), marker in zip(points.items(), "os^x"):
    ax.scatter(*zip(*pairs), s=12, marker=marker, label=name, alpha=0.7)
ax.set(xlabel="tokens to read", ylabel="tokens to write", ylim=(0, 520)), ax.legend()
plt.show()
for name, pairs in points.items():
    read_, written = (sum(column) / len(pairs) for column in zip(*pairs))
    print(f"{name:11} reads {read_:4.0f}, writes {written:4.0f}: {100 * written / (read_ + written):3.0f}% of these tokens are targets")
total = {name: [sum(column) for column in zip(*pairs)] for name, pairs in points.items()}
guess.compare(max(total, key=lambda name: total[name][1]), min(total, key=lambda name: total[name][1]), min(total, key=lambda name: total[name][0]))

# %% [markdown]
# *Figure: a scatter of target length over input length. T5's points lie at the bottom right: long inputs, targets of about a fifth of the text. BART's lie at the top: targets as long as the text, inputs of about four fifths. Pegasus's
# form a broad cloud between, around 30% written. ProphetNet's lie below T5's, at 15%.*
#
# BART has the most to write, but most of it is copied; T5 writes only what cannot be copied, and two fifths fewer tokens pass through the model. The T5 paper compared such objectives for equal numbers of steps:
# quality hardly differs, *so the short targets win, because they are cheaper*. The same reason speaks for long spans: fewer sentinels and shorter sequences.
#
# **Predict.** 15% of 512 tokens are taken away. How long are inputs and targets together when every span has one token, and when it has ten?

# %% role="predict"
predict(
    "10.one-or-ten",
    predict.number("How long are inputs and targets together, with one token per span?", within=40),
    predict.number("With ten?", within=25),
)

# %% role="experiment"
guess = predicted("10.one-or-ten")
means = [1, 1.5, 2, 3, 4, 5, 7, 10]
lengths = [corrupted(SpanCorruption(first_sentinel=9999, eos_id=1, mean_span=mean), 512, 0) for mean in means]
fig, ax = plt.subplots(figsize=(6, 2.8))
for label, column in zip(("tokens to read", "tokens to write"), zip(*lengths)):
    ax.plot(means, column, "o-", label=label)
ax.axvline(3, color="#888888", ls=":"), ax.text(3.1, 250, "T5's choice", fontsize=9)
ax.set(xlabel="mean length of a span", ylim=(0, 530)), ax.legend()
plt.show()
guess.compare(sum(lengths[0]), sum(lengths[-1]))

# %% [markdown]
# *Figure: two falling curves over the mean length of a span, from 1 to 10. Inputs fall from 512 towards 443, targets from 155 towards 86.*
#
# ## From your code to real models
#
# T5's published file has its authors' names for the tensors, after their place in a block: `layer.0` is self-attention, the next one in the decoder is
# cross-attention, and the last is feed-forward. **Complete the four rows** (not graded): replace each `"?"` by tfkit's name. Then the copy computes with the
# attention of unit 01 in each of its layers, though T5 does not divide by $\sqrt D$ and adds a bias for each distance.

# %% role="demo"
from tfkit.models import t5
from tfkit.nn import scaled_dot_product_attention

MY_ROWS = {
    "encoder.block.{}.layer.0.SelfAttention.k": "?",
    "decoder.block.{}.layer.1.EncDecAttention.v": "?",
    "decoder.block.{}.layer.2.DenseReluDense.wo": "?",
    "decoder.block.{}.layer.1.layer_norm": "?",
}
SIZE = {"vocab_size": 40, "d_model": 16, "n_heads": 2, "d_kv": 8, "d_ff": 32, "n_layers": 2}
model, copy = (tfkit.from_config("t5", **SIZE).eval() for _ in range(2))
for parameter in model.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # in a fresh model all norms are alike
file = t5.HF.dump(model.state_dict(), with_head=False)  # as the authors' code would have saved it
rows = {published: MY_ROWS.get(published, local) for published, local in t5.BODY.items()}
asked = {"input_ids": torch.arange(3, 13)[None], "decoder_input_ids": torch.arange(5)[None]}
try:
    copy.load_state_dict(t5.T5NameMap({published: local for published, local in rows.items() if local != "?"}, tied=t5.TIED).load(file))
    with tfkit.substitute(copy, scaled_dot_product_attention):
        apart = (model(**asked).last_hidden_state - copy(**asked).last_hidden_state).abs().max()
    print(f"All {len(file)} tensors have found a place.", "The copy gives the same numbers." if apart < 1e-4 else "But two are exchanged: its numbers differ.")
except (ValueError, RuntimeError, IndexError) as problem:
    print(str(problem).replace("\n", " ")[:300])
    print("tfkit's names in layer 0:", *(name for name in model.state_dict() if "coder.0." in name))

# %% [markdown]
# ## Meet a real model
#
# `tfkit get` has no weights of a T5 or a BART. But T5's idea, that every task is text in and text out, has outlived its objective: SmolLM2 (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB) was pretrained to predict the next token and nothing else. Give it two
# examples and a third to complete. **Before you run it:** which of the three tasks does a model of 135 million parameters manage?

# %% role="experiment"
TASKS = {"opposites": "hot -> cold\nbig -> small\nhappy ->",
         "capitals": "France: Paris\nJapan: Tokyo\nItaly:",
         "blanks filled": "Text: The cat <x> on the mat. <x> = sat\nText: She <x> a letter to him. <x> = wrote\nText: Birds <x> in the sky. <x> ="}  # fmt: skip
from tfkit.decode import Greedy

try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    for name, prompt in TASKS.items():
        print(f"{name:14} {prompt.splitlines()[-1]} {real.generate(prompt, Greedy(), max_new_tokens=4).splitlines()[0].strip()}")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# It manages two of three, and nobody trained a head for them. The prompt contains the task, and the spans are written out as in your `span_corruption`. One thing is lost compared with T5: each token sees only what stands before it.
#
# A blank whose clue comes after it shows how much that is. **Before you run it:** a decoder reads "She put the …" and chooses among four words. What changes when it may compare whole sentences?

# %% role="experiment"
SENTENCES = ["She put the {} on her feet and left.", "She put the {} on her head and left.", "She put the {} into the lock and left.", "She put the {} into the envelope and left."]
CANDIDATES = ["shoes", "hat", "key", "letter"]


def log_prob(real, words):
    ids = torch.tensor(real.tokenizer.encode([words]))
    return -real.model(ids, labels=ids).loss.item() * (ids.size(1) - 1)  # the loss is a mean


try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    with torch.no_grad():
        before = torch.tensor([[log_prob(real, text.partition("{}")[0] + word) for word in CANDIDATES] for text in SENTENCES])
        whole = torch.tensor([[log_prob(real, text.format(word)) for word in CANDIDATES] for text in SENTENCES])
    maps = {"the text before the blank": before.softmax(-1), "the whole sentence": whole.softmax(-1)}
    display(show.matrices(maps, [text.split()[-3] for text in SENTENCES], CANDIDATES, "Which word fills the blank?", ("sentence", "word")))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# *Figure: two maps, four sentences down and four words across. On the left all rows are the same, and "letter" has the largest probability. On the right each row has one dark cell: "hat" for the head, "key" for the lock, "letter" for the envelope; but "hat" for the feet, too.*
#
# On the left the rows must be the same, since the sentences are, up to the blank. With the whole sentence, three of four come out right, but for that the model had to read each sentence once with every candidate. An encoder reads both sides of a blank in one pass, and T5's decoder then writes what is missing, without a list to choose from.
#
# ## Find the fault
#
# Batches hide faults: what is right for a text alone may be wrong as soon as another one stands beside it. So a good test asks
# twice, once with the text alone and once with another one in the batch, and compares. Below is a mask for prefixes that somebody
# wrote, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="objectives.prefix_lm" seed=10
def test_a_row_is_the_same_alone(answer):
    alone, together = answer(torch.tensor([1]), 4), answer(torch.tensor([1, 3]), 4)
    assert torch.equal(together[0], alone[0]), "the mask of a text depends on the text beside it"

# %% [markdown]
# ## Pitfalls
#
# - **Positions move.** If you cut the first span out of the list, the second is somewhere else. Build new lists from left to right, or cut from right to left.
# - **The text is used again** in the next epoch, corrupted in another way: do not write into the lists that you were given.
# - **A permutation and its inverse.** "Place i takes sentence order[i]" and "sentence i goes to place order[i]" agree for two sentences, and in many tests, but not in general for three.
# - **Shifted twice.** `targets[:, t]` is already the next token; the shift of stream `n` counts from there.
# - **A mean over nothing** is NaN, which can end a training run after days. A row of one token has no target for the second stream.
# - **A prefix whose end is not marked.** Only the mask and the labels tell a prefix LM where the prefix ends; and if two texts share one row, the mask must separate them as well.
# - **A sentinel must be one token.** If the tokenizer splits `<extra_id_0>` into several tokens, there is no error, and nothing useful is learned.
#
# ## What real models changed
#
# | | taken away | replaced by | to be written | other differences |
# |---|---|---|---|---|
# | T5, mT5 | 15% in spans, mean 3 | a sentinel each | the spans | relative position biases, norms without a mean; T5 mixed in labelled tasks, mT5 did not |
# | BART | 30% in spans, mean 3 (Poisson), sentences shuffled | one mask each, some for empty spans | everything | learned positions, GELU |
# | mBART | 35%, in 25 languages | one mask each | everything | ends in the token of its language |
# | Pegasus | whole sentences, 30% of them, those most like the rest | one mask each | those sentences | sinusoidal positions; masking single words as well did not help |
# | ProphetNet | one span of 9 in each 64 | a mask for each token | the span, two tokens ahead | streams in the decoder |
# | UniLM, GLM, U-PaLM | spans, or the end of the text | masks, or nothing | the spans, or the rest | one stack, with a prefix |
# | Marian, M2M-100 | nothing: pairs of translations | | the other language | the case you know from unit 05 |
#
# In a terminal, `tfkit diff bart pegasus` shows the little that differs in the architecture.

# %% [markdown] role="task" task="what-is-written" points=2
# ## In your own words
#
# T5 writes only what was taken away, BART the whole text. What does this mean for the cost of a step, and for which later task would
# you expect each to be the better starting point? Give one reason for each.
#
# ### BEGIN MARK SCHEME
# - 1 point: T5's targets are about a fifth of the text, so fewer tokens pass through the decoder; BART writes everything, most of
#   it copied.
# - 1 point: an expectation with a reason. BART's decoder has practised whole texts (summaries, dialogue); T5's has practised
#   short answers to a given text (questions, classes as words). Any argument that follows from the objective counts.
# - Not enough: "T5 is larger", or the published scores.
# - Related: `objectives.span_corruption/whole_text_written`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Raffel et al. 2020, [Exploring the Limits of Transfer Learning](https://arxiv.org/abs/1910.10683), section 3: dozens of objectives, compared one by one.
# - Lewis et al. 2020, [BART](https://arxiv.org/abs/1910.13461), section 2.2 and table 1: which noise helps which task.
# - Zhang et al. 2020, [PEGASUS](https://arxiv.org/abs/1912.08777), section 3: choosing the sentences.
# - Qi et al. 2020, [ProphetNet](https://arxiv.org/abs/2001.04063), section 3: the streams that predict the future.
# - Tay et al. 2023, [UL2](https://arxiv.org/abs/2205.05131): all of them at once, with a token that says which.
