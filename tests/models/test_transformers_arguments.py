"""What transformers' users ask of a call: the same states, weights, losses and names, on the same weights."""

import pytest
import torch

import tfkit
from tests.models.conftest import ragged, read, shake

hf = pytest.importorskip("transformers")

NEAR = {"rtol": 1e-4, "atol": 1e-5}  # in float64 on both sides, but some of transformers' go through float32 in between

GPT = {"n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 99, "n_positions": 32}
BERT = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24, "vocab_size": 99,
    "max_position_embeddings": 32,
}  # fmt: skip
BART = {
    "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "vocab_size": 99,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 32,
}  # fmt: skip
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2, "vocab_size": 99,
      "decoder_start_token_id": 0}  # fmt: skip
XLM = {"emb_dim": 16, "n_layers": 2, "n_heads": 2, "n_words": 99, "max_position_embeddings": 32, "n_langs": 1}
XLNET = {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24, "vocab_size": 99}

MODELS = {
    "BertModel": BERT, "BertForQuestionAnswering": BERT, "RobertaForMaskedLM": BERT, "ElectraModel": BERT,
    "AlbertModel": {**BERT, "embedding_size": 8}, "DistilBertModel": {"dim": 16, "n_layers": 2, "n_heads": 2,
        "hidden_dim": 24, "vocab_size": 99, "max_position_embeddings": 32},
    "DebertaModel": {**BERT, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "XLMModel": XLM, "GPT2Model": GPT, "GPT2LMHeadModel": GPT, "OpenAIGPTModel": GPT, "CTRLModel": {**GPT, "dff": 24},
    "GPTJModel": {**GPT, "rotary_dim": 4},
    "BartModel": BART, "BartForConditionalGeneration": BART, "MBartModel": BART, "T5Model": T5,
    "T5ForConditionalGeneration": T5,
}  # fmt: skip


def made(name, fields, tmp_path, dtype=torch.float64):
    torch.manual_seed(0)
    config = getattr(hf, name).config_class(**fields)
    theirs = getattr(hf, name)._from_config(config, attn_implementation="eager")
    sinusoids = {
        n: p.clone() for n, p in theirs.named_parameters() if "positions" in n and name[:6] in "Pegasus Marian"
    }
    shake(theirs).load_state_dict(sinusoids, strict=False)
    theirs = theirs.to(dtype)
    theirs.save_pretrained(tmp_path)
    return theirs.eval(), tfkit.from_pretrained(tmp_path, dtype=dtype)


@pytest.mark.parametrize("name", MODELS)
@torch.no_grad()
def test_states_and_weights_of_each_layer(name, tmp_path):
    theirs, ours = made(name, MODELS[name], tmp_path)
    ids, mask, _ = ragged()
    given = {"input_ids": ids, "attention_mask": mask}
    if "encoder_layers" in MODELS[name] or MODELS[name] is T5:
        given["decoder_input_ids"] = ids[:, :5].clamp(min=4)
    given |= {"output_hidden_states": True, "output_attentions": True}
    expected, out = theirs(**given), ours(**given)
    seen = {"hidden_states", "attentions"} if "decoder_input_ids" not in given else {
        "encoder_hidden_states", "decoder_hidden_states", "encoder_attentions", "decoder_attentions",
        "cross_attentions"}  # fmt: skip
    assert seen <= set(expected) and seen <= set(out)
    for key in sorted(seen):
        assert len(out[key]) == len(expected[key]), key
        for layer, (a, b) in enumerate(zip(out[key], expected[key], strict=True)):
            real = mask.bool() if "decoder" not in key and "cross" not in key else torch.ones(3, 5, dtype=torch.bool)
            a, b = (t.transpose(1, 2)[real] if "attentions" in key else t[real] for t in (a, b))
            torch.testing.assert_close(a, b, **NEAR, msg=lambda m, at=(key, layer): f"{at}: {m}")


@torch.no_grad()
def test_names_of_a_call(tmp_path):
    theirs, ours = made("GPT2LMHeadModel", GPT, tmp_path)
    ids, _, _ = ragged()
    out = ours(ids[:, :6], use_cache=True)
    assert out.past_key_values is out.cache and out["past_key_values"] is out.cache
    assert out.prediction_scores is out.logits
    step = ours(ids[:, 6:], past_key_values=out.past_key_values)
    torch.testing.assert_close(step.logits, theirs(ids).logits[:, 6:], **NEAR)
    plain = ours(ids, return_dict=False)
    assert isinstance(plain, tuple) and torch.equal(plain[0], ours(ids).logits)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in ours.modules())
    with pytest.raises(ValueError, match="are the same argument"):
        ours(ids, cache=out.cache, past_key_values=out.cache)
    with pytest.raises(ValueError, match="exclude each other"):
        ours(ids, inputs_embeds=torch.zeros(3, 11, 16).double())


@pytest.mark.parametrize("name", ["BertModel", "RobertaForMaskedLM", "XLNetModel", "GPT2LMHeadModel", "T5Model",
                                  "BartForConditionalGeneration"])  # fmt: skip
def test_embeddings_in_place_of_ids(name, tmp_path):
    fields = {**MODELS, "XLNetModel": XLNET}[name]
    fields = {**fields, "scale_embedding": True} if name.startswith("Bart") else fields
    theirs, ours = made(name, fields, tmp_path)
    given = {"inputs_embeds": torch.randn(2, 7, 16).double()}
    if name.startswith(("T5", "Bart")):
        given["decoder_inputs_embeds"] = torch.randn(2, 4, 16).double()
    expected, out = theirs(**given), ours(**given)
    key = "logits" if "logits" in out else "last_hidden_state"
    torch.testing.assert_close(out[key], expected[key], **NEAR)
    vectors = given["inputs_embeds"].requires_grad_()
    ours(**given)[key].sum().backward()
    assert vectors.grad.any()


FUNNEL = {"d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 24, "block_sizes": [1, 2], "vocab_size": 99,
          "block_repeats": [1, 2], "num_decoder_layers": 2}  # fmt: skip
REFORMER = {"hidden_size": 16, "attention_head_size": 8, "num_attention_heads": 2, "feed_forward_size": 24,
            "attn_layers": ["local", "lsh", "local"], "axial_pos_embds": False, "max_position_embeddings": 32,
            "local_attn_chunk_length": 4, "lsh_attn_chunk_length": 16, "vocab_size": 99}  # fmt: skip
PROPHET = {"hidden_size": 16, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "vocab_size": 99, "num_encoder_layers": 2,
           "num_decoder_layers": 2, "num_encoder_attention_heads": 2, "num_decoder_attention_heads": 2, "ngram": 3,
           "max_position_embeddings": 32, "decoder_start_token_id": 1}  # fmt: skip
OWN_STATES = {
    "FunnelModel": FUNNEL, "FunnelBaseModel": FUNNEL, "FunnelForSequenceClassification": FUNNEL,
    "ReformerModel": REFORMER, "ReformerModelWithLMHead": {**REFORMER, "is_decoder": True},
    "ProphetNetModel": PROPHET, "ProphetNetForConditionalGeneration": PROPHET, "ProphetNetEncoder": PROPHET,
    "ProphetNetForCausalLM": {**PROPHET, "add_cross_attention": False},
}  # fmt: skip


@pytest.mark.parametrize("name", OWN_STATES)
@torch.no_grad()
def test_states_of_layers_that_read_no_state_for_each_token(name, tmp_path):
    """Funnel's blocks shorten the text, Reformer's layers hand on two streams, ProphetNet's several."""
    theirs, ours = made(name, OWN_STATES[name], tmp_path, torch.float32)
    ids = ragged()[0]
    given = {"input_ids": ids, "output_hidden_states": True}
    if name in ("ProphetNetModel", "ProphetNetForConditionalGeneration"):
        given["decoder_input_ids"] = ids[:, :5]
    expected, out = theirs(**given), ours(**given)
    keys = [key for key in expected if "hidden_states" in key]
    assert keys and set(keys) <= set(out)
    for key in keys:
        assert len(out[key]) == len(expected[key]), key
        for layer, (a, b) in enumerate(zip(out[key], expected[key], strict=True)):
            b = b[:, : a.size(1)] if "Reformer" in name else b  # transformers shows what fills the last chunk up
            torch.testing.assert_close(a, b, **NEAR, msg=lambda m, at=(key, layer): f"{at}: {m}")
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in ours.modules())


@pytest.mark.parametrize("name", ["BigBirdModel", "LongformerModel", "ReformerModel"])
def test_what_has_no_such_weights_says_so(name, tmp_path):
    fields = {
        "BigBirdModel": {**BERT, "block_size": 2, "num_random_blocks": 1, "max_position_embeddings": 64},
        "LongformerModel": {**BERT, "attention_window": [4, 4], "max_position_embeddings": 64},
        "ReformerModel": {**REFORMER, "lsh_attn_chunk_length": 4},
    }[name]
    torch.manual_seed(0)
    ours = read(getattr(hf, name)(getattr(hf, name).config_class(**fields)), tmp_path)
    with pytest.raises(ValueError, match="do not cover all keys; tfkit.trace"):
        ours(torch.randint(3, 99, (1, 32)), output_attentions=True)


UNTIED = {
    "BertGenerationDecoder": BERT,
    "BertForMaskedLM": BERT, "BertForPreTraining": BERT, "RobertaForMaskedLM": BERT, "ElectraForMaskedLM": BERT,
    "AlbertForMaskedLM": {**BERT, "embedding_size": 8}, "DistilBertForMaskedLM": MODELS["DistilBertModel"],
    "XLMWithLMHeadModel": XLM, "XLNetLMHeadModel": XLNET, "GPT2LMHeadModel": GPT, "GPT2DoubleHeadsModel": GPT,
    "OpenAIGPTLMHeadModel": GPT, "CTRLLMHeadModel": {**GPT, "dff": 24},
    "GPTNeoForCausalLM": {"hidden_size": 16, "num_layers": 2, "num_heads": 2, "vocab_size": 99,
                          "max_position_embeddings": 32, "attention_types": [[["global", "local"], 1]]},
    "FunnelForMaskedLM": {"d_model": 16, "n_head": 2, "d_head": 8, "d_inner": 24, "block_sizes": [1, 1],
                          "vocab_size": 99},
    "BertForSequenceClassification": BERT, "DistilBertForQuestionAnswering": MODELS["DistilBertModel"],
    "CTRLModel": {**GPT, "dff": 24},
}  # fmt: skip


@pytest.mark.parametrize("name", UNTIED)
def test_an_output_matrix_of_its_own(name, tmp_path):
    """Untied: transformers' values, both ways; and ignored where the head has no words."""
    dtype = torch.float32 if "XLNet" in name else torch.float64  # transformers computes its sinusoids in float32
    theirs, ours = made(name, {**UNTIED[name], "tie_word_embeddings": False}, tmp_path, dtype)
    ids, mask, labels = ragged()
    given = {"input_ids": ids, "attention_mask": mask}
    if "DoubleHeads" in name:
        given = {"input_ids": ids[:, None], "attention_mask": mask[:, None]}
    expected, out = theirs(**given), ours(**given)
    for key in ("logits", "prediction_logits", "start_logits", "last_hidden_state"):
        if key in out and key in expected:
            a, b = (x.squeeze(1) if "Double" in name else x for x in (out[key], expected[key]))
            a, b = (a[mask == 1], b[mask == 1]) if a.dim() > 2 else (a, b)
            torch.testing.assert_close(a, b, **NEAR)
    words = any(part in name for part in ("LMHead", "MaskedLM", "CausalLM", "Double", "PreTraining", "Decoder"))
    assert hasattr(ours, "output") == words
    ours.save_pretrained(tmp_path / "again")
    again = type(theirs).from_pretrained(tmp_path / "again", dtype=dtype).eval()
    for key in set(out) & {"logits", "prediction_logits"}:
        torch.testing.assert_close(again(**given)[key], expected[key], **NEAR)
    same = tfkit.from_pretrained(tmp_path / "again", dtype=dtype)
    assert all(torch.equal(tensor, same.state_dict()[n]) for n, tensor in ours.state_dict().items())


FAIRSEQ = {**BART, "pad_token_id": 1, "decoder_start_token_id": 2, "tie_word_embeddings": False}
APART = {
    "BartModel": {}, "BartForConditionalGeneration": {"scale_embedding": True}, "BartForCausalLM": {},
    "BartForSequenceClassification": {}, "MBartForConditionalGeneration": {}, "PegasusForConditionalGeneration": {},
    "M2M100ForConditionalGeneration": {}, "MarianMTModel": {"scale_embedding": True},
    "MarianMTModel-unshared": {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 81},
    "MarianForCausalLM": {},
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_untied_encoder_decoders_have_a_table_for_each_side(name, tmp_path):
    """And an output matrix of their own, in transformers and tfkit, both ways; the same parameters have gradients."""
    theirs, ours = made(name.partition("-")[0], {**FAIRSEQ, **APART[name]}, tmp_path)
    ids, mask, _ = ragged(vocab=80)
    given = {"input_ids": ids, "attention_mask": mask}
    if "Classification" in name:
        given["input_ids"] = ids.masked_fill(torch.arange(11) == mask.sum(1, keepdim=True) - 1, 2)
    elif "CausalLM" not in name:
        given["decoder_input_ids"] = ids[:, :5]
    expected, out = theirs(**given), ours(**given)
    key = "logits" if "logits" in expected else "last_hidden_state"
    a, b = (x[key] if x[key].shape[:2] != mask.shape else x[key][mask == 1] for x in (out, expected))
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)
    a.square().sum().backward(), b.square().sum().backward()
    from tfkit.hub import loading

    names = loading.names(ours, tfkit.registry.load(tfkit.registry.name_of(ours)))
    grads = names.dump({n: p.grad for n, p in ours.named_parameters() if p.grad is not None}, with_head=bool(ours.head))
    for parameter, tensor in theirs.named_parameters():
        if tensor.grad is not None and tensor.grad.any():
            torch.testing.assert_close(grads[parameter], tensor.grad, rtol=1e-7, atol=1e-9, msg=parameter)
    ours.save_pretrained(tmp_path / "again")
    again, report = type(theirs).from_pretrained(tmp_path / "again", dtype=torch.float64, output_loading_info=True)
    assert not report["unexpected_keys"]
    torch.testing.assert_close(again.eval()(**given)[key], expected[key], rtol=1e-9, atol=1e-9)
    same = tfkit.from_pretrained(tmp_path / "again", dtype=torch.float64)
    assert all(torch.equal(tensor, same.state_dict()[n]) for n, tensor in ours.state_dict().items())


def test_an_older_untied_file_has_one_table_for_both_sides(tmp_path):
    """transformers 4 shared it whatever the flag said; training moves the two apart from there on."""
    from safetensors.torch import load_file, save_file

    made("BartForConditionalGeneration", FAIRSEQ, tmp_path)
    file = tmp_path / "model.safetensors"
    save_file({n: t for n, t in load_file(file).items() if "embed_tokens" not in n}, file, {"format": "pt"})
    ours = tfkit.from_pretrained(tmp_path)
    assert torch.equal(ours.embed.weight, ours.decoder_embed.weight)
    assert not torch.equal(ours.embed.weight, ours.output.weight)
    with torch.no_grad():
        ours.embed.weight.zero_()
    assert ours.decoder_embed.weight.any()


@pytest.mark.parametrize("name", ["BartForConditionalGeneration", "ProphetNetForConditionalGeneration"])
def test_embeddings_in_place_of_ids_where_each_side_has_a_table(name, tmp_path):
    sizes = {"hidden_size": 16, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "vocab_size": 99,
             "num_encoder_layers": 1, "num_decoder_layers": 1, "num_encoder_attention_heads": 2,
             "num_decoder_attention_heads": 2, "max_position_embeddings": 32, "tie_word_embeddings": False}  # fmt: skip
    theirs, ours = made(name, FAIRSEQ if name.startswith("Bart") else sizes, tmp_path, torch.float32)
    given = {"inputs_embeds": torch.randn(2, 7, 16), "decoder_inputs_embeds": torch.randn(2, 4, 16)}
    torch.testing.assert_close(ours(**given).logits, theirs(**given).logits, **NEAR)


BY_LAYER = {"scale_attn_by_inverse_layer_idx": True}
UPCAST = {"reorder_and_upcast_attn": True}


@pytest.mark.parametrize("flags", [{"scale_attn_weights": False}, BY_LAYER, BY_LAYER | UPCAST])
@torch.no_grad()
def test_gpt2_scales_scores_as_its_flags_say(flags, tmp_path):
    theirs, ours = made("GPT2LMHeadModel", {**GPT, **flags}, tmp_path, torch.float32)
    ids, mask, _ = ragged()
    expected, out = theirs(ids, attention_mask=mask).logits, ours(ids, mask).logits
    torch.testing.assert_close(out[mask == 1], expected[mask == 1], **NEAR)


DECODERS = {"BertLMHeadModel": BERT, "RobertaForCausalLM": BERT, "XLMRobertaForCausalLM": BERT,
            "ElectraForCausalLM": {**BERT, "embedding_size": 8}, "BertGenerationDecoder": BERT}  # fmt: skip


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("name", DECODERS)
def test_berts_decode(name, cross, tmp_path):
    theirs, ours = made(name, {**DECODERS[name], "is_decoder": True, "add_cross_attention": cross}, tmp_path)
    ids, mask, labels = ragged()
    given = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    if cross:
        given["encoder_hidden_states"] = torch.randn(3, 4, 16).double()
        given["encoder_attention_mask"] = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]])
    expected, out = theirs(**given), ours(**given)
    torch.testing.assert_close(out.logits[mask == 1], expected.logits[mask == 1], **NEAR)
    torch.testing.assert_close(out.loss.float(), expected.loss)  # transformers' is in float32
    with torch.no_grad():
        rest = {key: value for key, value in given.items() if key.startswith("encoder")}
        first = ours(ids[:, :4], use_cache=True, **rest)
        second = ours(ids[:, 4:], cache=first.cache, **rest)
        whole = ours(ids, **rest).logits
    torch.testing.assert_close(torch.cat([first.logits, second.logits], 1), whole, **NEAR)
    if not cross:
        found = tfkit.generate(ours, ids[:1, :4], end_id=-1, max_new_tokens=5)
        for end in range(4, 9):  # word by word: their `generate` counts RoBERTa's positions otherwise than its forward
            assert theirs(found[:, :end]).logits[0, -1].argmax() == found[0, end]


def test_an_encoder_is_no_decoder():
    ours = tfkit.from_config("bert", vocab_size=30, d_model=8, n_layers=1, n_heads=2, d_ff=16, max_length=8)
    with pytest.raises(ValueError, match="use_cache: BERT is not a decoder"):
        ours(torch.ones(1, 3, dtype=torch.long), use_cache=True)
    with pytest.raises(ValueError, match="only bidirectional attention"):
        tfkit.from_config("albert", is_decoder=True)


@pytest.mark.parametrize("kind", ["relative_key", "relative_key_query"])
@torch.no_grad()
def test_positions_by_distance(kind, tmp_path):
    """transformers 5 dropped them; so: against the sums written out, and absolute positions must not matter."""
    fields = {"vocab_size": 30, "d_model": 8, "n_layers": 1, "n_heads": 2, "d_ff": 16, "max_length": 8}
    torch.manual_seed(0)
    model = tfkit.from_config("bert", position_type=kind, **fields).double().eval()
    shake(model)
    attn, x = model.layers[0].attn, torch.randn(1, 5, 8).double()
    q, k, v = (proj(x).view(5, 2, 4) for proj in (attn.q_proj, attn.k_proj, attn.v_proj))
    scores = torch.zeros(2, 5, 5).double()
    for i in range(5):
        for j in range(5):
            d = attn.distances.weight[i - j + 7]
            both = q[i] @ d + (k[j] @ d if kind == "relative_key_query" else 0)
            scores[:, i, j] = ((q[i] * k[j]).sum(-1) + both) / 2
    expected = attn.o_proj(torch.einsum("hij,jhd->ihd", scores.softmax(-1), v).reshape(1, 5, 8))
    torch.testing.assert_close(attn(x), expected)
    ids = torch.arange(5)[None]
    before = model(ids).last_hidden_state
    model.embed.positions.weight.add_(1.0)
    assert torch.equal(model(ids).last_hidden_state, before)
    model.save_pretrained(tmp_path)
    torch.testing.assert_close(
        tfkit.from_pretrained(tmp_path, dtype=torch.float64)(ids).last_hidden_state, before, rtol=1e-9, atol=1e-9
    )


@torch.no_grad()
def test_t5_follows_dense_act_fn(tmp_path):
    for act in ("silu", "gelu"):
        theirs, ours = made("T5ForConditionalGeneration", {**T5, "feed_forward_proj": "gated-gelu",
                                                           "dense_act_fn": act}, tmp_path / act)  # fmt: skip
        assert theirs.config.dense_act_fn == act
        ids, mask, _ = ragged()
        given = {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": ids[:, :4]}
        torch.testing.assert_close(ours(**given).logits, theirs(**given).logits, **NEAR)


def test_mt5_is_tied_where_its_file_is(tmp_path):
    theirs, ours = made("MT5ForConditionalGeneration", {k: v for k, v in T5.items()}, tmp_path)
    assert ours.config.tie_word_embeddings
    ids, mask, labels = ragged()
    given = {"input_ids": ids, "attention_mask": mask, "labels": labels}
    expected, out = theirs(**given), ours(**given)
    torch.testing.assert_close(out.logits, expected.logits, **NEAR)
    expected.loss.backward(), out.loss.backward()
    torch.testing.assert_close(ours.embed.weight.grad, theirs.shared.weight.grad, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["RobertaForMultipleChoice", "BertForMultipleChoice"])
def test_dropout_of_multiple_choice(name, tmp_path):
    fields = {**BERT, "hidden_dropout_prob": 0.3, "classifier_dropout": 0.6}
    theirs, ours = made(name, fields, tmp_path)
    assert ours.task_head.drop.p == theirs.dropout.p


@pytest.mark.parametrize("name", sorted(set(hf.activations.ACT2FN) - {"prelu", "xielu"}))
def test_activations(name):
    from tfkit.nn.feed_forward import get_activation

    x = torch.linspace(-12, 12, 201, dtype=torch.float64)
    torch.testing.assert_close(get_activation(name)(x), hf.activations.ACT2FN[name](x), rtol=1e-7, atol=1e-7)
