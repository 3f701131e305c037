"""The reading aids say what there is, and say it in a line where there is not."""

import subprocess
import sys

import pytest

import tfkit
from tests.command_line import call
from tfkit import registry
from tfkit.tools.cli import main


def shown(*arguments):
    result = call(main, *arguments)
    assert result.status == 0, result.output
    return result.stdout


def test_list_names_every_architecture_with_its_title():
    lines = {row.split()[0]: row for row in shown("list").splitlines()}
    assert lines.keys() >= set(registry.architectures())
    assert "Devlin et al. 2018" in lines["bert"]


def test_family_does_not_take_et_al_for_the_end_of_a_sentence():
    rows = shown("family").splitlines()
    (qwen,) = [row for row in rows if "── qwen3  " in row]
    assert qwen.endswith("(QK-norm, Henry et al. 2020, arXiv:2010.04245), which bounds the scores")


def test_family_has_everyone_once_below_the_parent():
    rows = shown("family").splitlines()
    names = [row.lstrip("│├└─ ").split()[0] for row in rows]
    assert sorted(names) == registry.architectures()
    depth = {name: len(row) - len(row.lstrip("│├└─ ")) for name, row in zip(names, rows, strict=True)}
    assert depth["rnn_seq2seq"] < depth["transformer"] < depth["bert"] < depth["roberta"] < depth["xlm_roberta"]


def test_anatomy():
    rows = shown("anatomy", "transformer", "--preset", "base", "--head", "seq2seq_lm").splitlines()
    assert "63,082,496" in rows[1]
    assert any("0 … 5  (6 alike)" in row for row in rows)
    assert any("weight[2048, 512]" in row for row in rows)
    assert len(shown("anatomy", "gpt2", "--depth", "0").splitlines()) == 2


def test_anatomy_under_published_names():
    rows = shown("anatomy", "bert-base-uncased", "--names", "hf").splitlines()
    assert "109,482,240" in rows[1]
    assert any(row.split()[:2] == ["query", "590,592"] and "weight[768, 768]" in row for row in rows)
    assert any("0 … 11  (12 alike)" in row and "7,087,872" in row for row in rows)
    assert any(
        "c_attn" in row and "weight[768, 2304]" in row for row in shown("anatomy", "gpt2", "--names", "hf").splitlines()
    )


def test_diff_of_parent_and_child():
    text = shown("diff", "bert", "roberta")
    assert "no next-sentence task" in text
    assert "[50265, 768]" in text
    assert "return non_padding.cumsum(-1) * non_padding + pad" in text
    assert "class Layer(" not in text  # which is the same
    assert "def " not in shown("diff", "bert", "roberta", "--brief")


def test_diff_with_oneself_is_nothing():
    same = [word for title in ("page", "configuration", "modules") for word in (f"{title}:", "the", "same")]
    assert shown("diff", "gpt2", "gpt2").split()[3:] == same


def test_flatten_runs_alone(tmp_path):
    file = tmp_path / "flat.py"
    assert shown("flatten", "roberta", "-o", str(file)).startswith(str(file))
    assert file.read_text() == shown("flatten", "roberta")
    use = "import sys; sys.path.insert(0, sys.argv[1]); sys.modules['tfkit'] = None; import flat; print(flat.PRESETS)"
    done = subprocess.run([sys.executable, "-I", "-c", use, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert "roberta-base" in done.stdout, done.stderr


def test_flatten_takes_what_a_model_is_composed_of(tmp_path):
    text = shown("flatten", "encoder_decoder", "--with", "bert", "--with", "gpt2")
    file = tmp_path / "flat.py"
    file.write_text(text)
    use = "import sys; sys.path[:0] = sys.argv[1:]; sys.modules['tfkit'] = None; import flat; print(*flat.SUBMODELS)"
    done = subprocess.run([sys.executable, "-I", "-c", use, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert {"bert", "gpt2"} <= {*done.stdout.split()}, done.stderr


def test_a_models_directory_is_taken_for_its_architecture(tmp_path):
    tfkit.from_config("roberta", "masked_lm", vocab_size=37, d_model=8, n_layers=1, n_heads=2, d_ff=8).save_pretrained(
        tmp_path
    )
    assert "[37, 8]" in shown("anatomy", str(tmp_path))
    assert shown("flatten", str(tmp_path)) == shown("flatten", "roberta")
    (tmp_path / "config.json").unlink()
    for command in ("anatomy", "flatten"):
        result = call(main, command, tmp_path)
        assert result.status == 2 and result.output.startswith(f"tfkit {command}: ")
        assert "config.json: not found; a model's directory holds" in result.output
        assert result.output.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["anatomy", "bert", "--names", "keras"], "tfkit anatomy: error: argument --names: invalid choice: 'keras'"),
        (["fill", "bert", "a [MASK]", "--top-k", "0"], "tfkit fill: error: argument --top-k: 0: must be at least 1"),
        (["generate", "gpt2", "a", "--seed", "x"], "tfkit generate: error: argument --seed: invalid int value: 'x'"),
        (["reed", "bert"], "tfkit: error: argument COMMAND: invalid choice: 'reed'"),
    ],
)
def test_arguments_that_do_not_exist_are_refused(arguments, message):
    result = call(main, *arguments)
    assert result.status == 2 and message in result.stderr and not result.stdout


def test_without_a_command_its_help_is_shown():
    assert shown() == shown("--help")


def test_a_reader_that_has_seen_enough_ends_a_command():
    tfkit_list = f"{sys.executable} -c 'from tfkit.tools.cli import main; main()' list"
    command = f"{tfkit_list} | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("albert") and done.stderr == "" and done.returncode in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["anatomy", "nope"], "tfkit anatomy: no architecture or preset 'nope'"),
        (["anatomy", "transformer", "--names", "hf"], "tfkit anatomy: Transformer has no published names"),
        (["anatomy", "bert", "--head", "tail"], "tfkit anatomy: BERT has no head 'tail'"),
        (["flatten", "nope"], "tfkit flatten: no architecture 'nope'"),
        (["flatten", "bert", "--head", "tail"], "tfkit flatten: bert has no head 'tail'"),
        (["diff", "bert", "nope"], "tfkit diff: no architecture 'nope'"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(arguments, message):
    result = call(main, *arguments)
    assert result.status == 2
    assert result.output.startswith(message)
    assert result.output.count("\n") == 1
