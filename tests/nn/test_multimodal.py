import torch

from tfkit.nn import multimodal_inputs


def test_image_first_and_positions_restart():
    torch.manual_seed(0)
    image, text = torch.randn(2, 3, 4), torch.randn(2, 5, 6)
    w, b, segment, position = torch.randn(4, 6), torch.randn(6), torch.randn(2, 6), torch.randn(9, 6)
    out = multimodal_inputs(image, text, w, b, segment, position)
    assert out.shape == (2, 8, 6)
    for place in range(3):
        expected = torch.nn.functional.linear(image[:, place], w.T, b) + segment[0] + position[place]
        torch.testing.assert_close(out[:, place], expected)
    for place in range(5):
        torch.testing.assert_close(out[:, 3 + place], text[:, place] + segment[1] + position[place])
