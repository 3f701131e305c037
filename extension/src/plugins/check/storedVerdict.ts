/** The card of the last verdict on an exercise, kept in the metadata of its cell: restored when the notebook is opened again. */

const KEY = 'tfkit_verdict';
const MAX_LENGTH = 40_000; // characters of a card; a longer one is shown, but not stored
const STATES = ['passed', 'failed', 'not_graded'] as const;

export type State = (typeof STATES)[number];

/** Where the check came from: the button sends the current cells, `check()` the code that the kernel has run. */
export type CheckOrigin = 'button' | 'kernel';

export interface IStoredVerdict {
  html: string;
  status: State;
  asked: CheckOrigin;
  /** The time of the check, in milliseconds since the epoch. */
  at: number;
  /** The digest of the checked code of the cell; null where it is unknown which code the kernel had run. */
  code: string | null;
}

interface IMetadata {
  getMetadata(key: string): unknown;
  setMetadata(key: string, value: unknown): void;
  deleteMetadata(key: string): void;
}

/** A digest of a text (32-bit FNV-1a and its length), the same for equal texts. Trailing whitespace is ignored. */
export function digest(source: string): string {
  const text = source.trimEnd();
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return `${text.length}-${hash.toString(16)}`;
}

/** Whether the verdict belongs to other code than this. */
export const isStale = (kept: IStoredVerdict, source: string): boolean =>
  kept.code !== null && kept.code !== digest(source);

export function storeVerdict(model: IMetadata, kept: IStoredVerdict): void {
  if (kept.html.length <= MAX_LENGTH) {
    model.setMetadata(KEY, kept);
  } else {
    model.deleteMetadata(KEY);
  }
}

/** The card stored in a cell, or null where there is no valid one. */
export function storedVerdict(model: IMetadata): IStoredVerdict | null {
  const found = model.getMetadata(KEY) as Partial<IStoredVerdict> | null | undefined;
  const whole =
    typeof found === 'object' &&
    found !== null &&
    typeof found.html === 'string' &&
    found.html.length <= MAX_LENGTH &&
    STATES.includes(found.status as State) &&
    (found.asked === 'button' || found.asked === 'kernel') &&
    Number.isFinite(found.at) &&
    (found.code === null || typeof found.code === 'string');
  return whole ? (found as IStoredVerdict) : null;
}
