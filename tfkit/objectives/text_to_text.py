"""Every task as text to text (Raffel et al. 2020, arXiv:1910.10683, 2.4): a prefix names the task."""

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
    "mrpc": "mrpc sentence1: {sentence1} sentence2: {sentence2}",
    "qqp": "qqp question1: {question1} question2: {question2}",
    "rte": "rte sentence1: {sentence1} sentence2: {sentence2}",
    "wsc": "wsc: {text}",  # asterisks mark the pronoun, see `mark_pronoun`; WNLI and DPR have the same form
    "boolq": "boolq passage: {passage} question: {question}",
    "cb": "cb hypothesis: {hypothesis} premise: {premise}",
    "copa": "copa choice1: {choice1} choice2: {choice2} premise: {premise} question: {question}",
    "multirc": "multirc question: {question} answer: {answer} paragraph: {paragraph}",
    "record": "record query: {query} entities: {entities} passage: {passage}",
    "super_rte": "rte hypothesis: {hypothesis} premise: {premise}",  # RTE with the field names of SuperGLUE
    "wic": "wic sentence1: {sentence1} sentence2: {sentence2} word: {word}",
}
GLUE = ("cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte", "wsc")
SUPERGLUE = ("boolq", "cb", "copa", "multirc", "record", "super_rte", "wic", "wsc")
LABELS = {  # T5's answers, in the order of the data sets' label numbers; the answers of other tasks are text or a score
    "cola": ("unacceptable", "acceptable"),
    "sst2": ("negative", "positive"),
    "mrpc": ("not_equivalent", "equivalent"),
    "qqp": ("not_duplicate", "duplicate"),
    "mnli": ("entailment", "neutral", "contradiction"),
    "qnli": ("entailment", "not_entailment"),
    "rte": ("entailment", "not_entailment"),
    "super_rte": ("entailment", "not_entailment"),
    "boolq": ("False", "True"),
    "cb": ("entailment", "contradiction", "neutral"),
    "copa": ("choice1", "choice2"),
    "multirc": ("False", "True"),
    "wic": ("False", "True"),
}


def text_to_text(task: str, **fields: str) -> str:
    """T5's input text for a task. Raises ValueError, listing the possibilities, for an unknown task or a missing field.

    >>> text_to_text("translation", source_language="English", target_language="French", text="Hello.")
    'translate English to French: Hello.'
    """
    if task not in PREFIXES:
        raise ValueError(f"no task {task!r}; available: {', '.join(PREFIXES)}")
    try:
        return PREFIXES[task].format(**fields)
    except KeyError as missing:
        raise ValueError(f"{task}: the field {missing} is missing, in {PREFIXES[task]!r}") from None


def similarity_label(score: float) -> str:
    """STS-B's score from 1 to 5 as text, rounded to a fifth: the regression becomes a choice of 21 words. 2.57 ->
    '2.6'"""
    return f"{round(score * 5) / 5:.1f}"


def mark_pronoun(text: str, start: int, length: int = 1) -> str:
    """For "wsc": puts asterisks around `length` words from word number `start` on, so that the text itself marks the
    pronoun in question. Raises ValueError for a span outside the text.

    >>> mark_pronoun("The fish ate the worm. It was tasty.", 5)
    'The fish ate the worm. *It* was tasty.'
    """
    words = text.split()
    if not 0 <= start < start + length <= len(words):
        raise ValueError(f"words {start} to {start + length - 1} are not in the text, which has {len(words)}")
    marked = "*" + " ".join(words[start : start + length]) + "*"
    return " ".join([*words[:start], marked, *words[start + length :]])
