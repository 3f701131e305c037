"""Every task as text to text (Raffel et al. 2020, arXiv:1910.10683, 2.4): a prefix says which one is meant."""

from __future__ import annotations

PREFIXES = {
    "translation": "translate {source_language} to {target_language}: {text}",
    "summarization": "summarize: {text}",
    "cola": "cola sentence: {sentence}",
    "sst2": "sst2 sentence: {sentence}",
    "stsb": "stsb sentence1: {sentence1} sentence2: {sentence2}",
    "mnli": "mnli hypothesis: {hypothesis} premise: {premise}",
    "qnli": "qnli question: {question} sentence: {sentence}",
    "squad": "question: {question} context: {context}",
}


def text_to_text(task: str, **fields: str) -> str:
    """The text T5 reads for a task. Raises ValueError, naming what there is, for an unknown task or a missing field.

    >>> text_to_text("translation", source_language="English", target_language="French", text="Hello.")
    'translate English to French: Hello.'
    """
    if task not in PREFIXES:
        raise ValueError(f"no task {task!r}; there are {', '.join(PREFIXES)}")
    try:
        return PREFIXES[task].format(**fields)
    except KeyError as missing:
        raise ValueError(f"{task}: the field {missing} is missing, in {PREFIXES[task]!r}") from None


def similarity_label(score: float) -> str:
    """STS-B's score from 1 to 5 as text, rounded to a fifth: a regression becomes 21 words. 2.57 -> '2.6'"""
    return f"{round(score * 5) / 5:.1f}"
