"""Text into symbols and back."""

from tfkit.text.bpe import apply_bpe, learn_bpe

__all__ = ["apply_bpe", "learn_bpe"]
