/** Attention of one head as a picture on canvas, with the current query's row as a table beside it. */
import { framed } from './axes';
import { h, visibleToken } from './dom';
import { faded, IPalette, LEVELS, palette } from './palette';
import { enlarge, outline } from './pixels';
import { headMap, IAttention, inflate, IPooling, mapBytes, poolingNote, positions } from './trace';
import { translated } from './words';

type At = (row: number, column: number) => number;

export interface IHeatmap {
  node: HTMLElement;
  draw(state: { rows: string[]; columns: string[]; query: number; layer: number; head: number; aside: boolean }): void;
}

const SHOWN_ROWS = 64; // of the table; the largest weights first when there are more

const PAST = 0.6; // of the colour of rows before the step's

/** One pixel per weight (its square root, so that small weights stay visible); rows of the past are fainter, rows of the future empty. */
export function paint(
  pixels: Uint8ClampedArray,
  at: At,
  rows: number,
  columns: number,
  query: number,
  { sequential, none }: Pick<IPalette, 'sequential' | 'none'>
): void {
  const past = faded(sequential, none, PAST);
  for (let r = 0, i = 0; r < rows && r <= query; r++) {
    const tones = r === query ? sequential : past;
    for (let c = 0; c < columns; c++, i += 4) {
      const tone = tones[Math.round(LEVELS * Math.sqrt(at(r, c)))];
      pixels[i] = tone[0];
      pixels[i + 1] = tone[1];
      pixels[i + 2] = tone[2];
      pixels[i + 3] = 255;
    }
  }
}

/** Columns of one row, largest weight first when only some fit. */
export function rowTable(at: At, row: number, columns: string[], limit = SHOWN_ROWS): [number, string, number][] {
  const all = columns.map((label, c): [number, string, number] => [c, label, at(row, c)]);
  return all.length <= limit ? all : all.sort((a, b) => b[2] - a[2]).slice(0, limit);
}

/** Names of the rows or columns of a map: of a block the first and last. */
function names(labels: string[], pooled: IPooling | undefined, side: 'rows' | 'cols'): string[] {
  const blocks = Array.from({ length: pooled ? Math.ceil(pooled[side] / pooled.by) : 0 }, (_, i) =>
    positions(i, pooled, side)
  );
  return pooled ? blocks.map(block => block.map(at => labels[at] ?? '').join('…')) : labels;
}

function table(rows: [number, string, number][], pooled?: IPooling): HTMLElement {
  const body = h('tbody');
  for (const [place, label, weight] of rows) {
    const bar = h('span', { className: 'tfk-p', 'aria-hidden': 'true' });
    bar.style.width = `${Math.round(weight * 100)}px`;
    body.append(
      h(
        'tr',
        {},
        h('td', {}, positions(place, pooled, 'cols').join('–')),
        h('th', { scope: 'row' }, visibleToken(label)),
        h('td', {}, weight.toFixed(2)),
        h('td', {}, bar)
      )
    );
  }
  const head = h(
    'tr',
    {},
    ...[translated('position'), translated('token'), translated('weight')].map(t => h('th', { scope: 'col' }, t))
  );
  return h('table', {}, h('thead', {}, head), body);
}

function strongest(at: At, row: number, columns: string[], pooled?: IPooling): string {
  const [place, label, weight] = rowTable(at, row, columns, 1)[0] ?? [0, '', at(row, 0)];
  const where = positions(place, pooled, 'cols');
  const values = [visibleToken(label), where.join('–'), weight.toFixed(2)];
  return where.length > 1
    ? translated('“%1” (positions %2, weight %3)', ...values)
    : translated('“%1” (position %2, weight %3)', ...values);
}

/** A view of one kind of attention, with `room` pixels for its squares. The picture appears once the weights are inflated. */
export function heatmap(title: string, map: IAttention, room = SIDE): IHeatmap {
  const canvas = h('canvas', { role: 'img', className: 'tfk-ahead' });
  const frame = h('div', {}, canvas);
  const description = h('p', { className: 'tfk-note' });
  const note = h('p', { className: 'tfk-note' }, poolingNote(map.pooled));
  note.hidden = !map.pooled;
  const details = h('details', {}, h('summary', {}, translated('Weights of this row')));
  const node = h(
    'section',
    { className: 'tfk-map', role: 'group', 'aria-label': title },
    h('h4', {}, title),
    frame,
    description,
    note,
    details
  );
  let bytes: Uint8Array | null = null;
  let redraw: (() => void) | null = null;

  const draw: IHeatmap['draw'] = state => {
    redraw = () => draw(state);
    if (!bytes) {
      return;
    }
    const at = headMap(map, bytes, state.layer, state.head);
    const query = Math.min(Math.floor(state.query / (map.pooled?.by ?? 1)), map.rows - 1);
    const [rows, keys] = [names(state.rows, map.pooled, 'rows'), names(state.columns, map.pooled, 'cols')];
    const columns = keys.slice(0, map.triangle ? query + 1 : map.cols);
    const whose = state.aside ? translated(' of the best hypothesis') : '';
    description.textContent = translated(
      '%1, layer %2 head %3: “%4” attends most to %5',
      title + whose,
      state.layer + 1,
      state.head + 1,
      visibleToken(rows[query] ?? ''),
      strongest(at, query, columns, map.pooled)
    );
    canvas.setAttribute('aria-label', description.textContent);
    details.replaceChildren(details.firstChild as Node, table(rowTable(at, query, columns), map.pooled));
    framed(frame, canvas, rows.slice(0, map.rows), keys.slice(0, map.cols), picture(canvas, at, map, query, room));
  };
  inflate(map.data)
    .then(found => {
      if (found.length !== mapBytes(map)) {
        throw new Error(`${found.length} bytes instead of ${mapBytes(map)}`);
      }
      bytes = found;
      redraw?.();
    })
    .catch((error: unknown) => {
      description.textContent = translated(
        'The recorded attention cannot be read: %1.',
        error instanceof Error ? error.message : String(error)
      );
    });
  return { node, draw };
}

const MOST = 20; // pixels of a square's side
const SIDE = 280; // of the whole, unless it has more squares than that

function picture(canvas: HTMLCanvasElement, at: At, map: IAttention, query: number, room: number): number {
  const tones = palette();
  const side = Math.max(1, Math.min(MOST * (room / SIDE), Math.floor(room / Math.max(map.cols, map.rows))));
  const pixels = (into: Uint8ClampedArray): void => paint(into, at, map.rows, map.cols, query, tones);
  const pen = enlarge(canvas, [map.rows, map.cols], side, pixels, tones);
  if (pen) {
    const ahead = (query + 1) * side;
    pen.clearRect(0, ahead, canvas.width, canvas.height - ahead); // of the lines too: nothing is there yet
    outline(pen, [0, query * side, canvas.width, side], tones);
  }
  return side;
}
