"""Turning logits into text: greedy and beam search, truncated sampling, and a record of how it went."""

from tfkit.decode.beam import beam_search
from tfkit.decode.filters import top_k_filter, top_p_filter
from tfkit.decode.greedy import greedy_decode

__all__ = ["beam_search", "greedy_decode", "top_k_filter", "top_p_filter"]
