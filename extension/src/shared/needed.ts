/** The cells that a check needs in a kernel that has not run them. */
import type { Kernel } from '@jupyterlab/services';
import { meta } from './cells';

interface IHasModel {
  readonly model: { readonly id: string; readonly type: string; getMetadata(key: string): unknown };
}

const UNNEEDED = ['demo', 'experiment', 'predict', 'check', 'ask', 'recall']; // no answer counts with these: see `sources_of` in autograder/grade/run.py
const START = 'tab-start'; // the cell that installs the course in a tab: see course/lite/site.py
const INSTALLED = 'import autograder';
const RAN = '_tfkit_ran'; // in a kernel: the ids of the set-up cells that were run there

/** The cells above one that an answer there may need: set-up, earlier answers and the student's own. */
export function neededAbove<T extends IHasModel>(cells: readonly T[], one: T): T[] {
  return cells
    .slice(0, cells.indexOf(one))
    .filter(({ model }) => model.type === 'code' && !UNNEEDED.includes(meta(model).role ?? ''));
}

/** The set-up cells above one. */
export function setupAbove<T extends IHasModel>(cells: readonly T[], one: T): T[] {
  return neededAbove(cells, one).filter(({ model }) => meta(model).role === 'setup');
}

/** The cell that installs the course in a tab, or null. */
export const startCell = <T extends IHasModel>(cells: readonly T[]): T | null =>
  cells.find(({ model }) => model.id === START) ?? null;

type Asked = Pick<Kernel.IKernelConnection, 'requestExecute'>;

/** Whether a kernel runs this code without an error. Nothing is shown. */
export async function succeeds(kernel: Asked, code: string): Promise<boolean> {
  const asked = { code, silent: true, store_history: false, stop_on_error: false };
  const reply = await kernel.requestExecute(asked).done;
  return reply?.content.status === 'ok';
}

/**
 * Sees to it that a tab's kernel has the course, and the set-up cells above `cell`: runs what it lacks, after a restart too. `run` runs a cell; `installing` is
 * called before the course comes into the tab, which takes a minute. False if a cell stopped with an error, which it shows.
 */
export async function prepareTab<T extends IHasModel>(
  kernel: Asked,
  cells: readonly T[],
  cell: T,
  run: (cells: readonly T[]) => Promise<boolean>,
  installing: () => void
): Promise<boolean> {
  const start = startCell(cells);
  if (start && !(await succeeds(kernel, INSTALLED))) {
    installing();
    if (!(await run([start]))) {
      return false;
    }
  }
  for (const needed of setupAbove(cells, cell)) {
    const { id } = needed.model;
    const there = await succeeds(kernel, wasRun(id));
    if (!there && !((await run([needed])) && (await succeeds(kernel, noteRun(id))))) {
      return false;
    }
  }
  return true;
}

/** Python that adds the id of a cell to those that a kernel has run. */
export const noteRun = (id: string): string => `${RAN} = {*globals().get('${RAN}', ()), ${JSON.stringify(id)}}`;

/** Python that fails unless a kernel has run the cell of an id. */
const wasRun = (id: string): string => `assert ${JSON.stringify(id)} in ${RAN}`;

/**
 * Python that runs a cell in a kernel that has not run it; an error is one of the request. It is one request, so that no cell of the reader's comes in
 * between, and the cell goes into the history, which `check()` reads.
 */
export function runOnce(id: string, source: string): string {
  return [
    `if ${JSON.stringify(id)} not in globals().get('${RAN}', ()):`,
    `    get_ipython().run_cell(${JSON.stringify(source)}, store_history=True).raise_error()`,
    `    ${noteRun(id)}`
  ].join('\n');
}
