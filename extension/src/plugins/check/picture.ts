/** The parts of a failing case that the matrix view can draw: which inputs affect which outputs, and the inputs. */
import { IVerdict } from './verdict';

const MAX_MAPS = 6; // maps of one tensor, and of one verdict's inputs
type Matrix = (number | boolean)[][];

export interface IMap {
  name: string;
  matrix: Matrix;
}

export interface ITrace {
  kind: string;
  title: string;
  [more: string]: unknown;
}

const isMatrix = (x: unknown): x is Matrix =>
  Array.isArray(x) &&
  x.length > 0 &&
  x.every(
    row =>
      Array.isArray(row) && row.length > 0 && row.length === (x as unknown[][])[0].length && !row.some(Array.isArray)
  );

/** The matrices in nested lists with their indices: [B,H,L,L] has one for each sentence and head. */
export function matricesIn(name: string, value: unknown): IMap[] {
  if (isMatrix(value)) {
    return value.flat().every(x => typeof x === 'boolean' || Number.isFinite(x)) ? [{ name, matrix: value }] : [];
  }
  const parts = Array.isArray(value) ? value : [];
  return parts.flatMap((part, i) => matricesIn(parts.length > 1 ? `${name}[${i}]` : name, part)).slice(0, MAX_MAPS);
}

/** Symbols as in `drawMap` -> whether an input may affect an output, and whether it does. */
function flows(name: string, rows: string[]): IMap[] {
  const marked = (signs: string): Matrix => rows.map(row => [...row].map(sign => signs.includes(sign)));
  return [
    { name: `${name}: may be seen`, matrix: marked('●○') },
    { name: `${name}: is seen`, matrix: marked('●▲') }
  ];
}

/** All maps that a verdict contains; often none. */
export function mapsOf({ checks, counterexample }: Pick<IVerdict, 'checks' | 'counterexample'>): IMap[] {
  const seen = checks.flatMap(check => (check.map?.length ? flows(check.name, check.map) : []));
  const inputs = Object.entries((counterexample?.inputs ?? {}) as Record<string, unknown>);
  return [...seen, ...inputs.flatMap(([name, value]) => matricesIn(name, value)).slice(0, MAX_MAPS)];
}

/** A trace for the view, as `show.matrices` makes it in Python. */
export async function traceOf(title: string, maps: IMap[]): Promise<ITrace> {
  const packed = await Promise.all(maps.map(pack));
  return {
    schema: 'tfkit.trace/1',
    kind: 'matrices',
    title,
    rows: [],
    cols: [],
    axes: ['row', 'column'],
    maps: packed
  };
}

async function pack({ name, matrix }: IMap): Promise<Record<string, unknown>> {
  const flat = matrix.flat();
  const yes = flat.every(x => typeof x === 'boolean');
  const values = flat.map(Number);
  const [low, high] = yes ? [0, 1] : [Math.min(...values), Math.max(...values)];
  const bytes = Uint8Array.from(values, x => Math.round(((x - low) / (high - low || 1)) * 255));
  const kind = yes ? 'bool' : values.some(x => x < 0) ? 'signed' : 'scale';
  return { name, kind, rows: matrix.length, cols: matrix[0].length, low, high, data: await deflated(bytes) };
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  const packed = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(packed, byte => String.fromCharCode(byte)).join(''));
}
