/** The form that gives a mark: comments of the question's bank to choose from, points, and words of one's own. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { IAnswer, IBankComment, IOpened } from './marking';

export interface IMark {
  readonly score: number | null;
  readonly comment: string;
  readonly chosen: readonly number[];
}

export interface IMarkActions {
  /** Gives the mark to the chosen answers. */
  give(mark: IMark): Promise<void>;
  keep(text: string, points: number | null): Promise<void>;
  drop(id: number): Promise<void>;
}

/** What the chosen comments are worth together, from 0 to the most. */
export function pointsOf(chosen: readonly IBankComment[], most: number): number {
  return Math.min(
    most,
    Math.max(
      0,
      chosen.reduce((sum, { points }) => sum + (points ?? 0), 0)
    )
  );
}

export class MarkForm {
  constructor(
    private readonly _of: IOpened,
    first: IAnswer,
    private readonly _trans: TranslationBundle,
    private readonly _actions: IMarkActions,
    called: string
  ) {
    this._score.max = String(_of.max_score);
    this._score.value = first.waiting || first.score === null ? '' : String(first.score);
    const before = new Set(first.chosen ?? []);
    const lines = _of.bank.map(one => this._line(one, before.has(one.id)));
    const texts = new Set(this._chosen().map(({ text }) => text));
    this._own.value = first.comment
      .split('\n')
      .filter(line => !texts.has(line))
      .join('\n');
    this._own.setAttribute('aria-label', _trans.__('A comment in your own words'));
    this._own.placeholder = this._own.getAttribute('aria-label')!;
    const keep = h('button', { type: 'button' }, _trans.__('Keep this comment for others'));
    keep.onclick = () => void this._keep();
    this._give.onclick = () => void this._run();
    this.node = h(
      'form',
      { className: 'tfkit-MarkForm', 'aria-label': called },
      h('fieldset', {}, h('legend', {}, _trans.__('Comments')), ...lines),
      this._own,
      h('p', {}, keep),
      h(
        'p',
        { className: 'tfkit-Give' },
        h('label', {}, _trans.__('Points'), ' ', this._score, ` / ${_of.max_score}`),
        this._give
      ),
      this._said
    );
    this.node.onsubmit = event => (event.preventDefault(), void this._run());
  }

  readonly node: HTMLFormElement;

  /** How many answers the mark is for. */
  set count(count: number) {
    this._give.textContent = this._trans._n('Give to %1 answer', 'Give to %1 answers', count);
    this._give.disabled = count === 0;
  }

  private _line(one: IBankComment, chosen: boolean): HTMLElement {
    const box = h('input', { type: 'checkbox', checked: chosen });
    this._boxes.set(one, box);
    box.onchange = () => {
      this._score.value = String(pointsOf(this._chosen(), this._of.max_score));
    };
    const worth = one.points === null ? [] : [h('b', {}, one.points > 0 ? `+${one.points}` : String(one.points)), ' '];
    const drop = h('button', { type: 'button', className: 'tfkit-Drop' }, '×');
    drop.title = this._trans.__('Take this comment out of the list');
    drop.setAttribute('aria-label', `${drop.title}: ${one.text}`);
    drop.onclick = () => void this._actions.drop(one.id);
    const used = one.used ? [' ', h('small', {}, this._trans.__('used %1×', one.used))] : [];
    return h('div', { className: 'tfkit-Comment' }, h('label', {}, box, ' ', ...worth, one.text, ...used), drop);
  }

  private _chosen(): IBankComment[] {
    return [...this._boxes].filter(([, box]) => box.checked).map(([one]) => one);
  }

  private async _keep(): Promise<void> {
    if (this._own.value.trim()) {
      const points = this._score.value === '' ? null : Number(this._score.value);
      await this._actions.keep(this._own.value.trim(), this._chosen().length ? null : points);
    }
  }

  private async _run(): Promise<void> {
    const score = this._score.value === '' ? null : Number(this._score.value);
    if (score === null || !this._score.checkValidity()) {
      this._say(this._trans.__('Points from 0 to %1 are needed.', this._of.max_score));
      this._score.focus();
      return;
    }
    const chosen = this._chosen();
    const comment = [...chosen.map(({ text }) => text), this._own.value.trim()].filter(Boolean).join('\n');
    this._give.disabled = true;
    try {
      await this._actions.give({ score, comment, chosen: chosen.map(({ id }) => id) });
    } catch (error) {
      this._say(error instanceof Error ? error.message : String(error));
    } finally {
      this._give.disabled = false;
    }
  }

  private _say(text: string): void {
    this._said.textContent = text;
  }

  private readonly _boxes = new Map<IBankComment, HTMLInputElement>();
  private readonly _score = h('input', { type: 'number', min: '0', step: '0.25' });
  private readonly _own = h('textarea', { rows: 2 });
  private readonly _give = h('button', { type: 'button', className: 'tfkit-mod-strong' });
  private readonly _said = h('p', { role: 'status' });
}
