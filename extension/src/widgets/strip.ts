/** A bar chart over the steps, of the entropy or of the chosen token's probability, with the current step and the point where two runs diverge. */
import { h, svg } from './dom';
import { chosenFrom, focus, ITrace } from './trace';
import { translated } from './words';

const HEIGHT = 34; // of the tallest bar
const ABOVE = 12; // for marks
const BELOW = 14; // for the numbers of steps
const ROOM = 260; // pixels for all bars, unless there are so many that each would be too narrow
const LABEL_GAP = 26; // pixels between two of them

/** The entropy of each step along the best path, 0 where tokens were chosen by hand. */
export function entropies(trace: ITrace): number[] {
  const own = trace.steps.map((step, i) => step.entropy[String(focus(trace, i))] ?? 0);
  return [...new Array<number>(trace.offset ?? 0).fill(0), ...own];
}

/** The probability of what each step chose, 0 where tokens were chosen by hand. */
export function probabilities(trace: ITrace): number[] {
  const own = trace.steps.map((_, i) => {
    const taken = chosenFrom(trace, i, focus(trace, i));
    return taken ? Math.exp(taken.logp) : 0;
  });
  return [...new Array<number>(trace.offset ?? 0).fill(0), ...own];
}

export interface IMarks {
  now: number;
  pinned: number;
  divergence: number;
}

/** The number of steps from one label to the next. */
const every = (width: number): number => [1, 2, 5, 10, 20, 50].find(count => count * width >= LABEL_GAP) ?? 100;

/** The bars of a run with both axes, drawn once; a step only moves the marks. A click goes to its step. */
export class Strip {
  readonly node: HTMLElement;

  /** label: the quantity, in `unit`; most: the value at full height, shown beside the bars; room: pixels for all bars. */
  constructor(
    label: string,
    unit: string,
    private readonly _values: number[],
    most: number,
    go: (step: number) => void,
    room = ROOM
  ) {
    const width = Math.max(4, Math.min(room > ROOM ? 44 : 18, Math.floor(room / Math.max(1, _values.length))));
    this._width = width;
    this._svg = svg('svg', {
      width: width * _values.length,
      height: ABOVE + HEIGHT + BELOW,
      role: 'img',
      'aria-label': translated('%1 of each step: %2', label, _values.map(v => v.toFixed(2)).join(', ')),
      class: 'tfk-strip'
    });
    this._bars = _values.map((value, i) => {
      const tall = Math.max(1, (value / (most || 1)) * HEIGHT);
      const tooltip = svg('title', {}, translated('step %1: %2 %3', i + 1, value.toFixed(2), unit));
      return svg('rect', { x: i * width, y: ABOVE + HEIGHT - tall, width: width - 1, height: tall }, tooltip);
    });
    for (const y of [ABOVE, ABOVE + HEIGHT]) {
      this._svg.append(svg('line', { x1: 0, x2: width * _values.length, y1: y, y2: y }));
    }
    this._svg.append(...this._bars);
    const step = every(width);
    for (let i = 0; i < _values.length; i += i ? step : step - 1 || 1) {
      this._write(i, ABOVE + HEIGHT + 11, String(i + 1)); // 1, then multiples of the step
    }
    this._svg.addEventListener('click', event =>
      go(Math.floor((event.clientX - this._svg.getBoundingClientRect().left) / width))
    );
    const region = { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': label };
    const name = h('span', { className: 'tfk-note' }, unit ? `${label} (${unit})` : label);
    const ends = h('span', { className: 'tfk-ends', 'aria-hidden': 'true' });
    ends.append(h('span', {}, most.toFixed(1)), h('span', {}, '0'));
    this.node = h('div', { className: 'tfk-labelled' }, name, ends, h('div', region, this._svg));
  }

  /** Marks the current step, the pinned step, and where two runs diverge. */
  mark({ now, pinned, divergence }: IMarks): void {
    this._bars.forEach((bar, i) => bar.classList.toggle('tfk-current', i === now));
    this._svg.querySelectorAll('.tfk-mark').forEach(node => node.remove());
    for (const [place, words] of [
      [pinned, '◆'],
      [divergence, '≠']
    ] as const) {
      if (place >= 0 && place < this._values.length) {
        this._write(place, ABOVE - 3, words, 'tfk-mark');
      }
    }
  }

  /** Words in the middle of a bar's column. */
  private _write(place: number, y: number, words: string, kind = ''): void {
    this._svg.append(svg('text', { x: (place + 0.5) * this._width, y, class: kind }, words));
  }

  private readonly _width: number;
  private readonly _svg: SVGElement;
  private readonly _bars: SVGElement[];
}
