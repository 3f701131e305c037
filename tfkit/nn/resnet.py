"""A residual convolutional network (He et al. 2015, arXiv:1512.03385) that turns an image into a few vectors.

Its tensors have the names of torchvision's checkpoints; the last layer, the classifier, is left out.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch.nn.functional as F
from torch import Tensor, nn


def conv(inner: int, outer: int, size: int, stride: int = 1) -> nn.Conv2d:
    """A convolution without bias, padded so that the image size changes only by the stride."""
    return nn.Conv2d(inner, outer, size, stride, padding=size // 2, bias=False)


class ResidualBlock(nn.Module):
    """x + f(x); f is three convolutions with a narrow middle one ("bottleneck"), or two. If the shape changes, x goes
    through a convolution of its own. The stride of 2 is in the 3×3 convolution, as in torchvision's weights."""

    def __init__(self, inner: int, width: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        outer = 4 * width if bottleneck else width
        shapes = [(inner, width, 1, 1), (width, width, 3, stride), (width, outer, 1, 1)]
        shapes = shapes if bottleneck else [(inner, width, 3, stride), (width, width, 3, 1)]
        self.depth = len(shapes)
        for index, shape in enumerate(shapes, 1):
            self.add_module(f"conv{index}", conv(*shape))
            self.add_module(f"bn{index}", nn.BatchNorm2d(shape[1]))
        self.downsample = None
        if stride > 1 or inner != outer:
            self.downsample = nn.Sequential(conv(inner, outer, 1, stride), nn.BatchNorm2d(outer))

    def forward(self, x: Tensor) -> Tensor:
        """x [B,C,H,W] -> [B,C',H/stride,W/stride], rounded up"""
        y = x
        for index in range(1, self.depth + 1):
            y = self.get_submodule(f"bn{index}")(self.get_submodule(f"conv{index}")(y))
            y = F.relu(y) if index < self.depth else y
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """blocks: in each of the four stages; (3, 4, 6, 3) with bottleneck is ResNet-50, (3, 8, 36, 3) ResNet-152, and (2,
    2, 2, 2) without it ResNet-18. regions: rows and columns of the grid that the image is average-pooled to."""

    def __init__(
        self,
        blocks: tuple[int, ...] = (3, 4, 6, 3),
        width: int = 64,
        bottleneck: bool = True,
        regions: Sequence[int] = (3, 1),
    ) -> None:
        super().__init__()
        self.regions = (regions[0], regions[1])
        self.conv1, self.bn1 = conv(3, width, 7, 2), nn.BatchNorm2d(width)
        widths = [width, *(width * 2**stage * (4 if bottleneck else 1) for stage in range(4))]
        for stage, (count, (inner, outer)) in enumerate(zip(blocks, pairwise(widths), strict=True)):
            made = [
                ResidualBlock(outer if index else inner, width * 2**stage, 2 if stage and not index else 1, bottleneck)
                for index in range(count)
            ]
            self.add_module(f"layer{stage + 1}", nn.Sequential(*made))
        self.width = widths[-1]

    def forward(self, images: Tensor) -> Tensor:
        """images [B,3,H,W] -> [B,N,F]: one vector per region, row by row"""
        if images.dim() != 4 or images.size(1) != 3:
            raise ValueError(f"images must be [B,3,H,W]; got {list(images.shape)}")
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(images))), 3, 2, padding=1)
        for stage in range(1, 5):
            x = self.get_submodule(f"layer{stage}")(x)
        return F.adaptive_avg_pool2d(x, self.regions).flatten(2).mT
