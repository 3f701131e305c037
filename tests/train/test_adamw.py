import pytest
import torch

from tfkit.train.adamw import adamw_step


@pytest.mark.parametrize("options", [{}, {"beta1": 0.6, "beta2": 0.8, "eps": 1e-3, "weight_decay": 0.2}])
def test_twenty_steps_are_those_of_torch(options):
    torch.manual_seed(0)
    param = torch.randn(3, 2, dtype=torch.float64)
    m, v, theirs = torch.zeros_like(param), torch.zeros_like(param), torch.nn.Parameter(param.clone())
    betas = options.get("beta1", 0.9), options.get("beta2", 0.999)
    rest = {name: options[name] for name in ("eps", "weight_decay") if name in options}
    optimizer = torch.optim.AdamW([theirs], lr=0.1, betas=betas, **rest)
    for step in range(1, 21):
        theirs.grad = torch.randn_like(param)
        optimizer.step()
        param, m, v = adamw_step(param, theirs.grad, m, v, step, 0.1, **options)
    torch.testing.assert_close(param, theirs.detach(), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(m, optimizer.state[theirs]["exp_avg"], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(v, optimizer.state[theirs]["exp_avg_sq"], rtol=1e-12, atol=1e-12)
