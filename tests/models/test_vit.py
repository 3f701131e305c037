"""ViT is the published one: every head's numbers and gradients, in float32 and float64, and files both ways."""

from __future__ import annotations

import pytest
import torch

import tfkit

hf = pytest.importorskip("transformers")
SIZES = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 16,
    "patch_size": 4, "encoder_stride": 4, "num_labels": 5, "pooler_output_size": 7,
}  # fmt: skip
CASES = {
    "plain": {}, "no bias": {"qkv_bias": False, "num_channels": 1, "hidden_act": "gelu_new", "pooler_act": "silu"},
}  # fmt: skip
CLASSES = ("ViTModel", "ViTForImageClassification", "ViTForMaskedImageModeling")
CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-9, "atol": 1e-9}}


def made(parity, name, **changes):
    return parity.shake(getattr(hf, name)(hf.ViTConfig(**{**SIZES, **changes})))


def given(name, config, dtype, size=(16, 16)):
    """Three pictures, and what the head learns from."""
    draw = torch.Generator().manual_seed(1)
    inputs = {"pixel_values": torch.randn(3, config.num_channels, *size, generator=draw, dtype=dtype)}
    if name == "ViTForImageClassification":
        inputs["labels"] = torch.tensor([0, 4, 2])
    if name == "ViTForMaskedImageModeling":
        inputs["bool_masked_pos"] = torch.rand(3, 16, generator=draw) < 0.4
    return inputs


def saved_gradients(theirs, directory):
    """Their gradients under the names of their files, which are others than those in memory."""
    from safetensors.torch import load_file

    for parameter in theirs.parameters():
        parameter.data = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.clone()
    theirs.save_pretrained(directory)
    return load_file(directory / "model.safetensors")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", CLASSES)
def test_numbers_and_gradients(parity, name, case, dtype, tmp_path):
    theirs = made(parity, name, **CASES[case])
    ours = parity.read(theirs, tmp_path / "weights").to(dtype)
    inputs = given(name, theirs.config, dtype)
    expected, out = theirs.to(dtype)(**inputs), ours(**inputs)
    close = CLOSE[dtype]
    if name == "ViTForMaskedImageModeling" and dtype == torch.float64:
        close = {"rtol": 1e-7, "atol": 1e-9}  # they count hidden pixels, and add 1e-5, in float32
    for key in expected:
        torch.testing.assert_close(out[key], expected[key], **close)
    scalar = lambda found: found["loss"] if "loss" in found else found["pooler_output"].pow(2).sum()
    scalar(expected).backward(), scalar(out).backward()
    grads = {key: parameter.grad for key, parameter in ours.named_parameters()}
    grads = tfkit.registry.load("vit").HF.dump(grads, with_head=ours.head is not None)
    wanted = saved_gradients(theirs, tmp_path / "gradients")
    assert grads.keys() == wanted.keys()
    for key, gradient in wanted.items():
        torch.testing.assert_close(grads[key], gradient, **close, msg=lambda text, n=key: f"{n}: {text}")


@torch.no_grad()
@pytest.mark.parametrize("size", [(16, 16), (24, 24), (8, 20)])
def test_positions_are_stretched_over_other_sizes(parity, size, tmp_path):
    theirs = made(parity, "ViTForImageClassification")
    ours, pixels = parity.read(theirs, tmp_path), given("", theirs.config, torch.float32, size)["pixel_values"]
    expected = theirs(pixels, interpolate_pos_encoding=True).logits
    torch.testing.assert_close(ours(pixels, interpolate_pos_encoding=True).logits, expected, rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_pictures_wider_than_high(parity, tmp_path):
    theirs = made(parity, "ViTModel", image_size=[8, 20], patch_size=[4, 5])
    pixels = given("", theirs.config, torch.float32, (8, 20))["pixel_values"]
    found = parity.read(theirs, tmp_path)(pixels)
    torch.testing.assert_close(found.last_hidden_state, theirs(pixels).last_hidden_state, rtol=1e-4, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("name", CLASSES)
def test_their_library_reads_our_files(parity, name, tmp_path):
    theirs = made(parity, name)
    parity.read(theirs, tmp_path / "theirs").save_pretrained(tmp_path / "ours")
    again = getattr(hf, name).from_pretrained(tmp_path / "ours")
    for key, tensor in theirs.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor), key


@pytest.mark.parametrize(("pixels", "message"), [
    (None, "pixel_values is missing"),
    (torch.zeros(1, 3, 6, 6, dtype=torch.long), r"pixel_values must be floats \[B,3,H,W\]; got torch.int64"),
    (torch.zeros(1, 1, 6, 6), r"got torch.float32 \[1, 1, 6, 6\]"),
    (torch.zeros(1, 3, 8, 6), "pixel_values are 8 by 6, the positions are for 6 by 6: interpolate_pos_encoding=True"),
])  # fmt: skip
def test_pictures_that_do_not_fit_are_named(pixels, message):
    model = tfkit.from_config("vit", d_model=4, n_layers=0, n_heads=1, image_size=6, patch_size=2)
    with pytest.raises(ValueError, match=message):
        model(pixels)


def test_hidden_patches_that_do_not_fit_are_named():
    fields = {"d_model": 4, "n_layers": 0, "n_heads": 1, "image_size": 6, "patch_size": 2}
    model, pixels = tfkit.from_config("vit", head="masked_image", **fields), torch.zeros(1, 3, 6, 6)
    with pytest.raises(ValueError, match=r"bool_masked_pos has shape \[1, 4\], the patches have \[1, 9\]"):
        model(pixels, bool_masked_pos=torch.ones(1, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match="a loss needs stride=16 to be the patch's size"):
        model(pixels, bool_masked_pos=torch.ones(1, 9, dtype=torch.bool))
    with pytest.raises(ValueError, match="image_size=1: must be at least patch_size=2"):
        tfkit.from_config("vit", **{**fields, "image_size": 1})
