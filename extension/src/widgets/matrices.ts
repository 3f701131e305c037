/** Masks, positions and other rectangles, side by side under one cursor. */
import { IMatrices } from '../generated/matrices';
import { validate } from '../generated/matrices.valid';
import { h } from './dom';
import { ValueAt, Grid, IGrid } from './grid';
import { IRenderProps } from './model';
import { picture } from './picture';
import { inflate } from './trace';
import { translated } from './words';

type IPacked = IMatrices['maps'][number];

/** Reads bytes as values. */
export function valueReader({ low, high, cols, kind }: IPacked, bytes: Uint8Array): ValueAt {
  const step = (high - low || 1) / 255;
  return (r, c) => {
    const value = low + bytes[r * cols + c] * step;
    return kind === 'integer' || kind === 'bool' ? Math.round(value) : value;
  };
}

async function open(map: IPacked): Promise<IGrid> {
  const bytes = await inflate(map.data);
  if (bytes.length !== map.rows * map.cols) {
    throw new Error(`${map.name}: ${bytes.length} bytes instead of ${map.rows * map.cols}`);
  }
  return { ...map, at: valueReader(map, bytes) };
}

export const mount = picture<IMatrices>('Matrices', validate, ({ trace, root, place, announce }) => {
  const side = trace.maps.length > 2 ? 260 : 340;
  const grids = trace.maps.map(() => new Grid(trace, side, (row, col) => place.set({ row, col })));
  const note = h('p', { className: 'tfk-note', role: 'log' }, translated('Unpacking …'));
  root.append(h('div', { className: 'tfk-row' }, ...grids.map(grid => grid.node)), note);
  let maps: IGrid[] = [];
  const draw = (): void => {
    const words = maps.map(
      (map, i) => `${map.name}: ${grids[i].draw(map, place.at('row', map.rows - 1), place.at('col', map.cols - 1))}`
    );
    announce(words.join('; '));
  };
  Promise.all(trace.maps.map(open)).then(
    found => {
      maps = found;
      note.textContent = '';
      draw();
    },
    error => (note.textContent = `This cannot be read: ${error instanceof Error ? error.message : error}.`)
  );
  return draw;
});

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
