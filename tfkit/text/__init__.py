"""Text into symbols and back.

What needs `tokenizers`, which has no build for a kernel in a browser, is imported when it is first used.
"""

from typing import TYPE_CHECKING

from tfkit.lazy import lazy_names
from tfkit.text.bpe import apply_bpe, learn_bpe

if TYPE_CHECKING:
    from tfkit.text.collate import Collator
    from tfkit.text.tokenizer import BPETokenizer
    from tfkit.text.vocabulary import Tokenizer

__all__ = ["BPETokenizer", "Collator", "Tokenizer", "apply_bpe", "learn_bpe"]

if not TYPE_CHECKING:  # a type checker would take every name for one that `__getattr__` finds
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "BPETokenizer": "tfkit.text.tokenizer",
            "Collator": "tfkit.text.collate",
            "Tokenizer": "tfkit.text.vocabulary",
        },
    )
