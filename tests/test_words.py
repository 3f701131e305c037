"""Names are the field's: no refused word, one public class of a name, no participle as the name of a class
or of a function; the same for methods, for fields and for what TypeScript exports."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("tfkit", "autograder", "course", "extension/tfkit_lab", "tools")
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
        "weighed": "attend_with_logsumexp", "attend_in_steps": "attend_cpu_in_place",
        "UNLIKE_STATES": "NO_HIDDEN_STATES", "FirstClassification": "ClsTokenClassificationHead",
        "Chain": "SingleSequence", "Watched": "CacheTracingStrategy", "Overheard": "CacheTracingDecoder",
        "Textbook": "TextbookHypotheses", "Padded": "LeftPaddedCache", "AsIs": "IdentityMap", "Undrawn": "SkipInit",
        "is_ours": "is_tfkit_model", "need_words": "require_lm_head",
        "Apart": "UntiedProphetNetNameMap", "TwoTables": "SeparateTablesNameMap", "OnlyTwoTables": "UntiedNameMap",
        "times_said": "count_repetitions", "penalised": "apply_repetition_penalty", "recalled": "check_mems",
        "_heard": "_hook_weights", "LEAST_ROOM": "MIN_CAPACITY", "_in_the_open": "_attend_with_weights",
        "HF_UNSAID": "HF_DEFAULTS", "PLACES": "POSITIONS",
        "texts_apart": "separate_texts", "run_apart": "forward_packed", "kept_rule": "use_rule",
        "pays": "is_worthwhile", "works_on": "is_supported", "leave_open": "mark_dynamic_sizes",
        "meetings": "key_counts", "fade": "decay", "tops": "head_classes", "open_or_other": "is_inspected",
        "everywhere": "force, or logits", "by": "replacement, or pool", "alone": "single, or decoder_only",
        "across": "cross_attention", "asked": "what it holds: test_rows, fields, dtype",
        "told": "what it holds: metadata, extras, loading_info", "said": "what it holds: predicted, settings, message",
        "heard": "recorded", "overheard": "decoders", "yours": "attention, or result", "waves": "sinusoids",
        "hope": "best_unfinished", "stuck": "exhausted", "spoilt": "corrupted", "strange": "unknown_fields",
        "staying": "remaining", "taught_by": "distillation_loss_of",
        "theirs": "reference, or hf_name", "ours": "candidate, or field", "mine": "own_rows, or what it holds",
        "their": "reference", "our": "what it holds", "our_name": "local_name", "our_step": "tfkit_step",
        "their_step": "transformers_step", "our_model": "tfkit_model", "their_model": "transformers_model",
        "their_class": "transformers_class", "theirs_of": "reference_field", "best_here": "best_fetched",
        "blind": "is_unknown",
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
        "doors": "plugins", "greens": "full_marks", "still_to_be_had": "missing_points",
        "left_alone": "ungraded_record",
        "leave_alone": "mark_not_graded", "standing": "current_verdicts", "askable": "mark_unsupported",
        "leaning_tests": "redefinable_names", "is_together": "is_combination", "wishes": "leaderboard_choices",
        "told_relation": "relation_phrase", "MOST_AT_EDGES": "MAX_EDGE_SHARE", "Tell": "OnProgress",
        "Look": "CheckInterrupt", "NotInThisTab": "UnsupportedInBrowser",
        "Asked": "QuestionSet", "asked": "question_sets, or what it holds", "Slip": "StoredMutant", "slips": "mutants",
        "slip": "mutant, or mutation", "likest": "matching_mutant", "of_slip": "explain_by_mutation",
        "try_slips": "run_mutants", "telling_answers": "distinguishing_answers", "telling": "answers_to_compare",
        "ring": "on_alarm", "everywhere": "nested, or at_like_places", "GivenError": "InjectionError",
        "BubblewrapAlone": "BubblewrapOnly", "InventedLanguage": "SyntheticLanguage", "watch_over": "supervise",
        "same_but_form": "departs_only_in_form", "light_tokens": "light_theme_tokens", "like_known": "similar_to_known",
        "what_is_right": "correct_so_far", "NoBehaviour": "UnexplainedError", "NoStatement": "StatementError",
        "NoDataset": "DatasetError", "NoExport": "ExportError", "NoFeedback": "FeedbackError", "NoLog": "LogError",
        "NoRelease": "ReleaseError", "NoResult": "CapstoneError", "NoGroup": "NoCgroup", "ClassOfCourse": "CourseClass",
        "keep_there": "keep_in_subject", "changed_there": "changed_in_subject",
        "known_in": "misconception_options", "op_give": "op_inject", "op_watch": "op_observe",
        "DEAR": "TOO_EXPENSIVE", "WITHIN": "WITHIN_LIMIT", "live_in": "enter_folder", "unlike": "first_difference",
        "lack_of_card": "no_gpu_reason", "assigned_card": "assigned_gpu", "Card": "GPUDevice",
        "trouble": "error_messages",
        "told": "what it holds: answer, entry, fields", "said": "what it holds: message, sentence, errors",
        "handed": "submitted", "heard": "recorded",
        "mine": "what it holds", "theirs": "actual, or student", "ours": "expected, or builtin",
        "complaint": "explain_failure, or message", "strange": "unknown", "squares": "squared_error",
        "accused": "suspects", "_told": "what it returns", "_said": "_print_timing, or what it returns",
        "_handed": "_submitted", "_look": "_check, or _queue_new", "_There": "what it is",
    },
    "course": {
        "unsaid_words": "unused_terms", "untold_figures": "undescribed_figures", "Deed": "CellChange",
        "NotInThisTab": "UnsupportedInBrowser", "everywhere": "all_terms", "asked": "to_write, or what it holds",
        "slips": "mutants", "Absent": "Placeholder", "why_not": "full_lab_reason",
        "told": "shown, or hint", "said": "message, or found", "handed": "submitted",
        "mine": "students_copy", "theirs": "student", "ours": "course, default or project_wheel", "deeds": "changes",
        "strange": "unknown", "astray": "unmatched", "_said": "_print_timing", "_look": "_check_folders",
        "_asks": "_is_prediction", "_mistaken": "_wrong_answers",
    },
    "extension/tfkit_lab": {
        "asks": "requests", "Guess": "SealedPrediction", "merge_alike": "merge_equal", "_asked": "_on_request",
        "commonest": "most_common_misconceptions", "by": "author", "told": "what it holds: row, summary, packed",
        "mine": "what it holds", "theirs": "what it holds", "ours": "builtin", "strange": "unknown",
        "came_out": "outcomes, or observed", "_told_apart": "_distinct_titles",
        "_is_somebody_there": "_user_can_answer",
    },
    "tools": {
        "story": "description", "_told": "_first_difference", "told": "paragraphs, or caption",
        "said": "translated, or summary", "asked": "what it holds", "theirs": "reference", "ours": "candidate",
        "mine": "what it holds", "_in_their_names": "_in_transformers_names", "_said": "_format",
    },
}  # fmt: skip
# methods, properties and fields that are refused, and the term to use; as other names these words may be plain English
REFUSED_MEMBERS = {
    "tfkit": {
        "real": "non_padding", "headed": "with_head", "described": "config_dict", "waves": "sinusoids",
        "their_name": "published_name", "apart": "for_untied_output", "tables_apart": "make_separate_tables",
        "spread": "parallelize, or repeat_rows", "told": "extras", "likely": "target_probs", "guessed": "draft_probs",
        "kept": "n_accepted", "across": "cross_attention_inputs", "typed": "uses_token_types",
        "reads_twice": "needs_decoder_inputs", "sees": "allows", "made": "memo", "once": "memoize",
        "only": "memoize_one", "joined_with": "combine_with", "widest": "broadcast_shape",
        "written": "visible, or write_texts", "survivors": "select_beams", "set_aside": "add_finished",
        "likeness": "max_cosine", "likeliest": "add_top_tokens", "so_far": "current_ids", "idle": "is_noop",
        "closed": "sentence_done", "ended_ids": "finished_ids", "some_ended": "any_finished",
        "seen": "what it holds: last_step, tensors, states", "known": "check_ids, or forward_args",
        "WORDS": "HAS_OUTPUT_MATRIX", "POOLED": "NEEDS_POOLER", "SHRINKS": "SCALES_RESIDUAL_INIT",
        "far": "is_dissimilar", "far_bleu": "dissimilar_bleu", "nearest": "max_similarity", "asked": "n_test",
        "asks": "question_encoder", "tells": "passage_encoder", "world": "process_group",
        "drawn": "draw_blocks", "encoded": "encoder_outputs", "gone": "free", "meant": "is_global",
        "turned": "rotate", "windowed": "window_mask", "put": "record", "unused": "unused_names",
    },
    "autograder": {
        "pick": "select", "again": "with_case, map_items or forget_version", "differing": "mismatches",
        "built": "build", "give": "inject", "allow": "limit_answer", "spent": "out_of_time", "watch": "observe",
        "counted": "is_metered", "measured": "measure", "method_within": "method_with_limit", "go": "run",
        "look": "check", "at_once": "interruptible, or first_attempt", "say": "print_line", "handed": "submitted",
        "settle": "store_penalties", "committed": "mark_committed", "uncommitted": "uncommitted_keys",
        "to_return": "feedback_due", "deadly": "killed_workers, or killer_cells", "examined": "examine",
        "blamed": "faulty_version", "rights": "right_traces", "often": "repeated_operands", "instead": "replacement",
        "keeps": "score_share", "caught": "killed, or rejected", "missed": "survived", "silent": "unnamed",
        "composed": "explained_by_others", "both": "both_named", "per_day": "penalty_per_day",
        "by": "author", "more": "extra",
    },
    "course": {
        "asks": "requires", "deeds": "changes", "harmless": "harmless_changes", "story": "description",
        "least": "min_share", "presses": "check_requests", "again": "resubmissions",
    },
    "extension/tfkit_lab": {
        "said": "message", "asked": "form, or what it holds", "answered": "n_answers",
    },
}  # fmt: skip
# what TypeScript may not export, and the term to use
REFUSED_EXPORTS = {
    "told": "describeCell, describeStage, describeValue", "wordsOf": "colourWords", "behind": "documentShares",
    "spots": "nodePositions", "sorted": "sortGrid", "shown": "visibleToken", "stops": "walkStops",
    "idsTo": "tokenIdsTo", "summed": "sumLogProbs", "span": "countSteps", "chances": "probabilities",
    "sizeOf": "thumbnailSize", "plan": "planThumbnails", "reader": "valueReader", "read": "unpackNumbers",
    "Take": "SelectToken", "IShown": "IPaneState", "Build": "BuildView", "At": "ValueAt", "keep": "storeVerdict",
    "keptIn": "storedVerdict", "IKept": "IStoredVerdict", "Asked": "CheckOrigin", "Go": "Navigate",
    "Found": "SearchResult", "IKin": "IRelative", "places": "ranks", "tally": "countPassed", "tok": "markToken",
    "light": "highlightToken", "stopOf": "resumePoint", "placeIn": "faultLineIn", "markIn": "faultMarkIn",
}  # fmt: skip
EXPORT = re.compile(r"^export (?:async )?(?:function|const|class|interface|type) (\w+)", re.M)
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


@cache
def parsed(file: Path) -> ast.Module:
    """The module's syntax tree, read once for all tests."""
    return ast.parse(file.read_text(encoding="utf-8"))


def public_classes() -> dict[str, list[str]]:
    """Name -> the files that define a class of that name; an architecture's file has its own Config and Layer."""
    found: dict[str, list[str]] = defaultdict(list)
    for _, file in files():
        where = str(file.relative_to(ROOT))
        if where.startswith("tfkit/models/") and not file.name.startswith("_"):
            continue
        for node in parsed(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(where)
    return found


def identifiers(module: ast.Module) -> set[str]:
    """Every identifier of a module's code: comments and strings are left out."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def refusals(package: str, module: ast.Module) -> list[str]:
    """ "NAME: say TERM" for each refused identifier of a module."""
    words = REFUSED.get(package, {})
    return [f"{name}: say {words[name]}" for name in sorted(identifiers(module) & words.keys())]


# properties that say of a thing what was done to it, as transformers and nbgrader do, and one contract
FIXED_METHODS = {
    "merged": "EXERCISES names it for LoRALinear",
    "failed": "the answers that failed, a property",
    "graded": "how many are graded, a property",
    "passed": "whether all passed, a property",
    "released": "nbgrader's own word for what students got, a property",
}


def members(module: ast.Module) -> Iterator[tuple[str, str]]:
    """(class, name) of every method, property and field that a module's classes define, and of attributes of `self`."""
    for node in ast.walk(module):
        if not isinstance(node, ast.ClassDef):
            continue
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.name, part.name
            elif isinstance(part, ast.AnnAssign | ast.Assign):
                targets = [part.target] if isinstance(part, ast.AnnAssign) else part.targets
                yield from ((node.name, target.id) for target in targets if isinstance(target, ast.Name))
        for part in ast.walk(node):
            stored = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
            if stored and isinstance(part.value, ast.Name) and part.value.id == "self":
                yield node.name, part.attr


def refused_members(package: str, module: ast.Module) -> list[str]:
    """ "CLASS.NAME: say TERM" for each refused method, property or field."""
    words = REFUSED_MEMBERS.get(package, {})
    return sorted({f"{owner}.{name}: say {words[name]}" for owner, name in members(module) if name in words})


def refused_exports(text: str) -> list[str]:
    """ "NAME: say TERM" for each refused name that a TypeScript module exports."""
    return [f"{name}: say {REFUSED_EXPORTS[name]}" for name in EXPORT.findall(text) if name in REFUSED_EXPORTS]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_refused_member(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}: {line}"
        for owner, file in files()
        if owner == package
        for line in refused_members(package, parsed(file))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_refused_member_is_told_with_its_term() -> None:
    text = "class A:\n    real: int\n    def idle(self):\n        self.waves = real = 1"
    assert refused_members("tfkit", ast.parse(text)) == [
        "A.idle: say is_noop",
        "A.real: say non_padding",
        "A.waves: say sinusoids",
    ]


def test_typescript_exports_no_refused_word() -> None:
    sources = [file for file in (ROOT / "extension/src").rglob("*.ts") if "generated" not in file.parts]
    wrong = [
        f"{file.relative_to(ROOT)}: {line}" for file in sources for line in refused_exports(file.read_text("utf-8"))
    ]
    assert len(sources) > 50 and not wrong, "\n".join(wrong)


def test_a_refused_export_is_told_with_its_term() -> None:
    assert refused_exports("export function told(): void {}\nconst tok = 1;") == [
        "told: say describeCell, describeStage, describeValue"
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_refused_word(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)}: {line}"
        for owner, file in files()
        if owner == package
        for line in refusals(package, parsed(file))
    ]
    assert not wrong, "\n".join(wrong)


def test_a_refused_word_is_told_with_its_term() -> None:
    assert refusals("tfkit", ast.parse("def f(x):\n    return x.bend")) == ["bend: say activation"]


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
        for node in parsed(file).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE_FUNCTIONS.match(node.name)
        and node.name not in FIXED_FUNCTIONS
    ]
    assert not wrong, "\n".join(wrong)


def test_no_method_is_named_by_a_participle() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{part.lineno}: {node.name}.{part.name}: say what it does or gives"
        for _, file in files()
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        and PARTICIPLE_FUNCTIONS.match(part.name)
        and part.name not in FIXED_METHODS
    ]
    assert not wrong, "\n".join(wrong)


def participles(module: ast.Module) -> list[str]:
    """ "LINE NAME" of each function, method or function within one that a participle names; private ones too."""
    functions = (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [
        f"{node.lineno} {node.name}"
        for node in functions
        if PARTICIPLE_FUNCTIONS.match(node.name.removeprefix("_")) and node.name not in FIXED_METHODS
    ]


@pytest.mark.parametrize("folder", ["tfkit", "tools"])
def test_no_function_of_the_library_is_named_by_a_participle_not_even_a_private_one(folder: str) -> None:
    sources = sorted((ROOT / folder).rglob("*.py"))
    wrong = [f"{file.relative_to(ROOT)}:{line}" for file in sources for line in participles(parsed(file))]
    assert len(sources) > 10 and not wrong, "\n".join(wrong)


def test_a_private_participle_is_found() -> None:
    text = "def f():\n    def told(): ...\nclass A:\n    def _kept(self): ...\n    def merged(self): ..."
    assert participles(ast.parse(text)) == ["2 told", "4 _kept"]


@pytest.mark.parametrize("name", ["told", "localized", "said"])
def test_a_participle_is_recognised_as_a_functions_name(name: str) -> None:
    assert PARTICIPLE_FUNCTIONS.match(name) and not PARTICIPLE_FUNCTIONS.match(f"{name}_value")


@pytest.mark.parametrize("name", ["Watched", "Released", "Seen", "Known"])
def test_a_participle_is_recognised(name: str) -> None:
    assert PARTICIPLES.match(name)
