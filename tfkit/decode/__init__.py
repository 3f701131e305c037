"""Turning logits into text: greedy and beam search, truncated sampling, and a record of how it went."""

from tfkit.decode.beam import beam_search
from tfkit.decode.contrastive import Contrastive
from tfkit.decode.drawing import accept_draft, sample_token
from tfkit.decode.filters import top_k_filter, top_p_filter
from tfkit.decode.generate import generate, stream
from tfkit.decode.greedy import greedy_decode
from tfkit.decode.logits_processors import LogitsProcessors
from tfkit.decode.record import record, trace_json
from tfkit.decode.record_search import record_search
from tfkit.decode.record_unmasking import record_unmasking
from tfkit.decode.search import GenerationRequest, SingleSequence, Step, Strategy
from tfkit.decode.speculative import Speculative
from tfkit.decode.strategies import Beam, Diverse, Greedy, Sample, TextbookBeam
from tfkit.decode.unmasking import UnmaskingStep, unmask

__all__ = [
    "Beam",
    "Contrastive",
    "Diverse",
    "GenerationRequest",
    "Greedy",
    "LogitsProcessors",
    "Sample",
    "SingleSequence",
    "Speculative",
    "Step",
    "Strategy",
    "TextbookBeam",
    "UnmaskingStep",
    "accept_draft",
    "beam_search",
    "generate",
    "greedy_decode",
    "record",
    "record_search",
    "record_unmasking",
    "sample_token",
    "stream",
    "top_k_filter",
    "top_p_filter",
    "trace_json",
    "unmask",
]
