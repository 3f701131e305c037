"""`autograder variants`: lists the exercises' other contracts, shows one, says whose is which, and proves them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autograder.api import Exercise
from autograder.console.base import BadInput, positive, seed_number
from autograder.exercises import registry
from autograder.exercises.answers import answers
from autograder.exercises.contracts import draw_contract, full_id, rewrite, with_contract

if TYPE_CHECKING:
    from autograder.variants.prove import ContractProof

SHOW = "show"
OWN = "(the course's own contract)"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add what `run` reads."""
    command.add_argument("ids", nargs="*", metavar="ID",
                         help="exercise ids, by default all; or `show ID@NAME` to print one contract with a right "
                              "answer")  # fmt: skip
    command.add_argument("--group", metavar="NAME", help="only the contracts that this group has, as `variants` in "
                         "course.toml names it")  # fmt: skip
    command.add_argument("--prove", action="store_true",
                         help="judge every collected answer under each contract")  # fmt: skip
    command.add_argument("--seed", type=seed_number, default=0, metavar="N",
                         help="seed of the random inputs (default: %(default)s)")  # fmt: skip
    command.add_argument("--workers", type=positive, default=1, metavar="N",
                         help="contracts that are proved at the same time (default: %(default)s)")  # fmt: skip
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prints what was asked for; 1 if something that was to be proved does not hold. Raises BadInput."""
    if arguments.ids[:1] == [SHOW]:
        return _show(arguments.ids[1:])
    chosen = list(_chosen(arguments.ids, arguments.group))
    if arguments.prove:
        return _prove(chosen, arguments)
    for exercise in chosen:
        print(f"{full_id(exercise):44} {exercise.contract.sentence if exercise.contract else OWN}")
    return 0


def _chosen(ids: Sequence[str], group: str | None) -> Iterator[Exercise]:
    """The exercises under each of their contracts, or under the one that is named or drawn."""
    for exercise in [registry.find(name) for name in ids] or registry.exercises():
        if group is not None:
            yield with_contract(exercise, draw_contract(exercise, group))
        elif exercise.contract:
            yield exercise
        else:
            yield from (with_contract(exercise, one.name) for one in exercise.contracts)


def _show(wanted: Sequence[str]) -> int:
    if len(wanted) != 1 or (exercise := registry.find(wanted[0])).contract is None:
        raise BadInput("`autograder variants show` needs one contract, such as masks.causal@hidden")
    print(f"{exercise.contract.sentence}\n")
    original = answers(with_contract(exercise, ""), "right")[0]
    print(rewrite(exercise, original.read_text(encoding="utf-8")), end="")
    return 0


def _prove(chosen: Sequence[Exercise], arguments: argparse.Namespace) -> int:
    from autograder.corpus.parallel import measure_each

    ids = [full_id(exercise) for exercise in chosen if exercise.contract]
    proofs = []
    for _, proof in measure_each(ids, _Proving(arguments.seed), arguments.workers):
        proofs.append(proof)
        print("\n".join([proof.line, *(f"  {one}" for one in proof.complaints)]), flush=True)
    failed = sum(bool(proof.complaints) for proof in proofs)
    print(f"{len(proofs)} contracts, {failed} with an answer that is misjudged")
    return 1 if failed else 0


class _Proving:
    """Proves a contract by its id, in whichever process."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, name: str) -> ContractProof:
        from autograder.variants.prove import prove

        return prove(registry.find(name), self.seed)
