# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 08 · Encoders
#
# **The question.** BERT, RoBERTa, ALBERT, ELECTRA, DistilBERT and XLM are all the left half of the transformer of unit 05, with hardly a line changed. What,
# then, makes them different models?
#
# Mostly their *objective*, the task that they are trained on: a way to make inputs and targets out of plain text, which nobody had to label. You build six,
# and at the end two encoders that differ in nothing but their objective learn side by side.
#
# Your functions draw no random numbers: they get them as arguments (uniform draws, picks), so that a corruption can be tested, repeated and shown.

# %% role="setup"
from itertools import pairwise

import torch
import torch.nn.functional as F

# %% [markdown]
# ## The idea
#
# A decoder predicts the next word and may not see it; hence the causal mask. An encoder sees both sides, and the next word is right there in its
# input. So one has to *corrupt the text* and let the model predict what was there, or *arrange* texts and let it predict how they belong together.

# %% role="demo"
import matplotlib.pyplot as plt

ROWS = {
    "masked words": ("the cat [M] on the [M]", {2, 5}, {2, 5}),
    "replaced tokens": ("the cat ate on the mat", {2}, set(range(6))),
    "sentence order": ("[?] It slept. ¦ The cat sat.", set(), {0}),
    "translation": ("the cat [M] ¦ le chat dort", {2}, {2}),
}
fig, ax = plt.subplots(figsize=(7, 2.6))
for row, (name, (text, changed, asked)) in enumerate(ROWS.items()):
    ax.text(-0.6, -row, name, ha="right", va="center", fontsize=9)
    for place, word in enumerate(text.split()):
        ax.text(place, -row, word, ha="center", va="center", fontsize=9, color="white" if place in changed else "black",
                bbox={"fc": "#2a6fb0" if place in changed else "#cfe3f5", "ec": "none"})
        ax.plot(place, -row - 0.35, "o", ms=4, color="#c03030", visible=place in asked)
ax.set(xlim=(-2.6, 6.6), ylim=(-3.6, 0.5)), ax.axis("off")
plt.show()

# %% [markdown]
# *Figure: one sentence, "the cat sat on the mat", in four rows as four objectives show it. Dark cells are those that were changed; a dot below marks each
# position with a prediction. Masked words: two changed, two predicted. Replaced tokens: one changed, a prediction for all. Sentence order: nothing changed, one
# prediction for the whole. Translation: two sentences side by side, one word masked, one predicted.*
#
# ## 1 · Masked words (BERT, RoBERTa)
#
# This is *masked language modelling*: choose a set $M$ of positions, about 15% of them, corrupt them, and predict what stood there:
#
# $$\mathcal{L}_{MLM} = -\frac{1}{|M|} \sum_{i \in M} \log P(x_i \mid \tilde{x})$$
#
# with $x$ = `ids`, $\tilde{x}$ = `inputs`; `labels` holds $x_i$ on $M$ and -100 elsewhere, which `F.cross_entropy` leaves out.
#
# How are they corrupted? If all became `[MASK]`, the other positions would need no good state, and after pretraining there is no `[MASK]` in any text. So of
# the chosen words 80% become the mask, 10% another word, and 10% stay, and *those are predicted too*: the model cannot assume that a word in its input is the
# original one, even if it fits.
#
# The random numbers are arguments: a position is chosen where `select_u < rate` and it is not special ([CLS], [SEP], padding). Of these, `kind_u < 0.8` becomes the mask,
# `kind_u < 0.9` takes its word from `random_ids`, the others stay.
#
# BERT masked the text before training, in ten copies, so that in 40 epochs each masking came up four times (*static* masking); RoBERTa draws the masks anew
# each time a sentence is read (*dynamic* masking).
#
# **Predict, then run.** Of 10000 words, how many inputs differ from the text, and how many labels are not -100?

# %% role="predict"
predict(
    "08.masked-words",
    predict.number("Of 10000 words, how many inputs differ from the text?", within=300),
    predict.number("How many labels are not -100?", within=300),
)

# %% role="exercise" exercise="objectives.mlm"

# %% role="demo"
guess = predicted("08.masked-words")
torch.manual_seed(0)
ids, u = torch.randint(5, 1000, (10, 1000)), torch.rand(2, 10, 1000)
try:
    inputs, labels = mask_tokens(ids, ids < 5, 4, u[0], u[1], torch.randint(5, 1000, ids.shape))
    print(f"{(inputs != ids).sum()} inputs differ, {(labels != -100).sum()} are predicted, {(inputs == 4).sum()} are masks")
    guess.compare((inputs != ids).sum(), (labels != -100).sum())
except NotImplementedError:
    print("Build mask_tokens first.")

# %% [markdown]
# Here is what your function does to one sentence. "Draw again" draws new random numbers: BERT saw each sentence masked in ten ways, RoBERTa sees it masked anew
# each time.

# %% role="demo"
from tfkit_lab import show

WORDS = "[PAD] [CLS] [SEP] [UNK] [MASK] the old cat sat on a mat while two dogs slept near door".split()
SENTENCE = torch.tensor([WORDS.index(word) for word in "[CLS] the old cat sat on the mat while two dogs slept near the door [SEP]".split()])


def masked_words(batch, generator):
    """A batch with your mask_tokens: input_ids and labels."""
    ids = batch["input_ids"]
    select_u, kind_u = torch.rand(2, *ids.shape, generator=generator)
    inputs, labels = mask_tokens(ids, ids < 5, 4, select_u, kind_u, torch.randint(5, len(WORDS), ids.shape, generator=generator), rate=0.3)
    return {"input_ids": inputs, "labels": labels}


try:
    display(show.corruption({"masked words": masked_words}, SENTENCE, WORDS.__getitem__, special=SENTENCE < 5, draws=8, title="30% of the words"))
except NotImplementedError:
    print("Build mask_tokens first.")

# %% [markdown]
# *Figure: the sentence, and below it one draw of your objective: what goes in, with the changed words marked, and what has to be predicted, at the chosen
# positions only. Each draw chooses other positions.*
#
# ## 2 · Does the next sentence follow? (BERT)
#
# Question answering and inference are about *two* texts, so BERT reads two at once, `[CLS] a [SEP] b [SEP]`, and the state at `[CLS]` has to tell whether `b`
# really follows `a`. The pairs are made from any two consecutive sentences of a document, in order: `u < 0.5` keeps the true next sentence; otherwise `b` is the
# sentence that `random_pick = (document, sentence)` names. Draws and picks are flat lists with one entry for each pair, over all documents.
#
# **Predict.** One document is about cooking, another about football. How could a model answer this question without understanding a sentence?

# %% role="predict"
predict(
    "08.next-sentence",
    predict.choice("What gives the answer away?", "the order of the two sentences", "the topic: do they share words?", "their lengths"),
)

# %% role="exercise" exercise="objectives.sentence_pairs"

# %% role="demo"
predicted("08.next-sentence").compare("the topic: do they share words?")

# %% [markdown]
# ## 3 · Sentence order: which came first? (ALBERT)
#
# A sentence from another document has another *topic*, and a bag of words is enough to see it. RoBERTa dropped the task and lost nothing. ALBERT made it
# harder: it shows the same two consecutive sentences, perhaps swapped: `u < 0.5` swaps them. The topic is the same either way; only coherence can tell.
#
# **Predict, then run.** Two documents of three sentences each: how many pairs does each of the two functions give?

# %% role="predict"
predict(
    "08.pairs",
    predict.number("How many pairs does next_sentence_pairs give?"),
    predict.number("And sentence_order_pairs?"),
)

# %% role="exercise" exercise="objectives.sentence_order"

# %% role="demo"
guess = predicted("08.pairs")
documents = [["Heat the oil.", "Add the onions.", "Stir."], ["The whistle blew.", "She shot.", "Goal!"]]
try:
    for pair in next_sentence_pairs(documents, [0.9, 0.1, 0.6, 0.2], [(1, 0), (0, 0), (0, 2), (1, 1)]):
        print("follows?", pair)
    for pair in sentence_order_pairs(documents, [0.9, 0.1, 0.6, 0.2]):
        print("swapped?", pair)
    guess.compare(len(next_sentence_pairs(documents, [0.9, 0.1, 0.6, 0.2], [(1, 0), (0, 0), (0, 2), (1, 1)])),
                  len(sentence_order_pairs(documents, [0.9, 0.1, 0.6, 0.2])))
except NotImplementedError:
    print("Build next_sentence_pairs and sentence_order_pairs first.")

# %% [markdown]
# ## 4 · Replaced tokens: original or replaced? (ELECTRA)
#
# With masking, only 15% of the positions are predicted, and the input has a symbol that no text has. ELECTRA lets a small *generator* fill the blanks with
# likely words, and the encoder predicts for *every* position whether it was replaced.
#
# $$\mathcal{L}_{RTD} = -\frac{1}{n} \sum_{i=1}^{n} \big[\, r_i \log \sigma(z_i) + (1 - r_i) \log (1 - \sigma(z_i)) \,\big], \qquad r_i = [\, x_i \ne \hat{x}_i \,]$$
#
# $z$ = `logits`, positive for *replaced*; $x$ = `original`, $\hat{x}$ = `corrupted`; the sum and $n$ run over `mask`, the real words. If there are none, the loss is 0.
#
# It looks like a GAN but is not one: the generator is trained on masked words, and no gradient flows through its samples.
#
# **Predict.** The generator guesses the right word. Is that position "replaced"?

# %% role="predict"
predict(
    "08.replaced",
    predict.choice("The generator guesses the right word. Is that position replaced?", "yes", "no"),
)

# %% role="exercise" exercise="objectives.replaced_tokens"

# %% role="demo"
guess = predicted("08.replaced")
try:
    original, corrupted = torch.tensor([[5, 6, 7, 8]]), torch.tensor([[5, 9, 7, 8]])
    for name, logits in {"knows nothing": [0.0, 0, 0, 0], "is right": [-3.0, 3, -3, -3], "is wrong": [3.0, -3, 3, 3]}.items():
        loss = replaced_token_detection_loss(torch.tensor([logits]), original, corrupted, original > 0)
        print(f"a detector that {name:14} {loss.item():.3f}")
    agree, differ = (replaced_token_detection_loss(torch.tensor([[-3.0] * 4]), original, guessed, original > 0) for guessed in (original, original + 1))
    guess.compare("no" if agree < differ else "yes")
except NotImplementedError:
    print("Build replaced_token_detection_loss first.")

# %% [markdown]
# ## 5 · Distillation: learning from a teacher's probabilities (DistilBERT)
#
# The text gives one word. A trained teacher gives probabilities: *mat* 84%, *sofa* 11%, *roof* 4%, hardly ever *of*. Which other words it considers possible is
# knowledge too, and a smaller student learns faster from it. A temperature $T$ above 1 raises the small probabilities, $p^T = \mathrm{softmax}(z / T)$:
#
# $$\mathcal{L}_{soft} = T^2 \sum_{w} p^T_{teacher}(w) \, \log \frac{p^T_{teacher}(w)}{p^T_{student}(w)}$$
#
# The gradients of this term shrink like $1/T^2$; the factor makes up for it. Beside it stand `hard`, the cross-entropy with the true labels at
# $T = 1$ (-100 does not count), and `cosine`, $1 - \cos$ of the two hidden states. `soft` and `cosine` are means over `mask`; a mean over nothing is 0.

# %% role="demo"
fig, axes = plt.subplots(1, 3, figsize=(7, 2), sharey=True)
for ax, temperature in zip(axes, (1, 2, 4)):
    ax.bar(["mat", "sofa", "roof", "of"], (torch.tensor([6.0, 4, 3, -4]) / temperature).softmax(0), color="#2a6fb0")
    ax.set_title(f"T = {temperature}", fontsize=9)
plt.show()

# %% [markdown]
# *Figure: bar charts of one teacher's distribution at three temperatures; at T = 1 one bar stands alone, at T = 4 the others rise.*
#
# **Predict.** Student and teacher agree in everything. Which of the three losses are 0?

# %% role="predict"
predict("08.agreement", predict.choice("Which of the three losses are 0?", "soft", "hard", "cosine", several=True))

# %% role="exercise" exercise="objectives.distillation"

# %% role="demo"
guess = predicted("08.agreement")
torch.manual_seed(0)
logits, hidden, words = torch.randn(1, 4, 9), torch.randn(1, 4, 8), torch.ones(1, 4, dtype=torch.bool)
try:
    for name, value in distillation_loss(logits, logits, torch.tensor([[3, -100, 1, -100]]), hidden, 2 * hidden, words).items():
        print(f"{name:7} {abs(value.item()):.3f}")
    guess.compare([name for name, value in distillation_loss(logits, logits, torch.tensor([[3, -100, 1, -100]]), hidden, 2 * hidden, words).items() if abs(value) < 1e-5])
except NotImplementedError:
    print("Build distillation_loss first.")

# %% [markdown]
# ## 6 · Masked words beside their translation (XLM)
#
# This is *translation language modelling*: words are masked in a sentence *and its translation* side by side. A masked word of one can be predicted by looking
# at the other, and so the model aligns the two languages. Each sentence ends in `sep_id`; **positions start again** with the second, so that word 3 of one and
# word 3 of the other have the same position; each token also carries the number of its language. What comes out goes through `mask_tokens` as before.
#
# **Predict.** Sentences of 3 and 5 words: how long are the three lists, and which positions occur twice?

# %% role="predict"
predict(
    "08.two-languages",
    predict.number("How long are the three lists?"),
    predict.choice("Which positions occur twice?", "none", "0–2", "0–3", "0–5"),
)

# %% role="exercise" exercise="objectives.translation_lm"

# %% role="demo"
guess = predicted("08.two-languages")
try:
    for name, row in zip(("ids", "positions", "langs"), translation_lm_inputs([11, 12, 13], [21, 22, 23, 24, 25], 0, 1, 2)):
        print(f"{name:9}", *(f"{n:3}" for n in row))
    positions = translation_lm_inputs([11, 12, 13], [21, 22, 23, 24, 25], 0, 1, 2)[1]
    twice = [p for p in set(positions) if positions.count(p) == 2]
    guess.compare(len(positions), f"0–{max(twice)}" if twice else "none")
except NotImplementedError:
    print("Build translation_lm_inputs first.")

# %% [markdown]
# **One language, or a hundred.** Two descendants show how little the recipe needs. **FlauBERT** (Le et al. 2019) is French: the layers are XLM's without the
# language embeddings, the objective is RoBERTa's masked words alone, and what is new is 71 GB of French text and a benchmark, FLUE, which is for French what
# GLUE is for English. **XLM-RoBERTa** (Conneau et al. 2019) went the other way and left things *out* of XLM: no translation pairs, no language embeddings, no
# hint about which language a text is in, only RoBERTa's objective on 2.5 TB of text in 100 languages (small ones seen more often than their share), with one
# vocabulary of 250,000 pieces for all. Fine-tuned on English examples of natural language inference alone, it solves the same task in Swahili. More languages
# help the small ones until the model's capacity gets scarce and all get worse: *the curse of multilinguality*; the cure was a wider model.
#
# **Predict, then run.** What share of the weights of XLM-RoBERTa base is in its embedding table?

# %% role="predict"
predict("08.table", predict.number("The embedding table's share of XLM-RoBERTa base (0 to 1)", within=0.1))

# %% role="demo"
import tfkit

guess = predicted("08.table")
for name in ("bert-base-uncased", "flaubert_base_cased", "xlm-mlm-100-1280", "xlm-roberta-base", "xlm-roberta-large"):
    with torch.device("meta"):  # shapes and no memory
        model = tfkit.from_config(name)
    every, table = sum(p.numel() for p in model.parameters()), model.embed.tokens.weight.numel()
    print(f"{name:20} {every / 1e6:4.0f} million weights, {table / every:4.0%} of them the table of {len(model.embed.tokens.weight):,} pieces")
    if name == "xlm-roberta-base":
        guess.compare(table / every)

# %% [markdown]
# ## 7 · The same encoder as a decoder
#
# "Encoder" is not a property of the weights. Give BERT a causal mask and shift its labels, and it is a left-to-right language model: the same modules, the same
# names, the same file (in the library, head `causal_lm`; in the authors' code `BertLMHeadModel`). Causal language modelling is one of XLM's three objectives,
# and BERT2BERT writes with a BERT like this (unit 10). Conversely, a GPT without its mask would read in both directions. A model is defined by its objective
# and its mask.
#
# **Predict, then run.** Both heads get the same weights. The last of five words is changed. At which positions do the logits change?

# %% role="predict"
predict("08.causal-head", predict.mask("At which positions does changing word 5 change the logits?", ["masked_lm", "causal_lm"], 5))

# %% role="demo"
guess = predicted("08.causal-head")
SIZE = {"vocab_size": 40, "d_model": 16, "n_heads": 2, "d_ff": 32, "n_layers": 2, "max_length": 64}
torch.manual_seed(0)
reader, writer = (tfkit.from_config("bert", head=head, **SIZE).eval() for head in ("masked_lm", "causal_lm"))
for parameter in reader.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # fresh weights are too small to see anything
writer.load_state_dict(reader.state_dict())  # strictly: every name fits
ids = torch.tensor([[5, 6, 7, 8, 9]])
other, moved = ids.clone(), []
other[0, 4] = 30
with torch.no_grad():
    for name, model in {"masked_lm": reader, "causal_lm": writer}.items():
        moved.append((model(ids).logits - model(other).logits).abs().amax(-1)[0] > 1e-5)
        print(f"{name:10} positions that move: {[i + 1 for i in moved[-1].nonzero().flatten().tolist()]}, loss on its own words {model(ids, labels=ids).loss:.2f}")
guess.compare(torch.stack(moved))

# %% [markdown]
# One line of difference turns the encoder into a model that writes. It would not write *well*: weights that were trained with both sides in view are lost
# without the right one, so the pairs of unit 10 are fine-tuned first.
#
# ## The experiment: two encoders, two objectives, the same steps
#
# The text is artificial, so that the truth is known: each sentence has one of six topics, each of the 60 words belongs to two of them, and word order is free.
# A word alone says little; its neighbours settle it. Two encoders of the same size (layers of unit 05) read the same batches. One predicts masked words; the
# other detects the words that a generator, trained beside it, has put in. As in ELECTRA, generator and detector share their embedding table, and the detection
# loss is weighted 50-fold.
#
# How good is what they learned? The classic test: freeze the encoder, take the mean state of a sentence, and fit a *linear* classifier of the topic on only 20
# labelled sentences. Pretraining has paid off if so few suffice.

# %% role="experiment"
from torch import nn

from tfkit.nn import EncoderLayer, sinusoidal_positions

TOPICS, WORDS, LENGTH, WIDTH = 6, 60, 10, 32
MASK = WORDS  # one more than the words
torch.set_num_threads(1)  # small tensors: two threads would spend their time waiting for each other
chance = torch.Generator().manual_seed(0)
home = torch.stack([torch.randperm(TOPICS, generator=chance)[:2] for _ in range(WORDS)])  # each word's two topics
speaks = torch.full((WORDS, TOPICS), 0.03).scatter(1, home, 1.0).T


def write(count):
    topics = torch.randint(TOPICS, (count,), generator=chance)
    return torch.multinomial(speaks[topics], LENGTH, replacement=True, generator=chance), topics


text, few, test = write(3000)[0], write(20), write(500)
print("a sentence:", text[0].tolist(), "\nlabelled sentences of each topic:", few[1].bincount(minlength=TOPICS).tolist())


# %% role="experiment"
class Encoder(nn.Module):
    def __init__(self, embed, depth=2):
        super().__init__()
        self.embed = embed
        self.layers = nn.ModuleList(EncoderLayer(WIDTH, 2, 2 * WIDTH) for _ in range(depth))

    def forward(self, ids):
        x = self.embed(ids) + sinusoidal_positions(LENGTH, WIDTH)
        for layer in self.layers:
            x = layer(x)
        return x


@torch.no_grad()
def topic_accuracy(encoder):
    """Accuracy [0,1] on the test sentences of a linear classifier of the topic that was fitted to 20 labelled ones."""
    known, unknown = encoder(few[0]).mean(1), encoder(test[0]).mean(1)
    centre = known.mean(0)
    known, unknown = known - centre, unknown - centre
    ridge = known.T @ known + 0.1 * torch.eye(WIDTH)
    weights = torch.linalg.solve(ridge, known.T @ (F.one_hot(few[1], TOPICS) - 1 / TOPICS))
    return ((unknown @ weights).argmax(-1) == test[1]).float().mean().item()


# %% [markdown]
# Below is one training step of each. Note `detach`, and what each loss is a mean over.

# %% role="experiment"
def corrupt(ids):
    select_u, kind_u = torch.rand(2, *ids.shape)
    nothing_special = torch.zeros_like(ids, dtype=torch.bool)
    return mask_tokens(ids, nothing_special, MASK, select_u, kind_u, torch.randint(WORDS, ids.shape))


def losses(ids, filler, to_words, detector=None, to_flag=None):
    """The loss of masked words, and that of detection where there is a detector."""
    inputs, labels = corrupt(ids)
    logits = to_words(filler(inputs))
    masked = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=-100)
    if detector is None:
        return masked, torch.zeros(())
    sampled = torch.distributions.Categorical(logits=logits.detach()).sample()
    corrupted = torch.where(labels == -100, inputs, sampled)
    flags = to_flag(detector(corrupted)).squeeze(-1)
    return masked, replaced_token_detection_loss(flags, ids, corrupted, torch.ones_like(ids, dtype=torch.bool))


# %% role="experiment"
def pretrain(detect, steps, depth=2, every=50):
    """-> the accuracy on topics, measured every so many steps. `depth`: layers of what fills the blanks"""
    torch.manual_seed(0)
    embed = nn.Embedding(WORDS + 1, WIDTH)
    parts = [Encoder(embed, depth), nn.Linear(WIDTH, WORDS)] + ([Encoder(embed), nn.Linear(WIDTH, 1)] if detect else [])
    learner = parts[2] if detect else parts[0]
    optimizer = torch.optim.Adam(nn.ModuleList(parts).parameters(), lr=2e-3)
    accuracies = [topic_accuracy(learner)]
    for step in range(1, steps + 1):
        masked, detected = losses(text[torch.randint(len(text), (64,))], *parts)
        optimizer.zero_grad(), (masked + 50 * detected).backward(), optimizer.step()
        if step % every == 0:
            accuracies.append(topic_accuracy(learner))
            print(f"\rstep {step}/{steps}, masked words {masked:.2f}, detection {detected:.2f} ", end="", flush=True)
    print()
    return accuracies

# %% [markdown]
# **Predict.** Which of the two objectives leads to the higher accuracy on topics after the same number of steps? Think of how *many* positions each predicts,
# and how much *information* a target carries.
#
# Detection runs twice: with a generator that reads its neighbours, as large as the encoder, and with one that has no layers, which guesses without seeing any
# neighbours. From which of these two does the encoder learn more?

# %% role="predict"
predict(
    "08.which-question",
    predict.choice("Which objective leads to the higher accuracy on topics?", "masked words", "detection"),
    predict.choice("Which generator makes detection learn more?", "the one that reads its neighbours", "the one that guesses"),
)

# %% role="experiment"
guess = predicted("08.which-question")
STEPS = 600
try:
    curves = {"masked words": pretrain(False, STEPS), "detection, generator reads": pretrain(True, STEPS),
              "detection, generator guesses": pretrain(True, STEPS, depth=0)}
    fig, ax = plt.subplots(figsize=(6, 3))
    for (name, accuracies), style in zip(curves.items(), ("-", "--", ":")):
        ax.plot(range(0, STEPS + 1, 50), accuracies, style, label=name)
    ax.axhline(1 / TOPICS, color="#888888", lw=0.8)
    ax.set(xlabel="steps", ylabel="accuracy on topics, from 20 labels", ylim=(0, 1.02)), ax.legend()
    plt.show()
    masked, reads, guesses = (accuracies[-1] for accuracies in curves.values())
    guess.compare("masked words" if masked > max(reads, guesses) else "detection", "the one that reads its neighbours" if reads > guesses else "the one that guesses")
except NotImplementedError:
    print("Build mask_tokens and replaced_token_detection_loss first.")

# %% [markdown]
# *Figure: three curves over the steps, the accuracy on the topics of test sentences, from frozen states: with masked words it rises soonest and highest, with
# detection and the guessing generator later and less, with detection and the reading generator it stays flat. A grey line marks pure guessing, one in six.*
#
# **What came out** (with the seed above). With masked words nearly all topics were right after 300 steps. Detection stayed where it began with a generator that
# reads its neighbours, and climbed, late, with one that only guesses. Look at the printed losses: in the first case detection stays at about 0.4, what one gets
# by always answering "replaced with probability 13%".
#
# Why? The order in this text is free, so a generator that has found the topic puts in words that *could as well have been the author's*: there is nothing to
# detect. A model learns from a target only if it can be predicted from the input and is not yet predicted well. ELECTRA's authors found the same: a generator
# of a quarter to a half of the encoder's size was best, larger ones were worse.
#
# So does the experiment refute ELECTRA? No. Its gain is measured on real text, with a vocabulary of 30,000, at equal compute, after fine-tuning all weights.
# And its claim rests on the other half of your prediction: a flag carries one bit at most, a word out of 60 nearly six; but flags are predicted at every
# position, and real text is richer than six topics. **Try:** `rate=0.4` in `corrupt`, other seeds, 2000 steps.
#
# ## From your code to real models
#
# BERT's published file calls its tensors by its authors' names. `tfkit` reads it with a `NameMap`: a table from their names to tfkit's, `{}`
# for the layer's number; `.weight` and `.bias` follow their stem. **Complete the four rows** (not graded): replace each `"?"` by tfkit's
# name. When all is in place, the copy computes its attention with the class that you built in unit 03, on the weights of the file.

# %% role="demo"
from tfkit.models import bert
from tfkit.namemap import NameMap
from tfkit.nn import MultiHeadAttention

MY_ROWS = {
    "encoder.layer.{}.attention.self.query": "?",
    "encoder.layer.{}.attention.output.dense": "?",
    "encoder.layer.{}.intermediate.dense": "?",
    "encoder.layer.{}.output.LayerNorm": "?",
}
SIZE = {"vocab_size": 40, "d_model": 16, "n_heads": 2, "d_ff": 32, "n_layers": 2, "max_length": 64}
model, copy = (tfkit.from_config("bert", **SIZE).eval() for _ in range(2))
for parameter in model.parameters():
    parameter.data += 0.3 * torch.randn_like(parameter)  # in a fresh model all norms are alike
file = bert.HF.dump(model.state_dict(), with_head=False)  # as the authors' code would have saved it
rows = {published: MY_ROWS.get(published, local) for published, local in bert.BODY.items()}
try:
    copy.load_state_dict(NameMap({published: local for published, local in rows.items() if local != "?"}, constant=bert.CONSTANT).load(file))
    with tfkit.substitute(copy, MultiHeadAttention):
        apart = (model(torch.arange(3, 13)[None]).last_hidden_state - copy(torch.arange(3, 13)[None]).last_hidden_state).abs().max()
    print(f"All {len(file)} tensors have found a place.", "The copy gives the same numbers." if apart < 1e-4 else "But two are exchanged: its numbers differ.")
except (ValueError, RuntimeError, IndexError) as problem:
    print(str(problem).replace("\n", " ")[:300])
    print("tfkit's names in layer 0:", *(name for name in model.state_dict() if name.startswith("layers.0") and name.endswith("weight")))

# %% [markdown]
# **The whole of BERT under both sets of names**, with one of its twelve layers: tfkit's names on the left, those of its file on the right. In a terminal,
# `tfkit anatomy bert-base-uncased` and `tfkit anatomy bert-base-uncased --names hf` print each.

# %% role="demo"
from itertools import zip_longest

from tfkit.tools.anatomy import parts, published_parts, published_tensors

with torch.device("meta"):
    published = tfkit.from_config("bert-base-uncased")
local_names = list(parts("BERT", published, 6))
published_names = list(published_parts("BertModel", published_tensors(published, bert), 6))
for left, right in zip_longest(local_names, published_names):
    print(f"{left.name + '  ' + left.shapes if left else '':58} {right.name + '  ' + right.shapes if right else ''}")

# %% [markdown]
# Both list the same 109,482,240 weights. The authors' names are nested, and `output` occurs twice in a layer with two meanings; tfkit has a name for each.
#
# ## Meet a real model
#
# Fine-tuning is a head on a trained encoder. The task is real and small: the first line of a function's documentation is given, and the question is which
# module of Python's library it comes from. all-MiniLM-L6-v2 (`tfkit get all-MiniLM-L6-v2` in a terminal, 83 MB) stays as it is, and a single matrix is trained
# on its vectors; for comparison, another is trained on bags of words. **Before you run it:** which one wins with 8 examples of each module, which one with all?

# %% role="experiment"
import importlib
import inspect
from collections import Counter

MODULES = ["math", "calendar", "socket", "threading", "shutil", "statistics", "email.utils", "turtle", "random", "zipfile"]


def first_lines(module):
    things = [thing for _, thing in inspect.getmembers(importlib.import_module(module))]
    things += [one for thing in things if inspect.isclass(thing) for one in vars(thing).values()]
    lines = {(inspect.getdoc(one) or "").partition("\n")[0] for one in things if callable(one)}
    return sorted(line for line in lines if 4 <= len(line.split()) <= 25)


def learned(vectors, labels, test, steps=150):
    head = torch.nn.Linear(vectors.size(1), len(MODULES))
    optimizer = torch.optim.Adam(head.parameters(), lr=0.03, weight_decay=1e-3)
    for _ in range(steps):
        optimizer.zero_grad(), F.cross_entropy(head(vectors), labels).backward(), optimizer.step()
    return (head(test[0]).argmax(-1) == test[1]).float().mean().item()

# %% role="experiment"
try:
    real = tfkit.Text("all-MiniLM-L6-v2")
    torch.manual_seed(0)
    rows = [(line, label) for label, module in enumerate(MODULES) for line in first_lines(module)]
    lines, labels = [line for line, _ in rows], torch.tensor([label for _, label in rows])
    words = {word: i for i, word in enumerate(sorted({word for line in lines for word in line.lower().split()}))}
    bags = torch.zeros(len(lines), len(words))
    for i, line in enumerate(lines):
        for word in line.lower().split():
            bags[i, words[word]] = 1
    order = torch.randperm(len(lines))
    held, rest = order[: len(order) // 3], order[len(order) // 3 :]
    few = torch.cat([rest[labels[rest] == label][:8] for label in range(len(MODULES))])
    print(len(lines), "lines:", dict(zip(MODULES, Counter(labels.tolist()).values())))
    for name, vectors in {"MiniLM": torch.cat([real.embed(lines[i : i + 64]) for i in range(0, len(lines), 64)]).clone(), "bags of words": bags}.items():
        shares = [learned(vectors[some], labels[some], (vectors[held], labels[held])) for some in (few, rest)]
        print(f"{name:14} right with {len(few)} examples: {shares[0]:.0%}   with all {len(rest)}: {shares[1]:.0%}")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# A matrix of 384 by ten, trained in a second, is enough, on vectors of a model that was never trained on Python's library in particular: that is what a
# pretrained encoder gives. In a bag of words, a word says nothing unless it was in the training examples, so with few of them the bags are far behind. BERT's
# authors trained *all* weights with the head; on a CPU and in minutes, the head alone is what one can afford, and it is often enough.
#
#
# ## What real models changed
#
# | | parent | objective | other changes |
# |---|---|---|---|
# | BERT 2018 | | masked words (static) + next sentence | 512 learned positions, two sentence types |
# | RoBERTa 2019 | BERT | masked words alone (dynamic) | ten times the text, larger batches, byte-level subwords |
# | ALBERT 2019 | BERT | masked n-grams + sentence order | one layer's weights used in all; a narrow embedding table, widened |
# | ELECTRA 2020 | BERT | replaced tokens | a generator that is thrown away; the embedding table is shared with it |
# | DistilBERT 2019 | BERT | distillation + masked words | every second layer, no pooler, no sentence types |
# | XLM 2019 | BERT | masked words + translation pairs | a language embedding in place of sentence types |
# | XLM-RoBERTa 2019 | RoBERTa | masked words alone, 100 languages | 250,000 pieces for all; no language embedding, no pairs |
# | FlauBERT 2019 | XLM | masked words alone, French | one language; the large one normalises before each sublayer |
#
# Compare the objectives, and then the last column: the layers themselves hardly change. `tfkit diff bert roberta` prints such a row from the code.
#
# ## Find the fault
#
# What a model learns is decided by the few lines that make its inputs and its labels. A fault there stops nothing: the loss
# falls, and often faster than it should. So one makes an example by hand, of two words, and writes down what must come out.
# Below is the objective of masked words as somebody wrote it, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="objectives.mlm" seed=7
def test_what_was_there_is_asked(answer):
    ids, special = torch.tensor([[5, 6]]), torch.tensor([[False, False]])
    _, labels = answer(ids, special, 1, torch.tensor([[0.0, 0.9]]), torch.zeros(1, 2), ids)
    assert labels.tolist() == [[5, -100]], "the model is asked for the word that was masked, and for no other"

# %% [markdown]
# ## Pitfalls
#
# - **Labels everywhere.** A loss over words that were not corrupted is mostly copying; it falls fast and teaches next to nothing.
# - **Masked padding.** Padding that may be chosen is easy to guess, and the loss looks better the more of it there is.
# - **A shortcut to the label.** Random pairs can be told apart by topic alone; before you trust a high accuracy, look for the simplest way to reach it.
# - **Mean over what?** Losses over all positions, over the real ones, over the chosen ones differ by large factors; so do their gradients.
# - **A temperature without its square**: at $T = 4$ the soft loss has a sixteenth of its weight.
# - **A gradient through samples** does not exist: picking a word is not differentiable, so the generator needs a loss of its own.

# %% [markdown] role="task" task="the-cheap-way" points=2
# ## In your own words
#
# RoBERTa's authors left next-sentence prediction out and lost nothing; ALBERT's put sentence order in its place and gained.
# Each is one bit about two sentences. What does each bit force a model to learn?
#
# ### BEGIN MARK SCHEME
# - 1 point: a random second sentence comes from another text, so the topic gives it away, which masked words teach already.
# - 1 point: in sentence order both sentences come from one text either way; the topic says nothing, only what follows from
#   what does.
# - Not enough: "sentence order is harder".
# - Related: `objectives.sentence_pairs/same_document`, `objectives.sentence_order/flag_from_the_text`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Devlin et al. 2018, [BERT](https://arxiv.org/abs/1810.04805): section 3.1, and appendix C.2 on the 80-10-10.
# - Liu et al. 2019, [RoBERTa](https://arxiv.org/abs/1907.11692): section 4 takes BERT's choices apart, one at a time.
# - Lan et al. 2019, [ALBERT](https://arxiv.org/abs/1909.11942): section 3.1 on why sentence order.
# - Clark et al. 2020, [ELECTRA](https://arxiv.org/abs/2003.10555): section 3.4 measures where the gain comes from.
# - Sanh et al. 2019, [DistilBERT](https://arxiv.org/abs/1910.01108), and Hinton et al. 2015, [Distilling the Knowledge](https://arxiv.org/abs/1503.02531).
# - Conneau et al. 2019, [Unsupervised Cross-lingual Representation Learning at Scale](https://arxiv.org/abs/1911.02116): XLM-RoBERTa and the curse; Le et al. 2019, [FlauBERT](https://arxiv.org/abs/1912.05372).
# - Lample and Conneau 2019, [Cross-lingual Language Model Pretraining](https://arxiv.org/abs/1901.07291): section 3.3.
