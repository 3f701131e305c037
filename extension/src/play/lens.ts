/** What the model would say after each layer, at each word (nostalgebraist 2020, "interpreting GPT: the logit lens"). */
import { clipped, h, tableHead } from '../widgets/dom';
import { cellClass } from '../widgets/scales';
import { translated } from '../widgets/words';
import {
  chooseQuery,
  Decode,
  inQuotes,
  IPart,
  IShown,
  nextWord,
  percent,
  queryPosition,
  quoted,
  READS,
  word
} from './shown';

const CHARACTERS = 8;

export function lensPart(shown: IShown, decode: Decode, redraw: () => void): IPart {
  const table = h('table', {});
  const scroll = h(
    'div',
    { className: 'play-scroll', tabIndex: 0, role: 'region', 'aria-label': translated('Guesses after each layer') },
    table
  );
  const about = h('p', { className: 'play-note' });
  const name = (token: number): string => nextWord(token, decode);
  const layers = (): string[] =>
    shown.positions[0].lens.map((_, at) => (at ? translated('layer %1', at) : translated('embedding')));
  let count = 0;

  const cell = (row: number, at: number): HTMLElement => {
    const [best, ...others] = shown.positions[at].lens[row];
    const title = [best, ...others].map(one => `${name(one.token)} ${percent(one.p)}`).join(', ');
    const node = h('td', { className: cellClass(best.p, 1, true), title }, clipped(name(best.token), CHARACTERS));
    node.classList.toggle('play-here', at === queryPosition(shown));
    node.onpointerenter = (): void => chooseQuery(shown, at, redraw);
    return node;
  };
  /** The chosen column in words: colours alone would not tell the probabilities. */
  const sentence = (): string => {
    const from = queryPosition(shown);
    const guesses = shown.positions[from].lens.map(([best]) => `${inQuotes(name(best.token))} ${percent(best.p)}`);
    const list = layers().map((layer, at) => `${layer} ${guesses[at]}`);
    return translated('After %1: %2.', quoted(shown, from), list.join(', '));
  };
  const draw = (): void => {
    about.textContent = sentence();
    const words = shown.tokens.map((token, at) => (at ? word(token) : '▸'));
    const rows = layers().map((layer, row) =>
      h('tr', {}, h('th', { scope: 'row' }, layer), ...shown.tokens.map((_, at) => cell(row, at)))
    );
    table.replaceChildren(tableHead(['', ...words]), h('tbody', {}, ...rows));
    table.querySelectorAll<HTMLElement>('td, thead th').forEach(one => (one.lang = READS));
    if (count !== shown.tokens.length) {
      [count, scroll.scrollLeft] = [shown.tokens.length, scroll.scrollWidth];
    }
  };
  const lead = h(
    'p',
    { className: 'play-lead' },
    translated(
      'Each column is a word; going down, the layers. A cell holds the word that would come next if the model ended there: the stronger its colour, the surer.'
    )
  );
  return {
    node: h('section', { className: 'play-lens' }, h('h3', {}, translated('Layer by layer')), lead, scroll, about),
    draw
  };
}
