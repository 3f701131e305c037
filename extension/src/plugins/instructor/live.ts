/** The current state of the class: for each exercise, how many students have passed, tried or are stuck, and with which misconceptions. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';

export interface ILiveExercise {
  readonly exercise: string;
  readonly passed: number;
  /** Those who have checked it, have not passed, and are not stuck. */
  readonly tried: number;
  readonly stuck: number;
  readonly commonest: readonly { readonly misconception: string; readonly students: number }[];
  /** Who is stuck, where names were asked for. */
  readonly who?: readonly {
    readonly student: string;
    readonly failed: number;
    readonly minutes: number;
    readonly misconception: string | null;
  }[];
}

export interface ILive {
  readonly students: number;
  /** Those who have checked something lately. */
  readonly active: number;
  readonly exercises: readonly ILiveExercise[];
  /** Whether the server has a shared folder that collects the outcomes of the class. */
  readonly shared: boolean;
}

const spoken = (name: string): string => name.replace(/_/g, ' ');

/** The section of the class panel, redrawn with each response of the server; its inputs keep their values. */
export class LiveClass {
  readonly node = h('section', { className: 'tfkit-Live' });

  constructor(
    private readonly _trans: TranslationBundle,
    changed: () => void
  ) {
    this.node.setAttribute('aria-label', _trans.__('Now'));
    for (const input of [this._names, this._checks, this._minutes]) {
      input.onchange = changed;
    }
    const rule = h('p', { className: 'tfkit-Live-rule' });
    rule.append(
      h('label', {}, _trans.__('Stuck: failing checks'), ' ', this._checks),
      ' ',
      h('label', {}, _trans.__('for minutes'), ' ', this._minutes),
      ' ',
      h('label', {}, this._names, ' ', _trans.__('Names'))
    );
    this.node.append(h('h3', {}, _trans.__('Now')), this._facts, rule, this._body);
    this.node.hidden = true;
  }

  /** The query of the route. */
  get query(): string {
    const minutes = this._minutes.valueAsNumber >= 0 ? this._minutes.value : '10';
    const checks = this._checks.valueAsNumber >= 1 ? this._checks.value : '3';
    return `live?checks=${checks}&minutes=${minutes}${this._names.checked ? '&names=1' : ''}`;
  }

  show(found: ILive): void {
    this.node.hidden = !found.shared;
    const { students, active, exercises } = found;
    const facts = this._trans.__('%1 of %2 students have checked something in the last 45 minutes', active, students);
    this._facts.textContent = students ? facts : this._trans.__('Nobody has checked anything yet.');
    const state = JSON.stringify(exercises);
    if (state !== this._shown) {
      this._shown = state;
      this._body.replaceChildren(...(exercises.length ? [this._table(exercises, students)] : []));
    }
  }

  private _table(exercises: readonly ILiveExercise[], students: number): HTMLElement {
    const trans = this._trans;
    const heads = [trans.__('Exercise'), trans.__('passed'), trans.__('tried'), trans.__('stuck')];
    const head = h('tr', {}, ...heads.map(name => h('th', { scope: 'col' }, name)));
    const rows = exercises.flatMap(one => this._rows(one, students));
    return h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows));
  }

  private _rows(one: ILiveExercise, students: number): HTMLElement[] {
    const bar = h('span', { className: 'tfkit-Live-bar', 'aria-hidden': 'true' });
    for (const [kind, count] of [
      ['passed', one.passed],
      ['tried', one.tried],
      ['stuck', one.stuck]
    ] as const) {
      const part = h('span', { className: `tfkit-mod-${kind}` });
      part.style.width = `${(100 * count) / Math.max(1, students)}%`;
      bar.append(part);
    }
    const cells = [one.passed, one.tried, one.stuck].map((count, n) =>
      h('td', { className: n === 2 && count ? 'tfkit-mod-stuck' : '' }, String(count))
    );
    const row = h('tr', {}, h('th', { scope: 'row' }, one.exercise, bar), ...cells);
    const why = one.commonest.map(({ misconception, students: count }) =>
      h('li', {}, h('strong', {}, spoken(misconception)), ': ', this._trans._n('%1 student', '%1 students', count))
    );
    const who = (one.who ?? []).map(({ student, failed, minutes, misconception }) => {
      const words = this._trans.__('%1 checks failed in %2 min', failed, minutes);
      return h('li', {}, student, ` · ${words}${misconception ? ` · ${spoken(misconception)}` : ''}`);
    });
    const lists = [...(why.length ? [h('ul', {}, ...why)] : []), ...(who.length ? [h('ul', {}, ...who)] : [])];
    return lists.length ? [row, h('tr', { className: 'tfkit-Live-why' }, h('td', { colSpan: 4 }, ...lists))] : [row];
  }

  private _shown = '';
  private readonly _facts = h('p', {});
  private readonly _names = h('input', { type: 'checkbox' });
  private readonly _checks = h('input', { type: 'number', min: '1', value: '3' });
  private readonly _minutes = h('input', { type: 'number', min: '0', value: '10' });
  private readonly _body = h('div', {});
}
