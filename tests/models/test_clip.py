"""CLIP is the published one: every class's numbers and gradients, in float32 and float64, and files both ways."""

from __future__ import annotations

import json

import pytest
import torch

import tfkit
from tfkit.hub import published

hf = pytest.importorskip("transformers")
TEXT = {
    "vocab_size": 99, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3,
    "max_position_embeddings": 16, "eos_token_id": 98, "projection_dim": 10,
}  # fmt: skip
IMAGE = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "image_size": 16,
    "patch_size": 4, "projection_dim": 10,
}  # fmt: skip
CASES = {
    "plain": ({}, {}),
    "first files": ({"eos_token_id": 2}, {}),
    "unusual": (
        {"hidden_act": "gelu", "layer_norm_eps": 0.1, "num_attention_heads": 1, "num_hidden_layers": 1},
        {"hidden_act": "gelu_new", "layer_norm_eps": 1e-3, "num_channels": 1, "image_size": 17, "hidden_size": 20},
    ),
}
HEADS = tfkit.registry.load("clip").HF_HEADS
CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}


def made(parity, name, text=None, image=None, **top):
    """Their model of this class."""
    text, image = {**TEXT, **(text or {})}, {**IMAGE, **(image or {})}
    if "Text" in name:
        config = hf.CLIPTextConfig(**text)
    elif "Vision" in name:
        config = hf.CLIPVisionConfig(**image)
    else:
        config = hf.CLIPConfig(text_config=text, vision_config=image, **{"projection_dim": 10, **top})
    return parity.shake(getattr(hf, name)(config))


def given(name, config, dtype, size=None):
    """Three texts, the second without padding and the third with its end twice; three pictures; what the class learns
    from."""
    draw = torch.Generator().manual_seed(1)
    inputs = {}
    if "Text" in name or name == "CLIPModel":
        end = getattr(config, "text_config", config).eos_token_id
        end = 98 if end == 2 else end
        ids = torch.randint(3, 90, (3, 9), generator=draw)
        ids[0, 5:], ids[1, 8], ids[2, 4], ids[2, 8] = end, end, end, end
        mask = torch.ones(3, 9, dtype=torch.long)
        mask[0, 6:] = mask[2, 5:] = 0
        inputs |= {"input_ids": ids, "attention_mask": mask}
    if "Text" not in name:
        c = getattr(config, "vision_config", config)
        shape = (3, c.num_channels, *(size or (c.image_size, c.image_size)))
        inputs["pixel_values"] = torch.randn(shape, generator=draw, dtype=dtype)
    if name == "CLIPModel":
        inputs["return_loss"] = True
    if name == "CLIPForImageClassification":
        inputs["labels"] = torch.tensor([0, 1, 1])
    return inputs


def tensors(out):
    """Every number that came out, of the towers too."""
    for key, value in out.items():
        if isinstance(value, torch.Tensor):
            yield key, value
        elif hasattr(value, "items"):
            yield from ((f"{key}.{inner}", tensor) for inner, tensor in tensors(value))


def scalar(out):
    return sum((t * torch.arange(t.numel(), dtype=t.dtype).view_as(t).cos()).sum() for _, t in tensors(out))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", HEADS)
def test_numbers_and_gradients(parity, name, case, dtype, tmp_path):
    theirs = made(parity, name, *CASES[case])
    ours = parity.read(theirs, tmp_path).to(dtype)
    assert ours.head == HEADS[name]
    inputs = given(name, theirs.config, dtype)
    expected, out = theirs.to(dtype)(**inputs), ours(**inputs)
    found = dict(tensors(out))
    for key, tensor in tensors(expected):
        real = (inputs["attention_mask"] == 1) if key.endswith("last_hidden_state") and tensor.size(1) == 9 else ...
        torch.testing.assert_close(found.pop(key)[real], tensor[real], **CLOSE[dtype], msg=lambda t, k=key: f"{k}: {t}")
    assert not found
    which = (lambda out: out.loss) if "loss" in expected and expected.loss is not None else scalar
    which(expected).backward(), which(out).backward()
    grads = {key: parameter.grad for key, parameter in ours.named_parameters() if parameter.grad is not None}
    in_front = name not in ("CLIPTextModel", "CLIPVisionModel")  # whose parameters have no name of a tower in memory
    grads = ours.names.dump(grads, with_head=in_front)
    wanted = {key: parameter.grad for key, parameter in theirs.named_parameters() if parameter.grad is not None}
    assert grads.keys() == wanted.keys()
    for key, gradient in wanted.items():
        close = {**CLOSE[dtype], "atol": 10 * CLOSE[dtype]["atol"]}
        torch.testing.assert_close(grads[key], gradient, **close, msg=lambda text, n=key: f"{n}: {text}")


@torch.no_grad()
@pytest.mark.parametrize("size", [(16, 16), (24, 24), (8, 20), (17, 16)])
def test_positions_are_stretched_over_other_sizes(parity, size, tmp_path):
    theirs = made(parity, "CLIPModel")
    ours, inputs = parity.read(theirs, tmp_path), given("CLIPModel", theirs.config, torch.float32, size)
    found, expected = (model(**inputs, interpolate_pos_encoding=True) for model in (ours, theirs))
    torch.testing.assert_close(found.logits_per_image, expected.logits_per_image, rtol=1e-4, atol=1e-5)
    states = (out.vision_model_output.last_hidden_state for out in (found, expected))
    torch.testing.assert_close(*states, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_features_of_one_side(parity, tmp_path):
    theirs = made(parity, "CLIPModel")
    ours, inputs = parity.read(theirs, tmp_path), given("CLIPModel", theirs.config, torch.float32)
    pixels, text = inputs["pixel_values"][:2], {name: inputs[name] for name in ("input_ids", "attention_mask")}
    expected = theirs.get_image_features(pixels).pooler_output, theirs.get_text_features(**text).pooler_output
    found = ours.get_image_features(pixels).pooler_output, ours.get_text_features(**text).pooler_output
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    scores, wanted = (
        m(pixel_values=pixels, **text).logits_per_text for m in (ours, theirs)
    )  # three texts, two pictures
    torch.testing.assert_close(scores, wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="3 texts, 2 pictures: a loss is of pairs"):
        ours(pixel_values=pixels, **text, return_loss=True)
    with pytest.raises(ValueError, match="get_image_features needs the whole model.*'text_projection'"):
        tfkit.from_pretrained(tmp_path, head="text_projection").get_image_features(pixels)


@torch.no_grad()
@pytest.mark.parametrize("name", HEADS)
def test_their_library_reads_our_files(parity, name, tmp_path):
    theirs = made(parity, name, {"pad_token_id": 5, "initializer_range": 0.3})
    parity.read(theirs, tmp_path / "theirs").save_pretrained(tmp_path / "ours")
    again, report = getattr(hf, name).from_pretrained(tmp_path / "ours", output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"]
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key
    wanted, found = theirs.config.to_dict(), again.config.to_dict()
    for config in (wanted, found):
        for field in ("_name_or_path", "architectures", "dtype", "transformers_version"):
            for part in (config, *(config[name] for name in ("text_config", "vision_config") if name in config)):
                part.pop(field, None)
    assert found == wanted
    assert type(hf.AutoConfig.from_pretrained(tmp_path / "ours")) is type(theirs.config)


@torch.no_grad()
@pytest.mark.parametrize("name", [name for name in HEADS if name != "CLIPForImageClassification"])
def test_a_tower_of_a_whole_models_file(parity, name, tmp_path):
    """Published files hold both; each class reads its part, and its own file, with the tower's name in front of each
    tensor's or without, is read again."""
    whole = made(parity, "CLIPModel")
    whole.save_pretrained(tmp_path / "whole")
    theirs, ours = getattr(hf, name).from_pretrained(tmp_path / "whole"), tfkit.from_pretrained(
        tmp_path / "whole", head=HEADS[name]
    )  # fmt: skip
    inputs = given(name, theirs.config, torch.float32)
    expected = dict(tensors(theirs(**inputs)))
    theirs.save_pretrained(tmp_path / "part")
    ours.save_pretrained(tmp_path / "ours")
    for model in (ours, tfkit.from_pretrained(tmp_path / "part"), tfkit.from_pretrained(tmp_path / "ours")):
        found = dict(tensors(model(**inputs)))
        for key in expected.keys() - {"last_hidden_state", "text_model_output.last_hidden_state"}:  # padding's too
            torch.testing.assert_close(found[key], expected[key], rtol=1e-4, atol=1e-5)


def test_a_new_head_needs_its_tower(parity, tmp_path):
    made(parity, "CLIPModel").save_pretrained(tmp_path / "whole")
    made(parity, "CLIPTextModel").save_pretrained(tmp_path / "text")
    assert tfkit.from_pretrained(tmp_path / "whole", head="image_classification", new_head=True).task_head
    tfkit.from_pretrained(tmp_path / "text", head="text_projection", new_head=True).save_pretrained(tmp_path / "mine")
    with pytest.raises(ValueError, match="tensors missing: image.embed.cls_token"):
        tfkit.from_pretrained(tmp_path / "mine", head="image_classification", new_head=True)


def change(directory, **changes):
    file = directory / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({field: value for field, value in {**config, **changes}.items() if value is not None}))


# every field that a section had besides its own in files of transformers 4.16, such as OpenAI's, with its default
OF_4_16 = {
    "_name_or_path": "", "add_cross_attention": False, "architectures": None, "bad_words_ids": None,
    "bos_token_id": 0, "chunk_size_feed_forward": 0, "cross_attention_hidden_size": None,
    "decoder_start_token_id": None, "diversity_penalty": 0.0, "do_sample": False, "early_stopping": False,
    "encoder_no_repeat_ngram_size": 0, "eos_token_id": 2, "finetuning_task": None, "forced_bos_token_id": None,
    "forced_eos_token_id": None, "id2label": {"0": "LABEL_0", "1": "LABEL_1"}, "is_decoder": False,
    "is_encoder_decoder": False, "label2id": {"LABEL_0": 0, "LABEL_1": 1}, "length_penalty": 1.0, "max_length": 20,
    "min_length": 0, "no_repeat_ngram_size": 0, "num_beam_groups": 1, "num_beams": 1, "num_return_sequences": 1,
    "output_attentions": False, "output_hidden_states": False, "output_scores": False, "pad_token_id": 1,
    "prefix": None, "problem_type": None, "pruned_heads": {}, "remove_invalid_values": False,
    "repetition_penalty": 1.0, "return_dict": True, "return_dict_in_generate": False, "sep_token_id": None,
    "task_specific_params": None, "temperature": 1.0, "tie_encoder_decoder": False, "tie_word_embeddings": True,
    "tokenizer_class": None, "top_k": 50, "top_p": 1.0, "torch_dtype": None, "torchscript": False,
    "transformers_version": "4.16.0.dev0", "typical_p": 1.0, "use_bfloat16": False,
}  # fmt: skip
OF_BOTH = {"attention_dropout": 0.0, "dropout": 0.0, "hidden_act": "quick_gelu", "initializer_factor": 1.0}
OF_BOTH |= {"initializer_range": 0.02, "layer_norm_eps": 1e-5}


def old_section(own, kind):
    return {**OF_4_16, **OF_BOTH, **own, "eos_token_id": 2, "model_type": kind}


def old_files(directory):
    """config.json of the whole model as OpenAI's was written; weights that transformers saved beside it."""
    config = {
        "_name_or_path": "clip", "architectures": ["CLIPModel"], "initializer_factor": 1.0,
        "logit_scale_init_value": 2.6592, "model_type": "clip", "projection_dim": 10,
        "text_config": old_section(TEXT, "clip_text_model"), "text_config_dict": None, "torch_dtype": "float32",
        "transformers_version": None, "vision_config": old_section(IMAGE, "clip_vision_model"),
        "vision_config_dict": None,
    }  # fmt: skip
    (directory / "config.json").write_text(json.dumps(config))


@torch.no_grad()
@pytest.mark.parametrize("name", HEADS)
def test_configurations_of_transformers_4_16(parity, name, tmp_path):
    """Each class of a file with both towers, and its own file, where a tower's fields stand at the top."""
    made(parity, "CLIPModel", {"eos_token_id": 2}).save_pretrained(tmp_path)
    old_files(tmp_path)
    theirs = getattr(hf, name).from_pretrained(tmp_path)
    ours = tfkit.from_pretrained(tmp_path, head=HEADS[name], new_head=name == "CLIPForImageClassification")
    inputs = given(name, theirs.config, torch.float32)
    if name != "CLIPForImageClassification":  # whose head is new
        expected, found = theirs(**inputs), ours(**inputs)
        key = next(key for key in expected if "embeds" in key or key == "pooler_output")
        torch.testing.assert_close(found[key], expected[key], rtol=1e-4, atol=1e-5)
    theirs.save_pretrained(tmp_path / "part")
    own = json.loads((tmp_path / "part" / "config.json").read_text())
    if "text_config" not in own:
        section = old_section(TEXT if "Text" in name else IMAGE, own["model_type"])
        change(tmp_path / "part", **{**section, "architectures": [name]})
    change(tmp_path / "part", tie_word_embeddings=True)
    assert tfkit.from_pretrained(tmp_path / "part").head == HEADS[name]


# what stands in `…_config_dict`, and what in the section itself
TWICE = {
    "all but one": (lambda own: {n: v for n, v in own.items() if n != "eos_token_id"}, {"eos_token_id": 2}),
    "nothing": (lambda own: {}, {"eos_token_id": 2, "hidden_size": 24, "num_hidden_layers": 2}),
    "none": (lambda own: None, None),
}


@pytest.mark.parametrize("case", TWICE)
def test_sections_that_are_described_twice(case, tmp_path):
    """`…_config_dict` says all of a tower: what it leaves out has its default, whatever the section says."""
    described, section = TWICE[case]
    config = {"architectures": ["CLIPModel"], "model_type": "clip", "projection_dim": 10}
    for name, own in (("text_config", TEXT), ("vision_config", {**IMAGE, "layer_norm_eps": 0.1})):
        config |= {name: own if section is None else section, f"{name}_dict": described(own)}
    (tmp_path / "config.json").write_text(json.dumps(config))
    clip, theirs = tfkit.registry.load("clip"), hf.CLIPConfig.from_pretrained(tmp_path)
    found = clip.Config(**published.read(clip, config)[0])
    for field, ours in clip.HF_FIELDS.items():
        part, _, last = field.rpartition(".")
        if part:
            assert getattr(found, ours) == getattr(getattr(theirs, part), last), field


@pytest.mark.parametrize(("changes", "message"), [
    ({"text_config": {**TEXT, "sharper": 2}}, "config.json: unknown fields: text_config.sharper"),
    ({"vision_config": {**IMAGE, "is_decoder": True}}, "vision_config.is_decoder is True; only False is implemented"),
    ({"vision_config": {**IMAGE, "patch_size": [4, 4]}}, r"patch_size=\[4, 4\]: must be a whole number"),
    ({"text_config": {**TEXT, "eos_token_id": [1, 2]}}, r"eos_token_id=\[1, 2\]: must be a whole number"),
])  # fmt: skip
def test_configurations_that_are_not_understood(parity, changes, message, tmp_path):
    made(parity, "CLIPModel").save_pretrained(tmp_path)
    change(tmp_path, **changes)
    with pytest.raises(ValueError, match=message):
        tfkit.from_pretrained(tmp_path)


def tiny(head=None, **changes):
    fields = {"vocab_size": 9, "d_model": 4, "n_layers": 1, "n_heads": 1, "d_ff": 4, "max_length": 5, "eos_token_id": 8}
    fields |= {"d_image": 4, "n_image_layers": 1, "n_image_heads": 1, "d_image_ff": 4, "image_size": 6, "patch_size": 2}
    return tfkit.from_config("clip", head=head, **{**fields, **changes})


PICTURE, IDS = torch.zeros(1, 3, 6, 6), torch.tensor([[3, 8]])


@pytest.mark.parametrize(("head", "inputs", "kind", "message"), [
    (None, {"input_ids": IDS}, ValueError, "pixel_values is missing"),
    (None, {"pixel_values": PICTURE}, ValueError, "input_ids"),
    (None, {"input_ids": IDS[:, :1], "pixel_values": PICTURE}, ValueError, "row 0 has no eos_token_id=8, whose state"),
    (None, {"input_ids": IDS, "pixel_values": PICTURE[:, :1]}, ValueError, r"pixel_values must be floats \[B,3,H,W\]"),
    (None, {"input_ids": IDS, "pixel_values": PICTURE[..., :4]}, ValueError, "pixel_values are 6 by 4, the positions"),
    (None, {"input_ids": IDS, "pixel_values": PICTURE[..., :1], "interpolate_pos_encoding": True}, ValueError,
     "pixel_values are 6 by 1, smaller than a patch of 2 by 2"),
    ("text_encoder", {"input_ids": IDS, "pixel_values": PICTURE}, TypeError, "pixel_values: head 'text_encoder' reads"),
    ("image_encoder", {"input_ids": IDS}, TypeError, "input_ids: head 'image_encoder' reads pixel_values"),
    ("text_encoder", {"input_ids": IDS, "return_loss": True}, TypeError, "return_loss: head 'text_encoder' reads"),
    (None, {"input_ids": IDS, "pixel_values": PICTURE, "return_loss": 1}, TypeError, "return_loss=1: must be True"),
    ("text_encoder", {"input_ids": IDS.expand(3, 2).reshape(1, 6)}, ValueError, "max_length is 5"),
    ("text_encoder", {"input_ids": IDS, "labels": IDS}, TypeError, "labels: not a target of head 'text_encoder'"),
])  # fmt: skip
def test_inputs_that_do_not_fit_are_named(head, inputs, kind, message):
    with pytest.raises(kind, match=message):
        tiny(head)(**inputs)


@pytest.mark.parametrize(("head", "changes", "message"), [
    (None, {"image_eps": -1}, "^image_eps=-1: must not be below 0$"),
    (None, {"initial_scale": float("nan")}, "^initial_scale=nan: must be finite$"),
    (None, {"initial_scale": float("inf")}, "^initial_scale=inf: must be finite$"),
    ("text_encoder", {"eos_token_id": 9}, "^eos_token_id=9: outside the vocabulary of vocab_size=9$"),
    (None, {"eos_token_id": -1}, "^eos_token_id=-1: outside the vocabulary"),
    (None, {"d_image": 5, "n_image_heads": 2}, "^n_image_heads=2 does not divide d_image=5$"),
])  # fmt: skip
def test_values_that_cannot_be_are_named(head, changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(head, **changes)


def test_the_first_files_end_needs_no_row_nor_a_picture_an_end():
    assert tiny(vocab_size=2, eos_token_id=2).text.end == 2
    assert tiny("image_encoder", vocab_size=3).text is None


@pytest.mark.parametrize(("positions", "kind", "message"), [
    ([0, 1], TypeError, "position_ids is a list: give a tensor"),
    (torch.tensor([0.0, 1.0]), ValueError, "position_ids is torch.float32"),
    (torch.tensor([[0, 1]] * 3), ValueError, r"position_ids has shape \[3, 2\], input_ids has \[2, 2\]"),
    (torch.tensor([[[0, 1]]]), ValueError, r"position_ids has shape \[1, 1, 2\]"),
    (torch.tensor(0), ValueError, r"position_ids has shape \[\]"),
    (torch.tensor([0, 1, 2]), ValueError, r"position_ids has shape \[3\]"),
])  # fmt: skip
@pytest.mark.parametrize("name", ["clip", "bert", "gpt2"])
def test_positions_that_do_not_fit_are_named(name, positions, kind, message):
    if name == "clip":
        model = tiny("text_encoder")
    else:
        model = tfkit.from_config(name, vocab_size=9, d_model=4, n_layers=1, n_heads=1, d_ff=4, max_length=5)
    with pytest.raises(kind, match=message):
        model(IDS.expand(2, 2), position_ids=positions)


@torch.no_grad()
def test_positions_of_all_or_of_each_text():
    model = tiny("text_encoder").eval()
    expected = model(IDS.expand(2, 2)).pooler_output
    for positions in (torch.arange(2), torch.arange(2)[None], torch.arange(2, dtype=torch.int32).expand(2, 2)):
        torch.testing.assert_close(model(IDS.expand(2, 2), position_ids=positions).pooler_output, expected)


@pytest.mark.parametrize("changes", [{"image_size": 1}, {"patch_size": 0}])
def test_pictures_without_a_patch_are_refused(changes):
    with pytest.raises(ValueError, match="must be at least patch_size="):
        tiny(**changes)


@torch.no_grad()
def test_a_text_is_read_from_left_to_right_up_to_its_first_end():
    """So nothing after it, padding or not, counts; before it, all does."""
    model = tiny("text_projection", max_length=8).eval()
    ids = torch.tensor([[1, 4, 3, 8, 5, 8, 2]])
    vector = model(ids).text_embeds
    for place in range(7):
        other = ids.clone()
        other[0, place] = 6
        assert torch.equal(model(other).text_embeds, vector) == (place > 3), place


def test_a_resized_vocabulary_goes_on():
    model = tiny()
    model.resize_token_embeddings(12)
    assert model.config.vocab_size == 12
    assert model(torch.tensor([[11, 8]]), PICTURE).text_embeds.isfinite().all()
    with pytest.raises(ValueError, match="new_num_tokens=8: eos_token_id=8 would be outside the vocabulary"):
        model.resize_token_embeddings(8)
    assert model.config.vocab_size == 12
    with pytest.raises(ValueError, match="CLIP with head 'image_encoder' reads pictures"):
        tiny("image_encoder").resize_token_embeddings(12)
