"""Classifier-free guidance, against transformers."""

from __future__ import annotations

import pytest
import torch
import transformers
from transformers.generation.logits_process import LogitsProcessor

import tfkit
from tests.decode.test_parity import END, assert_same, both, pair, sentences
from tfkit.decode import Beam, Contrastive, Greedy, Speculative

NEGATIVE = torch.tensor([[9, 4, 17], [5, 5, 21], [33, 8, 7]])


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.8, 4.0])
@pytest.mark.parametrize("name", ["gpt2", "gptj"])
def test_same_ids_as_transformers(name, scale):
    assert_same(*both(name, Greedy(), guidance_scale=scale))
    more = {} if scale == 1 else dict(negative_prompt_ids=NEGATIVE)
    assert_same(*both(name, Greedy(), guidance_scale=scale, **more, repetition_penalty=1.2))


def test_negative_prompts_of_unequal_length_are_as_those_of_each_row_alone():
    ours, (ids, mask) = pair("gptj")[1], sentences("gptj")
    how = dict(max_new_tokens=7, end_id=-1, guidance_scale=2.5, pad_id=0)
    negatives = [[9, 4, 17], [5], [33, 8]]
    together = tfkit.generate(ours, ids, attention_mask=mask, negative_prompt_ids=negatives, **how)[:, -7:]
    for row, own, negative, new in zip(ids, mask, negatives, together, strict=True):
        alone = tfkit.generate(ours, row[own.bool()][None], negative_prompt_ids=[negative], **how)
        assert alone[0, -7:].tolist() == new.tolist()


class Guide(LogitsProcessor):
    """Guidance without a cache, for beams: transformers' own keeps one whose rows do not follow their hypotheses."""

    def __init__(self, model, scale, negative, prompt_length):
        self.model, self.scale, self.negative, self.length = model, scale, negative, prompt_length

    def __call__(self, input_ids, scores):
        text = torch.cat([self.negative.expand(len(input_ids), -1), input_ids[:, self.length :]], 1)
        without = self.model(text).logits[:, -1].log_softmax(-1)
        return self.scale * (scores.log_softmax(-1) - without) + without


@pytest.mark.parametrize("scale", [0.6, 2.0])
@torch.no_grad()
def test_beams_order_guided_scores_as_transformers_does(scale):
    theirs, ours = pair("gpt2")
    ids = sentences("gpt2")[0][:1]
    how = dict(num_beams=3, max_new_tokens=8, eos_token_id=END, pad_token_id=0, num_return_sequences=3)
    guide = Guide(theirs, scale, NEGATIVE[:1], ids.size(1))
    processors = transformers.LogitsProcessorList([guide])
    expected = theirs.generate(ids, logits_processor=processors, **how)
    found = tfkit.generate(ours, ids, guidance_scale=scale, negative_prompt_ids=NEGATIVE[:1], **how)
    assert_same(expected, found)


def test_other_strategies_and_compiled_steps_are_guided_too():
    ours, (ids, mask) = pair("gptj")[1], sentences("gptj")
    how = dict(attention_mask=mask, max_new_tokens=7, end_id=-1, pad_id=0, guidance_scale=2.5)
    how |= dict(negative_prompt_ids=NEGATIVE)
    greedy = tfkit.generate(ours, ids, **how)
    assert torch.equal(tfkit.generate(ours, ids, Speculative(pair("gptj", 1)[1]), **how), greedy)
    assert torch.equal(tfkit.generate(ours, ids, Contrastive(3, alpha=0.0), **how), greedy)
    assert torch.equal(tfkit.generate(ours, ids, compile="eager", **how), greedy)
    beams = tfkit.generate(ours, ids, Beam(3), **how)
    assert torch.equal(tfkit.generate(ours, ids, Beam(3), compile="eager", **how), beams)
    assert not torch.equal(tfkit.generate(ours, ids, **how | {"guidance_scale": 1.5}), greedy)


def test_several_samples_of_a_row_have_its_negative_prompt():
    ours, ids = pair("gpt2")[1], sentences("gpt2")[0][:2]
    how = dict(do_sample=True, top_k=1, max_new_tokens=6, end_id=-1, guidance_scale=3.0)
    once = tfkit.generate(ours, ids, negative_prompt_ids=NEGATIVE[:2], **how)
    thrice = tfkit.generate(ours, ids, negative_prompt_ids=NEGATIVE[:2], num_return_sequences=3, **how)
    assert torch.equal(thrice, once.repeat_interleave(3, 0))


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("gpt2", dict(negative_prompt_ids=NEGATIVE), "negative_prompt_ids has no effect with guidance_scale=None"),
        ("gpt2", dict(guidance_scale=2, negative_prompt_ids=NEGATIVE[:2]), "has 2 rows, input_ids has 3: give one for"),
        ("gpt2", dict(guidance_scale=2, negative_prompt_ids=[1]), "negative_prompt_ids must be rows of ids"),
        ("gpt2", dict(guidance_scale=2, negative_prompt_ids=[[]]), "negative_prompt_ids holds an empty sentence"),
        ("gpt2", dict(guidance_scale=2, negative_prompt_ids=torch.ones(3, 2)), "negative_prompt_ids must be integers"),
        (
            "gpt2",
            dict(
                guidance_scale=2,
                negative_prompt_ids=torch.ones(3, 2).long(),
                negative_prompt_attention_mask=torch.ones(3, 1),
            ),
            r"negative_prompt_attention_mask has shape \[3, 1\], negative_prompt_ids has \[3, 2\]",
        ),
        ("gpt2", dict(guidance_scale="2"), "guidance_scale='2': must be a number"),
        ("bart", dict(guidance_scale=2), "guidance_scale=2: needs a decoder-only model, and BART is none"),
    ],
)
def test_errors_say_what_to_do(name, more, message):
    ids, mask = sentences(name)
    with pytest.raises((TypeError, ValueError), match=message):
        tfkit.generate(pair(name)[1], ids, attention_mask=mask, **more)
