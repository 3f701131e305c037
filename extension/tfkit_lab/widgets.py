"""Views: live in a notebook, recorded in the saved file, static elsewhere, or as standalone pages."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets

from tfkit_lab import hosts
from tfkit_lab.figure import figure
from tfkit_lab.page import STATIC, page
from tfkit_lab.trace import SCHEMAS, Trace, validate, with_draft_tokens

if TYPE_CHECKING:
    from tfkit_lab.session import Encode, Session

MIME = "application/vnd.tfkit.trace.v1+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
PICTURE_NOTE = (
    '<p style="font-size:85%;opacity:.8">A picture. It can be stepped through in JupyterLab and Notebook 7 '
    "with tfkit-course; elsewhere, where widgets work, if <code>%env TFKIT_WIDGET_VIEW=1</code> runs before this cell; "
    "or as a page: <code>python -m tfkit_lab.export</code>.</p>"
)


class Kind(type(anywidget.AnyWidget), ABCMeta):  # type: ignore[misc]
    """The metaclass of views: that of widgets, which also refuses a view without a required method."""


class View(anywidget.AnyWidget, metaclass=Kind):
    """Draws a recorded trace of one kind; ValueError for any other trace.

    A subclass names its script twice, as `script` and for anywidget as `_esm`, and in `kept` the traits that select
    the part of the trace that is shown: the saved notebook stores these too, and reopens there without a kernel.
    """

    script: ClassVar[Path]
    schemas: ClassVar[Path] = SCHEMAS  # the folder with the schema of its kind
    kept: ClassVar[tuple[str, ...]] = ()
    trace: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, trace: Trace, **state: Any) -> None:
        validate(trace, self.schemas)
        super().__init__(trace=dict(trace), **state)

    def state(self) -> dict[str, Any]:
        """The state of the view: the trace and the selected part of it."""
        return {name: getattr(self, name) for name in ("trace", *self.kept)}

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """The traits of these names, or all. Drops no defaults: the script is one, and a page of ipywidgets' `embed`
        has no other source for it."""
        kept: dict[str, Any] = super().get_state(key)
        return kept

    def to_html(self) -> str:
        """A page that needs no kernel, no server and no network."""
        return page(self.trace["title"] or self.trace["kind"], [self.state()], {self.trace["kind"]: self.script})

    @abstractmethod
    def figure(self) -> str:
        """The static HTML for places without scripts."""

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        # No widget-view entry where our renderer finds the live widget by `model_id`: exporters prefer that entry to
        # the figure and then show nothing, and a reopened notebook says "model not found".
        bundle: dict[str, Any] = {MIME: {**self.state(), "model_id": self.model_id}}
        if hosts.wants_widget_view():
            hosts.allow_widgets()
            bundle[WIDGET_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": self.model_id}
        bundle["text/html"] = self.figure() + PICTURE_NOTE
        bundle["text/plain"] = repr(self)
        return bundle, {}


class AnsweringView(View):
    """A view that can be asked for something else, in the browser, while its kernel runs.

    `requests` names what the browser may ask for, in a recorded view nothing; `message` is shown with what was asked.
    """

    requests = traitlets.List(traitlets.Unicode()).tag(sync=True)
    message = traitlets.Unicode().tag(sync=True)
    n_answers = traitlets.Int(0).tag(sync=True)  # counts them: an answer may change neither the trace nor the message

    def accept(self, requests: Sequence[str]) -> None:
        """Let the browser make these requests, from now on."""
        self.requests = list(requests)
        self.on_msg(self._on_request)

    @abstractmethod
    def answer(self, request: dict[str, Any]) -> None:
        """Handle a request of the browser, such as {"do": …}. What it raises becomes the message."""

    def _on_request(self, _widget: Any, request: dict[str, Any], _buffers: Any) -> None:
        try:
            self.message = ""
            self.answer(request)
        except Exception as error:  # an error of the model, which may be a student's: it is shown with the request
            self.message = f"{type(error).__name__}: {error}"
        finally:
            self.n_answers += 1


class Stepper(AnsweringView):
    """Step through a recorded decoding run, as returned by `tfkit.decode.trace_json`, or two runs side by side.

    `Stepper.live` keeps the model, so that runs can be changed.
    """

    kept = ("other", "step", "layer", "head", "pin")
    _esm = script = STATIC / "decoding.js"
    other: Any = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    step = traitlets.Int(0, min=0).tag(sync=True)
    layer = traitlets.Int(0, min=0).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    pin = traitlets.Int(-1, min=-1).tag(sync=True)
    session: Session | None = None

    def __init__(
        self, trace: Trace, other: Trace | None = None, *, step: int = 0, layer: int = 0, head: int = 0, pin: int = -1
    ) -> None:
        trace = with_draft_tokens(trace)
        if other is not None:
            other = with_draft_tokens(other)
            validate(other)
        super().__init__(trace, other=other and dict(other), step=step, layer=layer, head=head, pin=pin)

    @classmethod
    def live(
        cls, model: Any, source_ids: Any, *, strategy: Any | Sequence[Any] = None, encode: Encode | None = None,
        seed: int = 0, **how: Any,
    ) -> Stepper:  # fmt: skip
        """A run of the model, from which one can branch: with another token or, if `encode` turns a text into ids, over
        another text. model: or a `tfkit.Text`, with a text in place of source_ids. strategy: one, or two
        to compare; default greedy; seed: of every run; how: as in `record`."""
        from tfkit.decode import Greedy
        from tfkit_lab.session import Session, in_words

        if isinstance(source_ids, str):
            model, source_ids, encode, how = in_words(model, source_ids, how)
        strategies = list(strategy) if isinstance(strategy, list | tuple) else [strategy or Greedy()]
        if len(strategies) not in (1, 2):
            raise ValueError(f"strategy holds {len(strategies)}: pass one, or two to compare")
        session = Session(model, source_ids, strategies, encode, seed, how)
        stepper = cls(*session.runs())
        stepper.session = session
        stepper.accept(session.requests)
        return stepper

    def answer(self, request: dict[str, Any]) -> None:
        """Handle a request of the browser: {"do": "branch", "of": 0, "ids": […]}, {"do": "prompt", "text": …}, {"do":
        "keep", "of": 1}. Raises ValueError for anything else, or without a model."""
        if self.session is None:
            raise ValueError("this run was recorded: use Stepper.live to branch from it")
        if request["do"] == "branch":
            self.other = self.session.branch(request["of"], request["ids"])
        elif request["do"] == "prompt":
            self.trace, self.other = (*self.session.prompt(request["text"]), None)[:2]
            unknown, of = self.session.unknown()
            if unknown:
                which = f"{unknown} of {of} tokens of this text are unknown to the tokenizer"
                self.message = f"{which}: the model cannot tell them apart"
        elif request["do"] == "keep":
            self.session.keep(request["of"])
            self.trace, self.other = (self.trace, self.other)[request["of"]], None
        else:
            raise ValueError(f"unknown request {request['do']!r}")

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        spans = [t.get("offset", 0) + len(t.get("steps", ())) for t in (self.trace, self.other) if t]
        return min(proposal["value"], max(0, max(spans, default=0) - 1))

    def figure(self) -> str:
        """One step, as HTML; two runs are placed one below the other."""
        runs = [trace for trace in (self.trace, self.other) if trace]
        return "".join(figure(run, self.step - run.get("offset", 0), self.layer, self.head) for run in runs)

    def __repr__(self) -> str:
        return f"Stepper({self.trace['title']!r}, step {self.step + 1} of {len(self.trace['steps'])})"


def to_html(trace: Trace, step: int = 0, layer: int = 0, head: int = 0) -> str:
    """The stepper as one HTML page, with the trace and the script inside; ValueError for an invalid trace."""
    trace = with_draft_tokens(trace)
    validate(trace)
    state = {"trace": trace, "step": step, "layer": layer, "head": head}
    return page(trace["title"] or "Decoding", [state], {"decoding": STATIC / "decoding.js"})
