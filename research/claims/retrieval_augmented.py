"""RAG answers from what it retrieves; its generator alone answers only what it has memorised.

A made-up world: people with a first and a last name, each with one or two random attributes. A question names a person
and an attribute; exactly one passage of the index answers it. Questions about some of the people are used in training,
those about the others in the test: their passages are in the index, but were never the answer to a training question.

Measured: the share of held-out questions that RAG-token and its generator alone answer correctly, and how often the
right passage is retrieved. The encoders of questions and passages are first trained as DPR's are (in-batch contrast);
then, as in the paper, the passages stay fixed, and question encoder and generator are trained together on the marginal
loss, which is never told which passage is the right one. The generator is a T5, which learns to copy in fewer steps
than the paper's BART.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

import tfkit
from research import Claim, Measurement, Numbers, figure, train
from research.claims._drawing import dots
from tfkit.objectives.in_batch_contrastive import in_batch_loss
from tfkit.retrieve import DenseIndex, Retriever

CLAIM = Claim(
    title="A generator that retrieves answers questions that it was never trained on; without retrieval it guesses",
    paper="Lewis et al. 2020, arXiv:2005.11401, sections 2 and 4",
    alt="Shares of questions, one dot per seed: with retrieval a third to a half of the held-out ones are answered, "
    "and for most the right passage is retrieved; without retrieval answers are guesses",
)
PAD, START, END, QUESTION = 0, 1, 2, 3  # ids; then first names, last names, attributes, values


@dataclass(frozen=True)
class Size:
    contrast_steps: int
    steps: int
    names: int = 12  # first names, and as many last ones
    people: int = 120
    values: int = 12
    width: int = 48
    n_docs: int = 4
    batch: int = 32


SCALES = {
    "tiny": Size(contrast_steps=2, steps=2, names=4, people=12, width=16, n_docs=2, batch=4),
    "small": Size(contrast_steps=300, steps=300),
    "full": Size(contrast_steps=2000, steps=5000, names=60, people=3000, values=60, width=128),
}


@dataclass
class ToyWorld:
    """questions [N,4] (first name, last name, attribute, ?), passages [N,4] with the value at the end, answers [N]"""

    questions: Tensor
    passages: Tensor
    vocab_size: int

    @property
    def labels(self) -> Tensor:
        """[N,3]: start, value, end"""
        values = self.passages[:, 3:]
        return torch.cat([torch.full_like(values, START), values, torch.full_like(values, END)], 1)


def world(size: Size, generator: torch.Generator) -> ToyWorld:
    """No two people share both names; the passage of question i is passage i."""
    names = size.names
    who = torch.randperm(names * names, generator=generator)[: size.people]
    attribute = torch.randint(4, (size.people,), generator=generator)
    value = torch.randint(size.values, (size.people,), generator=generator)
    first, last = 4 + who // names, 4 + names + who % names
    attributes, values = 4 + 2 * names + attribute, 8 + 2 * names + value
    questions = torch.stack([first, last, attributes, torch.full_like(first, QUESTION)], 1)
    passages = torch.stack([first, last, attributes, values], 1)
    return ToyWorld(questions, passages, 8 + 2 * names + size.values)


def encoder(size: Size, vocab_size: int) -> dict:
    """The fields of DPR's configuration with "architecture", in the nested form of RAG's own configuration."""
    shape = dict(vocab_size=vocab_size, d_model=size.width, n_layers=1, n_heads=4, d_ff=2 * size.width, max_length=8)
    return dict(architecture="dpr", dropout=0.0, attn_dropout=0.0, pad_token_id=PAD, **shape)


def generator(size: Size, vocab_size: int) -> dict:
    """As `encoder`, for a T5 whose decoder starts with START."""
    shape = dict(d_model=size.width, d_kv=size.width // 4, n_layers=1, n_heads=4, d_ff=2 * size.width)
    special = dict(pad_token_id=PAD, eos_token_id=END, decoder_start_token_id=START)
    return dict(architecture="t5", vocab_size=vocab_size, dropout=0.0, **shape, **special)


class RetrieverTowers(torch.nn.Module):
    """DPR's two encoders, and their training loss."""

    def __init__(self, size: Size, vocab_size: int) -> None:
        super().__init__()
        config = encoder(size, vocab_size)
        name = config.pop("architecture")
        self.question_encoder, self.passage_encoder = (
            tfkit.from_config(name, h, **config) for h in ("question_encoder", "context_encoder")
        )

    def loss(self, batch) -> Tensor:
        """Scalar: passage i of passages [B,4] is the positive of question i of input_ids [B,4], the others are
        negatives."""
        questions, passages = (
            self.question_encoder(batch["input_ids"]).pooler_output,
            self.passage_encoder(batch["passages"]).pooler_output,
        )
        return in_batch_loss(questions, passages, torch.arange(len(questions)))


def batches(tensors: dict[str, Tensor], size: int):
    """One pass over rows of tensors in a fresh order."""

    def one_pass(generator):
        """The last batch may be smaller."""
        for index in torch.randperm(len(next(iter(tensors.values()))), generator=generator).split(size):
            yield {name: tensor[index] for name, tensor in tensors.items()}

    return one_pass


@torch.no_grad()
def accuracy(logits: Tensor, labels: Tensor) -> float:
    """How often the first word after the start is the value: logits [B,T,V], labels [B,3] -> share"""
    return (logits[:, 0].argmax(-1) == labels[:, 1]).float().mean().item()


def run(seed: int, size: Size) -> Numbers:
    """Shares of right answers, and of questions whose passage is found."""
    made = world(size, torch.Generator().manual_seed(seed))
    train_rows, held = slice(0, size.people * 3 // 4), slice(size.people * 3 // 4, None)
    towers = RetrieverTowers(size, made.vocab_size)
    pairs = {"input_ids": made.questions[train_rows], "passages": made.passages[train_rows]}
    how = {"loss": lambda model, batch: model.loss(batch)}
    train(towers, batches(pairs, size.batch), size.contrast_steps, 2e-3, seed, **how)
    towers.eval()
    with torch.no_grad():
        index = DenseIndex(towers.passage_encoder(made.passages).pooler_output)
    retriever = Retriever(index, made.passages.tolist())
    config = {"question_encoder": encoder(size, made.vocab_size), "generator": generator(size, made.vocab_size)}
    rag = tfkit.from_config("rag", "rag_token", n_docs=size.n_docs, bos_token_id=START, **config)
    rag.retriever = retriever
    rag.question_encoder.load_state_dict(towers.question_encoder.state_dict())
    rows = {"input_ids": made.questions[train_rows], "labels": made.labels[train_rows]}
    mean = {"loss": lambda model, batch: model(**batch).loss.mean()}
    train(rag, batches(rows, size.batch), size.steps, 4e-3, seed, **mean)
    fields = {name: value for name, value in config["generator"].items() if name != "architecture"}
    generator_alone = tfkit.from_config("t5", "seq2seq_lm", **fields)
    rows = {"input_ids": rows["input_ids"], "labels": rows["labels"][:, 1:]}
    train(generator_alone, batches(rows, size.batch), size.steps, 4e-3, seed)
    return {
        **answer_accuracy(rag, made, held, "retrieving"),
        **closed_book_accuracy(generator_alone, made, train_rows, held),
    }


@torch.no_grad()
def answer_accuracy(rag, made: ToyWorld, held: slice, name: str) -> Numbers:
    """Shares of the held-out questions that RAG answers, as `name`, and whose passage is retrieved, as "found"."""
    questions, labels = made.questions[held], made.labels[held]
    found = rag.eval()(input_ids=questions, labels=labels, do_marginalize=True, output_retrieved=True)
    wanted = torch.arange(len(made.questions))[held]
    hit = (found.retrieved_doc_ids == wanted[:, None]).any(1).float().mean().item()
    return {name: accuracy(found.logits, labels), "found": hit}


@torch.no_grad()
def closed_book_accuracy(model, made: ToyWorld, trained: slice, held: slice) -> Numbers:
    """The generator's accuracy without any passage, on held-out and on training questions."""
    shares = {}
    for name, part in (("alone", held), ("alone, trained on", trained)):
        labels = made.labels[part]
        out = model.eval()(input_ids=made.questions[part], decoder_input_ids=labels[:, :1])
        shares[name] = accuracy(out.logits, labels)
    return shares


def judge(runs: Sequence[Numbers]) -> list[Measurement]:
    """The lead of retrieval; that without it answers are guesses; that the right passage is mostly found."""
    more = [run["retrieving"] - run["alone"] for run in runs]
    return [
        Measurement("share of held-out questions answered, with retrieval minus without", more, at_least=0.15),
        Measurement(
            "share of held-out questions answered without retrieval", [run["alone"] for run in runs], at_most=0.25
        ),
        Measurement("share of questions whose passage is retrieved", [run["found"] for run in runs], at_least=0.5),
    ]


def draw(runs: Sequence[Numbers]):
    """A row for each share, one dot per seed."""
    fig, (axis,) = figure()
    names = {
        "retrieving": "answered, with retrieval", "found": "passage among those found",
        "alone": "answered without", "alone, trained on": "without, trained on",
    }  # fmt: skip
    dots(axis, runs, names, "share of questions")
    return fig
