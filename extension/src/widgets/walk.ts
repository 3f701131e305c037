/** One step of a model, or of the student's function, as a row of stages; the chosen one is shown with all numbers. */
import { IWalk } from '../generated/walk';
import { validate } from '../generated/walk.valid';
import { h, tableHead, visibleToken } from './dom';
import { listen, markToken } from './highlight';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { inflate } from './trace';
import { matrixTable, setCursor, thumbnail } from './walkmatrix';
import { INumbers, isOrigin, product, unpackNumbers, short, sources } from './walknumbers';
import { describeStage } from './stageText';
import { WALK_CSS } from './walkstyle';
import { translated } from './words';

type IStage = IWalk['stages'][number];

/** A stop in the row: a stage of the trace, the text before them, or the drawn token after them. */
export interface IStop {
  label: string;
  part: string;
  stage: IStage | null;
  name: string;
}

/** All stops, the text first and the drawn token last if there are any. */
export function walkStops(trace: IWalk): IStop[] {
  const text = trace.axes.some(axis => axis.kind !== 'numbers' && axis.names.length);
  const stages = trace.stages.map(stage => ({
    label: describeStage(stage).label,
    part: stage.part,
    stage,
    name: stage.name
  }));
  const before = text ? [{ label: translated('text'), part: 'input', stage: null, name: 'text' }] : [];
  const behind = trace.candidates.length
    ? [{ label: translated('drawn token'), part: 'output', stage: null, name: 'drawn' }]
    : [];
  return [...before, ...stages, ...behind];
}

/** The stops that the row shows when one is open: the ends, and the layer that the open one belongs to. */
export function stopsInRow(all: IStop[], at: number): number[] {
  const near = nearest(all, at);
  return all.map((_, i) => i).filter(i => !inner(all[i]) || all[i].part === all[near].part);
}

const inner = (stop: IStop): boolean => stop.part !== 'input' && stop.part !== 'output';

/** The stop itself, or if it belongs to no layer, one of the adjacent layer. */
function nearest(all: IStop[], at: number): number {
  const layers = all.map((_, i) => i).filter(i => inner(all[i]));
  return inner(all[at]) ? at : all[at].part === 'input' ? layers[0] : layers[layers.length - 1];
}

const MAX_TABLES = 60; // cached
const END = 1e6; // the last row: what the next token is made from

class View {
  readonly draw = (): void => this._draw();

  constructor(private readonly _canvas: ICanvas<IWalk>) {
    const { trace, root } = _canvas;
    this._stops = walkStops(trace);
    this._parts = [...new Set(this._stops.map(stop => stop.part))].filter(part =>
      this._stops.some(stop => stop.part === part && inner(stop))
    );
    listen(root.ownerDocument);
    root.append(h('style', {}, WALK_CSS), this._bar, this._row, this._open);
    this._row.addEventListener('keydown', event => this._key(event));
    this._open.addEventListener('pointerover', event => this._point(event));
    this._open.addEventListener('pointerleave', () => this._stops[this._at].stage && this._numbers && this._describe());
    inflate(trace.data)
      .then(bytes => {
        this._numbers = unpackNumbers(bytes, trace);
        this._draw();
      })
      .catch((error: unknown) => {
        this._open.replaceChildren(
          h(
            'p',
            { role: 'alert' },
            translated('The numbers cannot be read: %1.', error instanceof Error ? error.message : String(error))
          )
        );
      });
  }

  private get _at(): number {
    return this._canvas.place.at('stage', this._stops.length - 1, this._first);
  }

  /** The initial stage: the first softmax, or else the second stop. */
  private get _first(): number {
    const found = this._stops.findIndex(stop => stop.name === 'softmax');
    return found < 0 ? Math.min(1, this._stops.length - 1) : found;
  }

  private _go(at: number): void {
    this._canvas.place.set({ stage: Math.max(0, Math.min(this._stops.length - 1, at)), matrix: 0, row: END, col: 0 });
  }

  private get _near(): number {
    return nearest(this._stops, this._at);
  }

  private get _heads(): number {
    return Math.max(1, ...(this._stops[this._at].stage?.matrices ?? []).map(matrix => matrix.heads));
  }

  private get _head(): number {
    return this._canvas.place.at('head', this._heads - 1);
  }

  private _draw(): void {
    if (!this._numbers) {
      return;
    }
    const focused = this._row.contains(document.activeElement);
    const inside = this._open.querySelector('[role=application]:focus') !== null;
    const which = Number(document.activeElement?.closest('[data-matrix]')?.getAttribute('data-matrix') ?? 0);
    this._drawBar();
    this._drawRow();
    this._drawOpen();
    if (focused) {
      this._row.querySelector<HTMLElement>('[aria-current]')?.focus();
    }
    if (inside) {
      this._open.querySelector<HTMLElement>(`[data-matrix="${which}"]`)?.focus();
    }
    const stop = this._stops[this._at];
    this._canvas.announce(`${stop.part}, ${stop.label} (${this._at + 1} / ${this._stops.length})`);
  }

  /** Steps, the layer, the head. */
  private _drawBar(): void {
    const at = this._at;
    const step = (label: string, to: number, sign: string): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          'aria-label': label,
          title: label,
          'aria-disabled': String(to < 0 || to >= this._stops.length),
          onclick: () => this._go(to)
        },
        sign
      );
    const parts = h(
      'select',
      { 'aria-label': translated('Layer') },
      ...this._parts.map(part => h('option', { value: part }, part))
    );
    parts.value = this._stops[this._near].part;
    parts.onchange = () => this._go(this._sameStage(parts.value));
    const heads = h(
      'span',
      { className: 'tfk-walk-heads', role: 'group', 'aria-label': translated('Head') },
      translated('head')
    );
    for (let head = 0; head < this._heads; head++) {
      const choose = (): void => this._canvas.place.set({ head });
      heads.append(
        h('button', { type: 'button', 'aria-pressed': String(head === this._head), onclick: choose }, String(head + 1))
      );
    }
    const focused = this._bar.contains(document.activeElement)
      ? [...this._bar.querySelectorAll('button,select')].indexOf(document.activeElement as Element)
      : -1;
    this._bar.replaceChildren(
      step(translated('Previous stage'), at - 1, '‹'),
      step(translated('Next stage'), at + 1, '›')
    );
    if (this._parts.length > 1) {
      this._bar.append(parts);
    }
    if (this._heads > 1) {
      this._bar.append(heads);
    }
    (this._bar.querySelectorAll('button,select')[focused] as HTMLElement | undefined)?.focus();
  }

  /** The same stage in another layer, or its first. */
  private _sameStage(part: string): number {
    const same = this._stops.findIndex(stop => stop.part === part && stop.name === this._stops[this._near].name);
    return same < 0 ? this._stops.findIndex(stop => stop.part === part) : same;
  }

  private _drawRow(): void {
    const at = this._at;
    const places = stopsInRow(this._stops, at);
    const drawn = `${places.join()} ${this._head}`;
    if (drawn !== this._drawnRow) {
      this._drawnRow = drawn;
      this._row.replaceChildren(...this._items(places));
    }
    places.forEach((i, n) => {
      const item = this._row.children[n];
      const button = item.firstElementChild as HTMLButtonElement;
      item.className = i < at ? 'tfk-past' : '';
      button.tabIndex = i === at ? 0 : -1;
      if (i === at) {
        button.setAttribute('aria-current', 'step');
      } else {
        button.removeAttribute('aria-current');
      }
    });
    const current = this._row.querySelector<HTMLElement>('[aria-current]');
    if (current && this._row.scrollWidth > this._row.clientWidth) {
      this._row.scrollLeft = current.parentElement!.offsetLeft - this._row.clientWidth / 2;
    }
  }

  /** The places of the row, as buttons. */
  private _items(places: number[]): HTMLElement[] {
    return places.map(i => {
      const stop = this._stops[i];
      const inside = stop.stage
        ? this._thumbnail(i, stop.stage)
        : h('span', { className: 'tfk-walk-word' }, this._word(stop));
      const label = h('span', {}, h('span', { className: 'tfk-sr' }, `${stop.part}: `), stop.label);
      return h('li', {}, h('button', { type: 'button', onclick: () => this._go(i) }, inside, label));
    });
  }

  /** Drawn once for each head. */
  private _thumbnail(i: number, stage: IStage): SVGElement {
    const key = `${i}.${Math.min(this._head, stage.matrices[0].heads - 1)}`;
    const node =
      this._thumbnails.get(key) ?? thumbnail(stage.matrices[0], this._numbers!, this._head, stage.name === 'softmax');
    this._thumbnails.set(key, node);
    return node;
  }

  private _word(stop: IStop): string {
    const drawn = this._canvas.trace.candidates.find(one => one.drawn);
    const text = this._canvas.trace.axes.find(axis => axis.kind !== 'numbers' && axis.names.length)?.names ?? [];
    return stop.name === 'drawn' && drawn ? visibleToken(drawn.token) : `${visibleToken(text[0] ?? '')} …`;
  }

  private _drawOpen(): void {
    const stop = this._stops[this._at];
    const drawn = `${this._at} ${this._head}`;
    if (stop.stage && drawn === this._drawnOpen) {
      this._setCursors(stop.stage); // the tables are unchanged: only the cursor has moved
      return this._describe();
    }
    this._drawnOpen = drawn;
    const about = describeStage(stop.stage ?? { name: stop.name });
    const words = h('div', { className: 'tfk-walk-words' });
    words.append(
      h('p', { className: 'tfk-note' }, `${this._at + 1} / ${this._stops.length} · ${stop.part}`),
      h('h4', {}, about.title),
      h('p', {}, about.words)
    );
    if (stop.stage?.code) {
      const { text, where } = stop.stage.code;
      words.append(
        h('pre', { tabIndex: 0, 'aria-label': translated('Code') }, text),
        h('p', { className: 'tfk-note' }, where)
      );
    } else if (about.formula) {
      words.append(h('pre', { tabIndex: 0, 'aria-label': translated('Formula') }, about.formula));
    }
    if (stop.stage?.note) {
      words.append(h('p', { className: 'tfk-note' }, stop.stage.note));
    }
    words.append(this._description);
    this._description.textContent = '';
    this._open.replaceChildren(
      words,
      stop.stage ? this._matrices(stop.stage) : stop.name === 'text' ? this._text() : this._candidates()
    );
    if (stop.stage) {
      this._setCursors(stop.stage);
      this._describe();
    }
  }

  private _matrices(stage: IStage): HTMLElement {
    const tables = stage.matrices.map((matrix, i) => {
      const node = this._table(stage, i);
      return h('section', { className: 'tfk-walk-matrix' }, h('h4', {}, matrix.name), node, ...this._cut(matrix));
    });
    return h('div', { className: 'tfk-walk-matrices' }, ...this._before(stage), ...tables);
  }

  /** The matrices that a stage is computed from. */
  private _before(stage: IStage): HTMLElement[] {
    const { trace } = this._canvas;
    return sources(trace, stage).flatMap(([from, which]) =>
      which.map(i => {
        const open = (): void => this._go(this._stops.findIndex(stop => stop.stage === from));
        const title = h(
          'h4',
          {},
          h('button', { type: 'button', className: 'tfk-walk-link', onclick: open }, from.matrices[i].name)
        );
        return h('section', { className: 'tfk-walk-matrix tfk-walk-source' }, title, this._table(from, i, 'source'));
      })
    );
  }

  /** Shows the cursor in the chosen matrix only. */
  private _setCursors({ matrices }: IStage): void {
    const { trace, place } = this._canvas;
    matrices.forEach((matrix, i) => {
      const at = {
        row: place.at('row', trace.axes[matrix.rows].at.length - 1, END),
        col: place.at('col', trace.axes[matrix.cols].at.length - 1)
      };
      const chosen = place.at('matrix', matrices.length - 1) === i;
      setCursor(this._open.querySelector<HTMLElement>(`[data-matrix="${i}"]`)!, chosen ? at : null);
    });
  }

  /** The table of a matrix as it was drawn before: stepping back is cheap. */
  private _table(stage: IStage, i: number, role = 'open'): HTMLElement {
    const { trace } = this._canvas;
    const key = `${trace.stages.indexOf(stage)}.${i}.${this._head}.${role}`;
    let node = this._tables.get(key);
    if (!node) {
      node = matrixTable(stage.matrices[i], trace, this._numbers!, this._head, stage);
      if (role === 'open') {
        node.dataset.matrix = String(i);
        node.addEventListener('keydown', event => this._move(event, i));
        node.addEventListener('click', event => this._click(event, i));
      }
      if (this._tables.size >= MAX_TABLES) {
        this._tables.clear();
      }
      this._tables.set(key, node);
    }
    return node;
  }

  /** A note on the parts of a matrix that are not shown. */
  private _cut(matrix: IStage['matrices'][number]): HTMLElement[] {
    const sides = [matrix.rows, matrix.cols].map(side => this._canvas.trace.axes[side]);
    const left = sides.filter(side => side.at.length < side.length);
    const name = (kind: string): string =>
      kind === 'numbers' ? translated('numbers of each vector') : translated('positions');
    return left.map(side =>
      h(
        'p',
        { className: 'tfk-note' },
        translated('%1 of %2 %3 are shown', side.at.length, side.length, name(side.kind))
      )
    );
  }

  private _text(): HTMLElement {
    const axes = this._canvas.trace.axes.filter(axis => axis.kind !== 'numbers' && axis.names.length);
    const lists = axes.map(axis =>
      h(
        'ol',
        { className: 'tfk-walk-text' },
        ...axis.names.map(name => markToken(h('li', {}, visibleToken(name)), visibleToken(name)))
      )
    );
    return h('div', { className: 'tfk-walk-matrices' }, ...lists);
  }

  private _candidates(): HTMLElement {
    const { candidates } = this._canvas.trace;
    const most = Math.max(...candidates.map(one => one.p));
    const rows = candidates.map(one => {
      const bar = h('span', { className: 'tfk-walk-bar', 'aria-hidden': 'true' });
      bar.style.width = `${(160 * one.p) / most}px`;
      const drawn = one.drawn ? h('strong', {}, translated('drawn')) : '';
      return h(
        'tr',
        one.drawn ? { className: 'tfk-walk-drawn' } : {},
        markToken(h('th', { scope: 'row' }, visibleToken(one.token)), visibleToken(one.token)),
        h('td', {}, one.logit.toFixed(2)),
        h('td', {}, short(one.p)),
        h('td', {}, bar),
        h('td', {}, drawn)
      );
    });
    const names = [translated('token'), translated('logit'), translated('p'), '', ''];
    return h(
      'div',
      { className: 'tfk-walk-matrices' },
      h(
        'table',
        { className: 'tfk-walk-candidates', 'aria-label': translated('Most probable next tokens') },
        tableHead(names),
        h('tbody', {}, ...rows)
      )
    );
  }

  private _key(event: KeyboardEvent): void {
    const moves: Record<string, number> = {
      ArrowRight: this._at + 1,
      ArrowLeft: this._at - 1,
      Home: 0,
      End: this._stops.length - 1
    };
    if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation(); // the notebook has uses of its own for these keys
      this._go(moves[event.key]);
    }
  }

  private _move(event: KeyboardEvent, matrix: number): void {
    const moves: Record<string, [number, number]> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1]
    };
    const move = moves[event.key];
    if (move && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      const { place } = this._canvas;
      const same = place.at('matrix', 99) === matrix;
      const most = this._canvas.trace.axes[this._stops[this._at].stage!.matrices[matrix].rows].at.length - 1;
      this._choose(
        matrix,
        (same ? place.at('row', most, most) : 0) + move[0],
        (same ? place.at('col', END) : 0) + move[1]
      );
    }
  }

  private _click(event: MouseEvent, matrix: number): void {
    const cell = (event.target as Element).closest<HTMLElement>('td[data-row]');
    if (cell) {
      this._choose(matrix, Number(cell.dataset.row), Number(cell.dataset.col));
    }
  }

  private _choose(matrix: number, row: number, col: number): void {
    const { rows, cols } = this._stops[this._at].stage!.matrices[matrix];
    const { axes } = this._canvas.trace;
    const inside = (x: number, count: number): number => Math.max(0, Math.min(count - 1, x));
    this._canvas.place.set({ matrix, row: inside(row, axes[rows].at.length), col: inside(col, axes[cols].at.length) });
  }

  /** Describes the cell at the cursor or pointer, and how it is computed. */
  private _describe(over?: { matrix: number; row: number; col: number }): void {
    const { place, trace } = this._canvas;
    const stage = this._stops[this._at].stage!;
    const at = over ?? {
      matrix: place.at('matrix', stage.matrices.length - 1),
      row: place.at('row', END, END),
      col: place.at('col', END)
    };
    this._description.textContent = product(trace, this._numbers!, stage, at.matrix, this._head, at.row, at.col);
    this._outline(stage, at, over !== undefined);
  }

  /** Outlines the square under the pointer, and what the described square is computed from. */
  private _outline(stage: IStage, at: { matrix: number; row: number; col: number }, isOver: boolean): void {
    const { rows, cols } = stage.matrices[at.matrix];
    const { axes } = this._canvas.trace;
    const place: [number, number] = [
      Math.min(at.row, axes[rows].at.length - 1),
      Math.min(at.col, axes[cols].at.length - 1)
    ];
    this._open.querySelectorAll('.tfk-walk-source').forEach((source, n) =>
      source.querySelectorAll<HTMLElement>('td[data-row]').forEach(cell => {
        const square: [number, number] = [Number(cell.dataset.row), Number(cell.dataset.col)];
        cell.classList.toggle('tfk-from', at.matrix === 0 && isOrigin(stage.name, n, place, square));
      })
    );
    this._open.querySelector('.tfk-over')?.classList.remove('tfk-over');
    if (isOver) {
      const [row, col] = place;
      const square = `td[data-row="${row}"][data-col="${col}"]`;
      this._open.querySelector(`[data-matrix="${at.matrix}"] ${square}`)?.classList.add('tfk-over');
    }
  }

  private _point(event: Event): void {
    const cell = (event.target as Element).closest<HTMLElement>('td[data-row]');
    const matrix = cell?.closest('[data-matrix]')?.getAttribute('data-matrix');
    if (cell && matrix) {
      this._describe({ matrix: Number(matrix), row: Number(cell.dataset.row), col: Number(cell.dataset.col) });
    }
  }

  private readonly _stops: IStop[];
  private readonly _parts: string[];
  private _numbers: INumbers | null = null;
  private _drawnRow = '';
  private _drawnOpen = '';
  private readonly _thumbnails = new Map<string, SVGElement>();
  private readonly _tables = new Map<string, HTMLElement>();
  private readonly _bar = h('div', { className: 'tfk-bar' });
  private readonly _row = h('ol', { className: 'tfk-walk-row', 'aria-label': translated('Stages') });
  private readonly _open = h('div', { className: 'tfk-walk-open' }, translated('Unpacking …'));
  private readonly _description = h('p', { className: 'tfk-walk-said', 'aria-live': 'polite' });
}

/** Checks what the schema cannot: that all axes exist. */
function problem(trace: IWalk): string | null {
  const sides = trace.stages.flatMap(stage => stage.matrices.flatMap(matrix => [matrix.rows, matrix.cols]));
  const most = Math.max(...sides);
  return most < trace.axes.length ? null : `a matrix names side ${most}, but there are ${trace.axes.length}`;
}

export const mount = picture<IWalk>(
  () => translated('Walk through one step'),
  validate,
  canvas => new View(canvas).draw,
  problem
);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
