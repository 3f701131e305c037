"""Names are the field's: no refused word, one public class of a name, no participle as the name of a class
or of a function."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("tfkit", "autograder", "course", "extension/tfkit_lab")
# whole identifiers that are refused anywhere in a package, and the term to use
REFUSED = {
    "tfkit": {
        "TOPS": "HEAD_CLASSES", "ENCODER_TOPS": "ENCODER_HEAD_CLASSES", "make_top": "make_task_head",
        "Seen": "HeadInputs, or the context of the attention", "Bare": "NoHead", "bend": "activation",
        "by_content": "content_bias", "by_distance": "position_bias", "by_segment": "segment_bias",
        "as_mask": "to_bool_mask", "look_up": "embed_ids", "need_head": "require_head", "need_tensor": "require_tensor",
        "folded": "flatten_choices", "ALSO": "EXTRA_INPUTS", "REREADS": "SHIFTS_INPUT_IDS",
        "distance_waves": "sinusoidal_distances", "plan_streams": "make_ngram_context", "Streams": "NgramContext",
        "StreamAttention": "NgramAttention", "TwoStreams": "TwoStreamAttention",
        "Disentangled": "DisentangledAttention",
        "tell_window": "trace_window", "tell_blocks": "trace_blocks", "tell_hashed": "trace_hashed",
        "weighed": "attend_with_logsumexp", "attend_in_steps": "attend_cpu_dropout", "UNCOMPILED": "NOT_COMPILABLE",
        "UNLIKE_STATES": "NO_HIDDEN_STATES", "FirstClassification": "ClsTokenClassificationHead",
        "Chain": "SingleSequence", "Watched": "CacheTracingStrategy", "Overheard": "CacheTracingDecoder",
        "Textbook": "TextbookHypotheses", "Padded": "LeftPaddedCache", "AsIs": "IdentityMap", "Undrawn": "SkipInit",
        "is_ours": "is_tfkit_model", "need_words": "require_lm_head",
        "Apart": "UntiedProphetNetNameMap", "TwoTables": "SeparateTablesNameMap", "OnlyTwoTables": "UntiedNameMap",
        "times_said": "count_repetitions", "penalised": "apply_repetition_penalty", "recalled": "check_mems",
    },
    "autograder": {
        "Elsewhere": "WrongDevice", "Raised": "RaisedError", "Placed": "DeviceSubject", "Handed": "SubmittedNotebook",
        "Released": "ReleasedNotebook", "Unjudged": "StudentComparisonError", "JUDGING": "COMPARISON_DUNDERS",
        "Edited": "EditedAnswer", "Known": "KnownValues", "Blamed": "FaultyVersion", "Found": "FaultLocation",
        "Instrumented": "InstrumentedCode", "Failed": "CheckFailure", "Diagnosed": "DiagnosisReport",
        "Late": "TimeLimitExceeded", "Endless": "MutantTimeout", "Sharpness": "MutationScore", "Spread": "LazySpread",
        "Together": "CombinedMistakes", "Green": "FullMarks", "Busy": "CourseBusy", "Secret": "CourseKey",
        "GLANCE_S": "POLL_S", "PATIENCE_S": "TIMEOUT_S", "Packed": "ArchivedAnswer", "Taken": "SentLedger",
        "Counted": "CountingBackend", "Timed": "TimedExecute", "hinted": "with_hints",
    },
}  # fmt: skip
# one name, several classes, and a reason for each
SHARED = {
    "Attention": "the module of tfkit.nn, and the view that draws its weights",
    "GroupedQueryAttention": "unit 13's module, whose name and arguments exercises fix, and the models' faster one",
    "MixtureOfExperts": "unit 13's module, whose name and arguments exercises fix, and the models' faster one",
    "MultipleChoiceHead": "a base, and its variant over a summary",
    "SequenceClassificationHead": "a base, and its variant over a summary",
    "Size": "each claim has sizes of its own, as each architecture has a Config",
}
PARTICIPLES = re.compile(
    r"^(?:[A-Z][a-z]+ed|Seen|Known|Given|Told|Taken|Sent|Drawn"
    r"|Overheard|Held|Kept|Made|Lost|Found|Done|Spent|Shown|Written)$"
)
PARTICIPLE_FUNCTIONS = re.compile(
    r"^(?:(?!embed$|reseed$)[a-z]{3,}ed|seen|known|given|told|taken|sent|drawn|heard|held|kept|made|lost|found|spent|shown|written|said)$"
)
# functions whose names are fixed elsewhere, and by what
FIXED_FUNCTIONS = {
    "built": "a property of checks is called as its file, and units call it so",
    "predicted": "a notebook's cells call it",
}


def files() -> Iterator[tuple[str, Path]]:
    """Every module with its package, without the units' own folders and the pages."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            if not {"units", "pages", "node_modules"} & set(file.relative_to(ROOT).parts):
                yield package, file


def public_classes() -> dict[str, list[str]]:
    """Name -> the files that define a class of that name; an architecture's file has its own Config and Layer."""
    found: dict[str, list[str]] = defaultdict(list)
    for _, file in files():
        where = str(file.relative_to(ROOT))
        if where.startswith("tfkit/models/") and not file.name.startswith("_"):
            continue
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(where)
    return found


def identifiers(text: str) -> set[str]:
    """Every identifier of a module's code: comments and strings are left out."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def refusals(package: str, text: str) -> list[str]:
    """ "NAME: say TERM" for each refused identifier of a module."""
    words = REFUSED.get(package, {})
    return [f"{name}: say {words[name]}" for name in sorted(identifiers(text) & words.keys())]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_refused_word(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}: {line}"
        for owner, file in files()
        if owner == package
        for line in refusals(package, file.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_refused_word_is_told_with_its_term() -> None:
    assert refusals("tfkit", "def f(x):\n    return x.bend") == ["bend: say activation"]


def test_a_class_name_means_one_thing() -> None:
    twice = {name: where for name, where in public_classes().items() if len(where) > 1 and name not in SHARED}
    assert not twice, "\n".join(f"{name} is defined in {', '.join(where)}: rename one" for name, where in twice.items())


def test_no_class_is_named_by_a_participle() -> None:
    wrong = {name: where for name, where in public_classes().items() if PARTICIPLES.match(name)}
    assert not wrong, "\n".join(f"{where[0]}: {name} is a participle: name the thing" for name, where in wrong.items())


def test_no_function_is_named_by_a_participle() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {node.name} is a participle: say what it does or gives"
        for _, file in files()
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE_FUNCTIONS.match(node.name)
        and node.name not in FIXED_FUNCTIONS
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["told", "localized", "said"])
def test_a_participle_is_recognised_as_a_functions_name(name: str) -> None:
    assert PARTICIPLE_FUNCTIONS.match(name) and not PARTICIPLE_FUNCTIONS.match(f"{name}_value")


@pytest.mark.parametrize("name", ["Watched", "Released", "Seen", "Known"])
def test_a_participle_is_recognised(name: str) -> None:
    assert PARTICIPLES.match(name)
