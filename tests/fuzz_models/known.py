"""Known differences, with their reasons: what `make fuzz-models` does not count as a failure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz_models.inputs import Case


@dataclass(frozen=True)
class Known:
    """Where a difference is expected: pattern of the class, of what differs, fields as drawn, the reason."""

    cls: str
    what: str
    reason: str
    fields: dict[str, Any] = field(default_factory=dict)


UNTIED = {"tie_word_embeddings": False}
KNOWN: tuple[Known, ...] = (
    Known(r"^(Bart|MBart|M2M100|Pegasus|ProphetNet)", r"^saved: .*(shared|word_embeddings)\.weight$",
          "with a table for each side transformers keeps a shared one that nothing reads", UNTIED),
    Known(r".", r"^saved: .*(lm_head|predictions)\.bias$",
          "with an output matrix of its own transformers keeps a second bias that nothing reads", UNTIED),
    Known(r"^ProphetNet", r"^(encoder_|cross_)attentions",
          "transformers returns the scores before the softmax under the name of the weights"),
    Known(r"^ProphetNetEncoder", r"^attentions",
          "transformers returns the scores before the softmax under the name of the weights"),
    Known(r"^Deberta", r"^saved: config\.max_relative_positions",
          "-1 means the number of positions, which tfkit writes out"),
    Known(r"^Reformer", r"^hidden_states.* has shape",
          "transformers also returns the states of what fills up the last chunk: decision 12"),
    Known(r"^(Marian|Pegasus)", r"^saved: missing_keys .*embed_positions",
          "sinusoids are not written, and transformers computes the same ones"),
)  # fmt: skip


def reason(case: Case, what: str) -> str | None:
    """Why this difference is expected; None: it is not."""
    for known in KNOWN:
        fits = re.search(known.cls, case.cls) and re.search(known.what, what)
        if fits and all(case.fields.get(name) == value for name, value in known.fields.items()):
            return known.reason
    return None
