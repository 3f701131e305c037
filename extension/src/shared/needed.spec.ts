import { expect, it, vi } from 'vitest';
import { neededAbove, noteRun, prepareTab, runOnce, setupAbove, startCell, succeeds } from './needed';

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

/** A kernel in which this code succeeds. It remembers which set-up cells it is told to have run, and what it was asked. */
const kernelWith = (known: string[]) => {
  const noted = new Set<string>();
  const isFine = (code: string): boolean => {
    const id = /"(.*)"/.exec(code)?.[1] ?? '';
    if (code.startsWith('_tfkit_ran = ')) {
      noted.add(id);
      return true;
    }
    return known.includes(code) || noted.has(id);
  };
  return {
    requestExecute: vi.fn(({ code }: { code: string }) => ({
      done: Promise.resolve({ content: { status: isFine(code) ? 'ok' : 'error' } })
    }))
  };
};
type Kernel = Parameters<typeof succeeds>[0];

/** The cells that are run before a check in such a kernel, and whether the check may follow. */
async function prepared(
  kernel: ReturnType<typeof kernelWith>,
  checked = answer,
  failing: ICell[] = []
): Promise<[string[], boolean, number]> {
  const ran: string[] = [];
  const run = (some: readonly ICell[]): Promise<boolean> => {
    ran.push(...some.map(({ model }) => model.id));
    return Promise.resolve(!some.some(one => failing.includes(one)));
  };
  const installing = vi.fn();
  const fine = await prepareTab(kernel as unknown as Kernel, cells, checked, run, installing);
  return [ran, fine, installing.mock.calls.length];
}

it('runs in a new kernel what installs the course, and the set-up cells', async () => {
  expect(await prepared(kernelWith([]))).toEqual([['tab-start', 'imports', 'given'], true, 1]);
});

it('installs nothing twice, and runs nothing where all is there', async () => {
  const kernel = kernelWith(['import autograder']);
  expect(await prepared(kernel)).toEqual([['imports', 'given'], true, 0]);
  expect(await prepared(kernel)).toEqual([[], true, 0]);
});

it('runs a set-up cell between two answers before the second one is checked', async () => {
  const kernel = kernelWith(['import autograder']);
  expect(await prepared(kernel, given)).toEqual([['imports'], true, 0]);
  expect(await prepared(kernel, answer)).toEqual([['given'], true, 0]);
});

it('checks nothing where the course cannot be installed, or a set-up cell stops, and runs that cell again', async () => {
  expect(await prepared(kernelWith([]), answer, [start])).toEqual([['tab-start'], false, 1]);
  const kernel = kernelWith([]);
  expect(await prepared(kernel, answer, [given])).toEqual([['tab-start', 'imports', 'given'], false, 1]);
  expect((await prepared(kernel))[0]).toEqual(['tab-start', 'given']);
});

it('writes the id of a cell as a string of Python', () => {
  expect(noteRun('a"b')).toContain('"a\\"b"}');
  expect(runOnce('a"b', 'x = 1')).toContain('if "a\\"b" not in');
  expect(runOnce('a"b', 'x = 1')).toContain(noteRun('a"b'));
});

it('asks a kernel without a trace in the notebook', async () => {
  const kernel = kernelWith(['x']);
  expect(await succeeds(kernel as unknown as Kernel, 'x')).toBe(true);
  expect(await succeeds(kernel as unknown as Kernel, 'y')).toBe(false);
  expect(kernel.requestExecute.mock.calls[0][0]).toMatchObject({ silent: true, store_history: false });
});
