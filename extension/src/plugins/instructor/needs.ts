/** What waits for the instructor: those who are stuck, answers to mark, requests, and what is due next. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import { titleOf } from './answer';
import type { ILive } from './live';
import type { ICourseQuestions } from './protocol';
import { when } from './words';

/** A unit with a due date. */
export interface IDue {
  readonly name: string;
  readonly title: string;
  readonly due: string;
}

const MOST_DUE = 4;
const WEEK_MS = 7 * 24 * 3600 * 1000;

/** The units that are due next, after those that were due in the last week. */
export function dueSoon(units: readonly IDue[], now: Date): IDue[] {
  return units.filter(({ due }) => new Date(due).getTime() > now.getTime() - WEEK_MS).slice(0, MOST_DUE);
}

/** The section; `go` leads to an exercise of the page, `mark` to the marking page. */
export class Needs {
  readonly node = h('section', { className: 'tfkit-Needs tfkit-Pane' });

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _go: (exercise: string) => void,
    private readonly _mark: () => void
  ) {
    this.node.setAttribute('aria-label', _trans.__('Waits for you'));
    const due = h('h3', {}, _trans.__('Due'));
    this.node.append(h('h3', {}, _trans.__('Waits for you')), this._list, due, this._dates);
  }

  showLive(found: ILive): void {
    const stuck = JSON.stringify(found.exercises.map(({ exercise, title, stuck: count }) => [exercise, title, count]));
    if (stuck !== this._stuckShown) {
      this._stuckShown = stuck;
      this._stuck = found.exercises.filter(one => one.stuck).map(one => this._stuckOn(one));
      this._draw();
    }
  }

  /** What the gradebooks say. */
  showMarking(courses: readonly ICourseQuestions[]): void {
    const trans = this._trans;
    const questions = courses.flatMap(one => one.questions.filter(({ waiting }) => waiting));
    const marks = questions.map(one => {
      const count = trans._n('%1 answer waits for a mark', '%1 answers wait for a mark', one.waiting);
      return this._entry(this._mark, `${count}: `, h('b', {}, titleOf(one)));
    });
    const requests = courses.reduce((sum, one) => sum + one.requests, 0);
    const asked = trans._n('%1 request waits for an answer', '%1 requests wait for an answer', requests);
    this._marks = [...marks, ...(requests ? [this._entry(this._mark, asked)] : [])];
    this._draw();
  }

  showDue(units: readonly IDue[]): void {
    const now = new Date();
    const rows = dueSoon(units, now).map(({ title, due }) => {
      const date = when(due);
      const late = new Date(due) < now;
      const words = late ? this._trans.__('was due %1', date) : date;
      return h('tr', { className: late ? 'tfkit-late' : '' }, h('th', { scope: 'row' }, title), h('td', {}, words));
    });
    const none = h('p', {}, this._trans.__('No unit has a due date in the next weeks.'));
    this._dates.replaceChildren(rows.length ? h('table', {}, h('tbody', {}, ...rows)) : none);
  }

  private _stuckOn({ exercise, title, stuck }: { exercise: string; title: string; stuck: number }): HTMLElement {
    const words = this._trans._n('%1 is stuck on', '%1 are stuck on', stuck);
    return this._entry(() => this._go(exercise), `${words} `, h('b', {}, title));
  }

  private _entry(run: () => void, ...words: (string | Node)[]): HTMLElement {
    return h('li', {}, h('button', { type: 'button', onclick: run }, ...words));
  }

  private _draw(): void {
    const entries = [...this._stuck, ...this._marks];
    this._list.replaceChildren(
      entries.length ? h('ul', {}, ...entries) : h('p', {}, this._trans.__('Nothing, at the moment.'))
    );
  }

  private _stuckShown = '';
  private _stuck: HTMLElement[] = [];
  private _marks: HTMLElement[] = [];
  private readonly _list = h('div', {});
  private readonly _dates = h('div', {});
}
