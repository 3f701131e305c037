/** A rectangle of numbers as a picture with a cursor, which arrow keys and clicks move, and its row as a table beside it. */
import { framed } from './axes';
import { h, visibleToken, tableHead } from './dom';
import { highlightToken, listen } from './highlight';
import { IPooling, positions } from './trace';

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

/** What the squares are, beside what is in them: `of` gives a place among the names, the first of which stands for none. */
export interface IGroups {
  names: string[];
  of: ValueAt;
  /** What else is told of a column's position, under a name of its own. */
  mark?: { name: string; of: number[] };
}

export interface INames {
  rows: string[];
  cols: string[];
  axes: string[];
}

const MOST = 180; // squares to a side: beyond, each is the strongest of several
const TABLE = 48;

interface IPooled {
  rows: number;
  cols: number;
  by: number;
  /** The square that stands for those of its place, as row · columns + column of the whole map. */
  from(row: number, col: number): number;
}

/** A smaller map of which every square is the largest in magnitude of those it stands for: a spike is never lost. */
export function pool({ rows, cols, at }: Pick<IGrid, 'rows' | 'cols' | 'at'>, most = MOST): IPooled {
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

type Colour = [number, number, number];
const INK: Colour = [13, 42, 90];
const WARM: Colour = [163, 71, 0];
const CIVIDIS: Colour[] = [
  [0, 34, 78],
  [53, 69, 108],
  [102, 105, 112],
  [148, 142, 119],
  [200, 184, 102],
  [254, 232, 56]
];

const mix = (a: Colour, b: Colour, share: number): Colour =>
  [0, 1, 2].map(i => Math.round(a[i] + (b[i] - a[i]) * share)) as Colour;

const LEVELS = 255;
const SCALES = [INK, WARM].map(ink =>
  Array.from({ length: LEVELS + 1 }, (_, i) => mix([255, 255, 255], ink, i / LEVELS))
);

/** The colour of a value: safe for the colour-blind, lightness alone tells the order. */
export function colour(value: number, { low, high, kind }: Pick<IGrid, 'low' | 'high' | 'kind'>): Colour {
  if (kind === 'integer') {
    const place = ((value - low) / (high - low || 1)) * (CIVIDIS.length - 1);
    const from = Math.min(CIVIDIS.length - 2, Math.floor(place));
    return mix(CIVIDIS[from], CIVIDIS[from + 1], place - from);
  }
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const share = Math.min(1, Math.sqrt(Math.abs(value) / most));
  return SCALES[value < 0 ? 1 : 0][Math.round(share * LEVELS)];
}

/** The colours of the groups, in the order of their names; their names are told too. */
export const TINTS: Colour[] = [[255, 255, 255], INK, WARM, [0, 110, 85], [110, 45, 140], [90, 90, 90]];
const FAINT = 0.16; // what may be looked at, and is not
const TONES = TINTS.map(tint =>
  Array.from({ length: LEVELS + 1 }, (_, i) => mix(TINTS[0], tint, FAINT + ((1 - FAINT) * i) / LEVELS))
);

/** The colour of a square. */
export function squareColour(map: IGrid, row: number, col: number): Colour {
  const value = map.at(row, col);
  if (!map.groups) {
    return colour(value, map);
  }
  const group = map.groups.of(row, col);
  const share = Math.min(1, Math.sqrt(Math.abs(value) / (map.high || 1)));
  return group ? TONES[tintOf(group)][Math.round(share * LEVELS)] : TINTS[0];
}

const word = ([red, green, blue]: Colour): number => (255 << 24) | (blue << 16) | (green << 8) | red; // as canvases keep it
const WORDS = [SCALES[0], ...TONES.slice(1)].map(tones =>
  Uint32Array.from({ length: LEVELS + 1 }, (_, i) => word(tones[Math.round(Math.sqrt(i / LEVELS) * LEVELS)]))
);
const HIDDEN = new Uint32Array(LEVELS + 1).fill(word(TINTS[0]));

/** The colours of weights kept as bytes, as words of a canvas: those of a group, or of maps that have none. */
export const colourWords = (group: number | null): Uint32Array =>
  group === null ? WORDS[0] : group ? WORDS[tintOf(group)] : HIDDEN;

const tintOf = (group: number): number => 1 + ((group - 1) % (TINTS.length - 1));

/** Fills a canvas, one square a value, no smaller than fits `size`; returns what a square stands for, and its side in pixels. */
export function fill(
  canvas: HTMLCanvasElement,
  map: IGrid,
  size: number,
  cursor: { row: number; col: number }
): { small: IPooled; side: number } {
  const small = pool(map, Math.min(MOST, size));
  const side = Math.max(1, Math.min(26, Math.floor(size / Math.max(small.rows, small.cols))));
  canvas.width = small.cols * side;
  canvas.height = small.rows * side;
  const pen = canvas.getContext('2d');
  if (!pen) {
    return { small, side }; // no canvas here (a test's DOM): the table says the same
  }
  const image = pen.createImageData(small.cols, small.rows);
  const pixels = image.data;
  for (let r = 0, i = 0; r < small.rows; r++) {
    for (let c = 0; c < small.cols; c++, i += 4) {
      const place = small.from(r, c);
      const rgb = squareColour(map, Math.floor(place / map.cols), place % map.cols);
      pixels[i] = rgb[0];
      pixels[i + 1] = rgb[1];
      pixels[i + 2] = rgb[2];
      pixels[i + 3] = 255;
    }
  }
  pen.putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  pen.globalCompositeOperation = 'copy'; // over itself: the small picture in the corner is what is enlarged
  pen.drawImage(canvas, 0, 0, small.cols, small.rows, 0, 0, canvas.width, canvas.height);
  pen.globalCompositeOperation = 'source-over';
  outline(pen, Math.floor(cursor.col / small.by) * side, Math.floor(cursor.row / small.by) * side, side, canvas.width);
  return { small, side };
}

/** The cursor's row, and its square, in two colours so that they stand out on any ground. */
function outline(pen: CanvasRenderingContext2D, x: number, y: number, side: number, width: number): void {
  for (const [paint, wide] of [
    ['#fff', 3],
    ['#c2185b', 1.5]
  ] as const) {
    pen.strokeStyle = paint;
    pen.lineWidth = wide;
    pen.strokeRect(0.5, y + 0.5, width - 1, Math.max(side - 1, 1));
    pen.strokeRect(x + 0.5, y + 0.5, Math.max(side - 1, 2), Math.max(side - 1, 2));
  }
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
      ? 'yes'
      : 'no'
    : kind === 'integer'
      ? String(Math.round(value))
      : (Math.round(value * 100) / 100 || 0).toFixed(2);
}

/** Columns of a row; when only some fit, those largest in magnitude. */
export function rowOf(map: IGrid, row: number, limit = TABLE): [number, number][] {
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
  const head = [names.axes[1], 'value', ...(groups ? ['kind', ...(groups.mark ? [groups.mark.name] : [])] : [])];
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
      swatch.style.background = `rgb(${TINTS[tintOf(group)].join()})`;
      return h('span', {}, swatch, groups!.names[group]);
    });
}

const MOVES: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1]
};

/** One map with its cursor; `move` is told where the cursor is to go. */
export class Grid {
  readonly node = h('section', { className: 'tfk-map', role: 'group' });

  constructor(
    private readonly _names: INames,
    private readonly _size: number,
    private readonly _move: (row: number, col: number) => void
  ) {
    this.node.append(this._title, this._box, this._said, this._scale, this._details);
    this._box.append(this._frame);
    listen();
    this._box.addEventListener('keydown', event => this._key(event));
    this._canvas.addEventListener('click', event => this._click(event));
    this._canvas.addEventListener('pointermove', event => this._point(event));
    this._canvas.addEventListener('pointerleave', () => this._point());
  }

  /** Draws a map with the cursor in one of its squares; returns what is there, in words. */
  draw(map: IGrid, row: number, col: number): string {
    this._map = map;
    this._cursor = { row: Math.min(row, map.rows - 1), col: Math.min(col, map.cols - 1) };
    const at = this._cursor;
    const { small, side } = fill(this._canvas, map, this._size, at);
    const { rows, cols } = this._names;
    const along = (which: 'rows' | 'cols', names: string[]): string[] =>
      names.length
        ? Array.from(
            { length: small[which] },
            (_, i) => names[positions(placeOf(map, which, i * small.by), map.pooled, which)[0]] ?? ''
          )
        : [];
    framed(this._frame, this._canvas, along('rows', rows), along('cols', cols), side);
    const words = this._words(at.row, at.col);
    this._title.textContent = map.name;
    this.node.setAttribute('aria-label', map.name);
    this._box.setAttribute('aria-label', `${map.name}, ${map.rows} × ${map.cols}; arrow keys move`);
    this._said.textContent = words;
    const scale =
      map.kind === 'bool' ? 'dark: yes' : `${describeValue(map.low, map.kind)} to ${describeValue(map.high, map.kind)}`;
    this._scale.replaceChildren(scale, ...legend(map));
    this._details.replaceChildren(
      h('summary', {}, `Row ${positions(placeOf(map, 'rows', at.row), map.pooled, 'rows').join('–')} as a table`),
      rowTable(map, at.row, this._names)
    );
    return words;
  }

  /** A square in words. */
  private _words(row: number, col: number): string {
    const map = this._map!;
    const { axes, rows, cols } = this._names;
    const kind = map.groups ? `, ${map.groups.names[map.groups.of(row, col)]}` : '';
    return `${axes[0]} ${named(map, 'rows', row, rows)}, ${axes[1]} ${named(map, 'cols', col, cols)}: ${describeValue(map.at(row, col), map.kind)}${kind}`;
  }

  /** Tells of the square under the pointer, and lights its key; where the pointer has left, of the cursor's. */
  private _point(event?: PointerEvent): void {
    const at = event && this._under(event);
    const { row, col } = at ?? this._cursor;
    if (this._map) {
      this._said.textContent = this._words(row, col);
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
  private _cursor = { row: 0, col: 0 };
  private readonly _title = h('h4');
  private readonly _canvas = h('canvas', { 'aria-hidden': 'true' });
  private readonly _frame = h('div');
  private readonly _box = h('div', { className: 'tfk-grid', tabIndex: 0, role: 'application' });
  private readonly _said = h('p', { className: 'tfk-note' });
  private readonly _scale = h('p', { className: 'tfk-note' });
  private readonly _details = h('details');
}
