/** The page to play with: a sentence of one's own, and what a small transformer makes of it, drawn anew at each letter. */
import { h } from '../widgets/dom';
import { translated } from '../widgets/words';
import { attentionPart } from './attention';
import { lensPart } from './lens';
import { INext, nextPart } from './next';
import { IPart, IShown, READS, SAMPLING, START } from './shown';
import { PLAY_CSS } from './style';
import { IVocabulary, Tokenizer } from './tokenizer';
import { IConfig, IPacked, Transformer } from './transformer';

export interface IPackedModel {
  config: IConfig;
  vocabulary: IVocabulary;
  tensors: Record<string, IPacked>;
}

const MAX_TOKENS = 48; // tokens that are read: the model was trained on texts of 64
const STEP = 16; // so many at a time are left out, so that what was computed is of use for the next letters
const CHARACTERS = 1000; // that the field holds
const WRITE_MS = 320;
const SAY_MS = 700; // a screen reader hears of what is next when one stops typing

/** Sentences to begin with: the head that does the work is shown with each. */
export const EXAMPLES = [
  'The capital of Italy is',
  'Anna has a dog and Tom has a cat. The dog belongs to',
  'The opposite of hot is',
  'When Mia and Leo went to the park, Leo gave the ball to',
  'Thursday, Friday,',
  'apple stone blue Max apple stone blue',
  'The dogs near the tree',
  'I love chocolate and'
];

/** How many tokens of so many are left out at the beginning. */
export const leftOut = (count: number): number => STEP * Math.ceil(Math.max(0, count - MAX_TOKENS) / STEP);

/** Draw the page into an element. */
export function mount(root: HTMLElement, packed: IPackedModel): void {
  root.classList.add('play');
  const page = new Page(packed);
  root.replaceChildren(...page.nodes);
  page.read(); // the drawings measure where they stand
}

class Page {
  constructor(packed: IPackedModel) {
    this._tokenizer = new Tokenizer(packed.vocabulary);
    this._model = new Transformer(packed.config, packed.tensors);
    const draw = (): void => this._draw();
    const decode = (id: number): string => this._tokenizer.decode([id]);
    this._next = nextPart(this._shown, this._tokenizer, token => this._append(token), draw);
    this._parts = [
      attentionPart(this._shown, packed.config, decode, draw),
      this._next,
      lensPart(this._shown, decode, draw)
    ];
    this._input.oninput = (): void => {
      this._stop();
      this.read();
    };
    this._write.onclick = (): void => (this._writing ? this._stop() : this._start());
    const label = h('label', { className: 'play-label' }, h('span', {}, translated('Type a sentence')), this._input);
    this.nodes = [
      h('style', {}, PLAY_CSS),
      h('div', { className: 'play-ask' }, label, this._write),
      this._note,
      h(
        'ul',
        { className: 'play-examples', 'aria-label': translated('Examples') },
        ...EXAMPLES.map(text => this._example(text))
      ),
      h('div', { className: 'play-parts' }, ...this._parts.map(({ node }) => node)),
      this._said
    ];
  }

  /** Read the text of the field, and draw what the model makes of it. */
  read(): void {
    const ids = this._tokenizer.encode(this._input.value.trimEnd());
    const kept = ids.slice(leftOut(ids.length));
    this._shown.positions = this._model.read([START, ...kept]);
    this._shown.tokens = ['start', ...kept.map(id => this._tokenizer.decode([id]))];
    this._shown.query = -1;
    this._note.hidden = kept.length === ids.length;
    this._note.textContent = translated(
      'The model reads the last %1 tokens; the %2 before them are left out.',
      kept.length,
      ids.length - kept.length
    );
    this._draw();
  }

  private _draw(): void {
    this._parts.forEach(part => part.draw());
    clearTimeout(this._timer);
    this._timer = window.setTimeout(() => (this._said.textContent = this._next.sentence()), SAY_MS);
  }

  private _set(text: string): void {
    this._input.value = text;
    this.read();
  }

  private _append(token: number): void {
    const longer = this._input.value.trimEnd() + this._tokenizer.decode([token]);
    if (longer.length > CHARACTERS) {
      this._note.hidden = false;
      this._note.textContent = translated(
        'The field holds %1 characters: take some away to go on.',
        CHARACTERS.toLocaleString(document.documentElement.lang || 'en')
      );
      clearTimeout(this._timer);
      this._said.textContent = this._note.textContent;
      return this._stop();
    }
    this._set(longer);
    this._input.scrollLeft = this._input.scrollWidth;
  }

  private _start(): void {
    this._write.textContent = translated('Stop');
    this._writing = window.setInterval(() => {
      const token = this._next.sample();
      if (token === START) {
        return this._stop();
      }
      this._append(token);
    }, WRITE_MS);
  }

  private _stop(): void {
    clearInterval(this._writing);
    this._writing = 0;
    this._write.textContent = translated('Let it write');
  }

  private _example(text: string): HTMLElement {
    const button = h('button', { type: 'button', lang: READS }, `${text} …`);
    button.onclick = (): void => {
      this._stop();
      this._set(text);
    };
    return h('li', {}, button);
  }

  readonly nodes: HTMLElement[];
  private readonly _tokenizer: Tokenizer;
  private readonly _model: Transformer;
  private readonly _shown: IShown = {
    tokens: [],
    positions: [],
    query: -1,
    layer: 0,
    head: 0,
    sampling: { ...SAMPLING }
  };
  private readonly _next: INext;
  private readonly _parts: IPart[];
  private readonly _input = h('input', {
    type: 'text',
    className: 'play-text',
    lang: READS,
    autocomplete: 'off',
    spellcheck: false,
    maxLength: CHARACTERS,
    value: EXAMPLES[0]
  });
  private readonly _write = h('button', { type: 'button', className: 'play-write' }, translated('Let it write'));
  private readonly _note = h('p', { className: 'play-note', hidden: true });
  private readonly _said = h('p', { className: 'tfk-sr', role: 'status' });
  private _timer = 0; // until `_said` tells what is next
  private _writing = 0; // the interval in which it writes; 0: it does not
}
