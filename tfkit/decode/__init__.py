"""Turning logits into text: greedy and beam search, truncated sampling, and a record of how it went."""

from tfkit.decode.beam import beam_search
from tfkit.decode.filters import top_k_filter, top_p_filter
from tfkit.decode.generate import generate
from tfkit.decode.greedy import greedy_decode
from tfkit.decode.record import record, trace_json
from tfkit.decode.search import Step, search
from tfkit.decode.strategies import Beam, Greedy, Sample

__all__ = [
    "Beam",
    "Greedy",
    "Sample",
    "Step",
    "beam_search",
    "generate",
    "greedy_decode",
    "record",
    "search",
    "top_k_filter",
    "top_p_filter",
    "trace_json",
]
