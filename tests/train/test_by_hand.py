import math

import torch
from torch import nn

from tfkit.train import held_out_loss, train_loop


def squared_error(model, batch):
    return (model(batch[:, :3]) - batch[:, 3:]).square().mean()


def trained(batches, **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    options = {"rate_at": lambda step: 0.1, "evaluate_every": 1, "max_norm": math.inf} | options
    return model, *train_loop(model, squared_error, batches, batches[:1], optimizer, **options)


def test_accumulated_batches_are_one_large_batch_and_the_last_step_has_what_is_left():
    batches = list(torch.randn(10, 6, 4, generator=torch.Generator().manual_seed(1)))
    model, history, _ = trained(batches, accumulate=4)
    whole, history_whole, _ = trained([torch.cat(batches[i : i + 4]) for i in (0, 4, 8)])
    torch.testing.assert_close(list(model.parameters()), list(whole.parameters()))
    assert [step for step, _ in history] == [step for step, _ in history_whole] == [1, 2, 3]


def test_the_best_weights_are_a_copy_from_the_step_with_the_lowest_loss():
    draw = torch.Generator().manual_seed(2)
    batches = list(torch.randn(12, 6, 4, generator=draw))
    for batch in batches:  # the later half teaches the opposite
        batch[:, 3] = batch[:, 0]
    for batch in batches[6:]:
        batch[:, 3] = -batch[:, 0]
    model, history, best = trained(batches, rate_at=lambda step: 0.3)
    losses = [loss for _, loss in history]
    assert losses.index(min(losses)) < len(losses) - 1
    assert losses[-1] == held_out_loss(model, squared_error, batches[:1])
    model.load_state_dict(best)
    assert held_out_loss(model, squared_error, batches[:1]) == min(losses)
