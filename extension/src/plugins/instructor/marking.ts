/** The marking page: one question at a time, the class's answers in groups of alike ones, a mark for one or for many. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { h } from '../../widgets/dom';
import { answerCard } from './answer';
import { drawExtensions } from './extensions';
import { MarkForm } from './markform';

export interface IQuestion {
  readonly assignment: string;
  readonly notebook: string;
  readonly cell: string;
  readonly kind: 'task' | 'answer' | 'code';
  readonly max_score: number;
}

export interface IListed extends IQuestion {
  readonly answers: number;
  readonly waiting: number;
}

export interface IAnswer {
  readonly student: string;
  readonly text: string;
  /** The mark; null where there is none. */
  readonly score: number | null;
  readonly waiting: boolean;
  readonly comment: string;
  /** The number of the mark on this page that the answer has; 0 where it has none. */
  readonly version: number;
  readonly by?: string;
  readonly chosen?: readonly number[];
}

export interface IBankComment {
  readonly id: number;
  readonly text: string;
  readonly points: number | null;
  readonly by: string;
  readonly used: number;
}

export interface IOpened extends IQuestion {
  readonly text: string;
  readonly scheme: string;
  readonly bank: readonly IBankComment[];
  readonly groups: readonly { readonly label: string; readonly answers: readonly IAnswer[] }[];
}

interface ICourseQuestions {
  readonly course: string;
  readonly questions: readonly IListed[];
  readonly error?: string;
}

/** Asks the server; a body makes it a POST. */
export type Ask = <T>(route: string, body?: unknown) => Promise<T>;

/** A question's name for people: `task-too-good-a-loss` is "too good a loss". */
export const titleOf = ({ cell }: Pick<IQuestion, 'cell'>): string =>
  cell.replace(/^(task|check)-/, '').replace(/-/g, ' ');

/** Text of a lesson without its heading, its paragraphs and list items on one line each. */
export const unwrapped = (text: string): string => text.replace(/^#+ .*\n+/, '').replace(/([^\n])\n(?![\n-])/g, '$1 ');

/** What a group is called in its heading. */
export function headingOf(label: string, size: number, trans: TranslationBundle): string {
  const many = trans._n('%1 answer', '%1 alike answers', size);
  return label ? `${many} · ${label}` : many;
}

export class MarkingPage extends Widget {
  constructor(
    private readonly _ask: Ask,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.id = 'tfkit-marking';
    this.title.label = _trans.__('Marking');
    this.title.closable = true;
    this.addClass('tfkit-Marking');
    this.node.tabIndex = -1;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', this.title.label);
    this._names.onchange = () => this._draw();
    this.node.append(h('div', { className: 'tfkit-Marking-page' }, this._list, this._main));
  }

  protected onAfterAttach(): void {
    void this.refresh();
  }

  /** Reads the questions again, and the open one. */
  async refresh(): Promise<void> {
    try {
      this._courses = (await this._ask<{ courses: ICourseQuestions[] }>('marking')).courses;
      const first = this._courses.flatMap(({ course, questions }) =>
        questions.slice(0, 1).map(one => ({ course, one }))
      );
      const open = this._at ?? first[0];
      this._drawList();
      if (open) {
        await this.open(open.course, open.one);
      } else {
        const none = this._trans.__('No graded answers were found: collect and grade an assignment first.');
        this._main.replaceChildren(h('h1', {}, this._trans.__('Marking')), h('p', {}, none));
      }
    } catch (error) {
      this._main.replaceChildren(h('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  async open(course: string, one: IQuestion): Promise<void> {
    this._at = { course, one };
    this._extending = '';
    const { assignment, notebook, cell } = one;
    this._opened = await this._ask<IOpened>('marking', { course, assignment, notebook, cell });
    this._drawList();
    this._draw();
  }

  private _drawList(): void {
    const parts = this._courses.flatMap(({ course, questions, error }) => {
      const names = [...new Set(questions.map(({ assignment }) => assignment))];
      const said = error ? [h('p', { role: 'alert' }, error)] : [];
      const lists = names.map(name => {
        const items = questions
          .filter(one => one.assignment === name)
          .map(one => h('li', {}, this._entry(course, one)));
        const more = h('button', { type: 'button' }, this._trans.__('Extensions'));
        more.setAttribute('aria-current', String(this._extending === `${course} ${name}`));
        more.onclick = () => void this._extend(course, name);
        return h('section', { 'aria-label': name }, h('h3', {}, name), h('ul', {}, ...items, h('li', {}, more)));
      });
      return [...(this._courses.length > 1 ? [h('h2', {}, course)] : []), ...said, ...lists];
    });
    this._list.replaceChildren(h('h2', {}, this._trans.__('Questions')), ...parts);
  }

  private _entry(course: string, one: IListed): HTMLElement {
    const here =
      !this._extending &&
      this._at?.course === course &&
      this._at.one.cell === one.cell &&
      this._at.one.assignment === one.assignment;
    const state = one.waiting
      ? this._trans._n('%1 waits', '%1 wait', one.waiting)
      : this._trans.__('all %1 marked', one.answers);
    const button = h(
      'button',
      { type: 'button', className: one.waiting ? 'tfkit-mod-waiting' : '' },
      h('span', {}, titleOf(one)),
      h('small', {}, state)
    );
    button.setAttribute('aria-current', String(here));
    button.onclick = () => void this.open(course, one);
    return button;
  }

  private _draw(): void {
    const opened = this._opened;
    if (!opened) {
      return;
    }
    const answers = opened.groups.flatMap(group => group.answers);
    const left = answers.filter(({ waiting }) => waiting).length;
    const counts = this._trans.__('%1 answers in %2 groups, %3 to mark', answers.length, opened.groups.length, left);
    const bar = h('div', { className: 'tfkit-Bar', 'aria-hidden': 'true' }, h('span', {}));
    (bar.firstElementChild as HTMLElement).style.width = `${100 * (1 - left / Math.max(1, answers.length))}%`;
    const scheme = h(
      'details',
      { open: true },
      h('summary', {}, this._trans.__('Mark scheme')),
      h('div', { className: 'tfkit-Prose' }, unwrapped(opened.scheme))
    );
    const numbers = new Map(answers.map(({ student }, n) => [student, n + 1]));
    const called = (student: string): string =>
      this._names.checked ? student : this._trans.__('Student %1', numbers.get(student)!);
    this._main.replaceChildren(
      h('h1', {}, titleOf(opened), ' ', h('small', {}, this._trans._n('%1 point', '%1 points', opened.max_score))),
      h('p', { className: 'tfkit-Facts' }, counts),
      ...(this._notice ? [h('p', { role: 'alert' }, this._notice)] : []),
      bar,
      ...(opened.text ? [h('div', { className: 'tfkit-Prose tfkit-Asked' }, unwrapped(opened.text))] : []),
      ...(opened.scheme ? [scheme] : []),
      h('label', { className: 'tfkit-Names' }, this._names, ` ${this._trans.__('Show names')}`),
      ...opened.groups.map(({ label, answers: own }) => this._group(opened, label, own, called))
    );
  }

  private _group(
    opened: IOpened,
    label: string,
    answers: readonly IAnswer[],
    called: (student: string) => string
  ): HTMLElement {
    const heading = headingOf(label, answers.length, this._trans);
    const picked = new Set(answers.map(({ student }) => student));
    const form = new MarkForm(
      opened,
      answers[0],
      this._trans,
      {
        give: mark =>
          this._give(
            answers.filter(({ student }) => picked.has(student)),
            mark
          ),
        keep: (text, points) => this._bank({ text, points }),
        drop: id => this._bank({ drop: id })
      },
      this._trans.__('Mark for %1', heading)
    );
    const cards = answers.map(one =>
      answerCard(one, opened, called(one.student), this._trans, chosen => {
        picked[chosen ? 'add' : 'delete'](one.student);
        form.count = picked.size;
      })
    );
    form.count = picked.size;
    const done = answers.every(({ waiting }) => !waiting);
    const list = h('div', { className: 'tfkit-Answers' }, ...cards);
    return h(
      'details',
      { className: `tfkit-Group${done ? ' tfkit-done' : ''}`, open: !done },
      h('summary', {}, h('strong', {}, heading), done ? ` ✓ ${this._trans.__('marked')}` : ''),
      h('div', { className: 'tfkit-Group-body' }, list, form.node)
    );
  }

  private async _give(answers: readonly IAnswer[], mark: object): Promise<void> {
    const { course, one } = this._at!;
    const { assignment, notebook, cell } = one;
    const seen = Object.fromEntries(answers.map(({ student, version }) => [student, version]));
    const body = { course, assignment, notebook, cell, seen, ...mark };
    const { meanwhile } = await this._ask<{ meanwhile: Record<string, string> }>('marking/mark', body);
    const others = [...new Set(Object.values(meanwhile))];
    this._notice = others.length
      ? this._trans.__('%1 marked some of these meanwhile: they keep that mark.', others.join(', '))
      : '';
    await this.refresh();
  }

  private async _extend(course: string, assignment: string): Promise<void> {
    this._extending = `${course} ${assignment}`;
    this._drawList();
    await drawExtensions(this._main, course, assignment, this._ask, this._trans);
  }

  private async _bank(change: object): Promise<void> {
    const { course, one } = this._at!;
    const { assignment, notebook, cell } = one;
    await this._ask('marking/bank', { course, assignment, notebook, cell, ...change });
    await this.open(course, one);
  }

  private _courses: readonly ICourseQuestions[] = [];
  private _at: { course: string; one: IQuestion } | null = null;
  private _opened: IOpened | null = null;
  private _notice = '';
  private _extending = ''; // the course and assignment whose extensions are shown
  private readonly _names = h('input', { type: 'checkbox' });
  private readonly _list = h('nav', { className: 'tfkit-Marking-list' });
  private readonly _main = h('div', { className: 'tfkit-Marking-main' });
}
