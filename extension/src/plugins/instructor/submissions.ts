/** The graded submissions of an assignment: a row for each student, a column for each exercise, sorted by any of them. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { stateIcons } from '../../shared/icons';
import { h } from '../../widgets/dom';
import { IMistake, points, spoken } from './words';

export interface IVerdict {
  readonly status: 'passed' | 'failed' | 'not_graded';
  readonly score: number;
  readonly max_score: number;
  readonly misconception: string | null;
  /** All that were found; missing in verdicts of earlier versions. */
  readonly misconceptions?: readonly string[] | null;
  readonly reason: string | null;
}

export interface IStudent {
  readonly student: string;
  readonly path: string;
  readonly verdicts: Readonly<Record<string, IVerdict>>;
}

export interface IAssignment {
  readonly course: string;
  readonly assignment: string;
  readonly title: string;
  readonly due: string | null;
  readonly exercises: readonly string[];
  readonly titles: Readonly<Record<string, string>>;
  readonly students: readonly IStudent[];
  readonly commonest: readonly (IMistake & { readonly exercise: string })[];
}

/** What a table is sorted by: a student's name, the sum of points, or the points of an exercise. */
export interface IOrder {
  readonly by: 'student' | 'sum' | { readonly exercise: string };
  readonly down: boolean;
}

/** Opens a student's answer to an exercise. */
export type OpenAnswer = (student: IStudent, exercise: string) => void;

export const sumOf = ({ verdicts }: IStudent): number =>
  Object.values(verdicts).reduce((sum, verdict) => sum + verdict.score, 0);

/** The first exercise of a student that is not passed; the first one of all where everything is. */
export const firstFailed = ({ exercises }: IAssignment, { verdicts }: IStudent): string | undefined =>
  exercises.find(one => verdicts[one] && verdicts[one].status !== 'passed') ?? exercises.find(one => verdicts[one]);

export const isDone = ({ exercises }: IAssignment, { verdicts }: IStudent): boolean =>
  exercises.every(exercise => verdicts[exercise]?.status === 'passed');

/** The students in an order; those with equal values by name. */
export function sorted(one: IAssignment, { by, down }: IOrder): IStudent[] {
  const value = (student: IStudent): number =>
    by === 'sum' ? sumOf(student) : by === 'student' ? 0 : (student.verdicts[by.exercise]?.score ?? -1);
  const names = (a: IStudent, b: IStudent): number => a.student.localeCompare(b.student);
  const order = (a: IStudent, b: IStudent): number => (by === 'student' ? names(a, b) : value(a) - value(b));
  return [...one.students].sort((a, b) => (down ? order(b, a) : order(a, b)) || names(a, b));
}

/** The most that an exercise is worth, as the verdicts say. */
const worth = (one: IAssignment, exercise: string): number =>
  Math.max(0, ...one.students.map(({ verdicts }) => verdicts[exercise]?.max_score ?? 0));

/** The table with its head of buttons, redrawn when its order changes. */
export class SubmissionsTable {
  readonly node = h('div', { className: 'tfkit-Submissions' });

  constructor(
    private readonly _one: IAssignment,
    private readonly _called: (student: string) => string,
    private readonly _trans: TranslationBundle,
    private readonly _open: OpenAnswer
  ) {
    this._only.onchange = () => this._scrolls.classList.toggle('tfkit-mod-open', this._only.checked);
    const label = h('label', {}, this._only, ` ${_trans.__('Only those who have not passed everything')}`);
    this._scrolls.setAttribute('role', 'group');
    this._scrolls.setAttribute('aria-label', _trans.__('Submissions'));
    this.node.append(label, this._scrolls);
    this._draw();
  }

  private _draw(focus = ''): void {
    const rows = sorted(this._one, this._order).map(student => this._row(student));
    const table = h('table', {}, h('thead', {}, this._head()), h('tbody', {}, ...rows), h('tfoot', {}, this._foot()));
    this._scrolls.replaceChildren(table);
    if (focus) {
      table.querySelector<HTMLElement>(`[data-sort="${CSS.escape(focus)}"]`)?.focus();
    }
  }

  private _head(): HTMLElement {
    const one = this._one;
    const exercises = one.exercises.map(exercise =>
      this._heading(one.titles[exercise] ?? exercise, { exercise }, worth(one, exercise))
    );
    const most = one.exercises.reduce((sum, exercise) => sum + worth(one, exercise), 0);
    return h(
      'tr',
      {},
      this._heading(this._trans.__('Student'), 'student'),
      ...exercises,
      this._heading(this._trans.__('Points'), 'sum', most)
    );
  }

  private _heading(name: string, by: IOrder['by'], most?: number): HTMLElement {
    const key = typeof by === 'string' ? by : by.exercise;
    const shown = typeof this._order.by === 'string' ? this._order.by : this._order.by.exercise;
    const of = most === undefined ? [] : [' ', h('small', {}, this._trans.__('of %1', points(most)))];
    const button = h('button', { type: 'button' }, name, ...of);
    button.dataset.sort = key;
    button.onclick = () => {
      this._order = { by, down: key === shown ? !this._order.down : by !== 'student' };
      this._draw(key);
    };
    const heading = h('th', { scope: 'col', title: key }, button);
    if (key === shown) {
      heading.setAttribute('aria-sort', this._order.down ? 'descending' : 'ascending');
    }
    return heading;
  }

  private _row(student: IStudent): HTMLElement {
    const one = this._one;
    const failed = firstFailed(one, student);
    const name = h('button', { type: 'button' }, this._called(student.student));
    name.onclick = () => failed !== undefined && this._open(student, failed);
    const cells = one.exercises.map(exercise => this._cell(student, exercise));
    const sum = h('td', { className: 'tfkit-Sum' }, points(sumOf(student)));
    const row = h('tr', {}, h('th', { scope: 'row' }, name), ...cells, sum);
    row.classList.toggle('tfkit-Class-done', isDone(one, student));
    return row;
  }

  private _cell(student: IStudent, exercise: string): HTMLElement {
    const verdict = student.verdicts[exercise];
    if (!verdict) {
      return h('td', {}, '–');
    }
    const words = {
      passed: this._trans.__('passed'),
      failed: this._trans.__('not yet right'),
      not_graded: this._trans.__('could not be checked')
    };
    const mark = stateIcons[verdict.status].element({ tag: 'span', className: 'tfkit-State' });
    mark.setAttribute('aria-hidden', 'true');
    const names = verdict.misconceptions ?? (verdict.misconception ? [verdict.misconception] : []);
    const why = names.length ? names.map(spoken).join(', ') : (verdict.reason ?? '');
    const said = h('span', { className: 'tfkit-Hidden' }, `${words[verdict.status]} ${why}`);
    const button = h('button', { type: 'button', tabIndex: -1, title: why }, mark, points(verdict.score), said);
    button.onclick = () => this._open(student, exercise); // a keyboard reaches it from the student's name
    const partly = verdict.status === 'failed' && verdict.score > 0;
    return h('td', { className: `tfkit-is-${partly ? 'partly' : verdict.status}` }, button);
  }

  /** The share of the class that passes each exercise. */
  private _foot(): HTMLElement {
    const { students, exercises } = this._one;
    const shares = exercises.map(exercise => {
      const passed = students.filter(({ verdicts }) => verdicts[exercise]?.status === 'passed').length;
      return h('td', {}, `${Math.round((100 * passed) / Math.max(1, students.length))} %`);
    });
    const mean = students.reduce((sum, student) => sum + sumOf(student), 0) / Math.max(1, students.length);
    const head = h('th', { scope: 'row' }, this._trans.__('passed, mean'));
    return h('tr', {}, head, ...shares, h('td', { className: 'tfkit-Sum' }, points(mean)));
  }

  private _order: IOrder = { by: 'student', down: false };
  private readonly _only = h('input', { type: 'checkbox' });
  private readonly _scrolls = h('div', { className: 'tfkit-Class-table', tabIndex: 0 });
}
