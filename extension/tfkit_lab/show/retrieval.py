"""The retrieved documents, and the contribution of each to every token of an answer (Lewis et al. 2020, 2.1)."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from tfkit.objectives.rag_marginals import target_log_probs
from tfkit_lab.pictures import Picture, table
from tfkit_lab.widgets import STATIC


def retrieval(
    question: str,
    documents: Sequence[str],
    scores: Tensor,
    answer: Sequence[str],
    token_logits: Tensor,
    targets: Tensor,
    title: str = "Retrieval",
) -> Retrieval:
    """documents: D texts, with scores [D]; answer: names of targets int64 [T], for which the reader of each document
    gave token_logits [D,T,V]. Shown are the terms of RAG's losses: p(d) and p(token | d), by token and by sequence.
    Raises ValueError if the sizes differ."""
    shapes = (list(scores.shape), list(token_logits.shape[:2]), len(answer), list(targets.shape))
    if shapes != ([len(documents)], [len(documents), len(targets)], len(targets), [len(targets)]):
        raise ValueError(f"{len(documents)} documents; scores, token_logits, answer, targets have {shapes}")
    read = target_log_probs(token_logits[None].double(), targets[None])[0]  # [D,T]
    document = scores.double().log_softmax(-1)  # [D]
    by_token = (document[:, None] + read).logsumexp(0)  # [T]
    sequence = document + read.sum(-1)  # [D]
    found = [
        {"text": text, "score": score, "p": p, "tokens": row, "posterior": share}
        for text, score, p, row, share in zip(
            documents, scores.tolist(), document.exp().tolist(), read.exp().tolist(), sequence.softmax(0).tolist(),
            strict=True,
        )
    ]  # fmt: skip
    head = {"schema": "tfkit.trace/1", "kind": "retrieval", "title": title, "question": question}
    sums = {"by_token": by_token.exp().tolist(), "log_token": by_token.sum().item()}
    whole = {"log_sequence": sequence.logsumexp(0).item()}
    return Retrieval({**head, "answer": list(answer), "documents": found, **sums, **whole})


class Retrieval(Picture):
    """Documents, and their contributions to an answer."""

    _esm = script = STATIC / "retrieval.js"

    def body(self) -> str:
        """A table of documents, their scores and their contributions to every token of the answer."""
        head = ("document", "score", "p(d)", *self.trace["answer"], "p(d | answer)")
        found = self.trace["documents"]
        lines = [(d["text"], d["score"], d["p"], *d["tokens"], d["posterior"]) for d in found]
        return table(head, [*lines, ("summed over documents", "", "", *self.trace["by_token"], "")])


VIEW = Retrieval
