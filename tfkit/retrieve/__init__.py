"""Dense retrieval: finding passages by their vectors, for DPR and RAG."""

from .answers import answers
from .dense import DenseIndex
from .reading import AnswerSpan, RetrieveThenRead, best_spans
from .retriever import RetrievedDocuments, Retriever
from .thorough import thorough_decode

__all__ = [
    "AnswerSpan",
    "DenseIndex",
    "RetrieveThenRead",
    "RetrievedDocuments",
    "Retriever",
    "answers",
    "best_spans",
    "thorough_decode",
]
