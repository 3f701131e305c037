/** The class page, as an instructor looks at it during a session; in the side bar, the same parts one below the other. */
import type { ISanitizer } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { stateIcons } from '../../shared/icons';
import { h } from '../../widgets/dom';
import { analysisPart } from './analysis';
import { ILeaderboard, leaderboards } from '../../shared/leaderboard';
import { ILive, LiveClass } from './live';
import { IDue, Needs } from './needs';
import { IPrediction, Predictions } from './predictions';
import { project } from './project';
import type { Ask, ICourses } from './protocol';
import { StudentAnswer } from './student';
import { IAssignment, isDone, SubmissionsTable } from './submissions';
import { IMistake, reasonOf, when } from './words';

const LIVE_MS = 3000;

/** The commands that the page runs. */
export const COMMANDS = {
  page: 'tfkit:class-page',
  grade: 'tfkit:grade',
  mark: 'tfkit:marking',
  open: 'tfkit:open-exercise'
} as const;

export interface IClassServices {
  readonly ask: Ask;
  readonly sanitizer: ISanitizer;
  readonly trans: TranslationBundle;
  /** The lab's language, such as fr_FR. */
  readonly language: string;
  run(command: string, args: Record<string, string>): void;
}

interface IClass {
  readonly assignments: readonly IAssignment[];
  readonly due: readonly IDue[];
  /** The interpreter that has the autograder. */
  readonly python: string;
}

export class ClassPanel extends Widget {
  constructor(private readonly _services: IClassServices) {
    super();
    const { trans } = _services;
    this.id = 'tfkit-class';
    this.title.icon = stateIcons.passed;
    this.title.caption = trans.__('Class');
    this.title.closable = true;
    this.addClass('tfkit-Course');
    this.addClass('tfkit-Class');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Class'));
    this._names.onchange = () => void this._renamed();
    this._live = new LiveClass(
      trans,
      () => void this._update(),
      (mistake, title) => this._project(mistake, title)
    );
    this._needs = new Needs(
      trans,
      exercise => this._goTo(exercise),
      () => _services.run(COMMANDS.mark, {})
    );
    this._predictions = new Predictions(trans);
    const now = h('div', { className: 'tfkit-Class-now' }, this._live.node, this._needs.node);
    now.append(this._live.people, this._predictions.node);
    this.node.append(h('div', { className: 'tfkit-Class-page' }, this._header(), this._problem, now, this._graded));
  }

  protected onAfterAttach(): void {
    this._start();
  }

  protected onAfterShow(): void {
    this._start();
  }

  protected onBeforeDetach(): void {
    window.clearInterval(this._timer);
  }

  protected onAfterHide(): void {
    window.clearInterval(this._timer);
  }

  dispose(): void {
    window.clearInterval(this._timer);
    this._predictions.dispose();
    super.dispose();
  }

  /** Whether it is a page of the main area, which a class may see, and not in the side bar. */
  set asPage(asPage: boolean) {
    this._wide.hidden = asPage;
    this._names.checked = !asPage;
  }

  /** Reads what was graded, and what happens now. */
  async refresh(): Promise<void> {
    const { ask, language } = this._services;
    try {
      this._class = await ask<IClass>(`class?language=${encodeURIComponent(language)}`);
      this._boards = (await ask<{ leaderboards: ILeaderboard[] }>('leaderboard')).leaderboards;
      this._needs.showDue(this._class.due);
      this._problem.replaceChildren();
      const read = JSON.stringify([this._class, this._boards]);
      if (read !== this._read) {
        this._read = read; // else an answer or analysis that is open stays so
        this._drawGraded();
      }
    } catch (error) {
      this._problem.replaceChildren(h('p', { role: 'alert' }, reasonOf(error)));
    }
    await Promise.all([this._update(), this._askMarking()]);
  }

  private _start(): void {
    window.clearInterval(this._timer);
    if (this.isVisible) {
      void this.refresh();
      this._timer = window.setInterval(() => void this._update(), LIVE_MS);
    }
  }

  /** Reads what happens now; if the server does not answer, the next call tries again. */
  private async _update(): Promise<void> {
    const { ask, language } = this._services;
    const names = this._names.checked;
    try {
      const live = await ask<ILive>(`${this._live.query(names)}&language=${encodeURIComponent(language)}`);
      const predicted = await ask<{ predictions: IPrediction[] }>(names ? 'predictions?names=1' : 'predictions');
      if (names === this._names.checked) {
        this._live.show(live);
        this._needs.showLive(live);
        this._predictions.show(predicted.predictions, names);
      }
    } catch (error) {
      console.warn(`Class: ${reasonOf(error)}`);
    }
  }

  /** What waits in the gradebooks; a course that cannot be read is named on the marking page. */
  private async _askMarking(): Promise<void> {
    try {
      this._needs.showMarking((await this._services.ask<ICourses>('marking')).courses);
    } catch (error) {
      console.warn(`Class: ${reasonOf(error)}`);
    }
  }

  private _header(): HTMLElement {
    const { trans, run } = this._services;
    const again = h('button', { type: 'button', onclick: () => void this.refresh() }, trans.__('Refresh'));
    this._wide.append(trans.__('As a page'));
    this._wide.onclick = () => run(COMMANDS.page, {});
    const names = h('label', {}, this._names, ` ${trans.__('Names')}`);
    const buttons = h('span', { className: 'tfkit-Course-buttons' }, names, this._wide, again);
    const title = h('div', {}, h('h2', {}, trans.__('Class')), this._live.facts);
    return h('div', { className: 'tfkit-Course-header' }, title, buttons);
  }

  private async _renamed(): Promise<void> {
    this._drawGraded();
    await this._update();
  }

  private _project(mistake: IMistake, title: string): void {
    project(mistake, title, this._services.trans, this.node);
  }

  private _goTo(exercise: string): void {
    const row = this._live.node.querySelector<HTMLElement>(`[data-exercise="${CSS.escape(exercise)}"]`);
    row?.scrollIntoView({ block: 'center' });
    row?.focus();
  }

  private _drawGraded(): void {
    const { trans } = this._services;
    const { assignments } = this._class;
    const none = h('p', {}, trans.__('No graded submissions were found: a course folder holds source and autograded.'));
    const shown = assignments.find(one => keyOf(one) === this._chosen) ?? assignments[0];
    this._graded.replaceChildren(
      ...(shown ? [this._assignment(shown)] : [h('section', { className: 'tfkit-Pane' }, none)]),
      ...leaderboards(this._boards, trans)
    );
  }

  /** A button for each assignment, where there are several. */
  private _choice(shown: IAssignment): HTMLElement[] {
    const { assignments } = this._class;
    if (assignments.length < 2) {
      return [];
    }
    const courses = new Set(assignments.map(({ course }) => course));
    const buttons = assignments.map(one => {
      const words = courses.size > 1 && one.course !== '.' ? `${one.title} · ${one.course}` : one.title;
      const button = h(
        'button',
        { type: 'button', 'aria-pressed': String(one === shown), title: one.assignment },
        words
      );
      button.onclick = () => {
        this._chosen = keyOf(one);
        this._drawGraded();
        this._graded.querySelector<HTMLElement>('.tfkit-Assignments [aria-pressed="true"]')?.focus();
      };
      return button;
    });
    const group = h('div', { className: 'tfkit-Assignments', role: 'group' }, ...buttons);
    group.setAttribute('aria-label', this._services.trans.__('Assignments'));
    return [group];
  }

  private _assignment(one: IAssignment): HTMLElement {
    const { trans, ask } = this._services;
    const answer = this._answerPart();
    const called = this._called(one);
    const table = new SubmissionsTable(
      one,
      called,
      trans,
      (student, exercise) => void answer.open(one, student, exercise, called(student.student))
    );
    const parts = h('div', { className: 'tfkit-Graded' }, table.node, answer.node);
    const head = h('div', { className: 'tfkit-Pane-head' }, h('h3', {}, one.title), this._actions(one));
    const section = h('section', { className: 'tfkit-Pane', 'aria-label': one.assignment }, ...this._choice(one), head);
    section.append(
      this._summary(one),
      parts,
      ...this._commonest(one),
      analysisPart(one, ask, trans, this._services.language)
    );
    return section;
  }

  private _answerPart(): StudentAnswer {
    const { run, ask, sanitizer, trans } = this._services;
    const openNotebook = (path: string, exercise: string): void => run(COMMANDS.open, { path, exercise });
    return new StudentAnswer({ ask, sanitizer, trans, openNotebook });
  }

  /** What students are called: by name, or by their place in the alphabet. */
  private _called({ students }: IAssignment): (student: string) => string {
    const places = new Map(students.map(({ student }, i) => [student, i + 1]));
    const { trans } = this._services;
    return student => (this._names.checked ? student : trans.__('Student %1', places.get(student) ?? 0));
  }

  private _actions({ course, assignment }: IAssignment): HTMLElement {
    const { trans, run } = this._services;
    const grade = h('button', { type: 'button' }, trans.__('Grade in a terminal'));
    grade.onclick = () => run(COMMANDS.grade, { course, assignment, python: this._class.python });
    const mark = h('button', { type: 'button' }, trans.__('Mark answers'));
    mark.onclick = () => run(COMMANDS.mark, {});
    return h('span', { className: 'tfkit-Course-buttons' }, grade, mark);
  }

  private _summary(one: IAssignment): HTMLElement {
    const { trans } = this._services;
    const done = one.students.filter(student => isDone(one, student)).length;
    const facts = [
      trans._n('%1 graded', '%1 graded', one.students.length),
      trans.__('%1 with everything passed', done),
      ...(one.due ? [trans.__('due %1', when(one.due))] : [])
    ];
    return h('p', { className: 'tfkit-Facts' }, facts.join(' · '));
  }

  private _commonest(one: IAssignment): HTMLElement[] {
    const { trans } = this._services;
    const list = one.commonest.map(mistake => {
      const title = one.titles[mistake.exercise] ?? mistake.exercise;
      const button = h('button', { type: 'button' }, trans.__('Show to all'));
      button.onclick = () => this._project(mistake, title);
      const count = trans._n('%1 student', '%1 students', mistake.students);
      return h('li', {}, h('span', {}, h('b', {}, title), ': ', mistake.sentence, ' ', h('b', {}, count)), button);
    });
    const heading = h('h4', {}, trans.__('Most common misconceptions'));
    return list.length ? [heading, h('ol', { className: 'tfkit-Commonest' }, ...list)] : [];
  }

  private _timer = 0;
  private _chosen = '';
  private _read = '';
  private _class: IClass = { assignments: [], due: [], python: '' };
  private _boards: readonly ILeaderboard[] = [];
  private readonly _names = h('input', { type: 'checkbox', checked: true });
  private readonly _wide = h('button', { type: 'button' });
  private readonly _problem = h('div', {});
  private readonly _graded = h('div', { className: 'tfkit-Class-graded' });
  private readonly _live: LiveClass;
  private readonly _needs: Needs;
  private readonly _predictions: Predictions;
}

const keyOf = ({ course, assignment }: IAssignment): string => JSON.stringify([course, assignment]);
