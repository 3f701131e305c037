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

/** The initial cursor: the strongest square of the middle row of the first map, as rows at the edge show least. */
export function opening({ rows, cols, at }: Pick<IGrid, 'rows' | 'cols' | 'at'>): { row: number; col: number } {
  const row = Math.floor(rows / 2);
  const sizes = Array.from({ length: cols }, (_, col) => Math.abs(at(row, col)));
  return { row, col: sizes.lastIndexOf(Math.max(...sizes)) };
}

export const mount = picture<IMatrices>(
  () => translated('Matrices'),
  validate,
  ({ trace, root, place, announce }) => {
    const side = trace.maps.length > 3 ? 216 : trace.maps.length > 2 ? 260 : 340; // so that they stand side by side
    const grids = trace.maps.map(() => new Grid(trace, side, (row, col) => place.set({ row, col })));
    const note = h('p', { className: 'tfk-note', role: 'log' }, translated('Unpacking …'));
    root.append(h('div', { className: 'tfk-row' }, ...grids.map(grid => grid.node)), note);
    let maps: IGrid[] = [];
    const draw = (): void => {
      const first = maps.length ? opening(maps[0]) : { row: 0, col: 0 };
      const words = maps.map((map, i) => {
        const at = [place.at('row', map.rows - 1, first.row), place.at('col', map.cols - 1, first.col)] as const;
        return `${map.name}: ${grids[i].draw(map, ...at)}`;
      });
      announce(words.join('; '));
    };
    Promise.all(trace.maps.map(open)).then(
      found => {
        maps = found;
        note.textContent = '';
        draw();
      },
      error =>
        (note.textContent = translated(
          'This cannot be read: %1.',
          error instanceof Error ? error.message : String(error)
        ))
    );
    return draw;
  }
);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
