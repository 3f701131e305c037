/** A number for each head (or position) of each layer; with both signs, zero is the middle of the colour scale. */
import { IHeads } from '../generated/heads';
import { validate } from '../generated/heads.valid';
import { h, visibleToken } from './dom';
import { HEAT_CSS } from './heatstyle';
import { HeatTable, ICell, IPlaceOf } from './heattable';
import { listen } from './highlight';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { cellClass } from './scales';
import { short } from './walknumbers';
import { translated } from './words';

const FIRST = 6;

/** All cells that have a number, the largest by size first. */
export function ranked({ values }: Pick<IHeads, 'values'>): IPlaceOf[] {
  return values
    .flatMap((line, row) => line.map((value, col) => ({ row, col, size: Math.abs(value ?? NaN) })))
    .filter(({ size }) => !Number.isNaN(size))
    .sort((a, b) => b.size - a.size)
    .map(({ row, col }) => ({ row, col }));
}

/** A cell in words. */
export function describeCell(trace: IHeads, { row, col }: IPlaceOf): string {
  const value = trace.values[row][col];
  const where = `${trace.layers[row]}, ${trace.axes[1]} ${visibleToken(trace.columns[col])}`;
  return `${where}: ${value === null ? translated('no value') : short(value)}`;
}

/** The text of a cell: two decimals; a value that would round to zero is a dot here, and is described in full. */
const rounded = (value: number, top: number): string =>
  top < 0.1 ? short(value) : Math.abs(value) < 0.005 ? '·' : short(Math.round(value * 100) / 100);

function legend(trace: IHeads, top: number): HTMLElement {
  const shares = trace.scale === 'signed' ? [-1, -0.5, -0.2, 0, 0.2, 0.5, 1] : [0, 0.1, 0.25, 0.5, 0.75, 1];
  const steps = shares.map(share => h('i', { className: cellClass(share * top, top, trace.scale === 'shares') }));
  const ramp = h('span', { className: 'tfk-heat-ramp', 'aria-hidden': 'true' }, ...steps);
  const ends = [trace.scale === 'signed' ? short(-top) : '0', short(top)];
  return h('p', { className: 'tfk-heat-key' }, h('span', {}, ends[0]), ramp, h('span', {}, ends[1]));
}

/** The strongest, as a list to choose from. */
function strongest(trace: IHeads, top: number, at: IPlaceOf, choose: (to: IPlaceOf) => void): HTMLElement {
  const rows = ranked(trace)
    .slice(0, FIRST)
    .map(to => {
      const value = trace.values[to.row][to.col]!;
      const bar = h('span', { className: 'tfk-heat-bar', 'aria-hidden': 'true' });
      bar.style.width = `${Math.max(1, (100 * Math.abs(value)) / top)}%`;
      bar.classList.add(value < 0 ? 'tfk-heat-neg' : 'tfk-heat-pos');
      const name = `${trace.layers[to.row]} · ${visibleToken(trace.columns[to.col])}`;
      const pressed = String(to.row === at.row && to.col === at.col);
      const button = h('button', { type: 'button', 'aria-pressed': pressed, onclick: () => choose(to) }, name);
      return h('tr', {}, h('th', { scope: 'row' }, button), h('td', {}, short(value)), h('td', {}, bar));
    });
  const names = [`${trace.axes[0]} · ${trace.axes[1]}`, translated('value')].map(name =>
    h('th', { scope: 'col' }, name)
  );
  return h('table', {}, h('thead', {}, h('tr', {}, ...names, h('td', {}))), h('tbody', {}, ...rows));
}

function build({ trace, root, place, announce }: ICanvas<IHeads>): () => void {
  listen(root.ownerDocument);
  const all = ranked(trace);
  const first = all[0] ?? { row: 0, col: 0 };
  const top = Math.abs(trace.values[first.row][first.col] ?? 0) || 1;
  const cell = (at: IPlaceOf): ICell => {
    const value = trace.values[at.row][at.col];
    const title = describeCell(trace, at);
    return value === null
      ? { text: '', look: 'tfk-none', title }
      : { text: rounded(value, top), look: cellClass(value, top, trace.scale === 'shares'), title };
  };
  const sides = {
    label: trace.title || translated('Heads'),
    axes: trace.axes,
    rows: trace.layers,
    cols: trace.columns,
    tokens: trace.columns.some(name => /\D/.test(name))
  };
  const description = h('p', {});
  const list = h('div', {});
  const cursor = (): IPlaceOf => ({
    row: place.at('row', trace.layers.length - 1, first.row),
    col: place.at('col', trace.columns.length - 1, first.col)
  });
  const choose = (to: IPlaceOf): void => place.set({ ...to });
  const describe = (at = cursor()): void => {
    const rank = all.findIndex(one => one.row === at.row && one.col === at.col) + 1;
    description.textContent =
      describeCell(trace, at) + (rank ? ` (${translated('%1 of %2 by size', rank, all.length)})` : '');
  };
  const table = new HeatTable(sides, cell, choose, describe);
  const about = h('div', { className: 'tfk-heat-about' }, h('h4', {}, trace.measure), description, list);
  const view = h('div', { className: 'tfk-heat-view' }, h('div', {}, table.node, legend(trace, top)), about);
  root.append(h('style', {}, HEAT_CSS), view);
  return () => {
    table.point(cursor());
    const focused = [...list.querySelectorAll('button')].indexOf(document.activeElement as HTMLButtonElement);
    list.replaceChildren(strongest(trace, top, cursor(), choose));
    list.querySelectorAll('button')[focused]?.focus();
    describe();
    announce(describeCell(trace, cursor()));
  };
}

/** Checks what the schema cannot: that the counts of names and numbers agree. */
function problem({ values, layers, columns }: IHeads): string | null {
  return values.length === layers.length && values.every(line => line.length === columns.length)
    ? null
    : `there are ${layers.length} layers and ${columns.length} columns, and not so many numbers`;
}

export const mount = picture<IHeads>(() => translated('Heads'), validate, build, problem);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
