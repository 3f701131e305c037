"""DPR's pipeline: the spans, what the reader is given, and whose word counts."""

from types import SimpleNamespace

import pytest
import torch

import tfkit
from tfkit.retrieve import DenseIndex, RetrieveThenRead, best_spans

PASSAGES = [[11, 12, 13], [21, 22], [31, 32, 33, 34]]


def test_spans_against_all_pairs_written_out():
    torch.manual_seed(0)
    start, end = torch.randn(12), torch.randn(12)
    every = [(i, j, (start[i] + end[j]).item()) for i in range(12) for j in range(i, min(12, i + 4))]
    assert best_spans(start, end, 1, max_length=4)[0] == pytest.approx(max(every, key=lambda span: span[2]))
    found = best_spans(start, end, 12, max_length=4)
    assert [score for *_, score in found] == sorted((score for *_, score in found), reverse=True)
    assert not any(a <= c and d <= b for a, b, _ in found for c, d, _ in found if (a, b) != (c, d))


class Reader(torch.nn.Module):
    """Finds passage 2 most relevant, and in each passage the first two tokens; keeps what it was given."""

    def forward(self, input_ids, attention_mask):
        self.ids, self.mask = input_ids, attention_mask
        first = torch.isin(input_ids, torch.tensor([11, 21, 31])).float()
        second = torch.isin(input_ids, torch.tensor([12, 22, 32])).float()
        relevance = (input_ids == 31).any(1).float()
        return SimpleNamespace(start_logits=first, end_logits=second, relevance_logits=relevance)


class Encoder(torch.nn.Module):
    def forward(self, input_ids):
        self.ids = input_ids
        return SimpleNamespace(pooler_output=torch.ones(1, 2))


def test_the_reader_chooses_the_passage_and_not_the_finder():
    encoder, reader = Encoder(), Reader()
    index = DenseIndex(torch.tensor([[9.0, 0], [1, 0], [5, 0]]))
    pipeline = RetrieveThenRead(encoder, reader, index, PASSAGES, titles=[[51], [52], [53]])
    (best, second) = pipeline([7, 8], k=2, answers=2)
    assert (best.passage, best.ids, best.start, best.end) == (2, [31, 32], 0, 1)
    assert best.relevance == 1 and best.score == 2 and second.passage == 2
    assert encoder.ids.tolist() == [[101, 7, 8, 102]]
    assert reader.ids.tolist() == [[101, 7, 8, 102, 51, 102, 11, 12, 13, 0], [101, 7, 8, 102, 53, 102, 31, 32, 33, 34]]
    assert reader.mask.sum(1).tolist() == [9, 10]
    assert pipeline([7], k=1)[0].passage == 0  # what was not found is not read


def test_with_dprs_own_models():
    size = {"vocab_size": 200, "d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 32, "max_length": 32}
    asker, judge = (tfkit.from_config("dpr", head=head, **size) for head in ("question_encoder", "reader"))
    pipeline = RetrieveThenRead(asker, judge, DenseIndex(torch.randn(3, 16)), PASSAGES)
    (answer,) = pipeline([7, 8], k=3)
    assert answer.ids == PASSAGES[answer.passage][answer.start : answer.end + 1]
    assert asker.training and judge.training  # as they were


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="the index has one row for each passage, but there are 2 rows, 3 passages"):
        RetrieveThenRead(Encoder(), Reader(), DenseIndex(torch.ones(2, 2)), PASSAGES)
