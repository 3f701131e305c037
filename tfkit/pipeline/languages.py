"""How a translation is requested: by codes in the vocabulary (mBART, M2M-100, NLLB, Marian), or in words (T5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tfkit.text import Tokenizer

CODE = re.compile(r"[a-z]{2,3}_[A-Z][A-Za-z]+")  # en_XX, eng_Latn


def request(
    tokenizer: Tokenizer, texts: Sequence[str], languages: tuple[str | None, str | None], config: Any, tasks: Any
) -> tuple[list[list[int]], dict[str, Any]]:
    """-> rows of ids, and arguments for `generate`.

    languages: of the texts and of the translation, if they are to be named; config: the model's; tasks: the field
    task_specific_params of its config.json. Raises ValueError for a language that the model does not know.
    """
    source, target = languages
    if source is None and target is None:
        return tokenizer.encode(texts), {}
    source_code, target_code = code(tokenizer, source), code(tokenizer, target)
    # Marian: a token in the source names the target
    if target and (i := tokenizer.inner.token_to_id(f">>{target}<<")) is not None:
        return [[i, *row] for row in tokenizer.encode(texts)], {}
    if source_code is None and target_code is None and type(config).__module__.endswith("t5"):
        prefix = words(source, target, tasks)
        return tokenizer.encode([prefix + text for text in texts]), {}
    for name, found in ((source, source_code), (target, target_code)):
        if name is not None and found is None:
            known = known_codes(tokenizer)
            raise ValueError(f"no language {name!r}: the vocabulary names {', '.join(known) if known else 'none'}")
    code_first = getattr(config, "decoder_start_token_id", None) == tokenizer.end_id
    return rows(tokenizer, texts, source_code, code_first), language_token(target_code, code_first)


def rows(tokenizer: Tokenizer, texts: Sequence[str], language: int | None, code_first: bool) -> list[list[int]]:
    """The texts with their language token: at the beginning for mBART-50 and M2M-100, at the end for mBART."""
    if language is None:
        return tokenizer.encode(texts)
    end = [] if tokenizer.end_id is None else [tokenizer.end_id]
    plain = tokenizer.encode(texts, specials=False)
    return [[language, *row, *end] if code_first else [*row, *end, language] for row in plain]


def language_token(language: int | None, code_first: bool) -> dict[str, Any]:
    """The target language: the forced first token for mBART-50 and M2M-100, or the start token for mBART."""
    if language is None:
        return {}
    return {"forced_bos_token_id": language} if code_first else {"start_id": language}


def code(tokenizer: Tokenizer, name: str | None) -> int | None:
    """The token of a language: for "fr" one of fr, __fr__, or the only code with that prefix, such as fr_XX."""
    if name is None:
        return None
    found = tokenizer.inner.token_to_id(f"__{name}__")
    if found is None and CODE.fullmatch(name):
        found = tokenizer.inner.token_to_id(name)
    if found is not None:
        return found
    matches = [other for other in known_codes(tokenizer) if other.partition("_")[0] == name]
    return tokenizer.inner.token_to_id(matches[0]) if len(matches) == 1 else None


def known_codes(tokenizer: Tokenizer) -> list[str]:
    """The languages that have special tokens."""
    names = [token.content for token in tokenizer.inner.get_added_tokens_decoder().values()]
    plain = [name.strip("_") for name in names if name.startswith("__") and name.endswith("__")]
    return sorted(plain + [name for name in names if CODE.fullmatch(name)])


def words(source: str | None, target: str | None, tasks: Any) -> str:
    """The task prefix of T5 in words: "translate English to German: "."""
    if not (source and target):
        raise ValueError("T5 needs both source and target, written as words: source='English', target='German'")
    known = (tasks or {}).get(f"translation_{source}_to_{target}", {})
    return str(known.get("prefix", f"translate {source} to {target}: "))
