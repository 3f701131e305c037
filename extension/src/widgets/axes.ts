/** Names, or numbers, along the two sides of a map that is painted on a canvas. */
import { h, visibleToken } from './dom';
import { markToken } from './highlight';

const LABEL_PX = 11; // pixels that a name needs
const NUMBER_PX = 20; // and a horizontal number
const ROUND = [1, 2, 5, 10, 20, 50, 100];
const CJK = /^[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+$/; // Chinese, Japanese and Korean are not rotated

/** The number of squares from one label to the next, so that labels do not touch; for numbers a round one. */
function spacing(step: number, room: number, numbers: boolean): number {
  const least = Math.max(1, Math.ceil(room / step));
  return numbers ? (ROUND.find(every => every >= least) ?? least) : least;
}

/** One side: names, or the numbers of so many positions, `step` pixels apart; if they would touch, only some of them. */
function side(names: string[] | number, step: number, kind: 'rows' | 'cols'): HTMLElement {
  const numbers = typeof names === 'number';
  const count = numbers ? names : names.length;
  const every = spacing(step, numbers && kind === 'cols' ? NUMBER_PX : LABEL_PX, numbers);
  const labels = Array.from({ length: Math.ceil(count / every) }, (_, n) => {
    const i = n * every;
    const label = numbers ? h('span', {}, String(i)) : named(names[i]);
    label.style[kind === 'rows' ? 'height' : 'width'] = `${step * Math.min(every, count - i)}px`;
    if (numbers && kind === 'cols') {
      label.style.textIndent = `${Math.max(0, step / 2 - 3 * label.textContent.length)}px`;
    } else {
      label.style.lineHeight = `${Math.max(step, LABEL_PX)}px`; // in the middle of its square
    }
    return label;
  });
  const look = `tfk-axis tfk-axis-${kind}${numbers ? ' tfk-axis-flat' : ''}`;
  return h('div', { className: look, 'aria-hidden': 'true' }, ...labels);
}

function named(name: string): HTMLElement {
  const words = visibleToken(name);
  return markToken(h('span', { title: name, ...(CJK.test(words) && { className: 'tfk-upright' }) }, words), words);
}

/** A frame around a canvas of squares of so many pixels, with names or, where there are none, numbers on both sides. */
export function framed(
  frame: HTMLElement,
  canvas: HTMLCanvasElement,
  rows: string[] | number,
  cols: string[] | number,
  step: number
): void {
  frame.className = 'tfk-framed';
  frame.replaceChildren(side(rows, step, 'rows'), h('div', {}, side(cols, step, 'cols'), canvas));
}
