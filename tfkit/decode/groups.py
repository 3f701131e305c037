"""The loop of all beams: groups of hypotheses side by side, each penalised for repeating the choices of earlier
groups."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from tfkit.decode.beam_hypotheses import BeamHypotheses, rows_of
from tfkit.decode.search import GenerationRequest, Step, at_least_float32


def run_groups(request: GenerationRequest, groups: list[BeamHypotheses], penalty: float = 0.0) -> Tensor:
    """penalty: subtracted from a token's score for each hypothesis of an earlier group that took it in the same step ->
    ids [B·num_return_sequences,T]"""
    if not request.max_new_tokens:
        return request.prompt.repeat_interleave(request.num_return_sequences, 0)
    start = request.prompt.size(1)
    ids = request.buffer(1)  # one row per sentence, shared by all groups until the first step
    logits = request.decoder.start(request.prompt)
    for end in range(start, start + request.max_new_tokens):
        scores = at_least_float32(logits).to(ids.device).unflatten(0, ids.shape[:2])  # [B,K,V]
        parent, token = choose(request, groups, scores, ids[..., :end], penalty)
        if end + 1 == start + request.max_new_tokens or all(group.done for group in groups):
            break
        ids, index, prefix_length = reorder_ids(ids, parent, start, end)
        ids[..., end] = token
        logits = request.decoder.advance(index, token.flatten(), prefix_length)
    return collect(request, groups)


def choose(
    request: GenerationRequest, groups: list[BeamHypotheses], scores: Tensor, ids: Tensor, penalty: float
) -> tuple[Tensor, Tensor]:
    """scores [B,K,V], ids [B,K,T] -> parent, token [B,W] of all groups"""
    generated = ids.size(-1) + 1 - request.prompt.size(1)
    width = 0 if generated == 1 else groups[0].num_beams
    parents: list[Tensor] = []
    tokens: list[Tensor] = []
    for index, group in enumerate(groups):
        own_beams = slice(index * width, (index + 1) * width or None)
        processed, normal = process_scores(request, scores[:, own_beams], ids[:, own_beams], tokens, penalty)
        parent, token = group.step(processed, normal, ids[:, own_beams], generated)
        parents.append(parent + index * width)
        tokens.append(token)
    if request.on_step:
        request.on_step(
            merge_steps([group.last_step for group in groups if group.last_step is not None], tokens, penalty)
        )
    return torch.cat(parents, 1), torch.cat(tokens, 1)


def merge_steps(steps: list[Step], chosen: list[Tensor], penalty: float) -> Step:
    """One Step for all groups, with their hypotheses and candidates side by side; chosen: tokens [B,W] of each
    group."""
    if len(steps) == 1:
        return steps[0]
    num_beams, candidates = steps[0].totals.size(1), steps[0].token.size(1)
    scores, totals = side_by_side(s.log_probs for s in steps), side_by_side(s.totals for s in steps)
    parent = side_by_side(s.parent + g * num_beams for g, s in enumerate(steps))
    token, total = side_by_side(s.token for s in steps), side_by_side(s.total for s in steps)
    live = side_by_side(s.live + g * candidates for g, s in enumerate(steps))
    taken = [torch.zeros_like(steps[0].token, dtype=scores.dtype)]
    taken += [penalty * count_repetitions(torch.cat(chosen[:g], 1), s.token) for g, s in enumerate(steps) if g]
    group = side_by_side(torch.full_like(s.token, g + 1) for g, s in enumerate(steps))
    extras = {"group": group, "penalty": side_by_side(taken)}
    return Step(scores, totals, parent, token, total, live, side_by_side(s.ended for s in steps), True, extras)


def side_by_side(parts: Iterable[Tensor]) -> Tensor:
    """[B,N] of each group -> [B,groups·N]"""
    return torch.cat(list(parts), 1)


def count_repetitions(words: Tensor, token: Tensor) -> Tensor:
    """words [B,N], token [B,C] -> how often each token is among them, [B,C]"""
    return (words.unsqueeze(1) == token.unsqueeze(2)).sum(-1)


def reorder_ids(ids: Tensor, parent: Tensor, start: int, end: int) -> tuple[Tensor, Tensor | None, int]:
    """ids [B,K,room] of which `end` columns are filled, parent [B,W] -> the ids of the next step [B,W,room], the
    decoder rows that they come from [B·W] (None: all, in order), and the first column in which a row differs from the
    one that it replaces: beams agree on all but the last tokens, so little has to be copied."""
    offset = torch.arange(len(ids), device=ids.device).unsqueeze(1) * ids.size(1)
    index = (parent + offset).flatten()
    new = ids.flatten(0, 1).index_select(0, index).unflatten(0, parent.shape)
    if parent.size(1) != ids.size(1) or ids.device.type != "cpu":  # on a GPU the comparison costs more than the copy
        return new, index, start
    differ = (new[..., start:end] != ids[..., start:end]).flatten(0, 1).any(0)
    first = int(differ.byte().argmax()) if len(differ) else 0
    if first == 0 and not bool(differ[:1].any()):
        return new, None, end
    return new, index, start + first


def process_scores(
    request: GenerationRequest, scores: Tensor, ids: Tensor, earlier: list[Tensor], penalty: float
) -> tuple[Tensor, bool]:
    """scores [B,K,V], ids [B,K,T], earlier: tokens [B,·] of earlier groups -> scores, and whether they are
    log-probabilities, which penalties and logits processors need."""
    processors, guided = request.processors_after(ids.size(-1)), request.guidance is not None
    if processors is None and not (penalty and earlier):
        return scores, guided
    scores = scores if guided else scores.log_softmax(-1)  # guided ones are not normalised again
    if penalty and earlier:
        words = torch.cat(earlier, 1)
        times = torch.zeros_like(scores[:, 0]).scatter_add(1, words, torch.ones_like(words, dtype=scores.dtype))
        scores = scores - penalty * times.unsqueeze(1)
    if processors is not None:
        scores = processors(request.mark_prompt_padding(ids.flatten(0, 1)), scores.flatten(0, 1)).view_as(scores)
    return scores, True


def collect(request: GenerationRequest, groups: list[BeamHypotheses]) -> Tensor:
    """The best of all groups, cut to the longest one's length -> ids [B·num_return_sequences,T]"""
    ids, scores, lengths = (
        torch.cat([getattr(group, name) for group in groups], 1)
        for name in ("finished_ids", "best_finished", "finished_lengths")
    )
    found = scores.topk(request.num_return_sequences)
    # a forced token may leave fewer valid hypotheses than num_return_sequences: the best replaces the invalid ones
    best = found.indices.where(found.values > -torch.inf, found.indices[:, :1])
    return rows_of(ids, best).flatten(0, 1)[:, : int(lengths.gather(1, best).max())]
