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
export function chances(trace: ITrace): number[] {
  const own = trace.steps.map((_, i) => {
    const taken = chosenFrom(trace, i, focus(trace, i));
    return taken ? Math.exp(taken.logp) : 0;
  });
  return [...new Array<number>(trace.offset ?? 0).fill(0), ...own];
}

export interface IMarks {
  now: number;
  pinned: number;
  parting: number;
}

/** The bars, of which `label` says what they are; `most` is what fills the height. A click goes to its step. */
export function strip(
  label: string,
  unit: string,
  values: number[],
  most: number,
  marks: IMarks,
  go: (step: number) => void
): HTMLElement {
  const width = Math.max(4, Math.min(18, Math.floor(560 / Math.max(1, values.length))));
  const root = svg('svg', {
    width: width * values.length,
    height: HEIGHT + 10,
    role: 'img',
    'aria-label': translated('%1 of each step: %2', label, values.map(v => v.toFixed(2)).join(', ')),
    class: 'tfk-strip'
  });
  values.forEach((value, i) => {
    const tall = Math.max(1, (value / (most || 1)) * HEIGHT);
    const kind = i === marks.now ? 'tfk-current' : '';
    root.append(
      svg(
        'rect',
        { x: i * width, y: HEIGHT - tall, width: width - 1, height: tall, class: kind },
        svg('title', {}, `step ${i + 1}: ${value.toFixed(2)} ${unit}`)
      )
    );
  });
  for (const [place, words] of [
    [marks.pinned, '◆'],
    [marks.parting, '≠']
  ] as const) {
    if (place >= 0 && place < values.length) {
      root.append(svg('text', { x: place * width, y: HEIGHT + 10 }, words));
    }
  }
  root.addEventListener('click', event => go(Math.floor((event.clientX - root.getBoundingClientRect().left) / width)));
  const region = { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': label };
  return h('div', { className: 'tfk-labelled' }, h('span', { className: 'tfk-note' }, label), h('div', region, root));
}
