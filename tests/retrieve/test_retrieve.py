"""The dense index against all inner products written out; and what a generator is given to read."""

from importlib.util import find_spec

import pytest
import torch

from tfkit.retrieve import DenseIndex, Retriever


@pytest.mark.parametrize("chunk", [3, 7, 1000])
def test_exact(chunk):
    torch.manual_seed(0)
    vectors, queries = torch.randn(50, 8), torch.randn(4, 8)
    scores, rows = DenseIndex(vectors, chunk=chunk).search(queries, 5)
    expected = (queries @ vectors.T).topk(5)
    assert torch.equal(rows, expected.indices)
    torch.testing.assert_close(scores, expected.values)


class Backwards:
    """As a faiss index is called, with an answer that only it would give."""

    def search(self, queries, k):
        scores, rows = (torch.from_numpy(queries) @ torch.arange(12.0).view(6, 2).T).topk(k, largest=False)
        return scores.numpy(), rows.numpy()


def test_an_index_of_your_own():
    found = DenseIndex(torch.arange(12.0).view(6, 2), backend=Backwards()).search(torch.ones(1, 2), 2)
    assert found[1].tolist() == [[0, 1]]


def test_faiss_finds_the_same():
    if find_spec("faiss") is None:
        pytest.skip("the package faiss-cpu is not installed")
    torch.manual_seed(0)
    vectors, queries = torch.randn(200, 16), torch.randn(4, 16)
    ours, theirs = (DenseIndex(vectors, backend=name).search(queries, 7) for name in ("torch", "faiss"))
    assert torch.equal(ours[1], theirs[1])
    torch.testing.assert_close(ours[0], theirs[0])


SQUARE = torch.ones(2, 2)
BAD = {
    r"vectors must be floating, \[N,E\] and not empty; got torch.int64 \[2, 2\]": lambda: DenseIndex(SQUARE.long()),
    "backend='fais': pass 'torch', 'faiss' or a faiss index": lambda: DenseIndex(SQUARE, backend="fais"),
    r"queries must be \[Q,2\] as the vectors are; got \[1, 3\]": lambda: DenseIndex(SQUARE).search(torch.ones(1, 3), 1),
    "k=3: must be from 1 to 2": lambda: DenseIndex(SQUARE).search(torch.ones(1, 2), 3),
    "the index has 2 rows, but there are 1 passages": lambda: Retriever(DenseIndex(SQUARE), [[1]]),
}


@pytest.mark.parametrize("message", list(BAD))
def test_what_does_not_fit_is_named(message):
    with pytest.raises(ValueError, match=message):
        BAD[message]()


def test_passage_then_question():
    index = DenseIndex(torch.eye(3))
    retrieve = Retriever(index, [[10], [20, 21], [30, 31, 32]], max_length=4, pad_id=9)
    vectors = torch.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    ids, mask = torch.tensor([[5, 6], [7, 0]]), torch.tensor([[True, True], [True, False]])
    found = retrieve(vectors, ids, mask, 2)
    assert found.rows.tolist() == [[2, 1], [0, 1]]
    assert found.ids.tolist() == [[[30, 31, 32, 5], [20, 21, 5, 6]], [[10, 7, 9, 9], [20, 21, 7, 9]]]
    assert found.mask.sum(-1).tolist() == [[4, 4], [2, 3]]
    assert torch.equal(found.vectors, torch.eye(3)[found.rows])


def test_passages_may_be_texts():
    retrieve = Retriever(DenseIndex(torch.eye(2)), ["one", "three"], lambda text, question: [len(text), *question])
    found = retrieve(torch.eye(2), torch.tensor([[7], [8]]), None, 1)
    assert found.ids.tolist() == [[[3, 7]], [[5, 8]]]
