"""Every exercise is taught under a heading, which its verdict names."""

from __future__ import annotations

from dataclasses import replace

from autograder.exercises import registry
from autograder.exercises.section import section_of


def test_every_exercise_has_a_section():
    assert not [one.id for one in registry.exercises() if section_of(one) is None]
    assert section_of(registry.find("masks.causal")) == ("02-masks", "1 · The causal mask: no looking ahead")
    assert section_of(registry.find("decoding.top_k")) == ("07-decoding", "Top-k")  # below a heading of its section


def test_it_is_in_the_readers_language(monkeypatch):
    monkeypatch.setenv("LANGUAGE", "fr")
    unit, heading = section_of(registry.find("masks.causal"))
    assert unit == "02-masks" and heading.startswith("1 · Le masque causal")


def test_a_package_may_have_no_lesson(tmp_path):
    exercise = replace(registry.find("masks.causal"), folder=tmp_path)
    assert section_of(exercise) is None
    text, code = "# %% [markdown]\n# ## Read\n#\n# text\n", "# %%\n# ## no heading\n"
    (tmp_path / "lesson.py").write_text(f'{text}\n{code}\n# %% role="exercise" exercise="masks.causal"\n')
    assert section_of(exercise) == ("02-masks", "Read")
