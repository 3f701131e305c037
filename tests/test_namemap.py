import pytest
import torch

from tfkit.namemap import FusedTensors, NameMap

MAP = NameMap(
    {"h.{}.qkv": FusedTensors(("l.{}.q", "l.{}.k", "l.{}.v")), "wte": "embed"},
    prefix="body.",
    heads={"score": "head"},
    transposed=["h.{}.qkv"],
    tied={"out.weight": "wte.weight"},
    constant=[r"h\.\d+\.mask"],
)


def theirs():
    torch.manual_seed(0)
    found = {"body.wte.weight": torch.randn(5, 2), "score.bias": torch.randn(3)}
    for i in (0, 11):
        found |= {f"body.h.{i}.qkv.weight": torch.randn(2, 6), f"body.h.{i}.qkv.bias": torch.randn(6)}
    return found


def test_there_and_back():
    ours = MAP.load({**theirs(), "body.h.0.mask": torch.zeros(1), "out.weight": theirs()["body.wte.weight"]})
    assert torch.equal(ours["l.11.k.weight"], theirs()["body.h.11.qkv.weight"].T[2:4])
    back = MAP.dump(ours, with_head=True)
    assert back.keys() == theirs().keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in theirs().items())


def test_a_copy_stands_for_what_was_not_stored():
    found = theirs()
    found["out.weight"] = found.pop("body.wte.weight")
    assert torch.equal(MAP.load(found)["embed.weight"], found["out.weight"])


def test_total():
    with pytest.raises(ValueError, match="1 tensors not in the map: strange.weight"):
        MAP.load({**theirs(), "body.strange.weight": torch.zeros(1)})
    with pytest.raises(ValueError, match="out.weight differs from wte.weight"):
        MAP.load({**theirs(), "out.weight": torch.zeros(5, 2)})
    with pytest.raises(ValueError, match="the tensor mine.weight is not in the name map"):
        MAP.dump({"mine.weight": torch.zeros(1)}, with_head=False)
