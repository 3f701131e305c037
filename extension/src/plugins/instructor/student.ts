/** One student's graded answer: the card, the code, and the attempts; and the way to the notebook and to other answers. */
import type { ISanitizer } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { h, tableHead } from '../../widgets/dom';
import type { Ask } from './protocol';
import type { IAssignment, IStudent } from './submissions';
import { points, reasonOf, when } from './words';

interface IAttempt {
  readonly number: number;
  readonly regrade: boolean;
  readonly at: string;
  readonly score: number;
  readonly max_score: number;
  readonly exercises: Readonly<Record<string, number>>;
}

export interface IAnswerFound {
  readonly path: string;
  /** The card of the verdict, as the student's feedback has it. */
  readonly html: string;
  readonly code: string;
  readonly attempts: readonly IAttempt[];
}

/** What the answer's part needs of the page. */
export interface IAnswerServices {
  readonly ask: Ask;
  readonly sanitizer: ISanitizer;
  readonly trans: TranslationBundle;
  openNotebook(path: string, exercise: string): void;
}

/** The part beside the table; empty until an answer is opened. */
export class StudentAnswer {
  readonly node = h('aside', { className: 'tfkit-Answer-part', hidden: true, tabIndex: -1 });

  constructor(private readonly _services: IAnswerServices) {
    this.node.setAttribute('aria-label', _services.trans.__('Answer of a student'));
  }

  /** Shows the answer of a student, who is called `called` on this page. */
  async open(one: IAssignment, student: IStudent, exercise: string, called: string): Promise<void> {
    const { ask } = this._services;
    const asked = { course: one.course, assignment: one.assignment, student: student.student, exercise };
    const key = JSON.stringify(asked);
    this._asked = key;
    this.node.hidden = false;
    const head = this._head(one, student, exercise, called);
    this.node.replaceChildren(...head, h('p', { role: 'status' }, this._services.trans.__('Reading the answer…')));
    this.node.focus();
    try {
      const found = await ask<IAnswerFound>('class/answer', asked);
      if (this._asked === key) {
        this.node.replaceChildren(...head, ...this._body(one, exercise, found));
      }
    } catch (error) {
      if (this._asked === key) {
        this.node.replaceChildren(...head, h('p', { role: 'alert' }, reasonOf(error)));
      }
    }
  }

  private _head(one: IAssignment, student: IStudent, exercise: string, called: string): HTMLElement[] {
    const { trans } = this._services;
    const close = h('button', { type: 'button', onclick: () => this._close() }, trans.__('Close'));
    const title = h('h4', {}, called, ' · ', one.titles[exercise] ?? exercise);
    const others = one.exercises
      .filter(name => student.verdicts[name])
      .map(name => {
        const { status, score } = student.verdicts[name];
        const sign = { passed: '✓', failed: '✗', not_graded: '?' }[status];
        const words = `${sign} ${one.titles[name] ?? name} · ${points(score)}`;
        const button = h('button', { type: 'button', 'aria-pressed': String(name === exercise) }, words);
        button.onclick = () => void this.open(one, student, name, called);
        return button;
      });
    const bar = h('div', { className: 'tfkit-Answer-exercises', role: 'group' }, ...others);
    bar.setAttribute('aria-label', trans.__('Exercises'));
    return [h('div', { className: 'tfkit-Pane-head' }, title, close), bar];
  }

  private _body(one: IAssignment, exercise: string, { path, html, code, attempts }: IAnswerFound): HTMLElement[] {
    const { trans, sanitizer, openNotebook } = this._services;
    const card = h('div', {});
    card.innerHTML = sanitizer.sanitize(html);
    for (const scrolls of card.querySelectorAll('.tfkit-v-box')) {
      scrolls.setAttribute('tabindex', '0'); // lets the keyboard scroll content that is wider than the card
    }
    const open = h('button', { type: 'button' }, trans.__('Open the notebook here'));
    open.onclick = () => openNotebook(path, exercise);
    const label = trans.__('Code of the answer');
    const written = h('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, code);
    return [
      card,
      ...(code ? [h('h5', {}, label), written] : []),
      ...this._attempts(attempts, exercise, one),
      h('p', {}, open)
    ];
  }

  private _attempts(attempts: readonly IAttempt[], exercise: string, one: IAssignment): HTMLElement[] {
    const { trans } = this._services;
    if (!attempts.length) {
      return [];
    }
    const rows = attempts.map(attempt => {
      const name = attempt.regrade
        ? trans.__('attempt %1, graded again', attempt.number)
        : trans.__('attempt %1', attempt.number);
      const here = attempt.exercises[exercise];
      const all = trans.__('%1 of %2', points(attempt.score), points(attempt.max_score));
      const cells = [when(attempt.at), here === undefined ? '–' : points(here), all];
      return h('tr', {}, h('th', { scope: 'row' }, name), ...cells.map(cell => h('td', {}, cell)));
    });
    const heads = [trans.__('Attempt'), trans.__('Graded'), one.titles[exercise] ?? exercise, trans.__('All')];
    return [h('h5', {}, trans.__('History')), h('table', {}, tableHead(heads), h('tbody', {}, ...rows))];
  }

  private _close(): void {
    this._asked = '';
    this.node.hidden = true;
    this.node.replaceChildren();
  }

  private _asked = '';
}
