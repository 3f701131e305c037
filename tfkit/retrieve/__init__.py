"""Finding passages by their vectors, for DPR and RAG."""

from .answers import answers
from .dense import DenseIndex
from .retriever import Retrieved, Retriever

__all__ = ["DenseIndex", "Retrieved", "Retriever", "answers"]
