/** Names along the two sides of a map that is painted on a canvas. */
import { h, visibleToken } from './dom';
import { markToken } from './highlight';

const ROOM = 11; // pixels that a name needs

/** Names of one side, `step` pixels apart; where they would touch, only some, so that a long text costs no more than a short one. */
function side(names: string[], step: number, kind: 'rows' | 'cols'): HTMLElement {
  const every = Math.max(1, Math.ceil(ROOM / step));
  const shownAt = Array.from({ length: Math.ceil(names.length / every) }, (_, i) => i * every);
  const labels = shownAt.map(i => {
    const label = markToken(h('span', { title: names[i] }, visibleToken(names[i])), visibleToken(names[i]));
    const room = `${step * Math.min(every, names.length - i)}px`;
    label.style[kind === 'rows' ? 'height' : 'width'] = room;
    label.style.lineHeight = room; // in the middle of its square
    return label;
  });
  return h('div', { className: `tfk-axis tfk-axis-${kind}`, 'aria-hidden': 'true' }, ...labels);
}

/** A frame around a canvas of squares of so many pixels; without names on both sides the canvas alone. */
export function framed(
  frame: HTMLElement,
  canvas: HTMLCanvasElement,
  rows: string[],
  cols: string[],
  step: number
): void {
  const sides = rows.length && cols.length ? [h('span', {}), side(cols, step, 'cols'), side(rows, step, 'rows')] : [];
  frame.classList.toggle('tfk-framed', sides.length > 0);
  frame.replaceChildren(...sides, canvas);
}
