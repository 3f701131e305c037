"""torch in the browser: pyborch, and a thin layer for parts of torch that the course needs and pyborch lacks.

pyborch (Apache-2.0) computes with NumPy, in float32 and int64 only. A dtype that it lacks is an alias of the one that
it has: results are right, but of that dtype. So checks of dtypes are left out (`autograder.grade.practice`). What is
in torch but in neither of the two raises `UnsupportedInBrowser`.
"""

from __future__ import annotations

import sys
import time
import types
from typing import Any

import borch
from borch import *  # noqa: F403

from . import _missing, _pytree, _repairs, _weak
from ._missing import UnsupportedInBrowser

__version__ = f"0+pyborch.{borch.__version__}" if hasattr(borch, "__version__") else "0+pyborch"
__path__: list[str]

PRACTICE = "torch in the browser"  # by which autograder.grade.practice recognises it

for _name in dir(borch):
    if not _name.startswith("__"):
        globals().setdefault(_name, getattr(borch, _name))

float32, int64, complex64 = borch.float32, borch.int64, borch.complex64
float = float64 = double = float16 = half = bfloat16 = float32
int = int32 = int16 = short = int8 = uint8 = long = int64
complex128 = cdouble = complex32 = complex64
bool = borch.bool


def __getattr__(name: str) -> Any:
    raise UnsupportedInBrowser(f"torch.{name} is not supported by torch in the browser: use the lab")


class _Passes(types.ModuleType):
    """An importable module with the names of one of pyborch's namespaces."""

    def __init__(self, name: str, source: Any, **more: Any) -> None:
        super().__init__(name)
        self.__path__ = []
        self._source = source
        self.__dict__.update(more)

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self.__dict__["_source"], name)
        except AttributeError:
            if name.startswith("__"):
                raise
            where = f"{self.__name__}.{name}"
            raise UnsupportedInBrowser(f"{where} is not supported by torch in the browser: use the lab") from None


def _passes(name: str, source: Any, **more: Any) -> _Passes:
    module = _Passes(f"torch.{name}", source, **more)
    sys.modules[module.__name__] = module
    return module


if not hasattr(time, "thread_time"):  # the Python of a tab has one thread, and no clock for it
    time.thread_time = time.process_time
_missing.complete_tensors()
_missing.complete_modules()
_repairs.repair_tensors()
_repairs.repair_optimizers()
softmax, logsumexp = borch.Tensor.softmax, _repairs.logsumexp
einsum, gather, diagonal = _repairs.einsum, _repairs.gather, _repairs.diagonal
index_put, searchsorted = _repairs.index_put, _repairs.search_rows
globals().update(_missing.factories())
use_deterministic_algorithms = set_deterministic_debug_mode = set_num_threads = _missing.setting
functional = _passes(
    "nn.functional",
    borch.nn.functional,
    cross_entropy=_repairs.cross_entropy,
    kl_div=_repairs.kl_div,
    softmax=lambda x, dim=None, **how: x.softmax(dim) if not how.get("dtype") else x.to(how["dtype"]).softmax(dim),
    scaled_dot_product_attention=_repairs.scaled_dot_product_attention,
)
nn = _passes("nn", borch.nn, functional=functional, init=_passes("nn.init", _missing.Init))
cuda = _passes("cuda", _missing.Cuda)
random = _passes("random", _missing.Random)
fork_rng = random.fork_rng
_function = _passes("autograd.function", None, Function=_missing.Function, once_differentiable=lambda one: one)
autograd = _passes(
    "autograd", borch.autograd, Function=_missing.Function, set_detect_anomaly=_missing.setting, function=_function
)
_schedules = _passes("optim.lr_scheduler", borch.optim.lr_scheduler)
_averages = _passes("optim.swa_utils", None, AveragedModel=_missing.Placeholder)
optim = _passes("optim", borch.optim, lr_scheduler=_schedules, swa_utils=_averages)
_between = _passes("distributed.nn", None, functional=_passes("distributed.nn.functional", None))
distributed = _passes("distributed", _missing.OneProcess, nn=_between)
backends = _passes("backends", types.SimpleNamespace(cudnn=types.SimpleNamespace(allow_tf32=False)))
compiler = _passes("compiler", _missing.Compiler)
sys.modules["torch.utils._pytree"] = _pytree
sys.modules["torch.utils.weak"] = _weak
_dispatch = _passes("utils._python_dispatch", None, TorchDispatchMode=_missing.NoDispatch)
overrides = _passes("overrides", None, TorchFunctionMode=_missing.NoDispatch)
_recomputed = _passes("utils.checkpoint", _missing.NoRecomputation)
utils = _passes("utils", borch.utils, _pytree=_pytree, weak=_weak, checkpoint=_recomputed, _python_dispatch=_dispatch)
