/** A rectangle of numbers as a picture with a cursor, which arrow keys and clicks move, and its row as a table beside it. */
import { framed } from './axes';
import { h, visibleToken, tableHead } from './dom';
import { highlightToken, listen } from './highlight';
import { Colour, GROUPS, IMapPalette, LEVELS, mapPalette } from './palette';
import { enlarge, outline, spotlight } from './pixels';
import { ISelection, LIGHT, selects } from './pointing';
import { IPooling, positions } from './trace';
import { translated } from './words';

export type ValueAt = (row: number, column: number) => number;

export interface IGrid {
  name: string;
  rows: number;
  cols: number;
  low: number;
  high: number;
  kind: 'bool' | 'integer' | 'scale' | 'signed';
  at: ValueAt;
  groups?: IGroups;
  /** Which position stands in each row and column; each in its own unless given. */
  order?: { rows: number[]; cols: number[] };
  /** Where a square stands for a block of positions. */
  pooled?: IPooling;
}

/** The groups of squares: `of` gives an index into the names; index 0 means no group. */
export interface IGroups {
  names: string[];
  of: ValueAt;
  /** Another number for each column's position, with its name. */
  mark?: { name: string; of: number[] };
}

export interface INames {
  rows: string[];
  cols: string[];
  axes: string[];
}

const MAX_SQUARES = 180; // per side; in larger maps each shows the strongest of several
const TABLE_ROWS = 48;

interface IPooled {
  rows: number;
  cols: number;
  by: number;
  /** The square that stands for those of its place, as row · columns + column of the whole map. */
  from(row: number, col: number): number;
}

/** A smaller map, in which every square shows the largest magnitude of those it represents, so that no spike is lost. */
export function pool({ rows, cols, at }: Pick<IGrid, 'rows' | 'cols' | 'at'>, most = MAX_SQUARES): IPooled {
  const by = Math.ceil(Math.max(rows, cols) / most);
  const from = (row: number, col: number): number => {
    const [lastRow, lastCol] = [Math.min(rows, (row + 1) * by), Math.min(cols, (col + 1) * by)];
    let strongest = -1;
    let found = 0;
    for (let r = row * by; r < lastRow; r++) {
      for (let c = col * by; c < lastCol; c++) {
        const value = Math.abs(at(r, c));
        if (value > strongest) {
          strongest = value;
          found = r * cols + c;
        }
      }
    }
    return found;
  };
  return { rows: Math.ceil(rows / by), cols: Math.ceil(cols / by), by, from };
}

/** The colour of a value: safe for colour-blind readers, as lightness alone gives the order. */
export function colour(
  value: number,
  { low, high, kind }: Pick<IGrid, 'low' | 'high' | 'kind'>,
  { sequential, positive, negative }: IMapPalette = mapPalette()
): Colour {
  if (kind === 'integer') {
    return sequential[Math.round((LEVELS * (value - low)) / (high - low || 1))];
  }
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const level = Math.round(LEVELS * Math.min(1, Math.sqrt(Math.abs(value) / most)));
  return (kind !== 'signed' ? sequential : value < 0 ? negative : positive)[level];
}

/** The colour of a square. */
export function squareColour(map: IGrid, row: number, col: number, tones: IMapPalette = mapPalette()): Colour {
  const value = map.at(row, col);
  if (!map.groups) {
    return colour(value, map, tones);
  }
  const group = map.groups.of(row, col);
  const share = Math.min(1, Math.sqrt(Math.abs(value) / (map.high || 1)));
  return group ? tones.groups[tintOf(group)][Math.round(share * LEVELS)] : tones.none;
}

const word = ([red, green, blue]: Colour): number => (255 << 24) | (blue << 16) | (green << 8) | red; // as canvases keep it
let words: { name: string; plain: Uint32Array; groups: Uint32Array[]; hidden: Uint32Array } | null = null;

function wordsOf(tones: IMapPalette): NonNullable<typeof words> {
  const all = (scale: Colour[]): Uint32Array =>
    Uint32Array.from({ length: LEVELS + 1 }, (_, i) => word(scale[Math.round(Math.sqrt(i / LEVELS) * LEVELS)]));
  return {
    name: tones.name,
    plain: all(tones.sequential),
    groups: tones.groups.map(all),
    hidden: new Uint32Array(LEVELS + 1).fill(word(tones.none))
  };
}

/** The colours of weights kept as bytes, as canvas pixels: `of(group)` those of a group, `of(null)` those of maps without groups. */
export function colourWords(): (group: number | null) => Uint32Array {
  const tones = mapPalette();
  const now = words?.name === tones.name ? words : (words = wordsOf(tones));
  return group => (group === null ? now.plain : group ? now.groups[tintOf(group)] : now.hidden);
}

const tintOf = (group: number): number => (group - 1) % GROUPS.length;

/** Whether a square is one of those that a text points at: by its positions, not by its place in a sorted map. */
function isSelected(map: IGrid, selection: ISelection, row: number, col: number): boolean {
  const [from] = positions(placeOf(map, 'rows', row), map.pooled, 'rows');
  const [to] = positions(placeOf(map, 'cols', col), map.pooled, 'cols');
  const { rows, cols } = map.pooled ?? map;
  return selects(selection, [from, to], [rows, cols]);
}

/**
 * Fills a canvas with one square per value, as large as fits `size`; returns the pooled map and the side of a square in pixels.
 * Where a text points at squares, these are lit, and otherwise the cursor is shown.
 */
export function fill(
  canvas: HTMLCanvasElement,
  map: IGrid,
  size: number,
  cursor: { row: number; col: number },
  lit: ISelection | null = null
): { small: IPooled; side: number } {
  const tones = mapPalette();
  const small = pool(map, Math.min(MAX_SQUARES, size));
  const side = Math.max(1, Math.min(26, Math.floor(size / Math.max(small.rows, small.cols))));
  const paint = (pixels: Uint8ClampedArray): void => {
    for (let r = 0, i = 0; r < small.rows; r++) {
      for (let c = 0; c < small.cols; c++, i += 4) {
        const place = small.from(r, c);
        const rgb = squareColour(map, Math.floor(place / map.cols), place % map.cols, tones);
        pixels[i] = rgb[0];
        pixels[i + 1] = rgb[1];
        pixels[i + 2] = rgb[2];
        pixels[i + 3] = 255;
      }
    }
  };
  const pen = enlarge(canvas, [small.rows, small.cols], side, paint, tones);
  const [x, y] = [cursor.col, cursor.row].map(at => Math.floor(at / small.by) * side);
  if (pen && lit) {
    const isLit = (r: number, c: number): boolean => isSelected(map, lit, r * small.by, c * small.by);
    spotlight(pen, [small.rows, small.cols], side, isLit, tones);
  } else if (pen) {
    pen.globalAlpha = 0.5; // the row; its square, below, at full strength
    outline(pen, [0, y, canvas.width, side], tones);
    pen.globalAlpha = 1;
    outline(pen, [x, y, side, side], tones);
  }
  return { small, side };
}

/** The positions that a row or column stands for, with their names. */
function named(map: IGrid, side: 'rows' | 'cols', at: number, names: string[]): string {
  const places = positions(placeOf(map, side, at), map.pooled, side);
  const words = places.map(place => names[place]).filter(name => name !== undefined);
  return `${places.join('–')}${words.length ? ` “${words.map(visibleToken).join(' … ')}”` : ''}`;
}

/** A value in words. */
export function describeValue(value: number, kind: IGrid['kind']): string {
  return kind === 'bool'
    ? value
      ? translated('yes')
      : translated('no')
    : kind === 'integer'
      ? String(Math.round(value))
      : (Math.round(value * 100) / 100 || 0).toFixed(2);
}

/** Columns of a row; when only some fit, those largest in magnitude. */
export function rowOf(map: IGrid, row: number, limit = TABLE_ROWS): [number, number][] {
  const all = Array.from({ length: map.cols }, (_, c): [number, number] => [c, map.at(row, c)]);
  return all.length <= limit ? all : all.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, limit);
}

function rowTable(map: IGrid, row: number, names: INames): HTMLElement {
  const { groups } = map;
  const body = rowOf(map, row).map(([c, value]) => {
    const more = groups
      ? [groups.names[groups.of(row, c)], ...(groups.mark ? [String(groups.mark.of[placeOf(map, 'cols', c)])] : [])]
      : [];
    const cells = [describeValue(value, map.kind), ...more].map(text => h('td', {}, text));
    return h('tr', {}, h('th', { scope: 'row' }, named(map, 'cols', c, names.cols)), ...cells);
  });
  const head = [
    names.axes[1],
    translated('value'),
    ...(groups ? [translated('kind'), ...(groups.mark ? [groups.mark.name] : [])] : [])
  ];
  return h('table', {}, tableHead(head), h('tbody', {}, ...body));
}

const placeOf = (map: IGrid, side: 'rows' | 'cols', at: number): number => map.order?.[side][at] ?? at;

/** What the colours of the groups in a map mean. */
function legend({ groups, rows, cols }: IGrid): HTMLElement[] {
  const found = new Set<number>();
  for (let r = 0; groups && r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      found.add(groups.of(r, c));
    }
  }
  return [...found]
    .filter(Boolean)
    .sort((a, b) => a - b)
    .map(group => {
      const swatch = h('i', { className: 'tfk-swatch', 'aria-hidden': 'true' });
      swatch.style.background = `var(${GROUPS[tintOf(group)]})`;
      return h('span', {}, swatch, groups!.names[group]);
    });
}

/** What the colours of a map without groups mean. */
function ramp(map: IGrid): (HTMLElement | string)[] {
  const swatch = (kind: string): HTMLElement => h('i', { className: `tfk-swatch ${kind}`, 'aria-hidden': 'true' });
  if (map.kind === 'bool') {
    return [
      h('span', {}, swatch('tfk-ramp-yes'), translated('yes')),
      h('span', {}, swatch('tfk-ramp-no'), translated('no'))
    ];
  }
  const [low, high] = [map.low, map.high].map(value => describeValue(value, map.kind));
  const tones = map.kind === 'signed' ? 'tfk-ramp-signed' : 'tfk-ramp';
  return [low, ' ', swatch(tones), ' ', high];
}

const MOVES: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
};

/** One map with its cursor; `move` is called with the new position of the cursor. */
export class Grid {
  readonly node = h('section', { className: 'tfk-map', role: 'group' });

  constructor(
    private readonly _names: INames,
    private readonly _size: number,
    private readonly _move: (row: number, col: number) => void
  ) {
    this.node.append(this._title, this._box, this._description, this._scale, this._details);
    this._box.append(this._frame);
    listen();
    this._box.addEventListener('keydown', event => this._key(event));
    this._canvas.addEventListener('click', event => this._click(event));
    this._canvas.addEventListener('pointermove', event => this._point(event));
    this._canvas.addEventListener('pointerleave', () => this._point());
    this.node.addEventListener(LIGHT, event => this._light((event as CustomEvent<ISelection | null>).detail));
  }

  /** Draws a map with the cursor in one of its squares; returns a description of that square. */
  draw(map: IGrid, row: number, col: number): string {
    this._map = map;
    this._cursor = { row: Math.min(row, map.rows - 1), col: Math.min(col, map.cols - 1) };
    const at = this._cursor;
    const { small, side } = fill(this._canvas, map, this._size, at, this._lit);
    const { rows, cols } = this._names;
    const along = (which: 'rows' | 'cols', names: string[]): string[] | number =>
      names.length || map.order || map.pooled || small.by > 1
        ? Array.from({ length: small[which] }, (_, i) => {
            const [place] = positions(placeOf(map, which, i * small.by), map.pooled, which);
            return names.length ? (names[place] ?? '') : String(place);
          })
        : small[which];
    framed(this._frame, this._canvas, along('rows', rows), along('cols', cols), side);
    const words = this._words(at.row, at.col);
    this._title.textContent = map.name;
    this.node.setAttribute('aria-label', map.name);
    this._box.setAttribute('aria-label', translated('%1, %2 × %3; arrow keys move', map.name, map.rows, map.cols));
    this._description.textContent = words;
    this._scale.replaceChildren(...(map.groups ? legend(map) : ramp(map)));
    this._details.replaceChildren(
      h(
        'summary',
        {},
        translated('Row %1 as a table', positions(placeOf(map, 'rows', at.row), map.pooled, 'rows').join('–'))
      ),
      rowTable(map, at.row, this._names)
    );
    return words;
  }

  /** Lights what a text points at. */
  private _light(selection: ISelection | null): void {
    this._lit = selection;
    if (this._map) {
      fill(this._canvas, this._map, this._size, this._cursor, selection);
    }
  }

  /** A square in words. */
  private _words(row: number, col: number): string {
    const map = this._map!;
    const { axes, rows, cols } = this._names;
    const kind = map.groups ? `, ${map.groups.names[map.groups.of(row, col)]}` : '';
    return `${axes[0]} ${named(map, 'rows', row, rows)}, ${axes[1]} ${named(map, 'cols', col, cols)}: ${describeValue(map.at(row, col), map.kind)}${kind}`;
  }

  /** Describes the square under the pointer, and highlights its key; without a pointer, describes the square at the cursor. */
  private _point(event?: PointerEvent): void {
    const at = event && this._under(event);
    const { row, col } = at ?? this._cursor;
    if (this._map) {
      this._description.textContent = this._words(row, col);
      const key = this._names.cols[positions(placeOf(this._map, 'cols', col), this._map.pooled, 'cols')[0]];
      highlightToken(at && key !== undefined ? visibleToken(key) : undefined);
    }
  }

  /** The square at a place of the page. */
  private _under(event: MouseEvent): { row: number; col: number } | undefined {
    const box = this._canvas.getBoundingClientRect();
    if (!this._map || !box.width) {
      return undefined;
    }
    const inside = (share: number, count: number): number =>
      Math.max(0, Math.min(count - 1, Math.floor(share * count)));
    return {
      row: inside((event.clientY - box.top) / box.height, this._map.rows),
      col: inside((event.clientX - box.left) / box.width, this._map.cols)
    };
  }

  private _key(event: KeyboardEvent): void {
    const move = MOVES[event.key];
    if (!move || !this._map || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    event.stopPropagation(); // the notebook has uses of its own for these keys
    this._to(this._cursor.row + move[0], this._cursor.col + move[1]);
  }

  private _click(event: MouseEvent): void {
    const at = this._under(event);
    if (at) {
      this._to(at.row, at.col);
    }
  }

  private _to(row: number, col: number): void {
    const inside = (x: number, count: number): number => Math.max(0, Math.min(count - 1, x));
    this._move(inside(row, this._map?.rows ?? 1), inside(col, this._map?.cols ?? 1));
  }

  private _map: IGrid | null = null;
  private _lit: ISelection | null = null;
  private _cursor = { row: 0, col: 0 };
  private readonly _title = h('h4');
  private readonly _canvas = h('canvas', { 'aria-hidden': 'true' });
  private readonly _frame = h('div');
  private readonly _box = h('div', { className: 'tfk-grid', tabIndex: 0, role: 'application' });
  private readonly _description = h('p', { className: 'tfk-note' });
  private readonly _scale = h('p', { className: 'tfk-note tfk-legend' });
  private readonly _details = h('details');
}
