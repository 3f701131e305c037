"""Text into symbols and back."""

from tfkit.text.bpe import apply_bpe, learn_bpe
from tfkit.text.tokenizer import BPETokenizer

__all__ = ["BPETokenizer", "apply_bpe", "learn_bpe"]
