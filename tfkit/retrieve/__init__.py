"""Finding passages by their vectors, for DPR and RAG."""

from .answers import answers
from .dense import DenseIndex
from .retriever import RetrievedDocuments, Retriever

__all__ = ["DenseIndex", "RetrievedDocuments", "Retriever", "answers"]
