"""Reads rows of tokens from disk into an objective's batches, split among processes without overlap."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tfkit.objectives import Objective
from tfkit.text.vocabulary import pack_documents
from tfkit.train.process_group import ALONE, ProcessGroup


def write_rows(file: str | Path, documents: Iterable[Sequence[int]], length: int, end_id: int) -> None:
    """Packs documents into full rows of `length` and writes a .npy file, which can be memory-mapped."""
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(file.name + ".part")
    with partial.open("wb") as stream:
        np.save(stream, pack_documents(documents, length, end_id).numpy().astype(np.int32))
    os.replace(partial, file)


class PackedDataset:
    """Batches of `size` rows over all processes; this process takes every `process_group.size`-th row and reads only
    those.

    All processes draw the same random numbers for the whole batch and use those of their own rows, so the examples do
    not depend on the number of processes. An incomplete last batch is dropped. Raises ValueError if there are fewer
    rows than one batch has, or the batch cannot be split evenly. With `end_id`, the last token of each text, a batch
    also has `texts` int64 [B,L]: the number of the text in its row to which a position belongs.
    """

    def __init__(
        self,
        file: str | Path,
        objective: Objective,
        size: int,
        special_ids: Sequence[int] = (),
        process_group: ProcessGroup = ALONE,
        end_id: int | None = None,
    ) -> None:
        self.end_id = end_id
        self.rows, self.objective, self.size, self.process_group = (
            np.load(file, mmap_mode="r"),
            objective,
            size,
            process_group,
        )
        self.special = torch.tensor(special_ids, dtype=torch.int64)
        if len(self.rows) < size:
            raise ValueError(f"{file} holds {len(self.rows)} rows, too few for a batch of {size}")
        if size % process_group.size:
            raise ValueError(f"a batch of {size} rows cannot be shared evenly by {process_group.size} processes")

    def __len__(self) -> int:
        return len(self.rows) // self.size

    def __call__(self, generator: torch.Generator) -> Iterator[dict[str, Tensor]]:
        """One pass over the data in a new order."""
        order = torch.randperm(len(self.rows), generator=generator)
        shape_of_all = {"input_ids": torch.zeros(1, 1, dtype=torch.int64).expand(self.size, self.rows.shape[1])}
        own_rows = slice(self.process_group.rank, None, self.process_group.size)
        for i in range(len(self)):
            draws = self.objective.draw(shape_of_all, generator)
            ids = self.read(order[i * self.size : (i + 1) * self.size][own_rows])
            batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            batch["special_tokens_mask"] = torch.isin(ids, self.special).long()
            given = self.objective.corrupt(batch, {name: value[own_rows] for name, value in draws.items()})
            given.pop("special_tokens_mask", None)
            if bool(given["attention_mask"].all()):  # a mask without False would only keep attention from
                del given["attention_mask"]  # using its fastest kernel
            if self.end_id is not None:
                given["texts"] = texts_of(ids, self.end_id)
            yield given

    def read(self, index: Tensor) -> Tensor:
        """index int64 [N] -> ids int64 [N,L]"""
        return torch.from_numpy(self.rows[index.numpy()].astype(np.int64))


def texts_of(ids: Tensor, end_id: int) -> Tensor:
    """ids [B,L] -> the number of the text in its row that each position belongs to; an end token belongs to its text"""
    ends = (ids == end_id).long()
    return ends.cumsum(1) - ends


def positions_in_texts(texts: Tensor) -> Tensor:
    """texts int [B,L], as from `texts_of` -> the position of each token within its text, from 0"""
    at = torch.arange(texts.size(1), device=texts.device).expand_as(texts)
    begins = torch.ones_like(texts, dtype=torch.bool)
    begins[:, 1:] = texts[:, 1:] != texts[:, :-1]
    return at - (at * begins).cummax(1).values
