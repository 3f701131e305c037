"""Settings and arguments that few files and calls have give transformers' numbers, or an error of one line."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

import tfkit
from tests.models.table import ROWS, drawn
from tests.models.test_llama_family import DEEPSEEK, OSS, SIZES, YARN

hf = pytest.importorskip("transformers")
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def both(parity, tmp_path, kind: str, config: Any) -> tuple[Any, Any]:
    """transformers' model of this class, and ours with its weights."""
    theirs = parity.shake(getattr(hf, kind)(config))
    return theirs, parity.read(theirs, tmp_path)


def change_config(directory, **changes) -> None:
    file = directory / "config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize("original", [4, 8])
@torch.no_grad()
def test_yarn_trained_on_less_than_one_turn(parity, tmp_path, original):
    rope = {**YARN, "original_max_position_embeddings": original, "beta_slow": 2, "beta_fast": 32}
    sizes = {**SIZES, "head_dim": 64, "rope_parameters": rope}
    theirs, ours = both(parity, tmp_path, "LlamaForCausalLM", hf.LlamaConfig(**sizes))
    ids = parity.ragged()[0]
    torch.testing.assert_close(ours(ids).logits, theirs(ids).logits, **CLOSE)


@pytest.mark.parametrize("changes", [{"head_dim": 4}, {"head_dim": 1}, {"output_router_logits": True}], ids=str)
def test_deepseeks_fields_without_a_counterpart_are_refused(parity, tmp_path, changes):
    config = hf.DeepseekV3Config(**{**SIZES, **DEEPSEEK})
    parity.read(hf.DeepseekV3ForCausalLM(config), tmp_path)
    (name,) = changes
    change_config(tmp_path, **changes)
    with pytest.raises(ValueError, match=rf"config.json: {name} is .*; only .* is implemented$"):
        tfkit.from_pretrained(tmp_path)


@pytest.mark.parametrize("kind", ["MixtralModel", "GptOssModel"])
@torch.no_grad()
def test_router_logits_of_a_model_without_a_head(parity, tmp_path, kind):
    more = {"num_local_experts": 5} if kind == "MixtralModel" else OSS
    config = getattr(hf, kind.replace("Model", "Config"))(**{**SIZES, **more}, output_router_logits=True)
    theirs, ours = both(parity, tmp_path, kind, config)
    ids = parity.ragged()[0]
    expected, found = theirs(ids), ours(ids)
    assert "aux_loss" not in found
    torch.testing.assert_close(torch.stack(found.router_logits), torch.stack(expected.router_logits), **CLOSE)


@torch.no_grad()
def test_a_reader_of_dpr_ignores_token_types(parity, tmp_path):
    config = hf.DPRConfig(vocab_size=99, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                          intermediate_size=40, max_position_embeddings=40)  # fmt: skip
    theirs, ours = both(parity, tmp_path, "DPRReader", config)
    ids, mask, _ = parity.ragged()
    expected = theirs(ids, attention_mask=mask, token_type_ids=ids % 2)
    found = ours(ids, attention_mask=mask, token_type_ids=ids % 2)
    torch.testing.assert_close(found.relevance_logits, expected.relevance_logits, **CLOSE)
    torch.testing.assert_close(found.start_logits[mask == 1], expected.start_logits[mask == 1], **CLOSE)


T5_SIZES = {"vocab_size": 99, "d_model": 24, "d_kv": 6, "d_ff": 32, "num_layers": 2, "num_heads": 3}


@torch.no_grad()
def test_t5_whose_distances_end_where_its_shared_buckets_begin(parity, tmp_path):
    """As far as transformers can say, we say the same; beyond, there is no bucket."""
    config = hf.T5Config(**T5_SIZES, relative_attention_num_buckets=16, relative_attention_max_distance=8,
                         decoder_start_token_id=0)  # fmt: skip
    theirs, ours = both(parity, tmp_path, "T5ForConditionalGeneration", config)
    ids = parity.ragged()[0]
    expected = theirs.generate(ids, max_new_tokens=8, do_sample=False, eos_token_id=None)
    assert tfkit.generate(ours, ids, max_new_tokens=8, end_id=-1).tolist() == expected.tolist()
    with pytest.raises(ValueError, match=r"^max_distance=8: distances from 8 on have no bucket; must be above 8$"):
        tfkit.generate(ours, ids, max_new_tokens=9, end_id=-1)


@pytest.mark.parametrize("kind", ["relative_key", "relative_key_query"])
@torch.no_grad()
def test_alberts_scores_by_distance_are_not_scaled(kind, parity):
    """As in transformers 4.30, where ALBERT adds them after the division by sqrt(d_head), and BERT before; 5 has
    neither."""
    fields = {"vocab_size": 30, "d_embed": 6, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 8}
    model = parity.shake(tfkit.from_config("albert", position_type=kind, **fields)).double()
    attn, x = next(iter(model.layers)).attn, torch.randn(1, 5, 8).double()
    q, k, v = (proj(x).view(5, 2, 4) for proj in (attn.q_proj, attn.k_proj, attn.v_proj))
    scores = torch.zeros(2, 5, 5).double()
    for i in range(5):
        for j in range(5):
            d = attn.distances.weight[i - j + 7]
            by_distance = q[i] @ d + (k[j] @ d if kind == "relative_key_query" else 0)
            scores[:, i, j] = (q[i] * k[j]).sum(-1) / 2 + by_distance
    expected = attn.o_proj(torch.einsum("hij,jhd->ihd", scores.softmax(-1), v).reshape(1, 5, 8))
    torch.testing.assert_close(attn(x), expected)


ANSWERING = {
    "LlamaForQuestionAnswering": {}, "MistralForQuestionAnswering": {"sliding_window": 4},
    "MixtralForQuestionAnswering": {"num_local_experts": 5}, "Qwen2ForQuestionAnswering": {},
    "Qwen3ForQuestionAnswering": {"head_dim": 10}, "SmolLM3ForQuestionAnswering": {},
    "Qwen3MoeForQuestionAnswering": {"head_dim": 10, "num_experts": 5, "num_experts_per_tok": 2},
    "Qwen3NextForQuestionAnswering": {"head_dim": 8, "num_experts": 5, "num_experts_per_tok": 2,
                                      "full_attention_interval": 2, "linear_num_key_heads": 2,
                                      "linear_num_value_heads": 4, "linear_key_head_dim": 5},
    "GPTNeoXForQuestionAnswering": {},
    "BloomForQuestionAnswering": {"n_layer": 3, "n_head": 4},
    "OPTForQuestionAnswering": {"ffn_dim": 48, "word_embed_proj_dim": 16, "dropout": 0.0},
}  # fmt: skip


def config_for(kind: str, task: str, **changes) -> Any:
    described = getattr(hf, kind.replace(task, "Config"))
    known = described().to_dict()
    return described(**{**{field: size for field, size in SIZES.items() if field in known}, **changes})


@pytest.mark.parametrize("kind", ANSWERING)
@torch.no_grad()
def test_decoders_that_answer_questions(parity, tmp_path, kind):
    theirs, ours = both(parity, tmp_path / "theirs", kind, config_for(kind, "ForQuestionAnswering", **ANSWERING[kind]))
    ids, mask, _ = parity.ragged()
    given = {"input_ids": ids, "attention_mask": mask, "start_positions": torch.tensor([1, 0, 2]),
             "end_positions": torch.tensor([4, 99, 3])}  # fmt: skip
    expected, found = theirs(**given), ours(**given)
    torch.testing.assert_close(found.loss, expected.loss, **CLOSE)
    torch.testing.assert_close(found.start_logits[mask == 1], expected.start_logits[mask == 1], **CLOSE)
    torch.testing.assert_close(found.end_logits[mask == 1], expected.end_logits[mask == 1], **CLOSE)
    ours.save_pretrained(tmp_path / "ours")
    again = getattr(hf, kind).from_pretrained(tmp_path / "ours")
    for name, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor), name


@torch.no_grad()
def test_a_language_model_learns_to_answer_questions(parity, tmp_path):
    """Files of the two heads of Llama have different prefixes."""
    theirs, _ = both(parity, tmp_path / "words", "LlamaForCausalLM", hf.LlamaConfig(**SIZES))
    ours = tfkit.from_pretrained(tmp_path / "words", "question_answering", new_head=True)
    ours.save_pretrained(tmp_path / "answers")
    ids = parity.ragged()[0]
    expected = ours.task_head.qa_outputs(theirs.model(ids).last_hidden_state)
    for model in (ours, tfkit.from_pretrained(tmp_path / "answers")):
        torch.testing.assert_close(model(ids).start_logits, expected[..., 0], **CLOSE)


@torch.no_grad()
def test_gemma_3_classifies_texts(parity, tmp_path):
    kind = "Gemma3TextForSequenceClassification"
    config = hf.Gemma3TextConfig(**{**SIZES, "head_dim": 10, "sliding_window": 4}, num_labels=3)
    theirs, ours = both(parity, tmp_path / "theirs", kind, config)
    ids, mask, _ = parity.ragged()
    given = {"input_ids": ids.masked_fill(mask == 0, 0), "attention_mask": mask, "labels": torch.tensor([2, 0, 1])}
    expected, found = theirs(**given), ours(**given)
    torch.testing.assert_close(found.logits, expected.logits, **CLOSE)
    torch.testing.assert_close(found.loss, expected.loss, **CLOSE)
    ours.save_pretrained(tmp_path / "ours")
    again = getattr(hf, kind).from_pretrained(tmp_path / "ours")
    torch.testing.assert_close(again(**given).logits, expected.logits, **CLOSE)


TYPED = {
    "GPT2LMHeadModel": {}, "GPT2DoubleHeadsModel": {}, "GPT2ForSequenceClassification": {"pad_token_id": 0},
    "OpenAIGPTLMHeadModel": {}, "CTRLLMHeadModel": {"dff": 48}, "GPTJForCausalLM": {"rotary_dim": 4},
    "GPTNeoForCausalLM": {},
}  # fmt: skip
GPT = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 40}
NEO = {"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 40}
NEO |= {"attention_types": [[["global", "local"], 1]], "window_size": 8}


@pytest.mark.parametrize("kind", TYPED)
@torch.no_grad()
def test_token_types_of_a_gpt_are_words_that_are_added(parity, tmp_path, kind):
    described = getattr(hf, kind.split("For")[0].split("LMHead")[0].split("DoubleHeads")[0] + "Config")
    config = described(**{**(NEO if "Neo" in kind else GPT), **TYPED[kind]})
    theirs, ours = both(parity, tmp_path, kind, config)
    ids, mask, _ = parity.ragged()
    ids = ids.masked_fill(mask == 0, 0)
    given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids.roll(2, 1) % 7}
    if "Double" in kind:
        given = {name: tensor[None] for name, tensor in given.items()}
    expected, found = theirs(**given), ours(**given)
    real = slice(None) if expected.logits.dim() == 2 else given["attention_mask"] == 1
    torch.testing.assert_close(found.logits[real], expected.logits[real], **CLOSE)
    assert not torch.allclose(ours(**{**given, "token_type_ids": None}).logits[real], found.logits[real], **CLOSE)
    with pytest.raises(ValueError, match=r"token_type_ids has shape \[3, 9\], input_ids has \[3, 11\]"):
        ours(**{**given, "token_type_ids": given["token_type_ids"][..., :9]})


@pytest.mark.parametrize("kind", ["Gemma3TextModel", "Gemma3ForCausalLM", "Gemma3TextForSequenceClassification"])
@torch.no_grad()
def test_gemma_3_that_reads_both_ways(parity, tmp_path, kind):
    changes = {"head_dim": 10, "sliding_window": 4, "sliding_window_pattern": 2, "use_bidirectional_attention": True}
    theirs, ours = both(parity, tmp_path / "theirs", kind, hf.Gemma3TextConfig(**{**SIZES, **changes}))
    ids, mask, _ = parity.ragged()
    ids = ids.masked_fill(mask == 0, 0)
    expected, found = theirs(ids, attention_mask=mask)[0], ours(ids, attention_mask=mask)[0]
    real = mask == 1 if found.dim() == 3 else slice(None)
    torch.testing.assert_close(found[real], expected[real], **CLOSE)
    ours.set_attn_implementation("flex_attention")
    torch.testing.assert_close(ours(ids, attention_mask=mask)[0][real], found[real], **CLOSE)
    ours.save_pretrained(tmp_path / "ours")
    again = getattr(hf, kind).from_pretrained(tmp_path / "ours")
    torch.testing.assert_close(again(ids, attention_mask=mask)[0][real], expected[real], **CLOSE)


BERT = {"vocab_size": 99, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 4, "num_attention_heads": 4,
        "max_position_embeddings": 64}  # fmt: skip
MODERN = {**BERT, "local_attention": 6, "pad_token_id": 0, "num_labels": 3, "bos_token_id": 1, "eos_token_id": 2,
          "cls_token_id": 1, "sep_token_id": 2}  # fmt: skip


def test_modernbert_with_an_output_matrix_of_its_own(parity, tmp_path):
    config = hf.ModernBertConfig(**MODERN, tie_word_embeddings=False)
    theirs, ours = both(parity, tmp_path, "ModernBertForMaskedLM", config)
    ids, mask, labels = parity.ragged()
    expected, found = theirs(ids, attention_mask=mask, labels=labels), ours(ids, mask, labels=labels)
    torch.testing.assert_close(found.logits[mask == 1], expected.logits[mask == 1], **CLOSE)
    expected.loss.backward(), found.loss.backward()
    torch.testing.assert_close(ours.output.weight.grad, theirs.decoder.weight.grad, **CLOSE)
    torch.testing.assert_close(ours.embed.tokens.weight.grad, theirs.get_input_embeddings().weight.grad, **CLOSE)
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


@torch.no_grad()
def test_modernbert_pools_the_first_position_even_if_it_is_padding(parity, tmp_path):
    """As transformers does, where that position sees no token within its window."""
    theirs, ours = both(parity, tmp_path, "ModernBertForSequenceClassification", hf.ModernBertConfig(**MODERN))
    ids, mask, _ = parity.ragged()
    mask = mask.flip(1)
    assert int(mask.argmax(1).max()) > MODERN["local_attention"] // 2
    torch.testing.assert_close(ours(ids, mask).logits, theirs(ids, attention_mask=mask).logits, **CLOSE)


@pytest.mark.parametrize("changes", [{}, {"do_layer_norm_before": False}], ids=str)
def test_opt_whose_norms_have_no_weights(parity, tmp_path, changes):
    config = config_for("OPTForCausalLM", "ForCausalLM", ffn_dim=48, word_embed_proj_dim=32, dropout=0.0,
                          layer_norm_elementwise_affine=False, **changes)  # fmt: skip
    theirs, ours = both(parity, tmp_path, "OPTForCausalLM", config)
    parity.assert_same_causal("opt", theirs, ours, torch.float32)
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


SMALL = {**{name: size for name, size in BERT.items() if name != "num_hidden_layers"}, "num_hidden_layers": 2}
DISTIL = {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 40, "max_position_embeddings": 40}


@pytest.mark.parametrize("kind", ["Bert", "Roberta", "Albert", "Electra", "DistilBert", "ConvBert"])
@torch.no_grad()
def test_a_mask_of_pairs(parity, tmp_path, kind):
    """transformers 4 takes it as [B,L,L], 5 only as the numbers [B,1,L,L] that are added to the scores."""
    config = getattr(hf, f"{kind}Config")(**DISTIL if kind == "DistilBert" else SMALL)
    theirs, ours = both(parity, tmp_path, f"{kind}Model", config)
    ids = parity.ragged()[0]
    mask = torch.rand(3, 11, 11, generator=torch.Generator().manual_seed(2)) < 0.6
    mask |= torch.eye(11, dtype=torch.bool)
    added = torch.zeros(3, 1, 11, 11).masked_fill(~mask[:, None], torch.finfo(torch.float32).min)
    expected = theirs(ids, attention_mask=added).last_hidden_state
    torch.testing.assert_close(ours(ids, attention_mask=mask.long()).last_hidden_state, expected, **CLOSE)
    with pytest.raises(ValueError, match=r"attention_mask has shape \[3, 10, 11\], its tokens have \[3, 11, 11\]"):
        ours(ids, attention_mask=mask[:, 1:])


def test_a_mask_of_pairs_where_none_can_be():
    ids, mask = torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3, 3, dtype=torch.long)
    sizes = {"vocab_size": 9, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 8, "max_length": 8}
    for name, head in (("bert", "causal_lm"), ("bigbird", None)):
        with pytest.raises(ValueError, match=r"attention_mask has shape \[1, 3, 3\], its tokens have \[1, 3\]"):
            tfkit.from_config(name, head, **sizes)(ids, attention_mask=mask)


@torch.no_grad()
def test_xlnets_input_mask_may_hold_floats(parity, tmp_path):
    config = hf.XLNetConfig(vocab_size=99, d_model=32, n_layer=2, n_head=4, d_inner=40)
    theirs, ours = both(parity, tmp_path, "XLNetLMHeadModel", config)
    ids, mask, _ = parity.ragged()
    padding = 1.0 - mask
    expected, found = theirs(ids, input_mask=padding), ours(ids, input_mask=padding)
    torch.testing.assert_close(found.logits[mask == 1], expected.logits[mask == 1], **CLOSE)


def test_deberta_2_with_a_norm_that_it_does_not_need(parity, tmp_path):
    config = hf.DebertaV2Config(**SMALL, relative_attention=False, norm_rel_ebd="layer_norm")
    theirs, ours = both(parity, tmp_path, "DebertaV2ForMaskedLM", config)
    ids, mask, labels = parity.ragged()
    with torch.no_grad():
        expected, found = theirs(ids, attention_mask=mask).logits, ours(ids, mask).logits
    torch.testing.assert_close(found[mask == 1], expected[mask == 1], **CLOSE)
    parity.assert_same_files(theirs, ours, tmp_path / "ours")


@torch.no_grad()
def test_mamba_2_calls_its_cache_as_transformers_does(parity, tmp_path):
    config = hf.Mamba2Config(vocab_size=99, hidden_size=16, num_hidden_layers=2, num_heads=4, head_dim=8, state_size=6,
                             n_groups=2, chunk_size=4, pad_token_id=0)  # fmt: skip
    theirs, ours = both(parity, tmp_path, "Mamba2ForCausalLM", config)
    ids = parity.ragged()[0]
    expected, first = theirs(ids).logits, ours(ids[:, :6], use_cache=True)
    assert first.cache_params is first.cache and first["cache_params"] is first.cache
    second = ours(ids[:, 6:], cache_params=first.cache_params, use_cache=True)
    torch.testing.assert_close(torch.cat([first.logits, second.logits], 1), expected, **CLOSE)
    with pytest.raises(ValueError, match="cache_params and cache are the same argument: pass only one of them"):
        ours(ids, cache_params=second.cache, cache=second.cache)


FLAGS = {"output_hidden_states": True, "output_attentions": True}


@pytest.mark.parametrize(("kind", "config"), [
    ("BertModel", ("BertConfig", SMALL)), ("BertLMHeadModel", ("BertConfig", {**SMALL, "is_decoder": True})),
    ("GPT2LMHeadModel", ("GPT2Config", GPT)), ("T5EncoderModel", ("T5Config", T5_SIZES)),
])  # fmt: skip
@torch.no_grad()
def test_outputs_that_config_json_asks_for(parity, tmp_path, kind, config):
    name, sizes = config
    described = getattr(hf, name)(**sizes, **FLAGS, attn_implementation="eager")
    theirs, ours = both(parity, tmp_path / "theirs", kind, described)
    ids = parity.ragged()[0]
    expected, found = theirs(ids), ours(ids)
    for what in ("hidden_states", "attentions"):
        assert len(found[what]) == len(expected[what])
        for one, other in zip(found[what], expected[what], strict=True):
            torch.testing.assert_close(one, other, **CLOSE)
    assert "hidden_states" not in ours(ids, output_hidden_states=False)
    ours.save_pretrained(tmp_path / "ours")
    assert "attentions" in tfkit.from_pretrained(tmp_path / "ours")(ids)


@pytest.mark.parametrize(("name", "head"), [("bigbird", "masked_lm"), ("bert", "causal_lm"), ("mt5", "seq2seq_lm")])
def test_what_a_file_says_beside_the_fields_is_kept(tmp_path, name, head):
    """Also where the head or the tensors decide a field, with which the configuration is made anew."""
    row = ROWS[name]
    tfkit.from_config(name, head, **row.fields).save_pretrained(tmp_path / "first")
    change_config(tmp_path / "first", output_hidden_states=True)
    model = tfkit.from_pretrained(tmp_path / "first")
    assert any("hidden_states" in field for field in model(**row.inputs(model, drawn(2, 5))))
    model.save_pretrained(tmp_path / "second")
    assert json.loads((tmp_path / "second" / "config.json").read_text())["output_hidden_states"] is True


@torch.no_grad()
def test_outputs_that_config_json_asks_for_leave_decoding_and_traces_alone(parity, tmp_path):
    config = hf.GPT2Config(**GPT, **FLAGS, attn_implementation="eager")
    theirs, ours = both(parity, tmp_path, "GPT2LMHeadModel", config)
    ids = parity.ragged()[0]
    expected = theirs.generate(ids, max_new_tokens=4, do_sample=False, eos_token_id=None, pad_token_id=0).sequences
    for compiled in (False, "eager"):
        assert tfkit.generate(ours, ids, max_new_tokens=4, end_id=-1, compile=compiled).tolist() == expected.tolist()
    with tfkit.trace(ours) as trace:
        ours(ids)
    assert trace["layers.1.attn.weights"].shape == (3, 4, 11, 11)
