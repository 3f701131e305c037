"""One step of a model, or of your own attention, stage by stage with the computed numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from tfkit.decode.attention_maps import compress
from tfkit_lab.pictures import Picture, table
from tfkit_lab.show.attention_in_code import FoundAttention, FoundFeedForward, attentions, feed_forwards, read_by
from tfkit_lab.show.operations import Code, Operation, Operations, operations
from tfkit_lab.show.walk_figure import draw_layer, first_softmax
from tfkit_lab.widgets import STATIC, AnsweringView

POSITIONS = 24  # of a long text, the first four and the last ones
BUDGET = 400_000  # bytes of all numbers as JSON
WIDTHS = (16, 8, 4)  # how many components of a vector are kept, the most that fits the budget
TOP = 12  # candidates
STEPS = 40  # of a call without attention


def walk(
    call: Callable[..., Any], /, *args: Any, tokens: Sequence[str] = (), keys: Sequence[str] = (), title: str = "",
    token: Callable[[int], str] = str, at: int = -1, drawn: int | None = None, budget: int = BUDGET, **inputs: Any,
) -> Walk:  # fmt: skip
    """One call of a model, or of a function, over one sentence: `call(*args, **inputs)`, stage by stage.

    The computation is recorded operation by operation, so any code works: a model of tfkit or another library, your own
    module or function. Every attention is found by its structure, a product with weights that come from another
    product; each matrix is shown with the expression that computed it.

    tokens: names of the positions; keys: those of the source, if the call has one. token: name of an id;
    if it is given, a bare tensor [1,T,V] that the call returns is its logits.
    at: the position whose logits are read; drawn: the id that was chosen there, by default the likeliest. budget:
    bytes; of wide vectors the first components are kept. A call without attention and feed-forward layer is shown
    operation by operation. Raises ValueError for several sentences, for a position or an id that is not there, and
    if nothing is computed.
    """
    _require_one_sentence([*args, *inputs.values()])
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # it computes all in one operation
    try:
        with operations(call) as recorded:
            result = call(*args, **inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    name = getattr(call, "__name__", type(call).__name__)
    stages = [*_input(args, inputs, recorded), *(list(_layers(recorded, name)) or _steps(recorded, name))]
    ends, candidates = _ending(result, recorded, token, at, drawn)
    if not stages:
        raise ValueError(f"{name} ran no operation on tensors: there is nothing to show")
    head = {"schema": "tfkit.trace/1", "kind": "walk", "title": title or "Walk through one step"}
    return Walk({**head, **_packed([*stages, *ends], tokens, keys, budget), "candidates": candidates})


def walk_over(walk_through: Callable[[str], Walk], text: str) -> Walk:
    """The walk over a text, with a field in which another can be typed while the kernel runs. walk_through: text -> its
    walk, as `show.walk` returns it; what it raises is shown beside the field. Raises what it raises for `text`."""
    shown = walk_through(text)
    shown.walk_through = walk_through
    shown.accept(["sentence"])
    return shown


def _require_one_sentence(values: Sequence[Any]) -> None:
    for value in values:
        several = isinstance(value, Tensor) and (value.dim() == 4 or value.dim() == 2 and not value.is_floating_point())
        if several and value.dtype != torch.bool and value.size(0) != 1:
            raise ValueError(f"an input has shape {list(value.shape)}: a walk shows one sentence, [1,…]")


@dataclass
class WalkMatrix:
    """Numbers [H,R,C] with a name; rows, cols: their kinds: "tokens", "keys" or "numbers"."""

    name: str
    value: Tensor
    rows: str = "tokens"
    cols: str = "numbers"

    def __post_init__(self) -> None:
        value = self.value.detach().float().cpu()
        self.value = value.reshape(-1, *value.shape[-2:]) if value.dim() > 1 else value.reshape(1, -1, 1)


@dataclass
class WalkStage:
    """One stage of the computation: its kind, its layer, its code."""

    name: str
    part: str
    code: Code
    matrices: list[WalkMatrix] = field(default_factory=list)
    note: str = ""


def _input(args: Sequence[Any], inputs: dict[str, Any], recorded: Operations) -> Iterator[WalkStage]:
    """The stage of the ids and their embeddings."""
    given: dict[str, Tensor] = {name: inputs[name] for name in ("input_ids", "decoder_input_ids") if name in inputs}
    first = next((value for value in args if isinstance(value, Tensor) and value.dtype == torch.int64), None)
    given |= {} if first is None else {"ids": first}
    whose = {name: "keys" if len(given) > 1 and name == "input_ids" else "tokens" for name in given}
    if given:
        ids = [WalkMatrix(name, value.reshape(-1, 1), whose[name]) for name, value in given.items()]
        yield WalkStage("ids", "input", Code(), ids)
    lengths = {value.numel(): whose[name] for name, value in given.items()}
    tables = [
        op for op in recorded.all if op.name == "embedding" and op.value.dim() > 1 and op.value.size(-2) in lengths
    ]
    if tables:
        found = [WalkMatrix(_table(op), op.value, lengths[op.value.size(-2)]) for op in tables]
        yield WalkStage("vectors", "input", tables[0].code, found)


def _table(op: Operation) -> str:
    """The name of an embedding table."""
    return op.module.rpartition(".")[2] or op.code.text or "embedding"


def _steps(recorded: Operations, name: str) -> list[WalkStage]:
    """The first few operations that compute numbers."""
    made = [
        op
        for op in recorded.all
        if not op.reshapes and op.value.dim() and op.value.numel() and not op.value.is_complex()
    ]
    return [
        WalkStage("step", name, op.code, [WalkMatrix(op.code.name or op.name, op.value, "numbers")])
        for op in made[:STEPS]
    ]


def _layers(recorded: Operations, name: str) -> Iterator[WalkStage]:
    """Each attention, and each feed-forward layer, in the order in which they ran; name: of the call."""
    order = {id(op): i for i, op in enumerate(recorded.all)}
    found: list[FoundAttention | FoundFeedForward] = [*attentions(recorded), *feed_forwards(recorded)]
    found.sort(key=lambda part: order[id(part.operation)])
    counts: dict[tuple[str, type], int] = {}
    for one in found:
        path = one.operation.module
        counts[path, type(one)] = counts.get((path, type(one)), 0) + 1
        part = part_of(path, counts[path, type(one)]) or name
        yield from _attention(one, part) if isinstance(one, FoundAttention) else _feed_forward(one, part)


def part_of(path: str, time: int = 1) -> str:
    """The name of a layer by the path of a module in it: "layer 2", "decoder layer 1, attention over the source"; empty
    for an empty path. time: counts the calls of the same module, from 1."""
    number = re.search(r"\d+", path)
    side = next((f"{side} " for side in ("encoder", "decoder") if re.match(rf"(.*\.)?{side}s?\b", path)), "")
    if number is None:
        return f"call {time}" if time > 1 else side.strip() or path
    again = f", time {time}" if time > 1 else ""
    return f"{side}layer {int(number[0]) + 1}{', attention over the source' if _crosses(path) else ''}{again}"


def _crosses(path: str) -> bool:
    return bool(re.search(r"cross|encoder_attn|source|memory", path.rpartition("layers")[2] or path))


def _side(path: str) -> str:
    """Whether a module's vectors belong to tokens or keys."""
    return "keys" if re.match(r"(.*\.)?encoders?\b", path) else "tokens"


def _axes(one: FoundAttention) -> tuple[str, str]:
    """Whether the queries and the keys belong to tokens or keys."""
    path = one.operation.module
    if _crosses(path) or one.q.size(-2) != one.k.size(-2):
        return "tokens", "keys"
    return _side(path), _side(path)


def _attention(one: FoundAttention, part: str) -> Iterator[WalkStage]:
    rows, cols = _axes(one)
    code = one.projection.code if one.projection else Code()
    if one.projection is not None:
        yield WalkStage("into", part, Code(), [WalkMatrix("vectors", read_by(one.projection), rows)])
    vectors = [WalkMatrix("Q", one.q, rows), WalkMatrix("K", one.k, cols), WalkMatrix("V", one.v, cols)]
    yield WalkStage("qkv", part, code, vectors)
    for kind, code, value, note in one.chain:
        name = code.name or {"scores": "scores", "mask": "masked scores", "softmax": "weights"}.get(kind, kind)
        yield WalkStage(kind, part, code, [WalkMatrix(name, value, rows, cols)], note)
    code = Code() if one.chain[-1][3] else one.operation.code  # a fused operation is reported once
    yield WalkStage("mix", part, code, [WalkMatrix(code.name or "weights · V", one.output, rows)])


def _feed_forward(one: FoundFeedForward, part: str) -> Iterator[WalkStage]:
    values = {"in": one.input, "hidden, after the activation": one.hidden, "out": one.output}
    rows = _side(one.operation.module)
    yield WalkStage(
        "feed-forward", part, one.operation.code, [WalkMatrix(name, value, rows) for name, value in values.items()]
    )


def _ending(
    result: Any, recorded: Operations, token: Callable[[int], str], at: int, drawn: int | None
) -> tuple[list[WalkStage], list[dict[str, Any]]]:
    """The logits of one position and the candidates among them, if the call returns a language model's logits.

    A bare tensor [1,T,V] counts as logits if ids have names: nothing else shows that its columns are ids.
    """
    logits = getattr(result, "logits", None if token is str else result)
    if not isinstance(logits, Tensor) or logits.dim() != 3:
        return [], []
    if not -logits.size(1) <= at < logits.size(1):
        raise ValueError(f"at is {at}, but the logits have {logits.size(1)} positions")
    row = logits[0, at].detach().float()
    p = row.softmax(-1)
    chosen = int(row.argmax()) if drawn is None else drawn
    if not 0 <= chosen < len(row):
        raise ValueError(f"drawn is {chosen}, but there are {len(row)} ids")
    top = row.topk(min(TOP, len(row))).indices.tolist()
    ids = top if chosen in top else [*top[:-1], chosen]
    candidates = [
        {"token": token(i), "id": i, "logit": float(row[i]), "p": float(p[i]), "drawn": i == chosen} for i in ids
    ]
    made = recorded.producer(logits)
    made = made.parent() if made is not None and made.reshapes else made
    stages = [] if made is None or not made.inputs else [_last_vector(made, at)]
    return stages, candidates


def _last_vector(made: Operation, at: int) -> WalkStage:
    """The vector from which the logits of one position are computed."""
    value = read_by(made)
    value = value.reshape(-1, value.size(-1))
    return WalkStage("logits", "output", made.code, [WalkMatrix("last vector", value[at].reshape(1, -1), "numbers")])


def _shown_positions(length: int) -> list[int]:
    """All positions of a short text; of a long one the first four and the last."""
    return list(range(length)) if length <= POSITIONS else [*range(4), *range(length - POSITIONS + 4, length)]


def _packed(stages: Sequence[WalkStage], tokens: Sequence[str], keys: Sequence[str], budget: int) -> dict[str, Any]:
    """Stages as JSON, with as many components of each vector as the budget allows."""
    names = {"tokens": list(tokens), "keys": list(keys)}
    for width in WIDTHS:
        packer = _Packer(names, width)
        packed = [packer.stage(stage) for stage in stages]
        data = packer.data()
        if len(data) <= budget:
            return {"axes": packer.axes, "stages": packed, "data": data}
    raise ValueError(f"the numbers take {len(data):,} bytes, the budget is {budget:,}: shorten the text or raise it")


class _Packer:
    """Collects the numbers of all matrices, and the names of their sides."""

    def __init__(self, names: dict[str, list[str]], width: int) -> None:
        self.axes: list[dict[str, Any]] = []
        self._names, self._width = names, width
        self._numbers: list[Tensor] = []
        self._count = 0

    def stage(self, stage: WalkStage) -> dict[str, Any]:
        """A stage, its matrices by where their numbers begin."""
        fields = {"name": stage.name, "part": stage.part, "matrices": [self.matrix(each) for each in stage.matrices]}
        code = {"code": vars(stage.code)} if stage.code.text else {}
        return {**fields, **code, **({"note": stage.note} if stage.note else {})}

    def matrix(self, matrix: WalkMatrix) -> dict[str, Any]:
        """One matrix, cut to the positions and components that are shown."""
        _, rows, cols = matrix.value.shape
        at = [_shown_positions(rows), _shown_positions(cols)]
        if matrix.cols == "numbers":
            at[1] = list(range(min(cols, self._width)))
        value = matrix.value[:, at[0]][:, :, at[1]]
        begins = self._count
        self._numbers.append(value.flatten())
        self._count += value.numel()
        sides = {"rows": self.axis(matrix.rows, rows, at[0]), "cols": self.axis(matrix.cols, cols, at[1])}
        return {"name": matrix.name, "heads": value.size(0), **sides, "at": begins}

    def axis(self, kind: str, length: int, at: list[int]) -> int:
        """The number of an axis, which is added if there is none like it."""
        names = self._names.get(kind, [])
        known = [names[i] for i in at] if len(names) == length else []
        axis = {"kind": kind, "length": length, "at": at, "names": known}
        if axis not in self.axes:
            self.axes.append(axis)
        return self.axes.index(axis)

    def data(self) -> str:
        """All numbers as float32, rounded to twelve bits after the point: their first bytes, their second bytes, and so
        on, which deflates to half; base64."""
        bits = torch.cat(self._numbers).contiguous().view(torch.int32)
        finite = (bits & 0x7F800000) != 0x7F800000
        rounded = torch.where(finite, (bits + 0x400) & ~0x7FF, bits)
        return compress(rounded.view(torch.uint8).reshape(-1, 4).T)


class Walk(AnsweringView, Picture):
    """One step, from the text to the drawn token. One of `walk_over` can be asked for another text."""

    _esm = script = STATIC / "walk.js"
    walk_through: Callable[[str], Walk] | None = None

    def answer(self, request: dict[str, Any]) -> None:
        """Handle a request of the browser: {"do": "sentence", "text": …}. Raises ValueError for anything else, for an
        empty text, or for a walk that was recorded once."""
        if request.get("do") != "sentence":
            raise ValueError(f"unknown request {request.get('do')!r}")
        if self.walk_through is None:
            raise ValueError("this walk was recorded: use show.walk_over to walk over another text")
        text = str(request.get("text", "")).strip()
        if not text:
            raise ValueError("the text is empty: write some words")
        self.trace = self.walk_through(text).trace

    def body(self) -> str:
        """Pictures of the matrices of the chosen stage's layer; the stages, with their code; the candidates."""
        text = any(axis["kind"] != "numbers" and axis["names"] for axis in self.trace["axes"])
        chosen = self.place.get("stage", first_softmax(self.trace) + text) - text  # the view's first stop is the text
        drawn = draw_layer(self.trace, max(0, min(chosen, len(self.trace["stages"]) - 1)), self.place.get("head", 0))
        stages = [(s["part"], s["name"], s.get("code", {}).get("text", "")) for s in self.trace["stages"]]
        found = [(c["token"], c["logit"], c["p"], "drawn" if c["drawn"] else "") for c in self.trace["candidates"]]
        return drawn + table(("layer", "stage", "code"), stages) + table(("token", "logit", "p", ""), found)


VIEW = Walk
