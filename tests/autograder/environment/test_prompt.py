"""Prompts say what a student reads."""

import ast

from autograder.assistants.statement import statement_of
from autograder.environment.prompt import task_of
from autograder.environment.reply import code_of
from autograder.exercises import registry


def test_every_exercise_has_a_prompt_with_its_statement_and_set_up_that_parse():
    for exercise in registry.exercises():
        task = task_of(exercise)
        (message,) = task["prompt"]
        assert statement_of(exercise).code in message["content"], exercise.id
        assert "**Predict" not in message["content"], exercise.id
        ast.parse(code_of(message["content"], exercise.symbols))
        assert task["info"] == {"exercise": exercise.id, "unit": exercise.unit, "symbols": list(exercise.symbols)}


def test_a_prompt_has_the_section_around_what_a_student_is_to_predict():
    (message,) = task_of(registry.find("attention.split_heads"))["prompt"]
    lesson = statement_of(registry.find("attention.split_heads")).lesson
    before, _, rest = lesson.partition("**Predict")
    _, _, after = rest.partition("\n\n")
    assert rest and message["content"].startswith(f"{before}{after}".strip())


def test_a_prompt_names_what_is_there_already():
    (message,) = task_of(registry.find("attention.multi_head"))["prompt"]
    assert "from tfkit.nn import scaled_dot_product_attention" in message["content"]
    assert "is there, too: `split_heads`, `merge_heads`." in message["content"]
    (first,) = task_of(registry.find("rnn.cell"))["prompt"]
    assert "is there, too" not in first["content"]
