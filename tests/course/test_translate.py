"""Lessons and hints in another language: complete, true to code and formulas, and English where a text is new."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest

import autograder.feedback.translate as reader
import course
import tfkit_lab
from autograder.corpus.judge import ask_reference, examine_answer
from autograder.diagnosis.diagnose import diagnose, student_sentence, wrong_answers
from autograder.exercises import registry
from course import build as builder
from course import lint, settings, translate
from course.notebook import source_notebook

UNIT = "02-masks"
LOCALE = Path(tfkit_lab.__file__).parent / "locale"
FRENCH = [folder for folder in course.units() if (folder / "locale" / "fr.po").exists()]


@pytest.fixture
def folder(tmp_path):
    """A copy of a unit's folder with its catalogue, to be spoilt; it goes by the same name."""
    (found,) = [folder for folder in course.units() if folder.name == UNIT]
    shutil.copytree(found, tmp_path / UNIT)
    return tmp_path / UNIT


def role(cell):
    return cell.metadata.get("tfkit", {}).get("role")


def catalogue(folder):
    return reader.catalogue(folder, "fr")


@pytest.mark.parametrize("unit", FRENCH, ids=lambda folder: folder.name)
def test_the_french_units_are_whole(unit):
    """That they keep the rules, and have every text of their unit, is what test_lint.py finds of all units."""
    assert len(catalogue(unit)) >= 40 and not catalogue(unit).untranslated_entries()  # 17, a project, has 45


def test_the_rules_of_a_translation_are_kept_where_it_is_complete():
    (found,) = [folder for folder in course.units() if folder.name == UNIT]
    assert lint.translation_faults(found) == []


def test_words_change_and_code_does_not(tmp_path):
    for language, name in (("fr", "french"), (None, "english")):
        builder.build(tmp_path / name, [UNIT], language)
    french, english = (read(tmp_path / name, UNIT) for name in ("french", "english"))
    assert french.metadata.tfkit.language == "fr" and "# 02 · Les masques" in french.cells[0].source
    assert french.metadata.tfkit.titles["masks.causal"] == "Masque causal"
    assert [cell.id for cell in french.cells] == [cell.id for cell in english.cells]
    for ours, theirs in zip(english.cells, french.cells, strict=True):
        if ".compare(" not in ours.source:  # where options are compared, in the words of the question
            assert (ours.source == theirs.source) == (ours.cell_type == "code" and role(ours) != "predict"), ours.id
        assert ours.metadata == theirs.metadata


def read(root, unit):
    return nbformat.read(root / "source" / unit / f"{unit}.ipynb", as_version=4)


def test_what_only_a_course_with_such_points_says_is_french_too(folder):
    unit = settings.Unit(name=UNIT, predictions=1, questions=2)
    french = translate.translate_notebook(source_notebook(folder, unit), catalogue(folder), "fr")
    told = {cell.id: cell.source for cell in french.cells if cell.id in ("predictions-count", "questions-count")}
    assert told["predictions-count"].startswith("## Vos prédictions\n\nAvoir prédit rapporte")
    assert (
        told["questions-count"].startswith("## Questions sur votre code\n\nLes réponses")
        and "`ask(…)`" in told["questions-count"]
    )
    assert [cell.id for cell in french.cells if role(cell) == "ask"] == [
        f"ask-{cell.id.removeprefix('solution-')}" for cell in french.cells if role(cell) == "exercise"
    ]


def test_a_new_paragraph_stays_english_and_is_named(folder):
    lesson = folder / "lesson.py"
    lesson.write_text(lesson.read_text().replace("Padding concerns", "Filling concerns"))
    found = list(translate.faults(folder, "fr"))
    assert [what for _, what in found] == [
        "fr.po has no translation of 'A decoder hides the future *and* the padding: a k…'",
        "fr.po translates a text that the unit does not have (any more): "
        "'A decoder hides the future *and* the padding: a k…'",
    ]
    text = "\n".join(cell.source for cell in translate.in_language(folder, source_notebook(folder), "fr").cells)
    assert "Filling concerns" in text and "Le masque de remplissage" in text


def test_a_lost_formula_is_named(folder):
    po = folder / "locale" / "fr.po"
    right = "| score $-\\\\infty$ | $\\\\exp(-\\\\infty) = 0$ exactement"
    assert right in po.read_text()
    po.write_text(po.read_text().replace(right, right.replace("$-\\\\infty$", "-∞")))
    ((_, what),) = translate.faults(folder, "fr")
    assert what.startswith("fr.po loses $-\\infty$ from '| | what happens |")


def test_an_update_keeps_what_is_said_and_drops_the_rest(folder):
    before = {entry.msgid: entry.msgstr for entry in catalogue(folder)}
    lesson = folder / "lesson.py"
    lesson.write_text(lesson.read_text().replace("# ## 3 · The decoder mask: both at once", "# ## 3 · All"))
    after = {entry.msgid: entry.msgstr for entry in translate.update(folder, "fr")}
    assert (
        after.pop("## 3 · All") == ""
        and before.pop("## 3 · The decoder mask: both at once")
        == "## 3 · Le masque du décodeur\u00a0: les deux à la fois"
    )
    assert after == before
    assert {entry.msgid: entry.msgstr for entry in catalogue(folder)} == {**before, "## 3 · All": ""}


@pytest.mark.parametrize(
    "wish, language",
    [({}, "en"), ({"LANG": "C.UTF-8"}, "en"), ({"LANG": "fr_FR.UTF-8"}, "fr"), ({"LANGUAGE": "en:fr"}, "en"),
     ({"LANGUAGE": "de:fr", "LANG": "en_GB.UTF-8"}, "fr"), ({"LC_ALL": "de_DE", "LANG": "fr_FR"}, "en")],
)  # fmt: skip
def test_hints_are_in_the_readers_language(wish, language, monkeypatch):
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in wish.items():
        monkeypatch.setenv(name, value)
    exercise = registry.find("masks.causal")
    (path,) = [path for path in wrong_answers(exercise) if path.stem == "sees_one_ahead"]
    hint = reader.translate_text(student_sentence(path), exercise.folder)
    assert hint.startswith({"en": "Every position sees one word", "fr": "Chaque position voit un mot"}[language])
    assert reader.translate_text("never said", exercise.folder) == "never said"
    assert reader.translate_text(student_sentence(path), None) == student_sentence(path)


def test_a_diagnosis_is_told_in_french(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    exercise = registry.find("masks.causal")
    (path,) = [path for path in wrong_answers(exercise) if path.stem == "looks_into_the_future"]
    found = diagnose(exercise, examine_answer(path, ask_reference(exercise, 0)))
    assert found is not None and found.hint.startswith("Vous avez choisi le mauvais triangle")


def test_the_command_tells_what_is_not_there(capsys):
    for arguments, words in (
        (["fr", "--unit", "99-none"], "99-none"),
        (["xx"], "no unit has a catalogue for 'xx'"),
        (["Spanish", "--new"], "two or three letters"),
    ):
        with pytest.raises(SystemExit) as stop:
            translate.main(arguments)
        assert stop.value.code == 1 and words in capsys.readouterr().err


def test_a_language_begins_by_one_command(tmp_path, monkeypatch, capsys):
    folders = [shutil.copytree(found, tmp_path / found.name) for found in course.units()[:2]]
    shutil.copytree(reader.OWN_FOLDER / "locale", tmp_path / "autograder/locale")
    monkeypatch.setattr(translate, "units", lambda: folders)
    monkeypatch.setattr(translate, "OWN_FOLDER", tmp_path / "autograder")
    assert translate.main(["es", "--new"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == [*(folder.name for folder in folders), "verdicts"]
    assert all(": 0 of " in line for line in said)
    begun = [reader.catalogue(folder, "es") for folder in (*folders, tmp_path / "autograder")]
    french = [reader.catalogue(folder, "fr") for folder in (*folders, tmp_path / "autograder")]
    for new, old in zip(begun, french, strict=True):
        assert {entry.msgid for entry in new} == {entry.msgid for entry in old} and not new.translated_entries()
    english = source_notebook(folders[1])
    notebook = translate.in_language(folders[1], english, "es")
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in english.cells]
    assert not list(translate.faults(folders[1], "es"))  # its turn has not come
    begun[1].find("## 3 · The decoder mask: both at once").msgstr = "## 3 · Ambos"
    begun[1].save(str(folders[1] / "locale/es.po"))
    left = [fault for _, fault in translate.faults(folders[1], "es") if "has no translation" in fault]
    assert len(left) == len(begun[1]) - 1


def test_an_option_that_code_knows_by_its_name_stays(folder):
    lesson = folder / "lesson.py"
    code = '"it is taken for [Q,K]: another mask, and no error")'
    assert lesson.read_text().count(code) == 2
    lesson.write_text(
        lesson.read_text().replace("else " + code, "else f\"it is {'taken'} for [Q,K]: another mask, and no error\")")
    )
    ((_, what),) = translate.faults(folder, "fr")
    assert what.startswith("fr.po changes 'it is taken for [Q,K]") and "refers to" in what
    po = catalogue(folder)
    po.find(
        "it is taken for [Q,K]: another mask, and no error"
    ).msgstr = "it is taken for [Q,K]: another mask, and no error"
    po.save(str(folder / "locale/fr.po"))
    assert not list(translate.faults(folder, "fr"))


def test_a_prediction_asks_and_is_compared_in_the_same_words(tmp_path):
    builder.build(tmp_path, ["01-recurrence-to-attention"], "fr")
    notebook = nbformat.read(tmp_path / "source/01-recurrence-to-attention/01-recurrence-to-attention.ipynb", 4)
    cells = {cell.id: cell.source for cell in notebook.cells}
    assert '"le premier", "le deuxième", "le troisième"' in cells["predict-three-states"]
    (compared,) = [source for source in cells.values() if 'predicted("01.three-states")' in source]
    assert (
        '("le premier", "le deuxième", "le troisième")[weights.argmax()]' in compared and '"the first"' not in compared
    )


def test_french_signs_do_not_begin_a_line():
    for plain, tied in (
        ("Un masque : vrai ?", "Un masque~: vrai~?"),
        ("**Oui ?** et `a` ; 13 %, « bon »", "**Oui~?** et `a`~; 13~%, «~bon~»"),
        ("`a ? b : c`, $x : y$, <code>x % 2 ; y</code> ?", "`a ? b : c`, $x : y$, <code>x % 2 ; y</code>~?"),
        ("| :--- | ---: |", "| :--- | ---: |"),
        ("%1 sur %2 %3 sont montrés", "%1 sur %2 %3 sont montrés"),
        ("``a ` b : c`` : d", "``a ` b : c``~: d"),
        ("    a = b ; c\n\n\t?? x ! y\n\nFin !", "    a = b ; c\n\n\t?? x ! y\n\nFin~!"),
        ("Code :\n\n    a ; b", "Code~:\n\n    a ; b"),
        ("- un\n    deux : trois", "- un\n    deux~: trois"),
        ("- ! non ?\n* ? oui\n  12. : a : b", "- ! non~?\n* ? oui\n  12. : a~: b"),
        ("$P(a :\nb ; c)$ : la loi $x$ ; $y$", "$P(a :\nb ; c)$~: la loi $x$~; $y$"),
        ("5 $ : cher\nou $x$ ; $y$", "5 $~: cher\nou $x$~; $y$"),
        ("{by} % de plus, {share:.0f} %", "{by}~% de plus, {share:.0f}~%"),
    ):
        assert translate.tie_signs(plain, "fr").replace("\u00a0", "~") == tied
        assert translate.tie_signs(plain, "de") == plain


def test_a_space_that_may_break_is_named_and_mended(folder):
    path = folder / "locale/fr.po"
    path.write_text(path.read_text().replace("causal\u00a0: ne pas", "causal : ne pas"))
    assert [said for _, said in translate.faults(folder, "fr")] == [
        "fr.po has spaces that may break before a sign in '## 1 · The causal mask: no looking ahead'"
    ]
    translate.update(folder, "fr")
    assert list(translate.faults(folder, "fr")) == []


def test_verdicts_and_the_lab_keep_french_spaces_too():
    own = [entry.msgstr for entry in reader.catalogue(reader.OWN_FOLDER, "fr")]
    lab = json.loads((LOCALE / "fr_FR/LC_MESSAGES/tfkit_lab.json").read_text("utf-8"))
    texts = [*own, *(text for said in lab.values() if isinstance(said, list) for text in said)]
    assert len(texts) > 1000 and [text for text in texts if translate.tie_signs(text, "fr") != text] == []
