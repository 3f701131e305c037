/** Links to what a view in a notebook shows: `…/lab/tree/unit.ipynb#tfkit-view=CELL.0={"step":3}`. */
const KEY = '#tfkit-view=';

export interface IViewLink {
  readonly path: string; // of the notebook
  readonly cell: string; // its id
  readonly place: number; // of the view in the cell
  readonly state: Record<string, unknown>;
}

/** The fragment behind the notebook's address, without the trace, which is in the notebook and may be long. */
export function linkHash(cell: string, place: number, state: Record<string, unknown>): string {
  const shown = Object.entries(state).filter(([key]) => key !== 'trace' && key !== 'other');
  return `${KEY}${cell}.${place}=${encodeURIComponent(JSON.stringify(Object.fromEntries(shown)))}`;
}

/** The view's state in an address, or null where it has no valid one. */
export function readLink({ pathname, hash }: Pick<Location, 'pathname' | 'hash'>): IViewLink | null {
  const [, path] = /\/(?:tree|notebooks)\/(.+)$/.exec(pathname) ?? [];
  const [, cell, place, state] = /^#tfkit-view=([\w-]+)\.(\d+)=(.+)$/.exec(hash) ?? [];
  if (!path || !state) {
    return null;
  }
  try {
    const shown: unknown = JSON.parse(decodeURIComponent(state));
    const fits = typeof shown === 'object' && shown !== null && !Array.isArray(shown) && !('trace' in shown);
    return fits
      ? { path: decodeURIComponent(path), cell, place: Number(place), state: shown as Record<string, unknown> }
      : null;
  } catch {
    return null; // a truncated address: the notebook opens as it was left
  }
}
