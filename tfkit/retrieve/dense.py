"""An index of dense vectors: exact search for the rows with the largest inner products."""

from __future__ import annotations

from typing import Any, Protocol

import torch


class SearchIndex(Protocol):
    """The part of a faiss index that is used here."""

    def search(self, queries: Any, k: int) -> tuple[Any, Any]:
        """queries: a NumPy array [Q,E] -> NumPy arrays of scores [Q,k] and rows [Q,k], best first"""
        ...


class DenseIndex:
    """`vectors` [N,E], one per passage, searched by inner product.

    backend: "torch", on the device of the vectors; "faiss", its exact index (`IndexFlatIP`), if the package is
    installed; or a faiss index of your own, possibly an approximate one, that holds the same vectors. chunk: how many
    passages torch scores at once, which limits memory to Q × chunk instead of Q × N. Raises ValueError, or ImportError
    if faiss is missing.
    """

    def __init__(self, vectors: torch.Tensor, backend: SearchIndex | str = "torch", chunk: int = 65536) -> None:
        if vectors.dim() != 2 or not vectors.is_floating_point() or not len(vectors):
            raise ValueError(
                f"vectors must be floating, [N,E] and not empty; got {vectors.dtype} {list(vectors.shape)}"
            )
        self.vectors, self.chunk = vectors.detach(), chunk
        if isinstance(backend, str) and backend not in ("torch", "faiss"):
            raise ValueError(f"backend={backend!r}: pass 'torch', 'faiss' or a faiss index")
        self.faiss = None if backend == "torch" else self.flat() if isinstance(backend, str) else backend

    def flat(self) -> SearchIndex:
        """The same vectors in a faiss index. Raises ModuleNotFoundError if faiss is not installed."""
        import faiss

        index = faiss.IndexFlatIP(self.vectors.size(1))
        index.add(self.vectors.float().cpu().numpy())
        flat: SearchIndex = index
        return flat

    def __len__(self) -> int:
        return len(self.vectors)

    @torch.no_grad()
    def search(self, queries: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """queries [Q,E] -> (scores [Q,k], rows int64 [Q,k]), best first; the order of equal scores is undefined.

        Raises ValueError for queries of another width, or a k larger than the number of passages.
        """
        if queries.dim() != 2 or queries.size(1) != self.vectors.size(1):
            raise ValueError(
                f"queries must be [Q,{self.vectors.size(1)}] as the vectors are; got {list(queries.shape)}"
            )
        if not 1 <= k <= len(self):
            raise ValueError(f"k={k}: must be from 1 to {len(self)}, the number of passages")
        if self.faiss is None:
            return self.exact(queries.to(self.vectors), k)
        scores, rows = self.faiss.search(queries.detach().float().cpu().numpy(), k)
        return torch.from_numpy(scores).to(queries), torch.from_numpy(rows).to(queries.device)

    def exact(self, queries: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Merges the best rows so far with the next chunk's, until all chunks have been searched."""
        scores = queries.new_empty(len(queries), 0)
        rows = torch.empty(len(queries), 0, dtype=torch.int64, device=queries.device)
        for start in range(0, len(self), self.chunk):
            found = queries @ self.vectors[start : start + self.chunk].T  # [Q,chunk]
            found, chunk_rows = found.topk(min(k, found.size(1)))
            scores, rows = torch.cat([scores, found], 1), torch.cat([rows, chunk_rows + start], 1)
            scores, order = scores.topk(min(k, scores.size(1)))
            rows = rows.gather(1, order)
        return scores, rows

    def take(self, rows: torch.Tensor) -> torch.Tensor:
        """rows int64 [...] -> the vectors of these rows [...,E]"""
        return self.vectors[rows.to(self.vectors.device)]
