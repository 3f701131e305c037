/** Questions on earlier units, asked one after the other. The kernel holds the keys and says what came of an answer. */
import { h } from './dom';
import { IModel, IRenderProps } from './model';
import { fieldOf, IField, IQuestion } from './prediction';
import { translated } from './words';

interface ICard {
  question: IQuestion & { lines?: string[]; code?: boolean };
  title: string;
  code: string;
  before: string;
  after: string;
  lesson: string;
}

interface IResult {
  right: boolean;
  told: string;
  /** Of a choice: each option with the words that mark it. */
  options: [string, string][];
  key: string;
  /** The line that the sentence is about, if it is about one. */
  line: string;
  why: string;
  place: string;
  href: string;
  unit: string;
  cell: string;
  easy: boolean;
}

const FIELD = 'input, .tfkit-p-mask button[tabindex="0"], .tfkit-c-order button:not(:disabled)'; // where the focus goes in a question

const given = (code: string): HTMLElement[] => (code ? [h('pre', {}, h('code', {}, code))] : []);

/** The options of an answered choice, with what was chosen and what is right marked by words. */
function marked(options: [string, string][], code: boolean): HTMLElement[] {
  const rows = options.map(([option, mark]) =>
    h('li', {}, h(code ? 'code' : 'span', {}, option), ...(mark ? [' ', h('strong', {}, mark)] : []))
  );
  return rows.length ? [h('ul', { className: 'tfkit-c-marked' }, ...rows)] : [];
}

/** Lines to put in order by buttons, or by Alt and the arrow keys; every move is announced. */
function ordered(lines: string[], changed: () => void): IField {
  const order = lines.map((_, i) => i);
  const note = h('p', { className: 'tfkit-p-read', role: 'status' });
  const list = h('ol', { className: 'tfkit-c-order' });
  let touched = false;
  const move = (line: number, by: number): void => {
    const at = order.indexOf(line);
    if (order[at + by] === undefined) {
      return;
    }
    order.splice(at, 1);
    order.splice(at + by, 0, line);
    touched = true;
    draw();
    const button = list.querySelector<HTMLButtonElement>(`[data-move="${line} ${by}"]`)!;
    (button.disabled ? list.querySelector<HTMLButtonElement>(`[data-move="${line} ${-by}"]`)! : button).focus();
    note.textContent = translated('Line %1 of %2: %3', at + by + 1, order.length, lines[line].trim());
    changed();
  };
  const arrow = (line: number, by: number, place: number): HTMLElement => {
    const name =
      by < 0 ? translated('Move up: %1', lines[line].trim()) : translated('Move down: %1', lines[line].trim());
    const button = h('button', { type: 'button', 'aria-label': name }, by < 0 ? '↑' : '↓');
    button.dataset.move = `${line} ${by}`;
    button.disabled = order[place + by] === undefined;
    button.onclick = () => move(line, by);
    button.onkeydown = event => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (event.altKey && step) {
        event.preventDefault();
        move(line, step);
      }
    };
    return button;
  };
  const draw = (): void =>
    list.replaceChildren(
      ...order.map((line, place) =>
        h('li', {}, arrow(line, -1, place), arrow(line, 1, place), h('code', {}, lines[line]))
      )
    );
  draw();
  return { node: list, note, read: () => (touched ? [...order] : undefined) };
}

class Recall {
  readonly node = h('form', { className: 'tfkit-verdict tfkit-predict tfkit-recall' });

  constructor(private readonly _model: IModel) {
    this.node.setAttribute('aria-label', translated('From earlier units'));
    this.node.onkeydown = event => event.stopPropagation(); // keys typed in a field must not reach the notebook
    this._place = Math.max(0, this._results.indexOf(null));
    this._draw();
  }

  /** Draws what the kernel has answered, and puts the focus on the way forward. */
  readonly answered = (): void => {
    this._draw();
    this.node.querySelector<HTMLElement>('.tfkit-c-next')?.focus();
  };

  readonly tell = (): void => {
    this._problem.textContent = this._model.get('problem') as string;
  };

  private get _cards(): ICard[] {
    return this._model.get('cards') as ICard[];
  }

  private get _results(): (IResult | null)[] {
    return this._model.get('results') as (IResult | null)[];
  }

  private _draw(): void {
    if (this._model.get('ended')) {
      this.node.replaceChildren(h('p', { role: 'status' }, translated('Go on with the lesson.')));
      return;
    }
    const [card, result] = [this._cards[this._place], this._results[this._place]];
    const count = translated('%1 of %2', this._place + 1, this._cards.length);
    const badge = h('span', { className: 'tfkit-v-badge' }, translated('from before'));
    const about = card.title ? [h('strong', { className: 'tfkit-v-title' }, card.title), ' '] : [];
    const head = h(
      'div',
      { className: 'tfkit-v-head' },
      badge,
      ' ',
      ...about,
      h('span', { className: 'tfkit-c-from' }, `${card.lesson} · ${count}`)
    );
    const note = this._model.get('note') as string;
    this.node.replaceChildren(
      head,
      ...(note ? [h('p', {}, note)] : []),
      ...given(card.code),
      ...(result ? this._answered(card, result) : this._open(card))
    );
    this.tell();
  }

  private _open(card: ICard): Node[] {
    const { question } = card;
    const changed = (): void => void (this._problem.textContent = '');
    const field = question.lines ? ordered(question.lines, changed) : fieldOf(question, 0, card.lesson, changed);
    if (field.node instanceof HTMLInputElement) {
      field.node.setAttribute('aria-label', question.label);
    }
    const set = h(
      'fieldset',
      { className: question.code ? 'tfkit-c-lines' : '' },
      h('legend', {}, question.label),
      ...given(card.before),
      field.node,
      ...given(card.after),
      ...(field.note ? [field.note] : [])
    );
    const answer = h('button', { type: 'submit', className: 'tfkit-p-seal' }, translated('Answer'));
    const skip = h('button', { type: 'button', className: 'tfkit-p-pass' }, translated('Skip all'));
    skip.onclick = () => this._send({ do: 'skip' });
    this.node.onsubmit = event => {
      event.preventDefault();
      const found = field.read();
      if (found === undefined) {
        this._problem.textContent = translated('Not answered yet, or not readable: %1', question.label);
        set.querySelector<HTMLElement>(FIELD)?.focus();
      } else {
        this._send({ do: 'answer', card: this._place, answer: found });
      }
    };
    return [set, this._problem, h('div', { className: 'tfkit-p-bar' }, answer, skip)];
  }

  private _answered(card: ICard, result: IResult): Node[] {
    const last = this._results.every(one => one !== null);
    const next = h(
      'button',
      { type: 'submit', className: 'tfkit-p-seal tfkit-c-next' },
      last ? translated('Done') : translated('Next')
    );
    const easy = h('button', { type: 'button', className: 'tfkit-p-pass' }, translated('That was easy'));
    easy.onclick = () => this._send({ do: 'easy', card: this._place });
    this.node.onsubmit = event => {
      event.preventDefault();
      if (last) {
        this._send({ do: 'end' });
        return;
      }
      this._place = this._results.indexOf(null);
      this._draw();
      this.node.querySelector<HTMLElement>(FIELD)?.focus();
    };
    const link = result.href
      ? h(
          'a',
          {
            href: result.href,
            target: '_blank',
            rel: 'noopener',
            'data-tfkit-unit': result.unit,
            'data-tfkit-cell': result.cell
          },
          result.place
        )
      : result.place;
    return [
      h('p', { className: 'tfkit-c-asked' }, card.question.label),
      ...marked(result.options, Boolean(card.question.code)),
      h('p', { className: 'tfkit-c-told', role: 'status' }, `${result.right ? '✓' : '≠'} ${result.told}`),
      ...given(result.key),
      ...given(result.line),
      h('p', {}, result.why),
      h('p', {}, translated('Read again:'), ' ', link),
      this._problem,
      h('div', { className: 'tfkit-p-bar' }, next, ...(result.right && !result.easy ? [easy] : []))
    ];
  }

  private _send(message: Record<string, unknown>): void {
    this._model.send?.(message);
  }

  private _place: number;
  private readonly _problem = h('p', { className: 'tfkit-p-problem', role: 'alert' });
}

export function mount(model: IModel, el: HTMLElement): () => void {
  const recall = new Recall(model);
  el.append(recall.node);
  const heard: [string, () => void][] = [
    ['change:results', recall.answered],
    ['change:ended', recall.answered],
    ['change:problem', recall.tell]
  ];
  heard.forEach(([event, act]) => model.on(event, act));
  return () => {
    heard.forEach(([event, act]) => model.off(event, act));
    el.replaceChildren();
  };
}

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
