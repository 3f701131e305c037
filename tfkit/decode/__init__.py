"""Turning logits into text: greedy and beam search, truncated sampling, and a record of how it went."""

from tfkit.decode.beam import beam_search
from tfkit.decode.contrastive import Contrastive
from tfkit.decode.drawing import accept_draft, sample_token
from tfkit.decode.filters import top_k_filter, top_p_filter
from tfkit.decode.generate import generate, stream
from tfkit.decode.greedy import greedy_decode
from tfkit.decode.record import record, trace_json
from tfkit.decode.rules import Rules
from tfkit.decode.search import Chain, Step, Strategy, Task
from tfkit.decode.speculative import Speculative
from tfkit.decode.strategies import Beam, Diverse, Greedy, Sample, TextbookBeam

__all__ = [
    "Beam",
    "Chain",
    "Contrastive",
    "Diverse",
    "Greedy",
    "Rules",
    "Sample",
    "Speculative",
    "Step",
    "Strategy",
    "Task",
    "TextbookBeam",
    "accept_draft",
    "beam_search",
    "generate",
    "greedy_decode",
    "record",
    "sample_token",
    "stream",
    "top_k_filter",
    "top_p_filter",
    "trace_json",
]
