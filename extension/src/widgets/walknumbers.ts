/** The numbers of a walk: unpacked, looked up, and described with the product that they come from. */
import { IWalk } from '../generated/walk';
import { visibleToken } from './dom';

type IStage = IWalk['stages'][number];
type IMatrix = IStage['matrices'][number];

export interface INumbers {
  at(matrix: IMatrix, head: number, row: number, col: number): number;
  size(matrix: IMatrix): [number, number];
}

/** Float32 numbers from bytes grouped by significance; throws if their count is wrong. */
export function unpackNumbers(bytes: Uint8Array, trace: Pick<IWalk, 'axes' | 'stages'>): INumbers {
  const count = bytes.length / 4;
  const size = (m: IMatrix): [number, number] => [trace.axes[m.rows].at.length, trace.axes[m.cols].at.length];
  const needed = Math.max(
    ...trace.stages.flatMap(stage => stage.matrices.map(m => m.at + m.heads * size(m)[0] * size(m)[1]))
  );
  if (needed !== count) {
    throw new Error(`${count} numbers instead of ${needed}`);
  }
  const ordered = new Uint8Array(bytes.length);
  for (let i = 0; i < count; i++) {
    for (let plane = 0; plane < 4; plane++) {
      ordered[4 * i + plane] = bytes[plane * count + i];
    }
  }
  const view = new DataView(ordered.buffer);
  const at = (m: IMatrix, head: number, row: number, col: number): number => {
    const [rows, cols] = size(m);
    return view.getFloat32(4 * (m.at + (Math.min(head, m.heads - 1) * rows + row) * cols + col), true);
  };
  return { at, size };
}

/** A number in a cell: its significant digits, with a real minus sign; a nonzero number is never shown as zero. For ids all digits. */
export function short(value: number, whole = false): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'nan' : value < 0 ? '−∞' : '∞';
  }
  const size = Math.abs(value);
  const text = whole
    ? String(size)
    : size >= 1e4 || (size && size < 0.001)
      ? size.toExponential(0)
      : size >= 100
        ? size.toFixed(0)
        : size >= 10
          ? size.toFixed(1)
          : size.toFixed(size && size < 0.01 ? 3 : 2);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** The name of a row or column. */
export function nameOf(axis: IWalk['axes'][number], place: number): string {
  return axis.names[place] === undefined ? String(axis.at[place]) : visibleToken(axis.names[place]);
}

/** A cell in words, and how it is computed from earlier stages if that is known. */
export function product(
  trace: IWalk,
  numbers: INumbers,
  stage: IStage,
  which: number,
  head: number,
  row: number,
  col: number
): string {
  const matrix = stage.matrices[which];
  const [rows, cols] = numbers.size(matrix);
  const [r, c] = [Math.min(row, rows - 1), Math.min(col, cols - 1)];
  const [down, across] = [trace.axes[matrix.rows], trace.axes[matrix.cols]];
  const value = numbers.at(matrix, head, r, c);
  const place = `${matrix.name}[${nameOf(down, r)}, ${nameOf(across, c)}] = ${short(value, stage.name === 'ids')}`;
  const how = derivation(trace, numbers, stage, head, r, c);
  return how ? `${place} = ${how}` : place;
}

/** The stages that a stage is computed from, each with the indices of the matrices used. */
export function sources(trace: IWalk, stage: IStage): [IStage, number[]][] {
  const place = trace.stages.indexOf(stage);
  const last = trace.stages[place - 1];
  const qkv = trace.stages
    .slice(0, place)
    .reverse()
    .find(one => one.part === stage.part && one.name === 'qkv');
  if (!last || last.part !== stage.part) {
    return [];
  }
  const known: Record<string, [IStage, number[]][]> = {
    scores: qkv ? [[qkv, [0, 1]]] : [],
    mask: [[last, [0]]],
    softmax: [[last, [0]]],
    step: [[last, [0]]],
    mix: qkv
      ? [
          [last, [0]],
          [qkv, [2]]
        ]
      : []
  };
  return known[stage.name] ?? [];
}

/** Which squares of the n-th source of a stage a square is computed from, as far as that is known. */
export function isOrigin(stage: string, n: number, at: [number, number], square: [number, number]): boolean {
  const [row, col] = at;
  const [r, c] = square;
  const known: Record<string, boolean> = {
    scores: n === 0 ? r === row : r === col, // a row of Q, and one of K
    mask: r === row && c === col,
    softmax: r === row,
    mix: n === 0 ? r === row : c === col // a row of weights, and a column of V
  };
  return known[stage] ?? false;
}

const TERMS = 4;

function derivation(trace: IWalk, numbers: INumbers, stage: IStage, head: number, row: number, col: number): string {
  const [first, second] = sources(trace, stage).flatMap(([one, which]) => which.map(i => one.matrices[i]));
  if (stage.name === 'softmax' && first) {
    const from = first;
    const [, cols] = numbers.size(from);
    const scores = Array.from({ length: cols }, (_, c) => numbers.at(from, head, row, c));
    const seen = scores.filter(score => score > -1e4);
    const share =
      Math.exp(scores[col] - Math.max(...seen)) / seen.reduce((sum, s) => sum + Math.exp(s - Math.max(...seen)), 0) ||
      0;
    const right = Math.abs(share - numbers.at(stage.matrices[0], head, row, col)) < 0.005; // whether it is a softmax over this row
    return right && seen.length <= 8
      ? `exp(${short(scores[col])}) / (${seen
          .map(s => Math.exp(s).toPrecision(2))
          .map(text => String(Number(text)))
          .join(' + ')})`
      : '';
  }
  if (stage.name === 'mix' && second) {
    return sum(numbers.size(first)[1], i => [numbers.at(first, head, row, i), numbers.at(second, head, i, col)]);
  }
  if (stage.name === 'scores' && second) {
    const whole = trace.axes[first.cols];
    const dot = sum(whole.at.length, i => [numbers.at(first, head, row, i), numbers.at(second, head, col, i)]);
    return whole.at.length === whole.length ? `(${dot}) · scale` : '';
  }
  return '';
}

/** The largest products of a sum. */
function sum(count: number, terms: (place: number) => [number, number]): string {
  const all = Array.from({ length: count }, (_, i) => terms(i)).sort(
    (a, b) => Math.abs(b[0] * b[1]) - Math.abs(a[0] * a[1])
  );
  const shown = all.slice(0, TERMS).map(([a, b]) => `${short(a)} · ${short(b)}`);
  return shown.join(' + ') + (count > TERMS ? ' + …' : '');
}
