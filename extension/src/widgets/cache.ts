/** The cache of keys and values at a step: a square for each position of each row; new positions and those that a reorder moved are marked. */
import { h, svg, tableHead } from './dom';
import { bytes, ICache } from './trace';
import { translated } from './words';

const SIDE = 12;
const COLUMNS = 56; // the latest positions; older ones are described in words
const LABEL = 58;

function square(row: number, column: number, kind: string): SVGElement {
  return svg('rect', { x: LABEL + column * SIDE, y: row * SIDE, width: SIDE - 2, height: SIDE - 2, class: kind });
}

/** `old`, `moved` by the reorder before this step, or `new` with it. */
export function kindOf(cache: ICache, position: number): 'old' | 'moved' | 'new' {
  if (position === cache.length - 1) {
    return 'new';
  }
  return cache.copied > 0 && position >= cache.since ? 'moved' : 'old';
}

function picture(cache: ICache, label: string): SVGElement {
  const from = Math.max(0, cache.length - COLUMNS);
  const width = LABEL + (cache.length - from) * SIDE;
  const root = svg('svg', { width, height: cache.rows * SIDE, class: 'tfk-cache', role: 'img', 'aria-label': label });
  for (let row = 0; row < cache.rows; row++) {
    const source = cache.from?.[row];
    const words = source === undefined || source === row ? translated('row %1', row + 1) : `${row + 1} ← ${source + 1}`;
    root.append(svg('text', { x: 0, y: row * SIDE + 9 }, words));
    for (let position = from; position < cache.length; position++) {
      root.append(square(row, position - from, `tfk-${kindOf(cache, position)}`));
    }
  }
  return root;
}

function layers(cache: ICache): HTMLElement {
  const rows = cache.used.map((used, i) =>
    h('tr', {}, h('th', { scope: 'row' }, String(i + 1)), h('td', {}, bytes(used)))
  );
  return h(
    'details',
    {},
    h('summary', {}, translated('Bytes of each layer')),
    h('table', {}, tableHead([translated('layer'), translated('keys and values')]), h('tbody', {}, ...rows))
  );
}

/** The section of a step, or nothing where the run had no cache. */
export function cacheView(cache: ICache | undefined): HTMLElement | null {
  if (!cache) {
    return null;
  }
  const total = cache.used.reduce((a, b) => a + b, 0);
  const held = translated(
    '%1 × %2 positions in %3 layers: %4 of %5 taken',
    cache.rows,
    cache.length,
    cache.used.length,
    bytes(total),
    bytes(cache.room)
  );
  const source = cache.memory ? translated('; for the source, %1', bytes(cache.memory)) : '';
  const moved = cache.copied
    ? translated(' The reorder before this step copied %1, from position %2 on.', bytes(cache.copied), cache.since)
    : '';
  const words = `${held}${source}.${moved}`;
  const scroll = h(
    'div',
    { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': translated('Cache positions') },
    picture(cache, words)
  );
  return h(
    'section',
    { role: 'group', 'aria-label': translated('Cache') },
    h('h4', {}, translated('Cache of keys and values')),
    scroll,
    h('p', { className: 'tfk-note' }, words),
    layers(cache)
  );
}
