/** The form that gives a mark: rubric items to choose from, points, and a free comment. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { IAnswer, IMark, IRubricItem } from './protocol';
import { IRubricActions, rubricLine } from './rubricline';

/** What is in a form and not given yet. */
export interface IDraft {
  /** The points as they were typed; null where they are the sum of the chosen items, which may come to be worth something else. */
  readonly score: string | null;
  readonly own: string;
  readonly chosen: readonly number[];
}

export interface IMarkActions {
  /** Gives the mark to the chosen answers. */
  give(mark: IMark): Promise<void>;
  /** Puts an item into the rubric; null where the rubric cannot be changed. */
  readonly add: ((text: string, points: number | null) => Promise<void>) | null;
  readonly rubric: IRubricActions | null;
}

/** What is marked: the points to give, and the rubric. */
export interface IMarkable {
  readonly max_score: number;
  readonly rubric: readonly IRubricItem[];
}

export interface IFormWords {
  /** The form's name. */
  readonly called: string;
  readonly own: string;
  /** The label of the button; without it, the button states the number of answers. */
  readonly give?: string;
}

/** The sum of the chosen items' points, limited to 0 … max. */
export function pointsOf(chosen: readonly IRubricItem[], most: number): number {
  const sum = chosen.reduce((total, { points }) => total + (points ?? 0), 0);
  return Math.min(most, Math.max(0, sum));
}

export class MarkForm {
  constructor(
    private readonly _of: IMarkable,
    first: Pick<IAnswer, 'score' | 'waiting' | 'chosen' | 'own'>,
    private readonly _trans: TranslationBundle,
    private readonly _actions: IMarkActions,
    words: IFormWords
  ) {
    this._score.max = String(_of.max_score);
    this._score.value = first.waiting || first.score === null ? '' : String(first.score);
    const before = new Set(first.chosen);
    const lines = _of.rubric.map((one, n) => this._line(one, before.has(one.id), n < 9 ? n + 1 : 0));
    this._own.value = words.give ? '' : first.own;
    this._own.setAttribute('aria-label', words.own);
    this._own.placeholder = words.own;
    const add = h('button', { type: 'button' }, _trans.__('Add to the rubric'));
    add.onclick = () => void this._add();
    this._give.textContent = words.give ?? '';
    this._give.onclick = () => void this._run();
    this.node = h(
      'form',
      { className: 'tfkit-MarkForm', 'aria-label': words.called },
      ...(lines.length ? [h('fieldset', {}, h('legend', {}, _trans.__('Rubric')), ...lines)] : []),
      this._own,
      ...(_actions.add ? [h('p', {}, add)] : []),
      h(
        'p',
        { className: 'tfkit-Give' },
        h('label', {}, _trans.__('Points'), ' ', this._score, ` / ${_of.max_score}`),
        this._give
      ),
      this._status
    );
    this.node.onsubmit = event => (event.preventDefault(), void this._run());
    this.node.onkeydown = event => this._key(event);
    this._first = { score: this._score.value, own: this._own.value, chosen: this.mark.chosen };
  }

  readonly node: HTMLFormElement;

  /** How many answers the mark is for. */
  set count(count: number) {
    this._give.textContent = this._trans._n('Give to %1 answer', 'Give to %1 answers', count);
    this._give.disabled = count === 0;
  }

  get mark(): IMark {
    const score = this._score.value === '' ? null : Number(this._score.value);
    return { score, own: this._own.value.trim(), chosen: this._chosen().map(({ id }) => id) };
  }

  /** What was changed in the form, or null. */
  get draft(): IDraft | null {
    const { chosen } = this.mark;
    const [score, own] = [this._score.value, this._own.value];
    if (JSON.stringify({ score, own, chosen }) === JSON.stringify(this._first)) {
      return null;
    }
    return { score: chosen.length && score === this._sum() ? null : score, own, chosen };
  }

  set draft({ score, own, chosen }: IDraft) {
    this._boxes.forEach((box, { id }) => (box.checked = chosen.includes(id)));
    this._own.value = own;
    this._score.value = score ?? (this._chosen().length ? this._sum() : ''); // '': its items were removed
  }

  /** Takes the comment out, and points that no item gives: they are in the rubric now. */
  reset(): void {
    this._own.value = this._first.own;
    if (!this._chosen().length) {
      this._score.value = this._first.score;
    }
  }

  private _sum(): string {
    return String(pointsOf(this._chosen(), this._of.max_score));
  }

  /** A digit chooses an item, except in text fields; Ctrl+Enter gives the mark. */
  private _key(event: KeyboardEvent): void {
    const typing = event.target instanceof HTMLElement && event.target.matches('textarea, input[type=number]');
    const box = /^[1-9]$/.test(event.key) ? [...this._boxes.values()][Number(event.key) - 1] : undefined;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      void this._run();
    } else if (box && !typing && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      box.click();
      box.focus();
    }
  }

  private _line(one: IRubricItem, chosen: boolean, digit: number): HTMLElement {
    const box = h('input', { type: 'checkbox', checked: chosen });
    this._boxes.set(one, box);
    box.onchange = () => {
      this._score.value = this._sum();
    };
    return rubricLine(one, box, digit, this._actions.rubric, this._trans);
  }

  private _chosen(): IRubricItem[] {
    return [...this._boxes].filter(([, box]) => box.checked).map(([one]) => one);
  }

  private async _add(): Promise<void> {
    if (!this._own.value.trim()) {
      this._showStatus(this._trans.__('Write the text of the item first.'));
      this._own.focus();
      return;
    }
    const points = this._score.value === '' || this._chosen().length ? null : Number(this._score.value);
    await this._try(() => this._actions.add!(this._own.value.trim(), points));
  }

  private async _run(): Promise<void> {
    if (this._give.disabled) {
      return;
    }
    if (this.mark.score === null || !this._score.checkValidity()) {
      this._showStatus(this._trans.__('Enter points from 0 to %1.', this._of.max_score));
      this._score.focus();
      return;
    }
    this._give.disabled = true;
    await this._try(() => this._actions.give(this.mark));
    this._give.disabled = false;
  }

  private async _try(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this._showStatus(error instanceof Error ? error.message : String(error));
    }
  }

  private _showStatus(text: string): void {
    this._status.textContent = text;
  }

  private readonly _first: { readonly score: string; readonly own: string; readonly chosen: readonly number[] };
  private readonly _boxes = new Map<IRubricItem, HTMLInputElement>();
  private readonly _score = h('input', { type: 'number', min: '0', step: 'any' });
  private readonly _own = h('textarea', { rows: 2 });
  private readonly _give = h('button', { type: 'button', className: 'tfkit-mod-strong' });
  private readonly _status = h('p', { role: 'status' });
}
