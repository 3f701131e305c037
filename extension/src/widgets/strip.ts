/** Entropy, or the probability of what was chosen, over the steps, a bar each: where a run hesitated, where it is now, where two runs part. */
import { h, svg } from './dom';
import { chosenFrom, focus, ITrace } from './trace';
import { translated } from './words';

const HEIGHT = 34;

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

/** The bars of a run, drawn once; a step moves marks alone. A click goes to its step. */
export class Strip {
  readonly node: HTMLElement;

  /** label: what the bars are, in `unit`; most: what fills the height. */
  constructor(
    label: string,
    unit: string,
    private readonly _values: number[],
    most: number,
    go: (step: number) => void
  ) {
    const width = Math.max(4, Math.min(18, Math.floor(560 / Math.max(1, _values.length))));
    this._width = width;
    this._svg = svg('svg', {
      width: width * _values.length,
      height: HEIGHT + 10,
      role: 'img',
      'aria-label': translated('%1 of each step: %2', label, _values.map(v => v.toFixed(2)).join(', ')),
      class: 'tfk-strip'
    });
    this._bars = _values.map((value, i) => {
      const tall = Math.max(1, (value / (most || 1)) * HEIGHT);
      const told = svg('title', {}, `step ${i + 1}: ${value.toFixed(2)} ${unit}`);
      return svg('rect', { x: i * width, y: HEIGHT - tall, width: width - 1, height: tall }, told);
    });
    this._svg.append(...this._bars);
    this._svg.addEventListener('click', event =>
      go(Math.floor((event.clientX - this._svg.getBoundingClientRect().left) / width))
    );
    const region = { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': label };
    const name = h('span', { className: 'tfk-note' }, label);
    this.node = h('div', { className: 'tfk-labelled' }, name, h('div', region, this._svg));
  }

  /** Marks where the run is now, the pinned step, and where two runs part. */
  mark({ now, pinned, divergence }: IMarks): void {
    this._bars.forEach((bar, i) => bar.classList.toggle('tfk-current', i === now));
    this._svg.querySelectorAll('text').forEach(node => node.remove());
    for (const [place, words] of [
      [pinned, '◆'],
      [divergence, '≠']
    ] as const) {
      if (place >= 0 && place < this._values.length) {
        this._svg.append(svg('text', { x: place * this._width, y: HEIGHT + 10 }, words));
      }
    }
  }

  private readonly _width: number;
  private readonly _svg: SVGElement;
  private readonly _bars: SVGElement[];
}
