"""The end of a unit: a model speaks through a student's functions. Here a small random Llama stands for SmolLM2."""

import json
from pathlib import Path
from types import SimpleNamespace

import polib
import pytest
import torch

import tfkit
from autograder.exercises.answers import answers
from autograder.feedback import translate
from course import exercises, real_model, units
from course.real_model import WAYS, speak
from tfkit_lab import mistakes
from tfkit_lab.course import record

BY_ID = {one.id: one for one in exercises()}
RIGHT = """
def causal_mask(length):
    return torch.ones(length, length).tril() > 0
"""
WRONG = RIGHT.replace("tril", "triu")
INVERTED = RIGHT.replace("> 0", "== 0")
WORDS = [
    "the",
    "old",
    "keeper",
    "of",
    "a",
    "lighthouse",
    "sees",
    "ships",
    "and",
    "stars",
    "every",
    "night",
    "until",
    "dawn",
]


class Words:
    """A tokenizer of words by their places in a list, without end."""

    def encode(self, texts):
        return [[WORDS.index(word) for word in text.split()] for text in texts]

    def decode(self, rows):
        return [" ".join(WORDS[number] for number in row) for row in rows]


@pytest.fixture(scope="module")
def text():
    torch.manual_seed(0)
    sizes = {"d_model": 24, "n_heads": 4, "n_kv_heads": 2, "d_ff": 48, "n_layers": 3, "vocab_size": len(WORDS)}
    model = tfkit.from_config("llama", head="causal_lm", eos_token_id=None, **sizes).eval()
    for parameter in model.parameters():
        parameter.data *= 4 if parameter.dim() > 1 else 1  # so that it attends to something
    return SimpleNamespace(model=model, tokenizer=Words())


def plain(text, prompt):
    """What the model writes by itself, word by word."""
    ids = torch.tensor(Words().encode([prompt]))
    with torch.no_grad():
        for _ in range(real_model.MAX_NEW_TOKENS):
            ids = torch.cat([ids, text.model(ids).logits[:, -1:].argmax(-1)], 1)
    return Words().decode(ids.tolist())[0].removeprefix(prompt)


def write_masks(root, code, check='check("masks.causal")'):
    """The student's notebook of unit 02."""
    cells = [
        {"cell_type": "code", "metadata": {"tfkit": {"role": "exercise", "exercise": "masks.causal"}}, "source": code},
        {"cell_type": "code", "metadata": {"tfkit": {"role": "check"}}, "source": check},
    ]
    (root / "02-masks").mkdir(exist_ok=True)
    (root / "02-masks" / "02-masks.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}}))


@pytest.fixture
def student(tmp_path):
    """A student whose own causal mask has passed."""
    write_masks(tmp_path, RIGHT)
    record(tmp_path, {"exercise": "masks.causal", "status": "passed", "score": 1.0, "max_score": 1.0, "checks": []})
    return tmp_path


def make_mistake(root, code, misconception, exercise="masks.causal"):
    mark = {"tfkit": {"role": "exercise", "exercise": exercise}}
    verdict = {"exercise": exercise, "status": "failed", "misconception": misconception}
    mistakes.keep(root, verdict, [{"metadata": mark, "source": code}])


@pytest.fixture
def other_contract(student):
    """A student of a course whose causal mask is True for what is hidden."""
    write_masks(student, INVERTED, 'check("masks.causal@hidden")')
    return student


def test_functions_of_another_contract_and_mistakes_in_them_are_turned_into_the_courses_form(text, other_contract):
    make_mistake(other_contract, INVERTED.replace("tril", "triu"), "looks_into_the_future")
    right, wrong = speak("02-masks", "the old keeper", root=other_contract, text=text).lines
    assert right.text == plain(text, "the old keeper") != wrong.text
    (other_contract / mistakes.MISTAKES).unlink()
    write_masks(other_contract, RIGHT)
    make_mistake(other_contract, WRONG, "looks_into_the_future")
    assert speak("02-masks", "the old keeper", root=other_contract, text=text).lines[1].text == wrong.text


@pytest.mark.parametrize("unit", [number for number in WAYS if number != 7])
def test_right_functions_leave_the_model_as_it_is_and_a_mistake_does_not(unit, text, tmp_path):
    speech = speak(unit, "the old keeper", root=tmp_path, text=text)
    right, wrong = speech.lines
    assert right.text == plain(text, "the old keeper") and not right.stopped
    assert wrong.text not in ("", right.text) and wrong.about and "others" in wrong.label
    assert right.label == "Through the library’s functions"
    assert len(speech.origins) == len(WAYS[unit].exercises)


def test_words_are_drawn_with_the_students_filter_and_sampler(text, tmp_path):
    right, wrong = speak("07", "the old keeper", root=tmp_path, text=text).lines
    assert right.text and wrong.text and right.text != wrong.text


def test_the_students_own_code_and_own_first_mistake_are_used(text, student):
    make_mistake(student, WRONG, "looks_into_the_future")
    speech = speak("02-masks", "the old keeper", root=student, text=text)
    right, wrong = speech.lines
    assert right.text == plain(text, "the old keeper") != wrong.text and right.label == "Through your functions"
    assert wrong.label == "With your own first mistake" and wrong.about.startswith("You chose the wrong triangle")
    assert speech.origins[0] == "Causal mask: yours, as it stands now" and "the library’s" in speech.origins[1]
    assert wrong.about in str(speech) and f"<mark>{right.text}</mark>" in speech._repr_html_()


def test_a_mistake_that_stops_says_with_which_error(text, student):
    make_mistake(student, "def causal_mask(length): 1 / 0", "<b>")
    _, wrong = (speech := speak(2, "the old keeper", root=student, text=text)).lines
    assert wrong.text == "" and wrong.stopped == "(it stops with an error: ZeroDivisionError: division by zero)"
    assert "<b>" not in speech._repr_html_() and "the old keeper <em>(it stops" in speech._repr_html_().lower()


@pytest.mark.parametrize(
    ("exercise", "code"),
    [
        ("modern.rms_norm", "def rms_norm(x, weight, eps): x * weight"),
        ("modern.swiglu", "class SwiGLU(nn.Module):\n    def __init__(self, d_model, d_ff): 1 / 0"),
        ("modern.swiglu", "class SwiGLU(GatedFeedForward):\n    def forward(self, x): self.down(x)"),
    ],
    ids=["nothing is returned", "it cannot be made", "its own forward fails"],
)
def test_parts_that_fail_stop_the_model_and_leave_it_as_it_was(exercise, code, text, tmp_path):
    code = f"from tfkit.nn.feed_forward import GatedFeedForward\n{code}"
    make_mistake(tmp_path, code, "its_name", exercise)
    before = plain(text, "the old keeper")
    right, wrong = speak(13, "the old keeper", root=tmp_path, text=text).lines
    assert right.text == before and wrong.text == "" and wrong.stopped
    assert not any(module._forward_hooks or "forward" in vars(module) for module in text.model.modules())


def test_misuse_is_told(text, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="unit '08' has no functions for a real model; these have: 01, 02"):
        speak("08", root=tmp_path, text=text)
    with pytest.raises(ValueError, match="the prompt is empty"):
        speak("02", " ", root=tmp_path, text=text)
    monkeypatch.setenv("TFKIT_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="run tfkit get SmolLM2-135M-Instruct"):
        speak("02", root=tmp_path)


def test_it_is_shown_in_the_language_that_the_lab_asks_for(text, student, monkeypatch):
    shown = []
    monkeypatch.setattr(real_model, "display", shown.append)
    monkeypatch.setattr(real_model, "speak", lambda unit: speak(unit, "the old keeper", root=student, text=text))
    real_model.show("02-masks", "fr-FR")
    assert shown[0].lines[0].label == "Par vos fonctions" and "Masque causal" in shown[0].origins[0]


def test_the_lab_offers_it_in_the_units_that_have_it():
    names = {folder.name for folder in units() if int(folder.name[:2]) in WAYS}
    source = (Path(__file__).parents[2] / "extension/src/plugins/reading/speech.ts").read_text()
    offered = source.partition("const UNITS = [")[2].partition("]")[0]
    assert {part.strip(" \n',") for part in offered.split(",")} == names
    for way in WAYS.values():
        exercise, misconception = way.often
        found = next(one for one in answers(BY_ID[exercise], "wrong") if one.stem == misconception)
        assert exercise in way.exercises and found.sentence


def test_its_words_are_in_french():
    known = {entry.msgid for entry in polib.pofile(str(translate.OWN_FOLDER / "locale" / "fr.po")) if entry.msgstr}
    source = Path(real_model.__file__).read_text()
    said = [part.partition('"')[0] for part in source.split('say("')[1:]]
    assert len(said) == 8 and set(said) <= known
