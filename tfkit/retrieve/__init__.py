"""Dense retrieval: finding passages by their vectors, for DPR and RAG."""

from .answers import answers
from .dense import DenseIndex
from .reading import AnswerSpan, RetrieveThenRead, best_spans
from .retriever import RetrievedDocuments, Retriever

__all__ = ["AnswerSpan", "DenseIndex", "RetrieveThenRead", "RetrievedDocuments", "Retriever", "answers", "best_spans"]
