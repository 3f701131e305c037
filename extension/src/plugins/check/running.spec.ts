import { describe, expect, it } from 'vitest';
import { RunningChecks } from './running';

describe('the running checks', () => {
  it('show the outcome of a check once, also of one that its reader cancelled', () => {
    const [running, cell] = [new RunningChecks(), {}];
    const check = running.start(cell);
    check.abort();
    expect(running.matters(cell, check)).toBe(true);
    running.end(cell, check);
    expect(running.matters(cell, check)).toBe(false);
  });

  it('do not show that a check was cancelled whose place another verdict takes', () => {
    const [running, cell] = [new RunningChecks(), {}];
    const check = running.start(cell);
    running.stop(cell); // check() in the kernel has the newer verdict
    expect(check.signal.aborted).toBe(true);
    expect(running.matters(cell, check)).toBe(false);
  });

  it('are one for each cell', () => {
    const [running, cell, other] = [new RunningChecks(), {}, {}];
    const [first, elsewhere, second] = [running.start(cell), running.start(other), running.start(cell)];
    expect([first, elsewhere, second].map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    running.end(cell, first); // late
    expect(running.matters(cell, first)).toBe(false);
    expect(running.matters(cell, second)).toBe(true);
    expect(running.matters(other, elsewhere)).toBe(true);
  });
});
