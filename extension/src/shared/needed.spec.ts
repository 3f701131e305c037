import { expect, it, vi } from 'vitest';
import { neededAbove, prepareTab, setupAbove, startCell, succeeds } from './needed';

interface ICell {
  model: { id: string; type: string; getMetadata(key: string): unknown };
}

const cell = (id: string, role?: string, type = 'code'): ICell => ({
  model: { id, type, getMetadata: key => (key === 'tfkit' && role ? { role } : undefined) }
});
const [title, start, imports, plot, predict, given, first, own, answer, check] = [
  cell('title', undefined, 'markdown'),
  cell('tab-start', 'demo'),
  cell('imports', 'setup'),
  cell('plot', 'demo'),
  cell('predict', 'predict'),
  cell('given', 'setup'),
  cell('first', 'exercise'),
  cell('own'),
  cell('answer', 'exercise'),
  cell('check', 'check')
];
const cells = [title, start, imports, plot, predict, given, first, own, answer, check];

it('knows which cells above an answer it may need', () => {
  expect(neededAbove(cells, answer)).toEqual([imports, given, first, own]);
  expect(neededAbove(cells, check)).toEqual([imports, given, first, own, answer]);
  expect(setupAbove(cells, answer)).toEqual([imports, given]);
  expect(setupAbove(cells, given)).toEqual([imports]);
  expect([startCell(cells), startCell([answer])]).toEqual([start, null]);
});

/** A kernel in which this code succeeds, and what it was asked. */
const kernelWith = (known: string[]) => ({
  requestExecute: vi.fn(({ code }: { code: string }) => ({
    done: Promise.resolve({ content: { status: known.includes(code) || code.includes(' = ') ? 'ok' : 'error' } })
  }))
});
type Kernel = Parameters<typeof succeeds>[0];

/** The cells that are run before a check in such a kernel, and whether the check may follow. */
async function prepared(known: string[], failing: ICell[] = []): Promise<[string[], boolean, number]> {
  const ran: string[] = [];
  const run = (some: readonly ICell[]): Promise<boolean> => {
    ran.push(...some.map(({ model }) => model.id));
    return Promise.resolve(!some.some(one => failing.includes(one)));
  };
  const installing = vi.fn();
  const kernel = kernelWith(known) as unknown as Kernel;
  const fine = await prepareTab(kernel, cells, answer, run, installing);
  return [ran, fine, installing.mock.calls.length];
}

it('runs in a new kernel what installs the course, and the set-up cells', async () => {
  expect(await prepared([])).toEqual([['tab-start', 'imports', 'given'], true, 1]);
});

it('installs nothing twice, and runs nothing where all is there', async () => {
  expect(await prepared(['import autograder'])).toEqual([['imports', 'given'], true, 0]);
  expect(await prepared(['import autograder', '_tfkit_ready'])).toEqual([[], true, 0]);
});

it('checks nothing where the course cannot be installed, or a set-up cell stops', async () => {
  expect(await prepared([], [start])).toEqual([['tab-start'], false, 1]);
  expect(await prepared([], [given])).toEqual([['tab-start', 'imports', 'given'], false, 1]);
});

it('asks a kernel without a trace in the notebook', async () => {
  const kernel = kernelWith(['x']);
  expect(await succeeds(kernel as unknown as Kernel, 'x')).toBe(true);
  expect(await succeeds(kernel as unknown as Kernel, 'y')).toBe(false);
  expect(kernel.requestExecute.mock.calls[0][0]).toMatchObject({ silent: true, store_history: false });
});
