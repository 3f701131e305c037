/** All heads of a layer as small maps. One canvas for all of them, as a hundred canvases take longer than the painting. */
import { h } from './dom';
import { colourWords } from './grid';
import { IAttention, mapBytes } from './trace';
import { translated } from './words';

const SIZE = 56; // of a thumbnail's longer side, at most
const MIN_SIZE = 14; // narrower ones show nothing; the row scrolls instead
const STEP = 8; // between two: the padding and border of a button on each side, and the gap
const ROW = 600; // for all thumbnails of a layer: so that the large map stands beside them in a wide window

/** The longer side of a thumbnail, so that all heads of a layer fit side by side. */
export const thumbnailSize = (heads: number): number =>
  Math.max(MIN_SIZE, Math.min(SIZE, Math.floor(ROW / heads) - STEP));

export interface IHeads {
  map: IAttention;
  bytes: Uint8Array;
  /** What each square is, a byte of layers × heads × rows × cols, or null. */
  kinds: Uint8Array | null;
}

/** The square of a thumbnail for each row and column of a map, and its size. */
export interface IPlan {
  rows: Uint16Array;
  cols: Uint16Array;
  height: number;
  width: number;
}

/** order: which position stands in each row and column, where they are sorted. */
export function planThumbnails(map: IAttention, order?: { rows: number[]; cols: number[] }): IPlan {
  const by = Math.ceil(Math.max(map.rows, map.cols) / thumbnailSize(map.heads));
  const to = (count: number, sorted?: number[]): Uint16Array => {
    const found = new Uint16Array(count);
    for (let i = 0; i < count; i++) {
      found[sorted ? sorted[i] : i] = Math.floor(i / by);
    }
    return found;
  };
  const size = (count: number): number => Math.ceil(count / by);
  return {
    rows: to(map.rows, order?.rows),
    cols: to(map.cols, order?.cols),
    height: size(map.rows),
    width: size(map.cols)
  };
}

/** The strongest weight that falls into each square, as bytes, and of what kind it is, where there are kinds. */
export function thumbnail(
  { map, bytes, kinds }: IHeads,
  layer: number,
  head: number,
  to: IPlan
): [Uint8Array, Uint8Array] {
  const [levels, groups] = [new Uint8Array(to.width * to.height), new Uint8Array(to.width * to.height)];
  const { rows, cols, triangle } = map;
  const across = to.cols;
  const one = layer * map.heads + head;
  let i = (one * mapBytes(map)) / (map.layers * map.heads);
  for (let r = 0; r < rows; r++) {
    const start = to.rows[r] * to.width;
    const end = triangle ? r + 1 : cols;
    if (!kinds) {
      for (let c = 0; c < end; c++, i++) {
        const place = start + across[c];
        levels[place] = Math.max(levels[place], bytes[i]); // the inner loop, run a million times per picture
      }
      continue;
    }
    for (let c = 0, kind = (one * rows + r) * cols; c < end; c++, i++, kind++) {
      const place = start + across[c];
      if (bytes[i] > levels[place] || !groups[place]) {
        levels[place] = bytes[i];
        groups[place] = kinds[kind];
      }
    }
  }
  return [levels, groups];
}

/** The heads of one layer, a button each. */
export function thumbnails(
  heads: IHeads,
  layer: number,
  name: string,
  planOf: (head: number) => IPlan,
  pick: (head: number) => void
): HTMLElement {
  const plans = Array.from({ length: heads.map.heads }, (_, head) => planOf(head));
  const [to] = plans; // all are of one size
  const side = Math.max(1, Math.floor(thumbnailSize(heads.map.heads) / Math.max(to.height, to.width)));
  const [width, height] = [to.width * side, to.height * side];
  const across = heads.map.heads * (width + STEP) - STEP; // no gap after the last, which would make the row scroll
  const canvas = h('canvas', { 'aria-hidden': 'true', width: across, height });
  const buttons = Array.from({ length: heads.map.heads }, (_, head) => {
    const button = h('button', {
      type: 'button',
      'aria-label': translated('%1, head %2', name, head + 1),
      onclick: () => pick(head)
    });
    button.style.cssText = `width:${width + STEP - 2}px;height:${height + STEP - 2}px`;
    return button;
  });
  const pen = canvas.getContext('2d', { willReadFrequently: true }); // painted once, from bytes: a GPU would not help
  if (pen) {
    const image = pen.createImageData(canvas.width, height);
    const words = new Uint32Array(image.data.buffer);
    buttons.forEach((_, head) =>
      print(words, canvas.width, head * (width + STEP), thumbnail(heads, layer, head, plans[head]), heads, to, side)
    );
    pen.putImageData(image, 0, 0);
  }
  return h(
    'div',
    { className: 'tfk-heads' },
    h('span', {}, name.replace(/\./g, '.\u200b')), // a long name may be broken after a full stop
    h('div', { className: 'tfk-all' }, canvas, ...buttons)
  );
}

/** Writes a thumbnail into the words of a picture, each square `side` pixels wide. */
function print(
  words: Uint32Array,
  stride: number,
  left: number,
  small: [Uint8Array, Uint8Array],
  { kinds }: IHeads,
  { width, height }: IPlan,
  side: number
): void {
  const [levels, groups] = small;
  const wordsOf = colourWords();
  for (let r = 0; r < height * side; r++) {
    const row = Math.floor(r / side) * width;
    for (let c = 0, at = r * stride + left; c < width; c++) {
      const word = wordsOf(kinds && groups[row + c])[levels[row + c]];
      for (let k = 0; k < side; k++) {
        words[at++] = word;
      }
    }
  }
}
