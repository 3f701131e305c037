"""Low-rank adaptation (Hu et al. 2021, arXiv:2106.09685): a frozen layer plus the product of two thin matrices."""

from torch import Tensor, nn


class LoRALinear(nn.Module):
    """`base(x) + alpha / rank * x aᵀ bᵀ`: x [...,in] -> [...,out]. Only `a` and `b` are trained.

    base: a linear layer, with a bias or without, whose parameters get no gradient. Parameters: `a` [rank,in], random,
    and `b` [out,rank], zero, so that at first nothing changes; in base.weight's dtype and on its device.
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.scale = alpha / rank
        weight = base.weight
        self.a = nn.Parameter(weight.new_zeros(rank, weight.size(1)).normal_(std=weight.size(1) ** -0.5))
        self.b = nn.Parameter(weight.new_zeros(weight.size(0), rank))

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)

    def merged(self) -> Tensor:
        """-> [out,in]: the single weight equal to the layer and its adapter, without extra cost. Changes nothing in
        place."""
        return self.base.weight + self.scale * (self.b @ self.a)
