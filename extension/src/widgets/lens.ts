/** What a model would predict after each layer: the most probable token of each position, and all candidates for the chosen cell. */
import { ILens } from '../generated/lens';
import { validate } from '../generated/lens.valid';
import { clipped, h, visibleToken } from './dom';
import { HEAT_CSS } from './heatstyle';
import { HeatTable, ICell, IPlaceOf } from './heattable';
import { listen, markToken } from './highlight';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { cellClass } from './scales';
import { short } from './walknumbers';
import { translated } from './words';

type ILensCell = ILens['cells'][number][number];

const CHARACTERS = 9;

/** The first layer from which the true token stays the most probable one, or -1. */
export function settled(trace: ILens, col: number): number {
  const wrong = trace.cells.map(row => row[col].top[0] !== trace.targets[col]);
  const last = wrong.lastIndexOf(true) + 1;
  return last < trace.layers.length ? last : -1;
}

/** A cell in words. */
export function describeCell(trace: ILens, { row, col }: IPlaceOf): string {
  const cell = trace.cells[row][col];
  const word = visibleToken(trace.vocabulary[cell.top[0]]);
  const head = `${trace.layers[row]}, ${visibleToken(trace.tokens[col])}: ${word} ${short(cell.p[0])}`;
  const goal = trace.targets[col];
  if (!cell.target || goal === null) {
    return head;
  }
  return `${head}; ${translated('true next token %1: %2, rank %3', visibleToken(trace.vocabulary[goal]), short(cell.target[0]), cell.target[1])}`;
}

const bar = (p: number): HTMLElement => {
  const node = h('span', { className: 'tfk-heat-bar', 'aria-hidden': 'true' });
  node.style.width = `${Math.max(1, 100 * p)}%`;
  return node;
};

function candidates(trace: ILens, cell: ILensCell, goal: number | null): HTMLElement {
  const all = cell.top.map((id, i): [number, number, number] => [id, cell.p[i], i + 1]);
  if (goal !== null && cell.target && !cell.top.includes(goal)) {
    all.push([goal, ...cell.target]);
  }
  const rows = all.map(([id, p, rank]) => {
    const word = visibleToken(trace.vocabulary[id]);
    const name = markToken(h('th', { scope: 'row', title: word }, id === goal ? `${word} ✓` : word), word);
    const cells = [String(rank), short(p)].map(text => h('td', {}, text));
    return h('tr', id === goal ? { className: 'tfk-heat-goal' } : {}, cells[0], name, cells[1], h('td', {}, bar(p)));
  });
  const names = ['', translated('token'), translated('p'), ''];
  const head = names.map(name => (name ? h('th', { scope: 'col' }, name) : h('td', {})));
  return h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
}

/** How the probability of the true token grows from layer to layer. */
function rise(trace: ILens, { row, col }: IPlaceOf): HTMLElement[] {
  const goal = trace.targets[col];
  if (goal === null) {
    return [];
  }
  const shares = trace.cells.map(cells => cells[col].target?.[0] ?? 0);
  const bars = shares.map((p, i) => {
    const node = h('i', { title: `${trace.layers[i]}: ${short(p)}`, className: i === row ? 'tfk-current' : '' });
    node.style.height = `${100 * p}%`;
    return node;
  });
  const from = settled(trace, col);
  const word = visibleToken(trace.vocabulary[goal]);
  const when =
    from < 0
      ? translated('it never stays the most probable')
      : translated('it stays the most probable from %1 on', trace.layers[from]);
  const words = `${translated('p of %1 after each layer', word)}; ${when}`;
  const label = `${words}: ${shares.map(p => short(p)).join(', ')}`;
  return [
    h('div', { className: 'tfk-rise', role: 'img', 'aria-label': label }, ...bars),
    h('p', { className: 'tfk-note' }, words)
  ];
}

function legend(truth: boolean): HTMLElement {
  const steps = [0, 0.1, 0.25, 0.5, 0.75, 1].map(p => h('i', { className: cellClass(p, 1, true) }));
  const ramp = h('span', { className: 'tfk-heat-ramp', 'aria-hidden': 'true' }, ...steps);
  const box = h('i', { 'aria-hidden': 'true' });
  box.style.boxShadow = 'inset 0 0 0 2px var(--ink)';
  const mark = h('span', {}, box, translated('the true next token is the most probable'));
  return h('p', { className: 'tfk-heat-key' }, h('span', {}, 'p 0 '), ramp, '1', ...(truth ? [mark] : []));
}

function build({ trace, root, place, announce }: ICanvas<ILens>): () => void {
  listen(root.ownerDocument);
  const cell = (at: IPlaceOf): ICell => {
    const { top, p } = trace.cells[at.row][at.col];
    const look = cellClass(p[0], 1, true) + (top[0] === trace.targets[at.col] ? ' tfk-true' : '');
    const word = trace.vocabulary[top[0]];
    const text = clipped(word, CHARACTERS) + (Array.from(word).length > CHARACTERS ? '…' : '');
    return { text, look, title: describeCell(trace, at) };
  };
  const truth = trace.targets.some(goal => goal !== null);
  const goals = trace.targets.map(goal => (goal === null ? '' : trace.vocabulary[goal]));
  const sides = {
    label: trace.title || translated('Logit lens'),
    axes: [translated('after'), translated('token')] as [string, string],
    rows: trace.layers,
    cols: trace.tokens,
    tokens: true,
    ...(truth && { foot: { name: translated('true next'), cells: goals } })
  };
  const about = h('div', { className: 'tfk-heat-about' });
  const cursor = (): IPlaceOf => ({
    row: place.at('row', trace.layers.length - 1, trace.layers.length - 1),
    col: place.at('col', trace.tokens.length - 1, opening(trace))
  });
  const show = (at = cursor()): void => {
    const named = `${trace.layers[at.row]} · ${visibleToken(trace.tokens[at.col])}`;
    const list = candidates(trace, trace.cells[at.row][at.col], trace.targets[at.col]);
    about.replaceChildren(h('h4', {}, named), list, ...rise(trace, at));
  };
  const table = new HeatTable(sides, cell, to => place.set({ ...to }), show);
  const left = h('div', {}, table.node, legend(truth));
  root.append(h('style', {}, HEAT_CSS), h('div', { className: 'tfk-heat-view' }, left, about));
  return () => {
    table.point(cursor());
    show();
    announce(describeCell(trace, cursor()));
  };
}

/** The initial position: the one whose true token becomes the most probable at the latest layer. */
export function opening(trace: ILens): number {
  const from = trace.tokens.map((_, col) => (trace.targets[col] === null ? -1 : settled(trace, col)));
  return from.lastIndexOf(Math.max(...from));
}

/** Checks what the schema cannot: that the counts agree, and that all tokens exist. */
function problem({ cells, layers, tokens, targets, vocabulary }: ILens): string | null {
  if (cells.length !== layers.length || [...cells, targets].some(row => row.length !== tokens.length)) {
    return `there are ${layers.length} layers and ${tokens.length} tokens, and not so many cells`;
  }
  const most = Math.max(...targets.map(goal => goal ?? 0), ...cells.flat().flatMap(cell => cell.top));
  return most < vocabulary.length ? null : `token ${most} is named, but there are ${vocabulary.length}`;
}

export const mount = picture<ILens>(() => translated('Logit lens'), validate, build, problem);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
