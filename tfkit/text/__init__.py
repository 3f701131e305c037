"""Text into symbols and back.

What needs `tokenizers`, which has no build for a kernel in a browser, is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfkit.text.bpe import apply_bpe, learn_bpe

if TYPE_CHECKING:
    from tfkit.text.collate import Collator
    from tfkit.text.tokenizer import BPETokenizer
    from tfkit.text.vocabulary import Tokenizer

__all__ = ["BPETokenizer", "Collator", "Tokenizer", "apply_bpe", "learn_bpe"]

_LAZY = {"BPETokenizer": "tokenizer", "Collator": "collate", "Tokenizer": "vocabulary"}

if not TYPE_CHECKING:  # a type checker would take every name for one that `__getattr__` finds

    def __getattr__(name: str) -> Any:
        if name not in _LAZY:
            raise AttributeError(f"module 'tfkit.text' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"tfkit.text.{_LAZY[name]}"), name)  # found at once next time
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
