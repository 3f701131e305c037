/** For instructors: the results of the class and its most common misconceptions; opens submissions and starts the grading. */
import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget } from '@jupyterlab/apputils';
import { ServerConnection } from '@jupyterlab/services';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { pageArea } from '../../shared/area';
import { courseIcon, stateIcons } from '../../shared/icons';
import { request } from '../../shared/server';
import { h } from '../../widgets/dom';
import { ILeaderboard, leaderboards } from './leaderboard';
import { ILive, LiveClass } from './live';
import { MarkingPage } from './marking';
import type { Ask } from './protocol';
import { IPrediction, Predictions } from './predictions';

const SHOW = 'tfkit:show-class';
const GRADE = 'tfkit:grade';
const MARK = 'tfkit:marking';
const WIDE = 'tfkit:class-page';
const LIVE_MS = 3000;

/** The part of JupyterLab's terminal widget that is used here, so that its package is not a dependency. */
interface ITerminalWidget {
  readonly content: { readonly session: { send(message: { type: 'stdin'; content: string[] }): void } };
}

interface IVerdict {
  readonly status: 'passed' | 'failed' | 'not_graded';
  readonly score: number;
  readonly max_score: number;
  readonly misconception: string | null;
  /** All that were found; missing in verdicts of earlier versions. */
  readonly misconceptions?: readonly string[] | null;
  readonly reason: string | null;
}

export interface IAssignment {
  readonly course: string;
  readonly assignment: string;
  readonly exercises: readonly string[];
  readonly students: readonly { student: string; path: string; verdicts: Record<string, IVerdict> }[];
  readonly commonest: readonly { exercise: string; misconception: string; students: number }[];
}

/** Quotes a word for a shell. */
const quoted = (word: string): string => `'${word.replace(/'/g, "'\\''")}'`;

/** An exercise's id with line-break opportunities after its dots, which keep columns narrow. */
const breakable = (id: string): (string | Node)[] =>
  id.split('.').flatMap((part, n) => (n ? [h('wbr'), `.${part}`] : [part]));

const spoken = (name: string): string => name.replace(/_/g, ' ');

class ClassPanel extends Widget {
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private readonly _trans: TranslationBundle,
    private readonly _run: (command: string, args: Record<string, string>) => void
  ) {
    super();
    this.id = 'tfkit-class';
    this.title.icon = stateIcons.passed;
    this.title.caption = _trans.__('Class');
    this.title.closable = true;
    this.addClass('tfkit-Course');
    this.addClass('tfkit-Class');
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('Class'));
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

  private _start(): void {
    window.clearInterval(this._timer);
    if (this.isVisible) {
      void this.refresh();
      this._timer = window.setInterval(() => void this._live(), LIVE_MS);
    }
  }

  /** Reads new predictions while the panel is open; if the server does not answer, the next call tries again. */
  private async _live(): Promise<void> {
    const route = this._predictions.names ? 'predictions?names=1' : 'predictions';
    try {
      this._now.show(await request<ILive>(this._settings, this._now.query));
      this._predictions.show((await request<{ predictions: IPrediction[] }>(this._settings, route)).predictions);
    } catch (error) {
      console.warn(`Class: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async refresh(): Promise<void> {
    const again = h('button', { type: 'button', onclick: () => void this.refresh() }, this._trans.__('Refresh'));
    const wide = h('button', { type: 'button', onclick: () => this._run(WIDE, {}) }, this._trans.__('As a page'));
    const asPage = this.title.label !== '';
    const buttons = h('span', { className: 'tfkit-Course-buttons' }, ...(asPage ? [] : [wide]), again);
    const header = h('div', { className: 'tfkit-Course-header' }, h('h2', {}, this._trans.__('Class')), buttons);
    try {
      const { assignments, python } = await request<{ assignments: IAssignment[]; python: string }>(
        this._settings,
        'class'
      );
      const { leaderboards: boards } = await request<{ leaderboards: ILeaderboard[] }>(this._settings, 'leaderboard');
      const none = h(
        'p',
        {},
        this._trans.__('No graded submissions were found: a course folder holds source and autograded.')
      );
      this.node.replaceChildren(
        header,
        h('div', { className: 'tfkit-Class-now' }, this._now.node, this._predictions.node),
        ...leaderboards(boards, this._trans),
        ...this._submissions(
          assignments.length ? assignments.map(one => this._assignment(one, python)) : [none],
          asPage
        )
      );
      await this._live();
    } catch (error) {
      this.node.replaceChildren(
        header,
        h('p', { role: 'alert' }, error instanceof Error ? error.message : String(error))
      );
    }
  }

  /** On a page, which a class may see, the part with students' names is collapsed. */
  private _submissions(parts: readonly HTMLElement[], asPage: boolean): readonly HTMLElement[] {
    const title = this._trans.__('Submissions, with names');
    const folded = h('details', { open: this._unfolded }, h('summary', {}, title), ...parts);
    folded.ontoggle = () => (this._unfolded = folded.open);
    return asPage ? [folded] : parts;
  }

  private _timer = 0;
  private _unfolded = false;
  private readonly _now = new LiveClass(this._trans, () => void this._live());
  private readonly _predictions = new Predictions(this._trans, () => void this._live());

  private _assignment(one: IAssignment, python: string): HTMLElement {
    const { course, assignment } = one;
    const grade = h('button', { type: 'button' }, this._trans.__('Grade in a terminal'));
    grade.onclick = () => this._run(GRADE, { course, assignment, python });
    const list = one.commonest.map(({ exercise, misconception, students }) =>
      h(
        'li',
        {},
        h('strong', {}, spoken(misconception)),
        ` (${exercise}): `,
        this._trans._n('%1 student', '%1 students', students)
      )
    );
    const wrong = list.length ? [h('h4', {}, this._trans.__('Most common misconceptions')), h('ol', {}, ...list)] : [];
    const mark = h('button', { type: 'button' }, this._trans.__('Mark answers'));
    mark.onclick = () => this._run(MARK, {});
    return h(
      'section',
      { 'aria-label': assignment },
      h('h3', {}, assignment),
      grade,
      ' ',
      mark,
      this._table(one),
      ...wrong
    );
  }

  private _table({ exercises, students }: IAssignment): HTMLElement {
    const names = [this._trans.__('Student'), ...exercises, this._trans.__('Points')];
    const head = h('tr', {}, ...names.map(name => h('th', { scope: 'col', title: name }, ...breakable(name))));
    const rows = students.map(({ student, path, verdicts }) => {
      const open = h(
        'button',
        { type: 'button', title: path, onclick: () => this._run('docmanager:open', { path }) },
        student
      );
      const points = Object.values(verdicts).reduce((sum, verdict) => sum + verdict.score, 0);
      const cells = exercises.map(exercise => this._cell(verdicts[exercise]));
      const row = h(
        'tr',
        {},
        h('th', { scope: 'row' }, open),
        ...cells,
        h('td', {}, points.toFixed(1).replace(/\.0$/, ''))
      );
      row.classList.toggle(
        'tfkit-Class-done',
        exercises.every(exercise => verdicts[exercise]?.status === 'passed')
      );
      return row;
    });
    const table = h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows));
    const label = this._trans.__('Submissions');
    const part = h('div', { className: 'tfkit-Class-table', tabIndex: 0, role: 'group', 'aria-label': label }, table);
    const only = h('input', { type: 'checkbox' });
    only.onchange = () => part.classList.toggle('tfkit-mod-open', only.checked);
    return h('div', {}, h('label', {}, only, ` ${this._trans.__('Only those who have not passed everything')}`), part);
  }

  private _cell(verdict: IVerdict | undefined): HTMLElement {
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
    return h('td', { title: why }, mark, h('span', { className: 'tfkit-Hidden' }, `${words[verdict.status]} ${why}`));
  }
}

export const instructorPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:instructor',
  description: 'The results of the class, for instructors. Disable or lock it where students share the settings.',
  autoStart: true,
  optional: [ITranslator, ICommandPalette, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const { commands, shell, serviceManager } = app;
    const panel = new ClassPanel(
      serviceManager.serverSettings,
      trans,
      (command, args) => void commands.execute(command, args)
    );
    commands.addCommand(SHOW, {
      label: trans.__('Show the Class'),
      execute: () => {
        if (!panel.isAttached) {
          panel.title.label = '';
          shell.add(panel, 'left', { rank: 910 });
          restorer?.add(panel, panel.id);
        }
        shell.activateById(panel.id);
      }
    });
    commands.addCommand(WIDE, {
      label: trans.__('Show the Class as a Page'),
      caption: trans.__('Which students are stuck on which exercise, and their predictions: to watch during a class'),
      execute: () => {
        panel.title.label = trans.__('Class'); // a tab of the main area has a name
        shell.add(panel, pageArea(app));
        shell.activateById(panel.id);
      }
    });
    commands.addCommand(GRADE, {
      label: trans.__('Grade an Assignment'),
      isVisible: () => commands.hasCommand('terminal:create-new'),
      execute: async args => {
        const { course, python, assignment } = args as { course: string; python: string; assignment: string };
        const terminal = (await commands.execute('terminal:create-new', { cwd: course })) as ITerminalWidget;
        const line = `${quoted(python)} -m autograder grade . ${quoted(assignment)}`;
        terminal.content.session.send({ type: 'stdin', content: [`${line}\r`] });
      }
    });
    const ask: Ask = (route, body) =>
      request(serviceManager.serverSettings, route, body ? { method: 'POST', body: JSON.stringify(body) } : {});
    let area: MainAreaWidget<MarkingPage> | null = null;
    commands.addCommand(MARK, {
      label: trans.__('Mark Answers'),
      caption: trans.__('The answers to each question in turn, in groups of similar answers'),
      execute: () => {
        if (!area || area.isDisposed) {
          area = new MainAreaWidget({ content: new MarkingPage(ask, trans) });
          area.id = 'tfkit-marking-area';
          area.title.icon = courseIcon;
          area.toolbar.hide(); // it has no buttons
          shell.add(area, pageArea(app));
        }
        shell.activateById(area.id);
      }
    });
    palette?.addItem({ command: MARK, category: trans.__('Course') });
    palette?.addItem({ command: WIDE, category: trans.__('Course') });
    palette?.addItem({ command: SHOW, category: trans.__('Course') });
  }
};
