/** A matrix of a walk: as a table with every number in its cell, tokens on both axes; and as a thumbnail. */
import { IWalk } from '../generated/walk';
import { h, svg } from './dom';
import { markToken } from './highlight';
import { cellClass } from './scales';
import { INumbers, nameOf, short } from './walknumbers';

type IStage = IWalk['stages'][number];
type IMatrix = IStage['matrices'][number];

const MASKED = -1e4; // scores at or below this are masked
const SHARES = ['softmax']; // whose zeros are hidden positions

const hides = (stage: IStage | null, value: number): boolean =>
  value <= MASKED || (value === 0 && !!stage && SHARES.includes(stage.name));

/** The largest absolute value of a matrix, without hidden positions. */
function largest(matrix: IMatrix, numbers: INumbers, head: number): number {
  const [rows, cols] = numbers.size(matrix);
  let found = 0;
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) {
      const size = Math.abs(numbers.at(matrix, head, r, c));
      found = size < -MASKED && size > found ? size : found;
    }
  }
  return found || 1;
}

/** Sets or removes the cursor of a table. */
export function setCursor(node: HTMLElement, at: { row: number; col: number } | null): void {
  node.querySelector('.tfk-cursor')?.classList.remove('tfk-cursor');
  node.querySelector(at ? `td[data-row="${at.row}"][data-col="${at.col}"]` : ':not(*)')?.classList.add('tfk-cursor');
}

/** The table of one head, without a cursor. */
export function matrixTable(
  matrix: IMatrix,
  trace: IWalk,
  numbers: INumbers,
  head: number,
  stage: IStage
): HTMLElement {
  const [rows, cols] = numbers.size(matrix);
  const [down, across] = [trace.axes[matrix.rows], trace.axes[matrix.cols]];
  const named = (axis: typeof down, place: number, scope: string): HTMLElement => {
    const name = nameOf(axis, place);
    const cell = h('th', { scope, title: name }, h('span', {}, name));
    return axis.names[place] === undefined ? cell : markToken(cell, name);
  };
  const shares = stage.name === 'softmax';
  const top = largest(matrix, numbers, head);
  const body = h('tbody');
  for (let r = 0; r < rows; r++) {
    const line = h('tr', {}, named(down, r, 'row'));
    let whole = 0;
    for (let c = 0; c < cols; c++) {
      const value = numbers.at(matrix, head, r, c);
      whole += value;
      const words = hides(stage, value) && value > MASKED ? '' : short(value, stage.name === 'ids');
      line.append(cellOf(value, words, r, c, hides(stage, value) ? 'tfk-hidden' : cellClass(value, top, shares)));
    }
    if (shares && across.at.length === across.length) {
      line.append(h('td', { className: 'tfk-walk-sum' }, `Σ ${short(whole)}`));
    }
    body.append(line);
  }
  const columns = Array.from({ length: cols }, (_, c) => named(across, c, 'col'));
  const table = h('table', { 'aria-label': matrix.name }, h('thead', {}, h('tr', {}, h('td', {}), ...columns)), body);
  table.classList.toggle('tfk-walk-ids', stage.name === 'ids');
  return h(
    'div',
    {
      className: 'tfk-walk-scroll',
      tabIndex: 0,
      role: 'application',
      'aria-label': `${matrix.name}, ${rows} × ${cols}`
    },
    table
  );
}

function cellOf(value: number, words: string, r: number, c: number, className: string): HTMLElement {
  const cell = document.createElement('td'); // direct, as a table has hundreds
  cell.className = className;
  cell.title = Number.isFinite(value) ? String(Number(value.toPrecision(4))) : short(value);
  cell.setAttribute('data-row', String(r));
  cell.setAttribute('data-col', String(c));
  cell.textContent = words;
  return cell;
}

const SIDE = 8;

/** A matrix in a few squares, each showing the strongest value of those it represents. */
export function thumbnail(matrix: IMatrix, numbers: INumbers, head: number, shares: boolean): SVGElement {
  const [rows, cols] = numbers.size(matrix);
  const [high, wide] = [Math.min(SIDE, rows), Math.min(SIDE, cols)];
  const top = largest(matrix, numbers, head);
  const squares: SVGElement[] = [];
  for (let r = 0; r < high; r++) {
    for (let c = 0; c < wide; c++) {
      let strong = 0;
      for (let i = Math.floor((r * rows) / high); i < ((r + 1) * rows) / high; i++) {
        for (let j = Math.floor((c * cols) / wide); j < ((c + 1) * cols) / wide; j++) {
          const value = numbers.at(matrix, head, i, j);
          strong = value > MASKED && Math.abs(value) > Math.abs(strong) ? value : strong;
        }
      }
      const look = cellClass(strong, top, shares);
      squares.push(svg('rect', { x: c, y: r, width: 0.94, height: 0.94, class: look }));
    }
  }
  return svg(
    'svg',
    {
      viewBox: `0 0 ${wide} ${high}`,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
      focusable: 'false',
      class: wide === 1 ? 'tfk-narrow' : ''
    },
    ...squares
  );
}
