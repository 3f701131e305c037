/**
 * The words of a map twice, queries left and keys right, and a line for each weight between two of them, as BertViz draws
 * attention (Vig 2019, arXiv:1906.05714). Under the pointer a word shows its own lines alone; a click chooses a query.
 */
import { clipped, h, svg } from './dom';
import type { IGrid, INames } from './grid';
import { markToken } from './highlight';
import { translated } from './words';

const MOST = 24; // words of a side; of more the lines are a web, and the map tells more
const FAINTEST = 0.04; // smaller weights have no line: there would be hundreds
const [ROW, TEXT, ACROSS] = [18, 88, 150]; // pixels: all of it fits beside a margin on a telephone
const LETTERS = 12;

type Side = 'row' | 'col';
interface IWord {
  readonly side: Side;
  readonly at: number;
}

/** The weights of a map that have a line, the weakest first, so that the strongest are on top. */
export function linesOf(map: IGrid): [number, number, number][] {
  const found: [number, number, number][] = [];
  for (let r = 0; r < map.rows; r++) {
    for (let c = 0; c < map.cols; c++) {
      const weight = map.at(r, c);
      if (weight >= FAINTEST) {
        found.push([r, c, weight]);
      }
    }
  }
  return found.sort((a, b) => a[2] - b[2]);
}

/** Whether a map is small enough for lines, and each of its squares is of two words. */
export const hasLines = ({ rows, cols, pooled }: IGrid, { cols: words }: INames): boolean =>
  !pooled && Math.max(rows, cols) <= MOST && words.length > 0;

export class Lines {
  readonly node = h('section', { className: 'tfk-lines', hidden: true });

  constructor(
    private readonly _names: INames,
    private readonly _choose: (row: number) => void
  ) {
    this.node.append(h('h4', {}, translated('Lines between words')), this._box);
    this.node.addEventListener('pointerover', event => this._show(wordAt(event)));
    this.node.addEventListener('pointerleave', () => this._show(null));
    this.node.addEventListener('click', event => {
      const word = wordAt(event);
      if (word?.side === 'row') {
        this._choose(word.at);
      }
    });
  }

  /** Draws the lines of a map; those of the chosen query stand out. */
  draw(map: IGrid, row: number): void {
    this.node.hidden = !hasLines(map, this._names);
    if (this.node.hidden) {
      return;
    }
    this._row = Math.min(row, map.rows - 1);
    const height = Math.max(map.rows, map.cols) * ROW;
    const width = 2 * TEXT + ACROSS;
    const y = (at: number): number => at * ROW + ROW / 2;
    const paths = linesOf(map).map(([r, c, weight]) => {
      const [from, to] = [TEXT + 5, TEXT + ACROSS - 5];
      const d = `M${from} ${y(r)}C${from + ACROSS / 2} ${y(r)} ${to - ACROSS / 2} ${y(c)} ${to} ${y(c)}`;
      const line = {
        d,
        'stroke-opacity': Math.sqrt(weight).toFixed(2),
        'stroke-width': (0.8 + 2.4 * weight).toFixed(1)
      };
      return svg('path', { ...line, 'data-row': r, 'data-col': c });
    });
    const word = (side: Side, at: number): SVGElement => {
      const name = this._names[`${side}s`][map.order?.[`${side}s`][at] ?? at] ?? String(at);
      const place = side === 'row' ? { x: TEXT, 'text-anchor': 'end' } : { x: TEXT + ACROSS };
      const text = svg('text', { ...place, y: y(at) + 4, 'data-side': side, 'data-at': at }, clipped(name, LETTERS));
      return markToken(text, name);
    };
    const words = (side: Side, count: number): SVGElement[] => Array.from({ length: count }, (_, at) => word(side, at));
    const size = { viewBox: `0 0 ${width} ${height}`, width, height, 'aria-hidden': 'true' }; // the map beside it has each number in words
    this._box.replaceChildren(svg('svg', size, ...paths, ...words('row', map.rows), ...words('col', map.cols)));
    this._show(null);
  }

  /** Lets the lines of a word stand out, or those of the chosen query. */
  private _show(word: IWord | null): void {
    const { side, at } = word ?? { side: 'row', at: this._row };
    this._box.querySelectorAll<SVGElement>('path').forEach(line => {
      line.classList.toggle('tfk-own', Number(line.dataset[side]) === at);
    });
    this._box.querySelectorAll<SVGElement>('text').forEach(text => {
      text.classList.toggle('tfk-own', text.dataset.side === side && Number(text.dataset.at) === at);
    });
  }

  private _row = 0;
  private readonly _box = h('div', { className: 'tfk-scroll' });
}

function wordAt({ target }: Event): IWord | null {
  const { side, at } = (target as Element).closest?.<SVGElement>('[data-side]')?.dataset ?? {};
  return side ? { side: side as Side, at: Number(at) } : null;
}
