/**
 * What a phrase of a text points at, as its link says: `[row 2](#show:rows=2)` lights that row in the figures, predictions and
 * cards of its section. Where no script reads such links, they lead nowhere, and the text reads as it is.
 */
import { translated } from './words';

const PREFIX = '#show:';

/** The links that point. */
export const POINTING = `a[href^="${PREFIX}"]`;

/** Tells a map what to light: an `ISelection`, or null for nothing. */
export const LIGHT = 'tfkit:light';

/** From one number to another, both included; -1 is the last. */
type Range = readonly [number, number];

const PARTS = {
  self: (row: number, col: number): boolean => col === row,
  past: (row: number, col: number): boolean => col < row,
  future: (row: number, col: number): boolean => col > row,
  previous: (row: number, col: number): boolean => col === row - 1,
  next: (row: number, col: number): boolean => col === row + 1
};
type PartName = keyof typeof PARTS;

/** Squares of a matrix; what is empty selects all. */
export interface ISelection {
  readonly rows: readonly Range[];
  readonly cols: readonly Range[];
  readonly parts: readonly PartName[];
}

export interface IPointer extends ISelection {
  /** The place of a map in the nearest figure, from 0; null where all maps, predictions and cards are meant. */
  readonly map: number | null;
  /** A text: the lines of code that have it. */
  readonly code: string | null;
  /** Whether the tables of the text itself are meant. */
  readonly table: boolean;
}

/** Characters of a link: each square of a figure goes through its lists, and whoever wrote a notebook may write a million. */
const LONGEST = 1000;
const RANGE = /^(-1|\d+(?:\.\.\d+)?)$/;

function rangesOf(text: string | null): Range[] | null {
  const found = text === null ? [] : text.split(',');
  return found.every(one => RANGE.test(one))
    ? found.map(one => one.split('..').map(Number)).map(([from, to = from]) => [from, to])
    : null;
}

/** What a link points at; null for a link that does not point, or not at anything that there is. */
export function pointerOf(href: string | null): IPointer | null {
  if (!href?.startsWith(PREFIX) || href.length > LONGEST) {
    return null;
  }
  const asked = new URLSearchParams(href.slice(PREFIX.length));
  const [rows, cols] = [rangesOf(asked.get('rows')), rangesOf(asked.get('cols'))];
  const parts = asked.get('part')?.split(',') ?? [];
  const map = asked.get('map');
  const code = asked.get('code');
  if (
    !rows ||
    !cols ||
    !parts.every((part): part is PartName => Object.keys(PARTS).includes(part)) ||
    (map !== null && !/^\d+$/.test(map))
  ) {
    return null;
  }
  const something = rows.length + cols.length + parts.length > 0 || !!code || map !== null;
  const table = asked.get('in') === 'table';
  return something ? { rows, cols, parts, code, table, map: map === null ? null : Number(map) } : null;
}

/** Whether a selection has the square of a matrix of so many rows and columns. */
export function selects({ rows, cols, parts }: ISelection, at: [number, number], size: [number, number]): boolean {
  const within = (ranges: readonly Range[], i: number): boolean => {
    const place = (n: number): number => (n < 0 ? size[i] + n : n);
    return !ranges.length || ranges.some(([from, to]) => at[i] >= place(from) && at[i] <= place(to));
  };
  return within(rows, 0) && within(cols, 1) && (!parts.length || parts.some(part => PARTS[part](...at)));
}

function sideWords(
  ranges: readonly Range[],
  last: string,
  numbered: (text: string, many: boolean) => string
): string[] {
  const numbers = ranges.filter(([from]) => from >= 0);
  const many = numbers.length > 1 || numbers.some(([from, to]) => from !== to);
  const text = numbers.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(', ');
  return [...(text ? [numbered(text, many)] : []), ...(numbers.length < ranges.length ? [last] : [])];
}

/** What a pointer selects, in words, for those who do not see it light up. */
export function pointerWords({ rows, cols, parts, code, map }: IPointer): string {
  const named: Record<PartName, string> = {
    self: translated('the diagonal'),
    past: translated('the squares left of the diagonal'),
    future: translated('the squares right of the diagonal'),
    previous: translated('the squares one left of the diagonal'),
    next: translated('the squares one right of the diagonal')
  };
  const squares = [
    ...sideWords(rows, translated('the last row'), (text, many) =>
      many ? translated('rows %1', text) : translated('row %1', text)
    ),
    ...sideWords(cols, translated('the last column'), (text, many) =>
      many ? translated('columns %1', text) : translated('column %1', text)
    ),
    ...parts.map(part => named[part])
  ];
  const figure = map === null ? [] : [translated('map %1 of the figure', map + 1)];
  return [...figure, ...squares, ...(code ? [translated('the lines of code with “%1”', code)] : [])].join(', ');
}

const LIT = 'tfkit-mod-lit';
const SPOT = 'tfkit-mod-spot'; // on a table of which a part is lit

/** The rows of a table that have a name, with their squares; of a table in a text, the first column has the names. */
function matrixOf(table: HTMLTableElement, isText: boolean): [Element, HTMLElement[]][] {
  return Array.from(table.rows)
    .filter(row => row.closest('table') === table)
    .flatMap((row): [Element, HTMLElement[]][] => {
      const [name, ...squares] = Array.from(row.cells);
      const isNamed = isText ? name?.tagName === 'TD' : name?.getAttribute('scope') === 'row';
      return isNamed && squares.length ? [[name, squares]] : [];
    });
}

function lightTable(table: HTMLTableElement, selection: ISelection, isText: boolean): boolean {
  const rows = matrixOf(table, isText);
  const size: [number, number] = [rows.length, rows[0]?.[1].length ?? 0];
  const lit = rows.flatMap(([name, squares], r) => {
    const found = squares.filter((_, c) => selects(selection, [r, c], size));
    return found.length === squares.length && selection.rows.length ? [name, ...found] : found;
  });
  const byName = lit.length > 0 && selection.cols.length > 0 && !selection.parts.length;
  const heads = byName ? Array.from(table.rows[0].cells).slice(1) : []; // cards have it in the body
  const named = heads.filter(({ tagName }, c) => tagName === 'TH' && selects({ ...selection, rows: [] }, [0, c], size));
  [...named, ...lit].forEach(cell => cell.classList.add(LIT));
  table.classList.toggle(SPOT, lit.length > 0);
  return lit.length > 0;
}

/** The tables of predictions and cards. A part of a matrix is what a prediction asks for: it is lit in none that is still open. */
function matrixTables(root: ParentNode, { parts }: ISelection): HTMLTableElement[] {
  const tables = Array.from(root.querySelectorAll<HTMLTableElement>('table.tfkit-v-m'));
  return parts.length ? tables.filter(table => !table.closest('form')) : tables;
}

/** Lights what a pointer selects below an element, and returns the elements in which something is lit. */
export function lightIn(root: ParentNode, pointer: IPointer): Element[] {
  const { rows, cols, parts, map, table } = pointer;
  if (map === null && rows.length + cols.length + parts.length === 0) {
    return []; // it points at code alone
  }
  if (table) {
    const texts = Array.from(root.querySelectorAll<HTMLTableElement>('table:not(.tfkit-v-m)'));
    return texts.filter(one => lightTable(one, pointer, true));
  }
  const figures = Array.from(root.querySelectorAll('.tfk')).flatMap(figure => {
    const maps = Array.from(figure.querySelectorAll('.tfk-map'));
    return map === null ? maps : maps.slice(map, map + 1);
  });
  figures.forEach(one => one.dispatchEvent(new CustomEvent(LIGHT, { detail: { rows, cols, parts } })));
  const tables = map === null ? matrixTables(root, pointer) : [];
  return [...figures, ...tables.filter(one => lightTable(one, pointer, false))];
}

/**
 * Of the cells of a section, the one with the maps that a phrase in the cell at `index` numbers: the last above it that has
 * any, else the first below; undefined where none has.
 */
export function cellOfMaps<T extends { readonly node: Element }>(cells: readonly T[], index: number): T | undefined {
  const hasMaps = ({ node }: T): boolean => node.querySelector('.tfk .tfk-map') !== null;
  return cells.slice(0, index).filter(hasMaps).pop() ?? cells.slice(index).find(hasMaps);
}

/** Puts out what is lit below an element. */
export function unlightIn(root: ParentNode): void {
  root.querySelectorAll('.tfk-map').forEach(one => one.dispatchEvent(new CustomEvent(LIGHT, { detail: null })));
  for (const name of [LIT, SPOT]) {
    root.querySelectorAll(`.${name}`).forEach(one => one.classList.remove(name));
  }
}

/** Makes buttons of the links below an element that point; each says what it lights. */
export function makeButtons(root: ParentNode): void {
  root.querySelectorAll(POINTING).forEach(link => {
    const pointer = pointerOf(link.getAttribute('href'));
    if (pointer) {
      link.removeAttribute('target');
      link.setAttribute('role', 'button');
      link.setAttribute('aria-pressed', link.getAttribute('aria-pressed') ?? 'false'); // one is looked through again whenever its cell changes
      link.setAttribute('aria-description', translated('Lights up %1', pointerWords(pointer)));
    }
  });
}
