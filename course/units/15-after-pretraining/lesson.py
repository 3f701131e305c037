# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% [markdown]
# # 15 · After pretraining
#
# **The question.** A pretrained model continues texts as the web would: an answer, another question, an insult. It *can* answer well, some of the time. How can it be made to do so every time,
# if all you have is a few demonstrations, or judgements of which of two answers is better, or only a program that says right or wrong?
#
# These lead to three methods: imitation (**supervised fine-tuning**), learning from preferences (**reward models** and **DPO**), and learning from rewards for the model's own answers (**GRPO**). You build the loss of each, and a layer that makes all of them cheap,
# and apply them to the same task: a small model that answers a question in four ways is to answer in one.

# %% role="setup"
import copy

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

import tfkit
from tfkit_lab import show

# %% [markdown]
# ## 0 · A model to tune
#
# A question is four digits and `END`; its answer is four digits and `END` again. The texts that the model is pretrained on answer in four ways: they repeat the question (35%), reverse it (35%), sort it in descending order (20%),
# or in ascending order (10%). That last way is what we want. So the model *can* sort in ascending order, and does so about one time in ten.
#
# It is a Llama of two layers and 21,000 parameters, and is trained in about 15 seconds on one core.

# %% role="experiment"
END, N = 10, 4  # digits 0 to 9 and END; N digits make a question


def questions(rows, generator):
    """Random digits: ids [rows, N]."""
    return torch.randint(0, 10, (rows, N), generator=generator)


def text_of(question, answer):
    """question and answer [rows, N] -> ids [rows, 2 * N + 2], END after each."""
    end = torch.full((len(question), 1), END)
    return torch.cat([question, end, answer, end], 1)


def four_ways(question):
    """[4, rows, N]: repeated, reversed, sorted in descending order, sorted in ascending order."""
    up = question.sort(1).values
    return torch.stack([question, question.flip(1), up.flip(1), up])

# %% role="experiment"
def pretrain(steps=1500):
    """A small Llama that continues questions as the texts do."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    sizes = {"d_model": 32, "n_layers": 2, "n_heads": 4, "n_kv_heads": 4, "d_ff": 64, "max_length": 32}
    model = tfkit.from_config("llama", head="causal_lm", vocab_size=11, **sizes)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, betas=(0.9, 0.98), weight_decay=0)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 50) * (1 - step / (steps + 1)))
    for _ in range(steps):
        question = questions(64, generator)
        way = torch.multinomial(torch.tensor([0.35, 0.35, 0.2, 0.1]), 64, replacement=True, generator=generator)
        ids = text_of(question, four_ways(question)[way, torch.arange(64)])
        logits = model(ids).logits[:, N:-1]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, N + 1 :].flatten())
        optimizer.zero_grad(), loss.backward(), optimizer.step(), rate.step()
    return model


base = pretrain()
models = {"pretrained": base}  # and what becomes of it

# %% role="experiment"
@torch.no_grad()
def sample(model, question, generator):
    """Draw an answer to each question: question [rows, N] -> ids [rows, 2 * N + 2]."""
    ids = F.pad(question, (0, 1), value=END)
    for _ in range(N + 1):
        drawn = torch.multinomial(model(ids).logits[:, -1].softmax(-1), 1, generator=generator)
        ids = torch.cat([ids, drawn], 1)
    return ids


def is_right(ids):
    """ids [rows, 2 * N + 2] -> bool [rows]: whether the answer is the question, sorted in ascending order."""
    return (ids == text_of(ids[:, :N], ids[:, :N].sort(1).values)).all(1)


def share_right(model, rows=300):
    """Of sampled answers to fresh questions, how many are right."""
    generator = torch.Generator().manual_seed(99)
    return is_right(sample(model, questions(rows, generator), generator)).float().mean().item()


print(f"the pretrained model sorts in ascending order in {share_right(base):.0%} of its answers")

# %% [markdown]
# ## 1 · LoRA: an adapter beside a frozen layer
#
# Tuning all weights of a large model needs, with Adam, the memory of four such models. **LoRA** (Hu et al. 2021) freezes each matrix $W$ and learns a small change of it, the product of two thin matrices:
#
# $$y = \text{base}(x) + \frac{\alpha}{r}\; x\, A^\top B^\top \qquad A\ [r, \text{in}],\quad B\ [\text{out}, r]$$
#
# $A$ starts at random and $B$ at zero, so at first nothing changes. After training, $W + \frac{\alpha}{r} B A$ is one matrix again: a **merged** adapter adds no cost when the model is used.
#
# **Predict, then run.** The gradient of $A$ is a product with $B$, and that of $B$ a product with $A$. What happens if both start at zero? And what share of the parameters is trained, with rank 4 in a model of width 32?

# %% role="predict"
predict("15.lora", predict.choice("With a and b both zero …", "it learns as well", "it learns more slowly", "it never learns"),
        predict.number("What share of the parameters is trained, in percent?", within=5))

# %% role="exercise" exercise="tuning.lora"

# %% role="experiment"
def adapted(model, rank=4, alpha=8.0):
    """A copy of the model in which every linear layer of its blocks has an adapter, and nothing else learns."""
    model = copy.deepcopy(model).requires_grad_(False)
    for parent in list(model.layers.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, LoRALinear(child, rank, alpha))
    return model


guess = predicted("15.lora")
try:
    tuned = adapted(base)
    learning = sum(p.numel() for p in tuned.parameters() if p.requires_grad)
    total = sum(p.numel() for p in tuned.parameters())
    print(f"{learning} of {total} parameters are trained: {learning / total:.0%}")
    layer = LoRALinear(nn.Linear(3, 2), 1, 1.0)
    nn.init.zeros_(layer.a)
    layer(torch.randn(4, 3)).sum().backward()
    moves = bool(layer.a.grad.any() or layer.b.grad.any())
    guess.compare("it learns as well" if moves else "it never learns", 100 * learning / total)
except NotImplementedError:
    print("Build LoRALinear first.")

# %% [markdown]
# In a model of this width the adapters have a large share of all parameters. In one of width 4096, an adapter of rank 8 has 0.4% of the parameters of a square matrix.
#
# ## 2 · Which tokens have a label?
#
# A conversation is a sequence of tokens like any other text, but in supervised fine-tuning only some of the tokens have a label. The model is trained to predict the **assistant**'s tokens, and to stop after them. It is not trained to predict what users write. So
# the labels are the ids in the assistant's turns, and -100, which losses leave out, elsewhere.
#
# **Predict.** If the `end_id` after the assistant's answer has no label, what does the tuned model do after its answer?

# %% role="predict"
predict("15.end", predict.choice("After its answer the model …", "stops all the same", "continues as the pretrained model would"))

# %% role="exercise" exercise="tuning.chat_labels"

# %% role="demo"
TALK = [("user", [4, 1, 9, 3]), ("assistant", [1, 3, 4, 9]), ("user", [7, 0, 7, 2]), ("assistant", [0, 2, 7, 7])]
try:
    ids, labels = chat_labels(TALK, 10)  # the number of END
    names = ["END" if token == 10 else str(token) for token in ids]
    labelled = torch.tensor([label != -100 for label in labels])
    display(show.matrices({"has a label": labelled[None]}, ["labelled"], names, "Two questions, two answers", ("", "token")))
except NotImplementedError:
    print("Build chat_labels first.")

# %% [markdown]
# *Figure: one row of twenty squares, for two questions and two answers of four digits with an END each. The four digits and the END of both answers are filled, and nothing of the questions.*
#
# ## 3 · How likely is a whole answer?
#
# Everything that follows needs one number: $\log p(\text{answer} \mid \text{question}) = \sum_t \log p(y_t \mid y_{<t})$, over the tokens that have a label. Labels are not shifted, so the label at $t$ is the target of the logits at $t - 1$.

# %% role="exercise" exercise="tuning.sequence_log_probs"

# %% [markdown]
# With these three functions the first method is complete: fine-tune the adapters on demonstrations. The loss of **SFT** is the mean negative log-probability of the labelled tokens, nothing more.

# %% role="experiment"
def demonstrations(rows, generator):
    """Conversations in which the assistant sorts in ascending order -> ids, labels [rows, 2 * N + 2]."""
    talks = [[("user", q.tolist()), ("assistant", q.sort().values.tolist())] for q in questions(rows, generator)]
    pairs = [chat_labels(talk, END) for talk in talks]
    return torch.tensor([ids for ids, _ in pairs]), torch.tensor([labels for _, labels in pairs])


try:
    tuned, generator = adapted(base), torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam([p for p in tuned.parameters() if p.requires_grad], lr=0.01)
    for step in range(60):
        ids, labels = demonstrations(32, generator)
        loss = -sequence_log_probs(tuned(ids).logits, labels).sum() / (labels[:, 1:] != -100).sum()
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        if step % 20 == 19:
            print(f"after {step + 1} steps: loss {loss.item():.2f}, right {share_right(tuned):.0%}")
    models["demonstrations"] = tuned
    predicted("15.end").compare("continues as the pretrained model would")
except NotImplementedError:
    print("Build LoRALinear, chat_labels and sequence_log_probs first.")

# %% [markdown]
# The pretrained model sorted in ascending order in about 15% of its answers; after sixty steps it does so in more than nine of ten. A few seconds were enough, because the only thing to learn was *which* of the four kinds of answer to give.
#
# The `END` after an answer is learned like any other token. Without a label its probability stays as pretraining left it; a chat model that was tuned like this writes the user's next question itself.
#
# ## 4 · Rewards from comparisons
#
# Demonstrations are expensive: somebody has to write them. It is easier to say which of two answers is better, and people agree on it more often. Bradley and Terry (1952) derive scores from such choices: if answers have rewards $r$, the first is preferred with probability $\sigma(r_1 - r_2)$. So a **reward model** learns with
#
# $$-\operatorname{mean}\,\log \sigma(r_\text{chosen} - r_\text{rejected})$$

# %% role="exercise" exercise="tuning.reward_loss"

# %% [markdown]
# Our judge looks at two answers that the pretrained model gave to the same question, and prefers the one that steps down less often, that is, in which fewer digits are smaller than the digit before them. It never shows what a right answer is. The reward model is the pretrained one with a single number in place of its logits.

# %% role="experiment"
def steps_down(ids):
    """How often a digit of the answer is smaller than the one before it: ids [rows, 2 * N + 2] -> [rows]."""
    return (ids[:, N + 1 : -1].diff(dim=1) < 0).sum(1)


def compare_answers(rows, generator):
    """Pairs of sampled answers of which the judge prefers one -> chosen, rejected."""
    question = questions(rows, generator)
    one, two = sample(base, question, generator), sample(base, question, generator)
    differ = steps_down(one) != steps_down(two)
    one, two = one[differ], two[differ]
    swap = (steps_down(one) > steps_down(two)).unsqueeze(1)
    return torch.where(swap, two, one), torch.where(swap, one, two)


generator = torch.Generator().manual_seed(2)
chosen, rejected = compare_answers(4000, generator)
print(f"{len(chosen)} pairs; the last 500 are kept for testing")

# %% role="experiment"
def reward(model, ids):
    """The reward model's number for each answer, at its last token."""
    return model(ids).logits[:, -1, 0]


try:
    judge = copy.deepcopy(base)
    judge.lm_head = nn.Linear(32, 1, bias=False)
    optimizer = torch.optim.Adam(judge.parameters(), lr=0.003)
    for _ in range(150):
        rows = torch.randint(0, len(chosen) - 500, (32,), generator=generator)
        loss = reward_loss(reward(judge, chosen[rows]), reward(judge, rejected[rows]))
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    with torch.no_grad():
        agrees = (reward(judge, chosen[-500:]) > reward(judge, rejected[-500:])).float().mean()
        answers = [sample(base, chosen[-300:, :N], generator) for _ in range(8)]
        best = torch.stack([reward(judge, ids) for ids in answers]).argmax(0)
    picked = torch.stack(answers)[best, torch.arange(300)]
    print(f"agrees with the judge on {agrees:.0%} of new pairs")
    print(f"right: one answer {share_right(base):.0%}, the best of 8 by its reward {is_right(picked).float().mean():.0%}")
except NotImplementedError:
    print("Build reward_loss first.")

# %% [markdown]
# The reward model agrees with the judge on about nine of ten new pairs. Used on its own, to pick the best of eight answers, it takes the model from about 15% to about 40% without changing a weight. It does not reach more because, with one right answer in seven, some groups of eight have none, and answers that merely *look* sorted score well too.
#
# ## 5 · Preferences without a reward model
#
# The reward model can then train the language model, as it did for InstructGPT (2022) and many chat models since, with PPO, which takes four models (policy, reference, reward and value model) and a loop of sampling. Rafailov et al. showed that under the usual objective (as much reward as possible, not too far from the reference) the best model itself determines the reward: $r = \beta \log \frac{p(y)}{p_\text{ref}(y)}$ plus a term that cancels in comparisons. Substituted into Bradley and Terry's loss, this gives
#
# $$-\operatorname{mean}\,\log\sigma\Big(\beta\big[(\log p(y_c) - \log p_\text{ref}(y_c)) - (\log p(y_r) - \log p_\text{ref}(y_r))\big]\Big)$$
#
# **Predict, then run.** DPO raises the *difference*. What does the log-probability of the rejected answers do?

# %% role="predict"
predict("15.dpo", predict.choice("The rejected answers' log-probability moves …", "less than that of the chosen ones", "more than that of the chosen ones"))

# %% role="exercise" exercise="tuning.dpo"

# %% role="experiment"
def log_prob(model, ids):
    """The log-probability of each answer: ids [rows, 2 * N + 2] -> [rows]."""
    labels = ids.clone()
    labels[:, : N + 1] = -100
    return sequence_log_probs(model(ids).logits, labels)


guess = predicted("15.dpo")
try:
    policy, moved = copy.deepcopy(base), []
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.001)
    for _ in range(100):
        rows = torch.randint(0, len(chosen) - 500, (32,), generator=generator)
        with torch.no_grad():
            before = log_prob(base, chosen[rows]), log_prob(base, rejected[rows])
        now = log_prob(policy, chosen[rows]), log_prob(policy, rejected[rows])
        loss = dpo_loss(*now, *before, beta=0.5)
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        moved.append([(a - b).mean().item() for a, b in zip(now, before, strict=True)])
    fig, ax = plt.subplots(figsize=(6, 2.6))
    for line, label in zip(zip(*moved, strict=True), ("chosen", "rejected"), strict=True):
        ax.plot(line, label=label)
    ax.axhline(0, color="#888888", lw=0.8), ax.legend(), ax.set(xlabel="step", ylabel="log p minus the reference's"), plt.show()
    up, down = torch.tensor(moved[-20:]).mean(0).tolist()
    guess.compare("more than that of the chosen ones" if abs(down) > abs(up) else "less than that of the chosen ones")
    print(f"chosen {up:+.1f}, rejected {down:+.1f}; right {share_right(policy):.0%}")
    models["preferences"] = policy
except NotImplementedError:
    print("Build sequence_log_probs and dpo_loss first.")

# %% [markdown]
# *Figure: two curves against steps. Both start at zero. The rejected answers' log-probability falls by more than ten; the chosen ones' falls as well, by two or three.*
#
# That is DPO's best-known surprise: only the difference counts, so the loss also falls when both become less likely and the rejected ones more so. Their probability goes to answers that were in none of the pairs: right answers come to about half, and the rest are answers that nobody compared. Common remedies are a larger `beta`, fewer steps, or a term that keeps the chosen answers likely.
#
# ## 6 · Learn from rewards
#
# For some questions a program can tell whether an answer is right: sums, formal proofs, code with tests, our sorting. Then neither demonstrations nor preferences are needed. The model answers each question several times, and answers that are better than *the others to the same question* become likelier. The **advantage** of each is (Shao et al. 2024, GRPO)
#
# $$A_i = \frac{r_i - \operatorname{mean}(r)}{\operatorname{std}(r) + \varepsilon}$$

# %% role="exercise" exercise="tuning.group_advantages"

# %% [markdown]
# An answer is used for more than one step of training, and after the first step the model is no longer the one that gave it. The ratio $r_t = p(y_t)/p_\text{old}(y_t)$ corrects for that. PPO (Schulman et al. 2017) gives no gradient once the ratio has left $1 \pm \text{clip}$ in the direction that improves the objective:
#
# $$-\operatorname{mean}_{t \in \text{mask}}\ \min\big(r_t A,\ \operatorname{clamp}(r_t,\, 1 - \text{clip},\, 1 + \text{clip})\, A\big)$$
#
# **Predict.** A bad answer ($A = -1$) has become *likelier* by half, $r = 1.5$. Is its gradient clipped away?

# %% role="predict"
predict("15.clip", predict.choice("With A = -1 and r = 1.5 the gradient is …", "zero", "not zero"))

# %% role="exercise" exercise="tuning.policy_loss"

# %% role="experiment"
guess = predicted("15.clip")
try:
    now = torch.tensor([[1.5]]).log().requires_grad_()
    clipped_policy_loss(now, torch.zeros(1, 1), torch.tensor([-1.0]), torch.ones(1, 1, dtype=torch.bool)).backward()
    guess.compare("not zero" if now.grad.any() else "zero")
except NotImplementedError:
    print("Build clipped_policy_loss first.")

# %% [markdown]
# A model can learn to exploit flaws in a reward. A penalty on the KL divergence from the reference keeps it near the model that it was. With samples $y \sim p$ and $d = \log p_\text{ref}(y) - \log p(y)$, the mean of $-d$ estimates the divergence correctly, but $-d$ is noisy and often negative; $e^d - d - 1$ has the same mean and is never negative.

# %% role="exercise" exercise="tuning.kl"

# %% [markdown]
# ## The experiment: a reward is enough
#
# The cell starts from the pretrained model again, with nothing but a program that says right or wrong: 16 questions per step, and 8 answers to each.
#
# **Predict, then run.** Where will the share of right answers be after 100 steps? It starts at about 15%.

# %% role="predict"
predict("15.grpo", predict.number("The share of right answers at the end, in percent", within=10))

# %% role="experiment"
def token_log_probs(model, ids):
    """The log-probability of each token of the answers: ids [rows, 2 * N + 2] -> [rows, N + 1]."""
    return model(ids).logits[:, N:-1].log_softmax(-1).gather(-1, ids[:, N + 1 :].unsqueeze(-1)).squeeze(-1)


def grpo_step(policy, optimizer, generator, beta=0.02):
    """Sample, judge, and learn twice -> the share of right answers, the divergence from the pretrained model."""
    ids = sample(policy, questions(16, generator).repeat_interleave(8, 0), generator)
    rewards = is_right(ids).float()
    advantages = group_advantages(rewards.view(16, 8)).flatten()
    counted = torch.ones(len(ids), N + 1, dtype=torch.bool)
    with torch.no_grad():
        old, reference = token_log_probs(policy, ids), token_log_probs(base, ids)
    for _ in range(2):
        now = token_log_probs(policy, ids)
        far = kl_estimate(now, reference, counted)
        loss = clipped_policy_loss(now, old, advantages, counted) + beta * far
        optimizer.zero_grad(), loss.backward(), optimizer.step()
    return rewards.mean().item(), far.item()

# %% role="experiment"
guess = predicted("15.grpo")
try:
    policy, generator = copy.deepcopy(base), torch.Generator().manual_seed(3)
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.002)
    right, far = zip(*[grpo_step(policy, optimizer, generator) for _ in range(100)], strict=True)
    fig, axes = plt.subplots(1, 2, figsize=(8, 2.6))
    axes[0].plot(right), axes[0].set(xlabel="step", ylabel="share of right answers", ylim=(0, 1.02))
    axes[1].plot(far), axes[1].set(xlabel="step", ylabel="KL divergence per token")
    plt.tight_layout(), plt.show()
    models["rewards"] = policy
    guess.compare(100 * share_right(policy))
except NotImplementedError:
    print("Build group_advantages, clipped_policy_loss and kl_estimate first.")

# %% [markdown]
# *Figure: left, the share of right answers against steps: it starts at a tenth, reaches four fifths after fifteen steps and fluctuates around 95% in the second half. Right, the KL divergence from the pretrained model: it grows to about 0.4 while the share rises, and then stays near that, with peaks up to one, because the penalty limits it.*
#
# At the end 97% of new answers are right. DPO learned the same task from pairs and reached about half; a reward that says exactly what is wanted does better than preferences for the answer that looks more sorted.
#
# How has the probability of each kind of answer changed? The cell computes with *your* `sequence_log_probs` how probable each kind of answer to 500 new questions is under each of the models; the rest goes to answers of none of the four kinds. **Before you run it:** where has the rest of DPO's probability gone?

# %% role="experiment"
@torch.no_grad()
def four_likely(model, question):
    """The mean probability of each of the four answers, and of all others: [5]."""
    texts = [text_of(question, answer) for answer in four_ways(question)]
    found = torch.stack([log_prob(model, ids).exp().mean() for ids in texts])
    return torch.cat([found, 1 - found.sum(0, keepdim=True)])


try:
    fresh = questions(2000, torch.Generator().manual_seed(5))
    sorted_too = (fresh[:, 1:] >= fresh[:, :-1]).all(1) | (fresh[:, 1:] <= fresh[:, :-1]).all(1)
    fresh = fresh[~sorted_too][:500]  # there, two of the four answers are the same
    likely = torch.stack([four_likely(model, fresh) for model in models.values()])
    ways = ["repeated", "reversed", "descending", "ascending", "other"]
    display(show.heads(likely, [*models], ways, title="Probability of each kind of answer", measure="probability of the answer", axes=("trained on", "answer")))
except NotImplementedError:
    print("Build sequence_log_probs first.")

# %% [markdown]
# *Figure: a row for each of the four models, a column for each kind of answer. The pretrained one gives a third each to repeating and reversing, a sixth to descending and a fourteenth to ascending order. After demonstrations 0.95 is in the column "ascending", and after rewards 0.94. After preferences 0.45 is there,
# and 0.51 under "other". The other three kinds are below 0.03 in all three.*
#
# Nothing new was learned: the pretrained model already gave all four kinds of answer, and training made one of them likelier. Had it *never* sorted in ascending order, all rewards in all groups would have been zero, all advantages too, and nothing would have been learned.
#
# ## Meet a real model
#
# SmolLM2-135M-Instruct (`tfkit get SmolLM2-135M-Instruct` in a terminal, 93 MB) was trained with what you built: first demonstrations in a chat format, then preferences (DPO). Two of your functions examine the result: `chat_labels` says which tokens
# of a conversation it learned from, and `sequence_log_probs` which of two answers is more probable. **Before you run it:** which one of each pair?

# %% role="experiment"
PAIRS = {
    "What is the capital of France?": ("The capital of France is Paris.", "The capital of France is London."),
    "How do I boil an egg?": ("Put it into boiling water for ten minutes.", "I do not know and do not care at all."),
    "Say something nice about rain.": ("It makes the garden green and the air fresh.", "Rain rain rain rain rain rain rain rain rain."),
}
try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    piece = lambda words: real.tokenizer.encode([words])[0]
    end, before = piece("<|im_end|>")[0], lambda role: piece(f"<|im_start|>{role}\n")
    with torch.no_grad():
        for question, answers in PAIRS.items():
            sums = []
            for answer in answers:
                turns = [("user", before("user") + piece(question)), ("assistant", before("assistant") + piece(answer))]
                ids, labels = chat_labels(turns, end)
                ids, labels = torch.tensor([ids]), torch.tensor([labels])
                sums.append(sequence_log_probs(real.model(ids).logits.float(), labels).item())
            print(f"{question:34} {sums[0]:7.1f} {answers[0]}\n{'':34} {sums[1]:7.1f} {answers[1]}")
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")
except NotImplementedError:
    print("Build chat_labels and sequence_log_probs first.")

# %% [markdown]
# It knows Paris, but hardly prefers the useful answer about the egg to the rude one; and a text that repeats itself is probable, however dull. These are sums of log-probabilities under *one* model. DPO never compares them directly, but how far they have moved from the reference model's: that is what the four terms of its formula are
# for. (The tokens of the assistant's header count in both answers.)
#
# The effect of the demonstrations can be seen without any numbers. **Before you run it:** the model gets a request, once as a text to continue and once in the chat format. What does it write?

# %% role="experiment"
from tfkit.decode import Greedy

try:
    real = tfkit.Text("SmolLM2-135M-Instruct")
    asked = "I would like a poem about the sea"
    print("as a text to continue:", asked + real.generate(asked, Greedy(), max_new_tokens=60))
    print("\nas a message in a chat, which it reads as\n", real.conversation(asked))
    print("\nits answer:\n", real.chat(asked, Greedy(), max_new_tokens=60))
except (FileNotFoundError, ModuleNotFoundError) as missing:
    print(f"The weights are not here: {missing}")

# %% [markdown]
# As a text, the request only gets its full stop, as it would in a book. Between the markers of a chat, the format of all its demonstrations, it is something to be answered. (The answer is in prose and not a poem: 135 million weights can do only so much.)
#
# ## Find the fault
#
# A merged adapter must compute what it computed beside its layer. A test of that passes easily without showing anything: a new
# adapter changes nothing, since its matrix `b` is zero, so the test must give it other weights first. Below is an adapter that
# somebody wrote, and what it gives for the smallest input that shows its fault.
#
# Name the lines that you suspect, write a test that fails on this code and passes on every right one, and repair it. Then
# the last cell says what each of the three is worth. It earns no points for the course.

# %% role="hunt" hunt="tuning.lora" seed=7
def test_merged_it_computes_the_same(answer):
    torch.manual_seed(0)
    layer, x = answer(nn.Linear(3, 2), 1, 4), torch.randn(2, 3)
    nn.init.normal_(layer.b)
    assert torch.allclose(layer(x), x @ layer.merged().T + layer.base.bias, atol=1e-5), "merged it computes something else"

# %% [markdown]
# ## Pitfalls
#
# - **The end without a label.** The loss looks fine, and the model never stops.
# - **Labels that are shifted twice**, by hand and in the loss: the model learns to predict the token after the next one.
# - **Log of a sigmoid, in two steps.** For a pair that is very wrong, the sigmoid rounds to 0 and the loss becomes infinite.
# - **The reference that learns.** If you forget the `detach` (or the `no_grad`), both models change, and the penalty no longer keeps the trained one near the pretrained one.
# - **Masked too late.** Padding may contain any value; after `exp` it may be infinite, and infinity times zero is NaN.
# - **Groups in which all are right, or none is.** They cost as much as the others and give no gradient; choose questions of the right difficulty.
# - **A reward is taken literally.** Our judge of section 4 counts digits that are smaller than the one before; `0 0 0 0` has none. Training finds whatever the reward overlooks.
#
# ## What real models changed
#
# | | here | elsewhere |
# |---|---|---|
# | adapters | float32 base, rank 4 | QLoRA (2023): the frozen base in 4 bits; DoRA: magnitude and direction learned separately |
# | demonstrations | made by a program | InstructGPT (2022): 13,000 by people; Llama 3 (2024): mostly by earlier models, filtered by a reward model |
# | preferences | one judge, always consistent | people who contradict each other; IPO: does not overfit pairs on which all agree; KTO: single answers, marked good or bad |
# | policy loss | mean over all tokens, KL as a penalty | DeepSeekMath's GRPO averages over each answer first; DAPO (2025) averages as here and drops the KL |
# | rewards | sorted or not | DeepSeek-R1 (2025): is the final answer right, and is the format kept; the reasoning before it is not judged |

# %% [markdown] role="task" task="which-way" points=2
# ## In your own words
#
# You have a pretrained model that solves a kind of puzzle once in a thousand tries, and a program that checks solutions. Why does GRPO with 8 answers to each puzzle hardly learn, and what would you do first with a few hundred solutions written by people?
#
# ### BEGIN MARK SCHEME
# - 1 point: in nearly every group all rewards are 0, so all advantages are 0 and there is no gradient; only one group in about 125 has a right answer at all.
# - 1 point: fine-tune on the demonstrations first (SFT, with labels on the solutions only), until it solves some puzzles in most groups; then GRPO. Easier puzzles first, or larger groups, count as well if explained.
# - Related: `tuning.group_advantages/eps_left_out`, `tuning.chat_labels/everything_learned`.
# ### END MARK SCHEME

# %% [markdown]
# ## Read on
#
# - Hu et al. 2021, [LoRA](https://arxiv.org/abs/2106.09685): section 4.1, and which matrices to adapt.
# - Ouyang et al. 2022, [Training language models to follow instructions with human feedback](https://arxiv.org/abs/2203.02155): the three stages in one paper.
# - Rafailov et al. 2023, [Direct Preference Optimization](https://arxiv.org/abs/2305.18290): section 4, where the reward model drops out.
# - Schulman et al. 2017, [Proximal Policy Optimization Algorithms](https://arxiv.org/abs/1707.06347): equation 7 and figure 1.
# - Shao et al. 2024, [DeepSeekMath](https://arxiv.org/abs/2402.03300): GRPO, section 4.1.
# - Schulman 2020, [Approximating KL Divergence](http://joschu.net/blog/kl-approx.html): three estimates, and why the third.
