/** Entropy over the steps, a bar each: where a run hesitated, where it is now, where two runs part. A click goes there. */
import { h, svg } from './dom';
import { focus, ITrace } from './trace';
import { translated } from './words';

const HEIGHT = 34;

/** The entropy of each step along the best path, 0 where tokens were chosen by hand. */
export function entropies(trace: ITrace): number[] {
  const own = trace.steps.map((step, i) => step.entropy[String(focus(trace, i))] ?? 0);
  return [...new Array<number>(trace.offset ?? 0).fill(0), ...own];
}

export interface IMarks {
  now: number;
  pinned: number;
  parting: number;
}

/** The bars; `most` is the entropy that fills the height. */
export function strip(values: number[], most: number, marks: IMarks, go: (step: number) => void): HTMLElement {
  const width = Math.max(4, Math.min(18, Math.floor(560 / Math.max(1, values.length))));
  const label = translated('Entropy of each step, in nats: %1', values.map(v => v.toFixed(2)).join(', '));
  const root = svg('svg', {
    width: width * values.length,
    height: HEIGHT + 10,
    role: 'img',
    'aria-label': label,
    class: 'tfk-strip'
  });
  values.forEach((value, i) => {
    const tall = Math.max(1, (value / (most || 1)) * HEIGHT);
    const kind = i === marks.now ? 'tfk-current' : '';
    root.append(
      svg(
        'rect',
        { x: i * width, y: HEIGHT - tall, width: width - 1, height: tall, class: kind },
        svg('title', {}, `step ${i + 1}: ${value.toFixed(2)} nats`)
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
  return h('div', { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': translated('Entropy') }, root);
}
