/** A table of coloured cells with names on both sides and a cursor, which arrow keys and clicks move; hovering only describes a cell. */
import { h, visibleToken } from './dom';
import { markToken } from './highlight';

export interface ICell {
  text: string;
  /** CSS classes of its colour and state. */
  look: string;
  /** The cell in words. */
  title: string;
}

export interface ISides {
  label: string;
  axes: [string, string];
  rows: string[];
  cols: string[];
  /** Whether the columns are tokens, which light up in every view of the page. */
  tokens: boolean;
  /** A last row, such as of what is true, with its name. */
  foot?: { name: string; cells: string[] };
}

export interface IPlaceOf {
  row: number;
  col: number;
}

const MOVES: Record<string, (at: IPlaceOf, most: IPlaceOf) => IPlaceOf> = {
  ArrowUp: at => ({ ...at, row: at.row - 1 }),
  ArrowDown: at => ({ ...at, row: at.row + 1 }),
  ArrowLeft: at => ({ ...at, col: at.col - 1 }),
  ArrowRight: at => ({ ...at, col: at.col + 1 }),
  Home: at => ({ ...at, col: 0 }),
  End: (at, most) => ({ ...at, col: most.col })
};

const inside = (x: number, most: number): number => Math.max(0, Math.min(most, x));

/** Draws the table once; `move` is called with the new position of the cursor, `hover` with the cell under the pointer, or nothing when it leaves. */
export class HeatTable {
  readonly node: HTMLElement;

  constructor(
    private readonly _sides: ISides,
    cell: (at: IPlaceOf) => ICell,
    private readonly _move: (to: IPlaceOf) => void,
    hover: (over?: IPlaceOf) => void
  ) {
    const { label, rows, cols, foot } = _sides;
    const lines = rows.map((name, row) => {
      const cells = cols.map((_, col) => this._cell({ row, col }, cell({ row, col })));
      this._cells.push(cells);
      return h('tr', {}, h('th', { scope: 'row', title: name }, h('span', {}, name)), ...cells);
    });
    const table = h(
      'table',
      { 'aria-label': label },
      h('thead', {}, h('tr', {}, this._corner(), ...cols.map(name => this._head(name, 'col')))),
      h('tbody', {}, ...lines)
    );
    if (foot) {
      const goals = foot.cells.map(name => (name ? this._head(name) : h('td', {})));
      table.append(h('tfoot', {}, h('tr', {}, h('th', { scope: 'row' }, foot.name), ...goals)));
    }
    const about = `${label}, ${rows.length} × ${cols.length}`;
    this.node = h('div', { className: 'tfk-heat', tabIndex: 0, role: 'application', 'aria-label': about }, table);
    this.node.addEventListener('keydown', event => this._key(event));
    this.node.addEventListener('click', event => this._at(event, at => this._to(at)));
    this.node.addEventListener('pointerover', event => this._at(event, hover));
    this.node.addEventListener('pointerleave', () => hover());
  }

  /** Moves the cursor to a cell, and scrolls it into view. */
  point(at: IPlaceOf): void {
    this._cells[this._cursor.row]?.[this._cursor.col]?.classList.remove('tfk-cursor');
    this._cursor = at;
    const cell = this._cells[at.row][at.col];
    cell.classList.add('tfk-cursor');
    if (this.node.scrollWidth > this.node.clientWidth || this.node.scrollHeight > this.node.clientHeight) {
      const room = {
        left: cell.offsetLeft - this.node.clientWidth / 2,
        top: cell.offsetTop - this.node.clientHeight / 2
      };
      Object.assign(this.node, { scrollLeft: room.left, scrollTop: room.top });
    }
  }

  private _corner(): HTMLElement {
    const [down, across] = this._sides.axes;
    return h('td', { className: 'tfk-heat-corner' }, h('span', {}, `${down} ↓`), h('span', {}, `${across} →`));
  }

  private _head(name: string, scope?: string): HTMLElement {
    const node = h(scope ? 'th' : 'td', { ...(scope && { scope }), title: name }, h('span', {}, visibleToken(name)));
    return this._sides.tokens ? markToken(node, visibleToken(name)) : node;
  }

  private _cell(at: IPlaceOf, { text, look, title }: ICell): HTMLElement {
    const cell = document.createElement('td'); // direct, as there may be a thousand
    cell.className = look;
    cell.title = title;
    cell.dataset.row = String(at.row);
    cell.dataset.col = String(at.col);
    cell.textContent = text;
    return cell;
  }

  private _at(event: Event, then: (at: IPlaceOf) => void): void {
    const cell = (event.target as Element).closest<HTMLElement>('td[data-row]');
    if (cell) {
      then({ row: Number(cell.dataset.row), col: Number(cell.dataset.col) });
    }
  }

  private _key(event: KeyboardEvent): void {
    const move = MOVES[event.key];
    if (move && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation(); // the notebook has uses of its own for these keys
      this._to(move(this._cursor, { row: this._sides.rows.length - 1, col: this._sides.cols.length - 1 }));
    }
  }

  private _to({ row, col }: IPlaceOf): void {
    this._move({ row: inside(row, this._sides.rows.length - 1), col: inside(col, this._sides.cols.length - 1) });
  }

  private _cursor: IPlaceOf = { row: 0, col: 0 };
  private readonly _cells: HTMLElement[][] = [];
}
