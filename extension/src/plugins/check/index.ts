/** The Check button: sends the notebook's cells to the server, which grades them in separate processes, and shows the verdict. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import {
  ICommandPalette,
  ISanitizer,
  IToolbarWidgetRegistry,
  MainAreaWidget,
  Notification,
  Sanitizer
} from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ServerConnection } from '@jupyterlab/services';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { CommandToolbarButton } from '@jupyterlab/ui-components';
import { PanelLayout, Widget } from '@lumino/widgets';
import { pageArea } from '../../shared/area';
import { answerTo, cardsOf, exerciseOf, meta, PendingChecks, showCell } from '../../shared/cells';
import { checkIcon } from '../../shared/icons';
import { prepareTab } from '../../shared/needed';
import { nextIn, targetOf } from '../../shared/nextStep';
import { runEach } from '../../shared/run';
import { request } from '../../shared/server';
import { inTab } from '../../shared/tab';
import { ICourse, ITraceViews } from '../../shared/tokens';
import { RecordedModel } from '../../widgets/model';
import { digest, IStoredVerdict, isStale, storeVerdict, storedVerdict, State } from './storedVerdict';
import { IFaultLine, markLine } from './line';
import { Pointer } from './pointer';
import { IMap, ITrace, mapsOf, traceOf } from './picture';
import { RunningChecks } from './running';
import { bindSection, placeOfHeading } from './section';
import { IAction, IVerdict, revealCard, VerdictWidget } from './verdict';

const CHECK = 'tfkit:check';
const OPEN = 'tfkit:open-exercise';
const HOME = 'tfkit:home';

/** Runs one check at a time per exercise and shows one card: a new request cancels the running check. */
class Checker {
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private readonly _course: ICourse,
    private readonly _trans: TranslationBundle,
    private readonly _sanitizer: ISanitizer,
    private readonly _draw: (title: string, maps: IMap[]) => void,
    private readonly _openNext: (from: string) => void
  ) {}

  async check(panel: NotebookPanel, from: Cell): Promise<IVerdict | null> {
    const exercise = exerciseOf(from.model);
    if (!exercise) {
      return null;
    }
    const cell = answerTo(panel, exercise) ?? from;
    if (inTab()) {
      await checkInKernel(panel, exercise, cell, this._trans); // its output becomes the card, as elsewhere
      return null;
    }
    const current = this._running.start(cell);
    const shown = this._verdictUnder(panel, cell);
    const known = this._course.units.flatMap(unit => unit.exercises).find(({ id }) => id === exercise);
    shown.showRunning(known?.title ?? exercise, () => current.abort());
    const code = digest(cell.model.sharedModel.getSource());
    try {
      const verdict = await this._ask(panel, exercise, current.signal);
      if (!this._running.matters(cell, current)) {
        return null;
      }
      const kept: IStoredVerdict = {
        html: verdict.html,
        status: verdict.status,
        asked: 'button',
        at: Date.now(),
        code
      };
      this._show(panel, cell, kept, this._actions(panel, cell, verdict));
      revealCard(panel.content.node, cell.node, shown.node);
      void this._course.refresh();
      return verdict;
    } catch (error) {
      if (this._running.matters(cell, current)) {
        if (current.signal.aborted) {
          shown.showCancelled();
        } else {
          shown.showError(error instanceof Error ? error.message : String(error));
        }
      }
      return null;
    } finally {
      this._running.end(cell, current);
    }
  }

  /** Restores the cards stored in a notebook. A cell that is not rendered yet gets its card when it is. */
  restore(panel: NotebookPanel): void {
    for (const cell of panel.content.widgets) {
      const kept = exerciseOf(cell.model) ? storedVerdict(cell.model) : null;
      if (kept) {
        void cell.ready.then(() => this._drawCard(panel, cell, kept));
      }
    }
  }

  /** Notes the code that the kernel has run for a cell. */
  noteExecuted(cell: Cell): void {
    this._ran.set(cell, digest(cell.model.sharedModel.getSource()));
  }

  /** Turns the output of `check()` in a cell into the card of its exercise. */
  showKernelVerdict(panel: NotebookPanel, from: Cell): void {
    Pointer.lift(from); // the output may say that there is no verdict
    for (const { exercise, status, html } of cardsOf(from.model)) {
      const cell = answerTo(panel, exercise);
      if (cell) {
        this._running.stop(cell); // its verdict would be about older code
        this._show(panel, cell, {
          html,
          status: status as State,
          asked: 'kernel',
          at: Date.now(),
          code: this._ran.get(cell) ?? null
        });
      }
    }
  }

  private _show(panel: NotebookPanel, cell: Cell, kept: IStoredVerdict, actions: readonly IAction[] = []): void {
    storeVerdict(cell.model, kept);
    this._drawCard(panel, cell, kept, actions);
  }

  /** Draws a card, and folds the output of check() cells for the same exercise, since two cards could contradict each other. */
  private _drawCard(panel: NotebookPanel, cell: Cell, kept: IStoredVerdict, actions: readonly IAction[] = []): void {
    const shown = this._verdictUnder(panel, cell);
    const exercise = exerciseOf(cell.model);
    const next = { label: this._trans.__('Next'), strong: true, run: () => this._openNext(exercise ?? '') };
    const offered = kept.status === 'passed' ? [...actions, next] : actions;
    shown.showVerdict(kept, isStale(kept, cell.model.sharedModel.getSource()), offered);
    this._mark(panel, cell, shown.place);
    this._linkSection(panel, shown.node);
    for (const other of panel.content.widgets) {
      if (other !== cell && cardsOf(other.model).some(card => card.exercise === exercise)) {
        void other.ready.then(() =>
          Pointer.under(other, this._trans, () => void panel.content.scrollToCell(cell, 'center'))
        );
      }
    }
  }

  private _linkSection(panel: NotebookPanel, card: Element): void {
    const texts = panel.content.widgets.filter(({ model }) => model.type === 'markdown');
    const place = (link: string): number =>
      placeOfHeading(
        texts.map(({ model }) => model.sharedModel.getSource()),
        link
      );
    const goTo = (link: string): void => void showCell(panel, model => model === texts[place(link)].model);
    bindSection(card, link => place(link) >= 0, goTo);
  }

  /** Marks the line that a card names in its cell, and removes the exercise's previous mark. */
  private _mark(panel: NotebookPanel, cell: Cell, place: IFaultLine | null): void {
    const last = this._marked.get(cell);
    if (last && !last.isDisposed) {
      markLine(last, null);
    }
    const where = panel.content.widgets.find(one => one.model.id === place?.cell) ?? cell;
    this._marked.set(cell, where);
    void where.ready.then(() => markLine(where, place));
  }

  /** Shows the failing case in a view: as recorded, or for the cell's current code. */
  private _actions(panel: NotebookPanel, cell: Cell, verdict: IVerdict): IAction[] {
    const maps = mapsOf(verdict);
    const open = {
      label: this._trans.__('Open in the matrix view'),
      run: () => this._draw(verdict.exercise, maps)
    };
    const draw = {
      label: this._trans.__('Draw this case in a new cell'),
      run: () => void runBelow(panel, cell, verdict.code ?? '')
    };
    return [...(maps.length ? [open] : []), ...(verdict.code ? [draw] : [])];
  }

  private _ask(panel: NotebookPanel, exercise: string, signal: AbortSignal): Promise<IVerdict> {
    const cells = Array.from(panel.content.model?.cells ?? [])
      .filter(cell => cell.type === 'code')
      .map(cell => ({ id: cell.id, source: cell.sharedModel.getSource(), ...meta(cell) }));
    const body = JSON.stringify({ exercise, path: panel.context.localPath, cells });
    return request<IVerdict>(this._settings, 'check', { method: 'POST', body, signal });
  }

  private _verdictUnder(panel: NotebookPanel, cell: Cell): VerdictWidget {
    const layout = cell.layout as PanelLayout;
    const known = layout.widgets.find((widget): widget is VerdictWidget => widget instanceof VerdictWidget);
    if (known) {
      return known;
    }
    const widget = new VerdictWidget(this._trans, this._sanitizer, () => void this.check(panel, cell));
    const follow = (): void => {
      if (widget.kept) {
        widget.setStale(isStale(widget.kept, cell.model.sharedModel.getSource()));
      }
    };
    cell.model.contentChanged.connect(follow);
    layout.addWidget(widget);
    return widget;
  }

  private readonly _marked = new WeakMap<Cell, Cell>();
  private readonly _ran = new WeakMap<Cell, string>();
  private readonly _running = new RunningChecks<Cell>();
}

/** A recorded trace beside the notebook, in the view that draws its kind; one at a time. */
function openView(app: JupyterFrontEnd, views: ITraceViews, trace: ITrace): void {
  const id = 'tfkit-example';
  const where = pageArea(app);
  Array.from(app.shell.widgets(where))
    .find(widget => widget.id === id)
    ?.dispose();
  const content = new Widget();
  content.addClass('tfkit-ExampleView');
  const cleanup = views.find(trace.kind)?.mount(new RecordedModel({ trace }), content.node);
  content.disposed.connect(() => cleanup?.());
  const area = new MainAreaWidget({ content });
  area.id = id;
  area.title.label = trace.title;
  area.title.icon = checkIcon;
  area.title.closable = true;
  app.shell.add(area, where, { mode: 'split-right' });
  app.shell.activateById(id);
}

/** Inserts code into a new cell below another, and runs both, so that the student's code is in the kernel. */
async function runBelow({ content, sessionContext }: NotebookPanel, cell: Cell, source: string): Promise<void> {
  content.activeCellIndex = content.widgets.indexOf(cell);
  await NotebookActions.run(content, sessionContext);
  content.activeCellIndex = content.widgets.indexOf(cell);
  NotebookActions.insertBelow(content);
  content.activeCell?.model.sharedModel.setSource(source);
  await NotebookActions.run(content, sessionContext);
}

/** Checks in the kernel where there is no server: runs the answer's cell, then the cell that calls check(). What these need, a new kernel runs first. */
async function checkInKernel(
  panel: NotebookPanel,
  exercise: string,
  answer: Cell,
  trans: TranslationBundle
): Promise<void> {
  const { content, sessionContext } = panel;
  const kernel = sessionContext.session?.kernel;
  const installing = (): void =>
    void Notification.info(trans.__('The course comes into this tab first. It takes a minute.'), { autoClose: 10000 });
  const run = (cells: readonly Cell[]): Promise<boolean> => runEach(panel, cells);
  if (kernel && !(await prepareTab(kernel, content.widgets, answer, run, installing))) {
    return;
  }
  const asks = content.widgets.find(({ model }) => meta(model).role === 'check' && meta(model).exercise === exercise);
  await runEach(panel, asks ? [answer, asks] : [answer]);
  content.activeCellIndex = content.widgets.indexOf(answer);
}

export const checkPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:check',
  description: 'Checks the exercise of a cell and shows the verdict under it.',
  autoStart: true,
  requires: [ICourse, INotebookTracker, ITraceViews],
  optional: [ITranslator, ICommandPalette, ISanitizer, IToolbarWidgetRegistry],
  activate: (
    app: JupyterFrontEnd,
    course: ICourse,
    notebooks: INotebookTracker,
    views: ITraceViews,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    sanitizer: ISanitizer | null,
    toolbars: IToolbarWidgetRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const draw = (title: string, maps: IMap[]): void =>
      void traceOf(title, maps).then(trace => openView(app, views, trace));
    const openNext = (from: string): void => {
      const next = nextIn(course, from);
      void (next ? app.commands.execute(OPEN, targetOf(next)) : app.commands.execute(HOME));
    };
    const { serverSettings } = app.serviceManager;
    const checker = new Checker(serverSettings, course, trans, sanitizer ?? new Sanitizer(), draw, openNext);
    const applies = (): boolean => !!exerciseOf(notebooks.activeCell?.model);
    app.commands.addCommand(CHECK, {
      label: trans.__('Check'),
      caption: trans.__('Check this exercise'),
      icon: checkIcon,
      isEnabled: applies,
      isVisible: applies,
      execute: () => {
        const { currentWidget, activeCell } = notebooks;
        return currentWidget && activeCell ? checker.check(currentWidget, activeCell) : null;
      }
    });
    // the schema's label is not translated
    toolbars?.addFactory(
      'Cell',
      'tfkit-check',
      () => new CommandToolbarButton({ commands: app.commands, id: CHECK, label: trans.__('Check') })
    );
    notebooks.activeCellChanged.connect(() => app.commands.notifyCommandChanged(CHECK));
    notebooks.widgetAdded.connect(
      (_, panel) => void panel.context.ready.then(() => panel.revealed).then(() => checker.restore(panel))
    );
    NotebookActions.executionScheduled.connect((_, { cell }) => checker.noteExecuted(cell));
    const pending = new PendingChecks();
    NotebookActions.executed.connect((_, { notebook, cell }) => {
      const panel = notebooks.find(one => one.content === notebook);
      if (panel && cell.model.sharedModel.getSource().includes('check(')) {
        pending.ended(cell.model, () => panel.isDisposed || cell.isDisposed || checker.showKernelVerdict(panel, cell));
      }
    });
    palette?.addItem({ command: CHECK, category: trans.__('Course') });
  }
};
