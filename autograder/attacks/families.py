"""Which promise of SECURITY.md each family of attacks puts to the test. The promises stand here as they stand there."""

from __future__ import annotations

from dataclasses import dataclass

BOX = (
    "Student code runs in a box without network, home directory or course; what comes out is data, never pickle or code"
)
VERDICT = (
    "No verdict is formed in the box, which holds neither the reference of the graded exercise nor the expected values"
)
COST = (
    "One submission costs only itself: a broken, huge, deeply nested or hostile file is one line for its student, and "
    "cells that end the box cost six boxes"
)

CLOCK = (
    "Speed is judged by processor time that is counted outside the box, as a ratio to the reference in a box of the "
    "same kind, with new inputs and a checked answer in each turn"
)


@dataclass(frozen=True)
class AttackFamily:
    """What its attacks are after, and the promise of SECURITY.md that would be broken if one of them won."""

    aim: str
    promise: str


FAMILIES = {
    "files": AttackFamily("read or change files of the course, the grader or the machine", BOX),
    "network": AttackFamily("reach a server, a socket or another process's service", BOX),
    "processes": AttackFamily("end, stop or outlive processes", BOX),
    "gpu": AttackFamily("take or misuse the graphics card", BOX),
    "scoring": AttackFamily("be paid without a right answer", VERDICT),
    "kernel": AttackFamily("find the reference in the box, or replace what runs there", VERDICT),
    "frames": AttackFamily("forge the answers that leave the box", VERDICT),
    "resources": AttackFamily("take memory, time or descriptors", COST),
    "output": AttackFamily("flood or break what is shown of the output", COST),
    "metadata": AttackFamily("forge or break the notebook that is handed in", COST),
    "clock": AttackFamily("look as quick as the reference without being so", CLOCK),
}
SAMPLE = frozenset(  # a second each, of all families
    """
    scoring-comparison-patched scoring-subclass-agrees kernel-frames-walked kernel-reference-imported
    kernel-agent-replaced kernel-threads-left files-reference-read files-key-read files-gradebook-written
    files-modes-changed files-left-for-the-next files-left-found files-environment-read processes-daemon
    processes-everyone-killed processes-parent-traced processes-shared-objects processes-shared-objects-again
    network-tcp-local network-abstract-socket network-unix-socket resources-memory-of-python output-bundle-forged
    frames-garbage frames-tensor-lies metadata-execution-skipped metadata-check-twice metadata-verdict-written
    gpu-answer-elsewhere clock-cached-by-address clock-child-ends-unheard clock-lazy-wrapper clock-timers-frozen
    clock-reference-slowed-by-a-thread
    """.split()  # noqa: SIM905
)
