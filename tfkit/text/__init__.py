"""Text into symbols and back."""

from tfkit.text.bpe import apply_bpe, learn_bpe
from tfkit.text.collate import Collator
from tfkit.text.tokenizer import BPETokenizer
from tfkit.text.vocabulary import Tokenizer

__all__ = ["BPETokenizer", "Collator", "Tokenizer", "apply_bpe", "learn_bpe"]
