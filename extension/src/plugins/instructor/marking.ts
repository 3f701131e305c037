/** The marking page: one question at a time, with the answers of the class in groups of similar ones; a mark applies to one answer or to several. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { h } from '../../widgets/dom';
import { answerCard, prose, titleOf } from './answer';
import { conflictCard } from './conflict';
import { Drafts } from './drafts';
import { drawExtensions } from './extensions';
import { historyList } from './history';
import { MarkForm } from './markform';
import type {
  Ask,
  IAdded,
  IAnswer,
  ICourseQuestions,
  ICourses,
  IDropped,
  IHistory,
  IListed,
  IMark,
  IMarked,
  IOpened,
  IPlace,
  IQuestion,
  IRescored,
  Meanwhile
} from './protocol';
import { drawRequests } from './requests';
import { drawSharing } from './sharing';

type Called = (student: string) => string;

const placeOf = (course: string, { assignment, notebook, cell }: IQuestion): IPlace => ({
  course,
  assignment,
  notebook,
  cell
});

const isSame = (one: IPlace, other: IPlace | null): boolean =>
  other !== null &&
  one.course === other.course &&
  one.assignment === other.assignment &&
  one.notebook === other.notebook &&
  one.cell === other.cell;

/** Identifies a group of a question, whatever part of it is shown. */
const keyOf = (at: IPlace, answers: readonly IAnswer[]): string =>
  JSON.stringify([at, answers.map(({ student }) => student).sort()]);

/** The heading of a group. */
export function headingOf(label: string, size: number, trans: TranslationBundle): string {
  const many = trans._n('%1 answer', '%1 similar answers', size);
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
    this._onlyMine.onchange = () => this._draw();
    this.node.append(h('div', { className: 'tfkit-Marking-page' }, this._list, this._main));
  }

  protected onAfterAttach(): void {
    this._main.replaceChildren(h('p', { role: 'status' }, this._trans.__('Reading the answers…')));
    void this.refresh();
  }

  /** Reads the questions again, and the open one. */
  async refresh(): Promise<void> {
    try {
      await this._readCourses();
      const first = this._courses.flatMap(({ course, questions }) =>
        questions.slice(0, 1).map(one => placeOf(course, one))
      );
      const open = this._asked ?? this._at ?? first[0];
      if (open) {
        await this._open(open);
      } else {
        const none = this._trans.__('No graded answers were found: collect and grade an assignment first.');
        this._main.replaceChildren(h('h1', {}, this._trans.__('Marking')), h('p', {}, none));
      }
    } catch (error) {
      this._showError(error);
    }
  }

  async open(course: string, one: IQuestion): Promise<void> {
    await this._open(placeOf(course, one));
  }

  /** Shows a question once its answers are there. Until then, and if they do not come, the page stays as it is. */
  private async _open(at: IPlace): Promise<void> {
    this._asked = at;
    try {
      const opened = await this._ask<IOpened>('marking', at);
      if (this._asked === at) {
        this._asked = null;
        this._page = '';
        this._at = at;
        this._opened = opened;
        this._drawList();
        this._draw();
      }
    } catch (error) {
      if (this._asked === at) {
        this._asked = null;
        this._showError(error);
      }
    }
  }

  /** Shows an error above the question, whose forms stay, or alone where no question is shown. */
  private _showError(error: unknown): void {
    this._alert.textContent = error instanceof Error ? error.message : String(error);
    if (this._opened && !this._page) {
      this._main.prepend(this._alert);
      this._alert.scrollIntoView({ block: 'nearest' });
    } else {
      this._main.replaceChildren(this._alert);
    }
  }

  /** Runs what a button asks for, and shows its error. */
  private async _try(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this._showError(error);
    }
  }

  private async _readCourses(): Promise<void> {
    const { courses, by } = await this._ask<ICourses>('marking');
    this._courses = courses;
    this._by = by;
    this._drawList();
  }

  private _drawList(): void {
    const parts = this._courses.flatMap(({ course, questions, requests, error }) => {
      const names = [...new Set(questions.map(({ assignment }) => assignment))];
      const errors = error ? [h('p', { role: 'alert' }, error)] : [];
      const lists = names.map(name => {
        const own = questions.filter(one => one.assignment === name);
        const items = [
          ...own.map(one => this._entry(course, one)),
          this._link(`shares ${course} ${name}`, this._trans.__('Share'), () => this._share(course, name)),
          this._link(`extensions ${course} ${name}`, this._trans.__('Extensions'), () =>
            drawExtensions(this._main, course, name, this._ask, this._trans)
          )
        ];
        return h(
          'section',
          { 'aria-label': name },
          h('h3', {}, name),
          h('ul', {}, ...items.map(one => h('li', {}, one)))
        );
      });
      const requestLink = questions.length ? [h('p', {}, this._requestsLink(course, requests))] : [];
      return [...(this._courses.length > 1 ? [h('h2', {}, course)] : []), ...errors, ...requestLink, ...lists];
    });
    this._list.replaceChildren(h('h2', {}, this._trans.__('Questions')), ...parts);
  }

  /** A link to a page that is not a question; `key` identifies the page. */
  private _link(key: string, title: string, draw: () => void | Promise<void>, note = ''): HTMLElement {
    const small = note ? [h('small', {}, note)] : [];
    const button = h(
      'button',
      { type: 'button', className: note ? 'tfkit-mod-waiting' : '' },
      h('span', {}, title),
      ...small
    );
    button.setAttribute('aria-current', String(this._page === key));
    button.onclick = async () => {
      this._asked = null;
      this._page = key;
      this._drawList();
      await this._try(async () => draw());
    };
    return button;
  }

  private _requestsLink(course: string, waiting: number): HTMLElement {
    const draw = (): Promise<void> =>
      drawRequests(this._main, course, this._names, this._ask, this._trans, () => this._readCourses());
    const note = waiting ? this._trans._n('%1 waits', '%1 wait', waiting) : '';
    return this._link(`requests ${course}`, this._trans.__('Regrade requests'), draw, note);
  }

  private _share(course: string, assignment: string): void {
    const questions = this._courses.find(one => one.course === course)?.questions ?? [];
    const own = questions.filter(one => one.assignment === assignment);
    drawSharing(this._main, course, assignment, own, this._ask, this._trans, async () => {
      await this._readCourses();
      this._share(course, assignment);
    });
  }

  private _entry(course: string, one: IListed): HTMLElement {
    const here = !this._page && isSame(placeOf(course, one), this._at);
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
    const [at, opened] = [this._at, this._opened];
    if (!at || !opened) {
      return;
    }
    this._drafts.collect();
    this._names.onchange = () => this._draw();
    const answers = opened.groups.flatMap(group => group.answers);
    const numbers = new Map(answers.map(({ student }, n) => [student, n + 1]));
    const called: Called = student =>
      this._names.checked ? student : this._trans.__('Student %1', numbers.get(student) ?? '–');
    const shared = answers.some(({ marker }) => marker);
    const shows = ({ marker }: IAnswer): boolean => !shared || !this._onlyMine.checked || marker === this._by;
    const groups = opened.groups
      .map(({ label, answers: own }) => ({ label, own: own.filter(shows), key: keyOf(at, own) }))
      .filter(({ own }) => own.length);
    const only = h('label', {}, this._onlyMine, ` ${this._trans.__('Only my share (%1)', this._by)}`);
    this._main.replaceChildren(
      ...this._head(at, opened, answers),
      ...this._conflictCards(at, opened, called),
      h(
        'p',
        { className: 'tfkit-Names' },
        h('label', {}, this._names, ` ${this._trans.__('Show names')}`),
        ...(shared ? [only] : []),
        h('small', {}, this._trans.__('Digit keys choose items of the rubric, Ctrl+Enter gives the mark.'))
      ),
      ...groups.map(({ label, own, key }) => this._group(at, opened, label, own, called, key)),
      this._history(at, called)
    );
  }

  private _head(at: IPlace, opened: IOpened, answers: readonly IAnswer[]): HTMLElement[] {
    const left = answers.filter(({ waiting }) => waiting).length;
    const counts = this._trans.__('%1 answers in %2 groups, %3 to mark', answers.length, opened.groups.length, left);
    const bar = h('div', { className: 'tfkit-Bar', 'aria-hidden': 'true' }, h('span', {}));
    (bar.firstElementChild as HTMLElement).style.width = `${100 * (1 - left / Math.max(1, answers.length))}%`;
    const summary = h('summary', {}, this._trans.__('Mark scheme'));
    return [
      h('h1', {}, titleOf(opened), ' ', h('small', {}, this._trans._n('%1 point', '%1 points', opened.max_score))),
      h('p', { className: 'tfkit-Facts' }, counts),
      bar,
      ...(opened.outdated ? [this._outdated(at, opened.outdated)] : []),
      ...(opened.text ? [prose(opened.text, 'tfkit-Asked')] : []),
      ...(opened.scheme ? [h('details', {}, summary, prose(opened.scheme))] : [])
    ];
  }

  private _outdated(at: IPlace, count: number): HTMLElement {
    const words = this._trans._n(
      '%1 mark differs from the rubric, which was edited in rubric.toml.',
      '%1 marks differ from the rubric, which was edited in rubric.toml.',
      count
    );
    const apply = h('button', { type: 'button' }, this._trans.__('Apply the rubric'));
    apply.onclick = () => void this._try(() => this._rubric(at, { apply: true }));
    return h('p', { className: 'tfkit-mod-warn' }, words, ' ', apply);
  }

  private _conflictCards(at: IPlace, opened: IOpened, called: Called): HTMLElement[] {
    const conflict = this._conflict;
    if (!conflict || !isSame(conflict.at, at)) {
      const notice = this._notice;
      return notice && isSame(notice.at, at) ? [h('p', { role: 'alert' }, notice.text)] : [];
    }
    const { meanwhile, mark } = conflict;
    const seen = Object.fromEntries(Object.entries(meanwhile).map(([student, { version }]) => [student, version]));
    const actions = {
      insist: () => void this._try(() => this._give(at, seen, mark)),
      yield: () => {
        this._conflict = null;
        this._draw();
      }
    };
    return [conflictCard(meanwhile, mark, opened, called, this._trans, actions)];
  }

  private _group(
    at: IPlace,
    opened: IOpened,
    label: string,
    answers: readonly IAnswer[],
    called: Called,
    key: string
  ): HTMLElement {
    const heading = headingOf(label, answers.length, this._trans);
    const leftOut = this._drafts.leftOut(key);
    const picked = (): IAnswer[] => answers.filter(({ student }) => !leftOut.has(student));
    const seen = (): Record<string, number> =>
      Object.fromEntries(picked().map(({ student, version }) => [student, version]));
    const form = new MarkForm(
      opened,
      answers[0],
      this._trans,
      {
        give: mark => this._give(at, seen(), mark, key),
        add: (text, points) => this._rubric(at, { text, points }, () => form.reset()),
        rubric: {
          change: (id, text, points) => this._rubric(at, { change: id, text, points }),
          drop: id => this._try(() => this._rubric(at, { drop: id }))
        }
      },
      { called: this._trans.__('Mark for %1', heading), own: this._trans.__('A comment in your own words') }
    );
    const draft = this._drafts.of(key);
    if (draft) {
      form.draft = draft;
    }
    this._drafts.watch(key, form);
    const cards = answers.map(one =>
      answerCard(one, opened, called(one.student), this._trans, !leftOut.has(one.student), chosen => {
        leftOut[chosen ? 'delete' : 'add'](one.student);
        form.count = picked().length;
      })
    );
    form.count = picked().length;
    const done = answers.every(({ waiting }) => !waiting);
    const list = h(
      'div',
      { className: 'tfkit-Answers', tabIndex: 0, role: 'group', 'aria-label': this._trans.__('Answers: %1', heading) },
      ...cards
    );
    return h(
      'details',
      { className: `tfkit-Group${done ? ' tfkit-done' : ''}`, open: !done || draft !== null },
      h('summary', {}, h('strong', {}, heading), done ? ` ✓ ${this._trans.__('marked')}` : ''),
      h('div', { className: 'tfkit-Group-body' }, list, form.node)
    );
  }

  private _history(at: IPlace, called: Called): HTMLElement {
    const body = h('div', {});
    const node = h('details', {}, h('summary', {}, this._trans.__('History')), body);
    const read = async (): Promise<void> => {
      const { history } = await this._ask<IHistory>('marking/history', at);
      body.replaceChildren(historyList(history, called, this._trans));
    };
    node.ontoggle = () => (node.open ? void this._try(read) : undefined);
    return node;
  }

  private async _give(at: IPlace, seen: Readonly<Record<string, number>>, mark: IMark, group = ''): Promise<void> {
    const { meanwhile } = await this._ask<IMarked>('marking/mark', { ...at, seen, ...mark });
    this._drafts.drop(group);
    this._conflict = Object.keys(meanwhile).length ? { at, meanwhile, mark } : null;
    this._notice = null;
    await this.refresh();
    if (isSame(at, this._at)) {
      const next = '.tfkit-Group:not(.tfkit-done) .tfkit-MarkForm input';
      this._main.querySelector<HTMLElement>(this._conflict ? '.tfkit-Conflict button' : next)?.focus();
    }
  }

  private async _rubric(at: IPlace, change: object, saved = (): void => undefined): Promise<void> {
    const found = await this._ask<IAdded | IRescored | IDropped>('marking/rubric', { ...at, ...change });
    saved();
    const left = 'left' in found ? found.left.length : 0;
    const words = this._trans._n(
      '%1 mark was changed elsewhere, and stays as it is.',
      '%1 marks were changed elsewhere, and stay as they are.',
      left
    );
    this._notice = left ? { at, text: words } : null;
    if (isSame(at, this._asked ?? this._at)) {
      await this._open(at);
    }
  }

  private _courses: readonly ICourseQuestions[] = [];
  private _by = '';
  private _asked: IPlace | null = null; // the question whose answers are awaited
  private _at: IPlace | null = null; // the question whose answers are `_opened`
  private _opened: IOpened | null = null;
  private _notice: { readonly at: IPlace; readonly text: string } | null = null;
  private _conflict: { readonly at: IPlace; readonly meanwhile: Meanwhile; readonly mark: IMark } | null = null;
  private _page = ''; // the key of the page shown instead of a question
  private readonly _names = h('input', { type: 'checkbox' });
  private readonly _onlyMine = h('input', { type: 'checkbox' });
  private readonly _list = h('nav', { className: 'tfkit-Marking-list' });
  private readonly _drafts = new Drafts();
  private readonly _alert = h('p', { role: 'alert' });
  private readonly _main = h('div', { className: 'tfkit-Marking-main' });
}
