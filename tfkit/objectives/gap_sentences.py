"""Gap sentences (Zhang et al. 2020, arXiv:1912.08777, 3.1): mask the most important sentences and generate them.
This is so close to summarisation that Pegasus needs few examples of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any


def gap_sentences(
    sentences: Sequence[Sequence[Any]], chosen: Collection[int], mask: Any
) -> tuple[list[Any], list[Any]]:
    """Each chosen sentence becomes one mask; the target is all of them, in the order of the document.

    sentences: lists of tokens; chosen: their indices -> (inputs, targets), two flat lists of tokens
    """
    inputs: list[Any] = []
    targets: list[Any] = []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
            targets += sentence
        else:
            inputs += sentence
    return inputs, targets


def joint_gap_sentences(
    sentences: Sequence[Sequence[Any]],
    chosen: Collection[int],
    mask: Any,
    word_mask: Any,
    blank: Callable[[int, int], bool],
) -> tuple[list[Any], list[Any], list[Any]]:
    """Gap sentences and masked words at once (the paper's figure 1): single words of the remaining sentences are
    masked for the encoder to predict, while the decoder generates the removed sentences.

    sentences, chosen, mask: as in `gap_sentences`; word_mask: another token; blank(sentence, word): whether that
    word is masked (the paper's 15%) -> (inputs, encoder_targets, targets): flat lists; encoder_targets is as long as
    inputs, None where nothing is predicted. The loss is the sum of the two cross-entropies.
    """
    inputs: list[Any] = []
    encoder_targets: list[Any] = []
    for number, sentence in enumerate(sentences):
        if number in chosen:
            inputs.append(mask)
            encoder_targets.append(None)
            continue
        for word, token in enumerate(sentence):
            blanked = blank(number, word)
            inputs.append(word_mask if blanked else token)
            encoder_targets.append(token if blanked else None)
    return inputs, encoder_targets, gap_sentences(sentences, chosen, mask)[1]


def principal_sentences(sentences: Sequence[Sequence[Any]], count: int) -> list[int]:
    """The sentences most like the rest of the document by ROUGE-1 F1, each scored independently ("Ind-Orig").

    sentences: lists of tokens -> the indices of the `count` best, in the order of the document
    """
    words = Counter(token for sentence in sentences for token in sentence)

    def likeness(number: int) -> float:
        """ROUGE-1 F1 of one sentence against all the others together."""
        own = Counter(sentences[number])
        rest = words - own
        return 2 * (own & rest).total() / max(1, own.total() + rest.total())

    best = sorted(range(len(sentences)), key=likeness, reverse=True)[:count]
    return sorted(best)
