/** An overview of all heads of all layers, and one of them enlarged. */
import { IAttention } from '../generated/attention';
import { validate } from '../generated/attention.valid';
import { h } from './dom';
import { Grid, IGrid } from './grid';
import { Lines } from './lines';
import { IRenderProps } from './model';
import { palette } from './palette';
import { choice, ICanvas, picture } from './picture';
import { IHeads, IPlan, planThumbnails, thumbnails } from './thumbnails';
import { headMap, inflate, mapBytes, poolingNote } from './trace';
import { translated } from './words';

type IMaps = IAttention['maps'][number];

interface IOpened extends IHeads {
  map: IMaps;
}

function gridOf({ map, bytes, kinds }: IOpened, layer: number, head: number): IGrid {
  const { rows, cols } = map;
  const start = (layer * map.heads + head) * rows * cols;
  const mark = marksOf(map, layer, head);
  return {
    name: translated('%1, head %2', map.names[layer], head + 1),
    rows,
    cols,
    low: 0,
    high: 1,
    kind: 'scale',
    pooled: map.pooled,
    at: headMap(map, bytes, layer, head),
    ...(map.kinds && kinds
      ? { groups: { names: map.kinds.names, of: (r: number, c: number) => kinds[start + r * cols + c], ...mark } }
      : {})
  };
}

/** The sort key of each position, if the map has an order. */
function marksOf({ order }: IMaps, layer: number, head: number): { mark?: { name: string; of: number[] } } {
  const marks = order?.of[layer];
  return order && marks ? { mark: { name: order.name, of: marks[Math.min(head, marks.length - 1)] } } : {};
}

/** The same grid with keys and queries (the last of the positions) sorted by their marks. */
export function sortGrid(grid: IGrid): IGrid {
  const marks = grid.groups?.mark?.of;
  if (!marks) {
    return grid;
  }
  const by = (of: number[]): number[] => of.map((_, i) => i).sort((a, b) => of[a] - of[b] || a - b);
  const [rows, cols] = [by(marks.slice(grid.cols - grid.rows)), by(marks)];
  const through = (at: (r: number, c: number) => number) => (r: number, c: number) => at(rows[r], cols[c]);
  return {
    ...grid,
    at: through(grid.at),
    groups: { ...grid.groups!, of: through(grid.groups!.of) },
    order: { rows, cols }
  };
}

/** A row of thumbnails for each layer. */
function overview(
  opened: IOpened,
  show: (grid: IGrid) => IGrid,
  pick: (layer: number, head: number) => void
): HTMLElement {
  const { map } = opened;
  const plain = planThumbnails(map);
  const rows = map.names.map((name, layer) => {
    const planOf = (head: number): IPlan => {
      const { order } = show(gridOf(opened, layer, head));
      return order ? planThumbnails(map, order) : plain;
    };
    return thumbnails(opened, layer, name, planOf, head => pick(layer, head));
  });
  return h(
    'div',
    { className: 'tfk-scroll tfk-overview', tabIndex: 0, role: 'group', 'aria-label': translated('All heads') },
    ...rows
  );
}

const markOf = ({ groups, cols, rows, order }: IGrid, row: number): string =>
  groups?.mark ? ` (${groups.mark.name} ${groups.mark.of[cols - rows + (order?.rows[row] ?? row)]})` : '';

/** How much of a query's attention goes to each kind of key. */
export function shares(grid: IGrid, row: number): string {
  const sums = new Map<string, number>();
  for (let c = 0; grid.groups && !grid.pooled && c < grid.cols; c++) {
    const group = grid.groups.of(row, c);
    if (group) {
      sums.set(grid.groups.names[group], (sums.get(grid.groups.names[group]) ?? 0) + grid.at(row, c));
    }
  }
  const whole = [...sums.values()].reduce((a, b) => a + b, 0) || 1; // weights are stored as multiples of 1/255
  return [...sums].map(([name, sum]) => `${name} ${(sum / whole).toFixed(2)}`).join(', ');
}

/** Inflates a map and its kinds; throws if the number of bytes is wrong. */
async function unpack(map: IMaps): Promise<IOpened> {
  const bytes = await inflate(map.data);
  const kinds = map.kinds ? await inflate(map.kinds.data) : null;
  const wanted: [Uint8Array | null, number][] = [
    [bytes, mapBytes(map)],
    [kinds, map.layers * map.heads * map.rows * map.cols]
  ];
  for (const [found, count] of wanted) {
    if (found && found.length !== count) {
      throw new Error(`${found.length} bytes instead of ${count}`);
    }
  }
  return { map, bytes, kinds };
}

function build({ trace, root, place, announce }: ICanvas<IAttention>): () => void {
  const names = {
    rows: trace.tokens,
    cols: trace.keys.length ? trace.keys : trace.tokens,
    axes: [translated('query'), translated('key')]
  };
  const grid = new Grid(names, 380, (row, col) => place.set({ row, col }));
  const lines = new Lines(names, row => place.set({ row }));
  const sets = choice(
    translated('Attention'),
    trace.maps.map(map => `${map.names[0]} … ${(map.pooled ?? map).rows} × ${(map.pooled ?? map).cols}`),
    place,
    'set'
  );
  const sort = h('input', { type: 'checkbox', onchange: () => place.set({ sorted: Number(sort.checked) }) });
  const sortName = h('span');
  const sorting = h('label', {}, sort, sortName);
  const all = h('div');
  const peek = (event: Event): void => {
    const heads = Array.from(all.querySelectorAll('button'));
    const at = heads.indexOf((event.target as Element).closest('button')!);
    if (opened && at !== peeked) {
      peeked = at;
      enlarge();
    }
  };
  const leave = (): void => {
    if (peeked >= 0) {
      peeked = -1;
      enlarge();
    }
  };
  all.addEventListener('pointerover', peek);
  all.addEventListener('focusin', peek);
  all.addEventListener('pointerleave', leave);
  all.addEventListener('focusout', leave);
  const [note, summary] = [
    h('p', { className: 'tfk-note', role: 'log' }, translated('Unpacking …')),
    h('p', { className: 'tfk-note' })
  ];
  root.append(
    h('div', { className: 'tfk-bar' }, sets.node, sorting),
    h('div', { className: 'tfk-row' }, h('div', {}, all, lines.node), h('div', {}, grid.node, summary)),
    note
  );
  let opened: IOpened | null = null;
  let overviewed = '';
  let peeked = -1; // the head in the overview that is under the pointer or has the focus; -1: none
  const sorted = (one: IGrid): IGrid => (sort.checked ? sortGrid(one) : one);
  /** Draws the chosen head large, or the one that is looked at in the overview; returns its map and the square in words. */
  const enlarge = (): [IGrid, string] => {
    const { map } = opened!;
    const chosen = place.at('layer', map.layers - 1) * map.heads + place.at('head', map.heads - 1);
    const one = peeked >= 0 ? peeked : chosen;
    const shown = sorted(gridOf(opened!, Math.floor(one / map.heads), one % map.heads));
    const row = place.at('row', map.rows - 1);
    const words = grid.draw(shown, row, place.at('col', map.cols - 1));
    lines.draw(shown, row);
    summary.textContent = map.pooled
      ? poolingNote(map.pooled)
      : shown.groups
        ? `${translated('This query')}${markOf(shown, row)}: ${shares(shown, row)}`
        : '';
    return [shown, words];
  };
  const draw = (): void => {
    sets.show();
    const at = place.at('set', trace.maps.length - 1);
    const map = trace.maps[at];
    sorting.hidden = !map.order;
    sortName.textContent = translated('Sort by %1', map.order?.name ?? '');
    sort.checked = !!place.at('sorted', 1);
    if (opened?.map !== map) {
      void open(map);
      return;
    }
    const drawn = `${at} ${sort.checked} ${palette().name}`;
    if (overviewed !== drawn) {
      overviewed = drawn;
      peeked = -1; // its button is gone
      all.replaceChildren(overview(opened, sorted, (layer, head) => place.set({ layer, head })));
    }
    const [layer, head] = [place.at('layer', map.layers - 1), place.at('head', map.heads - 1)];
    all
      .querySelectorAll('button')
      .forEach((b, i) => b.setAttribute('aria-pressed', String(i === layer * map.heads + head)));
    const [shown, words] = enlarge();
    announce(`${shown.name}: ${words}`);
  };
  const open = async (map: IMaps): Promise<void> => {
    try {
      opened = await unpack(map);
      note.textContent = '';
      draw();
    } catch (error) {
      note.textContent = translated(
        'The recorded attention cannot be read: %1.',
        error instanceof Error ? error.message : String(error)
      );
    }
  };
  return draw;
}

export const mount = picture<IAttention>(() => translated('Attention'), validate, build);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
