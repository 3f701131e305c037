/** What the course build wrote into a cell's metadata. */
import type { Cell, ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';

interface IMeta {
  role?: string;
  exercise?: string;
}

interface IHasMetadata {
  getMetadata(key: string): unknown;
}

export function meta(model: IHasMetadata | null | undefined): IMeta {
  const found = model?.getMetadata('tfkit');
  return found && typeof found === 'object' ? found : {};
}

/** The exercise a cell belongs to, if it is one that can be checked. */
export function exerciseOf(model: IHasMetadata | null | undefined): string | null {
  const { role, exercise } = meta(model);
  return (role === 'exercise' || role === 'check') && exercise ? exercise : null;
}

const PREDICTED = 'predicted\\('; // tfkit_lab/predict.py

/** A line that fetches a sealed prediction; its first group is the name that it gets. */
export const FETCHES = new RegExp(`^(\\w+) = ${PREDICTED}`);

const COMPARES = new RegExp(`\\b${PREDICTED}`);

/** Whether a code cell shows what a prediction or an exercise was for: it compares a sealed prediction, or is an experiment. */
export function compares(model: IHasMetadata & { readonly sharedModel: { getSource(): string } }): boolean {
  return meta(model).role === 'experiment' || COMPARES.test(model.sharedModel.getSource());
}

const VERDICT = 'application/vnd.tfkit.verdict+json';

/** The outputs of `check("…")` in a cell. */
export function outcomesOf(model: { toJSON(): unknown }): unknown[] {
  return checksIn(model).map(data => data[VERDICT]);
}

/** A card without its style sheet, which the extension has. */
export const withoutStyle = (html: string): string => html.replace(/<style>[^<]*<\/style>/g, '');

export interface ICard {
  exercise: string;
  status: string;
  html: string;
}

/** The cards in the outputs of a cell, without their style sheet. */
export function cardsOf(model: IHasMetadata & { toJSON(): unknown }): ICard[] {
  if (meta(model).role !== 'check') {
    return []; // outputs are large: only these are read
  }
  return checksIn(model).flatMap(data => {
    const { exercise, status } = data[VERDICT] as Partial<ICard>;
    const html = withoutStyle([(data['text/html'] ?? '') as string | string[]].flat().join(''));
    return exercise && status && html ? [{ exercise, status, html }] : [];
  });
}

const PENDING = 'application/vnd.tfkit.pending+json';

type Outputs = Pick<ICodeCellModel['outputs'], 'changed'>;
interface ICheckCell {
  outputs?: Outputs;
  toJSON(): unknown;
}

/** Waits for checks that still run after their cell has finished: the output of `check("…")` then becomes its verdict. */
export class PendingChecks {
  /** Calls `then` when no check in the cell's outputs is running: at once, or when the last one has ended. */
  ended(model: ICheckCell, then: () => void): void {
    const { outputs } = model;
    const before = outputs && this._waiting.get(outputs);
    if (outputs && before) {
      outputs.changed.disconnect(before); // the cell was run again
      this._waiting.delete(outputs);
    }
    if (!outputs || !isPending(model)) {
      then();
      return;
    }
    const onOutput = (): void => {
      if (!isPending(model)) {
        outputs.changed.disconnect(onOutput);
        this._waiting.delete(outputs);
        then();
      }
    };
    this._waiting.set(outputs, onOutput);
    outputs.changed.connect(onOutput);
  }

  private readonly _waiting = new WeakMap<Outputs, () => void>();
}

function isPending(model: { toJSON(): unknown }): boolean {
  const { outputs } = model.toJSON() as { outputs?: { data?: Record<string, unknown> }[] };
  return (outputs ?? []).some(({ data }) => data && PENDING in data);
}

function checksIn(model: { toJSON(): unknown }): Record<string, unknown>[] {
  const { outputs } = model.toJSON() as { outputs?: { data?: Record<string, unknown> }[] };
  return (outputs ?? []).flatMap(({ data }) => (data && data[VERDICT] ? [data] : []));
}

const NOT_RUN = 'application/vnd.tfkit.not-run+json';

/** Why checks in a cell gave no verdict: which cells its kernel has not run. */
export function notRunIn(model: { toJSON(): unknown }): string[] {
  const { outputs } = model.toJSON() as { outputs?: { data?: Record<string, unknown> }[] };
  const found = (outputs ?? []).map(({ data }) => data?.[NOT_RUN] as { reason?: unknown } | undefined);
  return found.flatMap(one => (typeof one?.reason === 'string' ? [one.reason] : []));
}

const UNSEALED = 'application/vnd.tfkit.unsealed+json';

/** The predictions that a cell's outputs say it was passed over for. */
export function unsealedIn(model: { readonly type: string; toJSON(): unknown }): string[] {
  const { outputs } = (model.type === 'code' ? model.toJSON() : {}) as {
    outputs?: { data?: Record<string, unknown> }[];
  };
  const found = (outputs ?? []).map(({ data }) => data?.[UNSEALED] as { prediction?: unknown } | undefined);
  return found.flatMap(one => (typeof one?.prediction === 'string' ? [one.prediction] : []));
}

/** The cell in which an exercise is done; null when the notebook has none. */
export function answerTo(panel: NotebookPanel, exercise: string): Cell | null {
  return (
    panel.content.widgets.find(
      cell => meta(cell.model).role === 'exercise' && meta(cell.model).exercise === exercise
    ) ?? null
  );
}

/** Show the cell in which an exercise is done; false when the notebook has none. */
export function showExercise(panel: NotebookPanel, exercise: string): Promise<boolean> {
  return showCell(panel, model => meta(model).role === 'exercise' && meta(model).exercise === exercise);
}

/**
 * Scroll to the first cell that `fits`, and make it the active one; false when there is none. The cursor goes into the code of an
 * exercise, which is to be written; elsewhere the cell has the focus, so that Tab goes on to its buttons and does not indent its code.
 */
export async function showCell(panel: NotebookPanel, fits: (model: ICellModel) => boolean): Promise<boolean> {
  await panel.context.ready;
  await panel.revealed;
  const { content } = panel;
  const cells = content.widgets;
  const index = cells.findIndex(cell => fits(cell.model));
  if (index < 0) {
    return false;
  }
  content.deselectAll();
  content.activeCellIndex = index;
  await content.scrollToItem(index, 'start').catch(() => undefined); // another way to it took the place of this one
  content.mode = meta(cells[index].model).role === 'exercise' ? 'edit' : 'command';
  content.activate();
  holdInView(content.outerNode, cells[index].node, () => headingOver(cells.slice(0, index).map(({ node }) => node)));
  return true;
}

const HEADINGS = '.jp-RenderedMarkdown :is(h1, h2, h3, h4, h5, h6)';

/** The last heading in cells, such as those above an exercise; null where none of them is drawn. */
function headingOver(cells: readonly HTMLElement[]): Element | null {
  for (const cell of [...cells].reverse()) {
    const [found] = Array.from(cell.isConnected ? cell.querySelectorAll(HEADINGS) : []).reverse();
    if (found) {
      return found;
    }
  }
  return null;
}

const HOLD_MS = 15000; // a long notebook draws its formulas for some seconds
const ABOVE = 0.2; // of the height, at least: the text that asks the question stays in sight
const MAX_ABOVE = 0.6; // of the height: where a section is longer, its end and the cell's first lines are in sight
const MARGIN = 12; // pixels over a heading
const MOVES = ['wheel', 'pointerdown', 'touchstart', 'keydown'] as const;

/** Keeps a cell in view, below the heading of its section if there is room, while the cells above it still grow, until
 * the reader does anything. */
export function holdInView(outer: HTMLElement, cell: HTMLElement, heading: () => Element | null = () => null): void {
  const place = (): void => {
    const at = cell.getBoundingClientRect().top;
    const start = heading()?.getBoundingClientRect().top;
    const wanted = start === undefined ? 0 : at - start + MARGIN;
    const above = Math.max(ABOVE * outer.clientHeight, Math.min(wanted, MAX_ABOVE * outer.clientHeight));
    const away = at - outer.getBoundingClientRect().top - above;
    if (cell.isConnected && Math.abs(away) > 1) {
      outer.scrollTop += away;
    }
  };
  const grown = new ResizeObserver(place);
  const stop = (): void => {
    grown.disconnect();
    window.clearTimeout(timer);
    MOVES.forEach(kind => outer.ownerDocument.removeEventListener(kind, stop, true));
  };
  const timer = window.setTimeout(stop, HOLD_MS);
  MOVES.forEach(kind => outer.ownerDocument.addEventListener(kind, stop, true));
  for (const inner of outer.children) {
    grown.observe(inner);
  }
  place();
}
