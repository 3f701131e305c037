"""In-batch negatives from all processes: loss and gradients are those of one process with every question."""

import subprocess
import sys

import torch

from tfkit.objectives.in_batch_contrastive import in_batch_loss

PROCESS = """
import sys, torch, torch.distributed as dist
from tfkit.objectives.in_batch_contrastive import in_batch_loss_across_ranks
dist.init_process_group("gloo")
rank, (questions, contexts, positives) = dist.get_rank(), torch.load(sys.argv[1])
mine = [t.chunk(2)[rank].clone().requires_grad_() for t in (questions, contexts)]
loss = in_batch_loss_across_ranks(*mine, positives.chunk(2)[rank] - 3 * rank)
loss.backward()
torch.save([loss.detach(), *(t.grad / 2 for t in mine)], f"{sys.argv[1]}.{rank}")  # DDP takes the mean of gradients
dist.destroy_process_group()
"""


def test_two_processes_are_one(tmp_path):
    torch.manual_seed(0)
    questions, contexts = torch.randn(4, 5).double(), torch.randn(6, 5).double()
    positives = torch.tensor([2, 0, 5, 3])  # each question's own context is on its own process
    torch.save((questions, contexts, positives), tmp_path / "given")
    (tmp_path / "process.py").write_text(PROCESS)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*launch, str(tmp_path / "process.py"), str(tmp_path / "given")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    parts = [torch.load(tmp_path / f"given.{rank}") for rank in range(2)]
    whole = [questions.requires_grad_(), contexts.requires_grad_()]
    loss = in_batch_loss(*whole, positives)
    loss.backward()
    torch.testing.assert_close((parts[0][0] + parts[1][0]) / 2, loss.detach())
    for i, tensor in enumerate(whole):
        torch.testing.assert_close(torch.cat([part[i + 1] for part in parts]), tensor.grad)
