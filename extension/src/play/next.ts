/** The next word: bars of the distribution, and the sliders that bend it. */
import { decimal } from '../shared/language';
import { h } from '../widgets/dom';
import { translated } from '../widgets/words';
import { distribution, ICandidate, ISampling, sample } from './sampling';
import { IPart, IShown, nextWord, percent, READS } from './shown';
import { Tokenizer } from './tokenizer';

const BARS = 8;

export interface INext extends IPart {
  /** What is likely, in a sentence. */
  sentence(): string;
  /** A token, drawn at random. */
  sample(): number;
}

interface ISlider {
  name: keyof ISampling;
  label(): string;
  /** The value at each place of the slider. */
  values: number[];
  text(value: number): string;
}

const SLIDERS: ISlider[] = [
  {
    name: 'temperature',
    label: () => translated('Temperature'),
    values: Array.from({ length: 41 }, (_, at) => at / 20),
    text: value => decimal(value, 2)
  },
  {
    name: 'topK',
    label: () => 'Top-k',
    values: [1, 2, 3, 4, 5, 8, 12, 20, 50, 0],
    text: value => (value ? String(value) : translated('all'))
  },
  {
    name: 'topP',
    label: () => 'Top-p',
    values: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1],
    text: value => decimal(value, 2)
  }
];

function slider({ label, name, values, text }: ISlider, sampling: ISampling, redraw: () => void): HTMLElement {
  const range = h('input', { type: 'range', min: '0', max: String(values.length - 1), step: '1' });
  range.value = String(values.indexOf(sampling[name]));
  const said = h('output', {});
  const say = (): void => {
    said.textContent = text(sampling[name]);
    range.setAttribute('aria-valuetext', said.textContent);
  };
  say();
  range.oninput = (): void => {
    sampling[name] = values[Number(range.value)];
    say();
    redraw();
  };
  return h('label', {}, h('span', {}, label()), range, said);
}

/** One bar, which keeps its element: so its length glides. */
function bar(append: (token: number) => void): { node: HTMLElement; show(text: string, one: ICandidate): void } {
  const [name, length, share] = [h('b', { lang: READS }), h('i', { 'aria-hidden': 'true' }), h('span', {})];
  const button = h(
    'button',
    { type: 'button', title: translated('Add it') },
    name,
    ' ',
    h('span', { className: 'play-track' }, length),
    share
  );
  const node = h('li', {}, button);
  const show = (text: string, one: ICandidate): void => {
    name.textContent = text;
    length.style.width = `${Math.max(0.5, 100 * one.drawn)}%`;
    share.textContent = one.drawn ? percent(one.drawn) : translated('left out');
    button.classList.toggle('play-out', !one.drawn);
    button.onclick = (): void => append(one.token);
  };
  return { node, show };
}

export function nextPart(
  shown: IShown,
  tokenizer: Tokenizer,
  append: (token: number) => void,
  redraw: () => void
): INext {
  const bars = Array.from({ length: BARS }, () => bar(append));
  let candidates: ICandidate[] = [];
  const name = (token: number): string => nextWord(token, id => tokenizer.decode([id]));
  const allowed = (token: number): boolean => tokenizer.isWhole(token); // the field can hold no part of a character
  const draw = (): void => {
    candidates = distribution(shown.positions[shown.positions.length - 1].logits, shown.sampling, allowed);
    bars.forEach(({ show }, at) => show(name(candidates[at].token), candidates[at]));
  };
  const sentence = (): string =>
    translated(
      'Next: %1.',
      candidates
        .slice(0, 3)
        .filter(one => one.drawn)
        .map(one => `${name(one.token)} ${percent(one.drawn)}`)
        .join(', ')
    );
  const sliders = h('div', { className: 'play-sliders' }, ...SLIDERS.map(one => slider(one, shown.sampling, redraw)));
  const lead = h(
    'p',
    { className: 'play-lead' },
    translated('Press a word to add it. A low temperature keeps to the likely ones, a high one gives all a chance.')
  );
  const list = h('ol', { className: 'play-bars' }, ...bars.map(one => one.node));
  const node = h('section', { className: 'play-next' }, h('h3', {}, translated('The next word')), lead, list, sliders);
  return { node, draw, sentence, sample: () => sample(candidates, Math.random()) };
}
