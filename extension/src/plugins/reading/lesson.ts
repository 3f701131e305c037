/** Reading mode of one notebook: folds, draws and runs what its cells' metadata says. */
import type { ISanitizer } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { compares, meta, showCell } from '../../shared/cells';
import { noteRun, succeeds } from '../../shared/needed';
import { runEach } from '../../shared/run';
import { IPlace, unitsOf } from '../../shared/nextStep';
import type { ICourse, IUnit } from '../../shared/tokens';
import type * as Sharing from '../../widgets/sharing';
import { UnitEnd } from './end';
import { CellDisplay, displayOf, ILessonCell, roundAt, roundsOf, setupLines, stagesOf } from './outline';
import { hideScaffold } from './scaffold';
import { ISetupCell, ISetupState, SetupRuns } from './setup';
import { speaks, speech, speechPart } from './speech';
import { Action, Cover, IPrediction, PredictionPart, putInto, Setup, StageBar } from './widgets';

/** What the server reads of a lesson. */
export interface ILesson {
  readonly predictions: readonly IPrediction[];
  /** The ids of the set-up cells that are the course's own. */
  readonly setup: readonly string[];
}

export interface IServices {
  readonly course: ICourse;
  readonly trans: TranslationBundle;
  readonly sanitizer: ISanitizer;
  check(): void;
  leave(): void;
  /** The keys that leave reading mode, as this system writes them; empty where none do. */
  keys(): string;
  seal(path: string, name: string, answers: unknown, sure: unknown): Promise<string>;
  /** Opens a step of the course. */
  open(place: IPlace): void;
  /** Loads the module that writes pictures. */
  load(): Promise<typeof Sharing>;
}

interface IRun {
  readonly notebook: Notebook;
  readonly cell: Cell;
}

export class LessonReader {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _lesson: ILesson,
    private readonly _services: IServices
  ) {
    const { trans, course, leave, keys } = _services;
    this._bar = new StageBar(trans, cell => void showCell(_panel, model => model.id === cell), leave, keys);
    _panel.contentHeader.addWidget(this._bar);
    course.changed.connect(this._onCourse, this);
    _panel.content.activeCellChanged.connect(this._onActive, this);
    _panel.content.model?.cells.changed.connect(() => this._onCells());
    this._runs = new SetupRuns(
      () => this._cells.setup,
      _lesson.setup,
      state => this._tell(state)
    );
    _panel.sessionContext.statusChanged.connect((_, status) => this._onStatus(status));
    _panel.sessionContext.kernelChanged.connect(() => this._runs.forget());
    NotebookActions.executionScheduled.connect(this._onScheduled, this);
    NotebookActions.executed.connect(this._onExecuted, this);
    _panel.disposed.connect(() => Signal.clearData(this));
  }

  /** Turns reading mode on or off. */
  set on(on: boolean) {
    this._on = on;
    this._panel.content.toggleClass('tfkit-Reading', on);
    this._bar.setHidden(!on);
    this._decorate();
    this._showStages();
    if (on) {
      void this._runSetup();
    }
  }

  private get _unit(): IUnit | undefined {
    return this._services.course.units.find(({ path }) => path === this._panel.context.localPath);
  }

  /** Says how each cell is shown, and gives it its parts; a cell that is not drawn yet gets its parts when it is. */
  private _decorate(): void {
    const { displays, lines } = this._cells;
    this._panel.content.widgets.forEach((cell, i) => {
      const display = i === 0 ? 'cover' : displays[i];
      const drawn = display === 'predict' && !this._prediction(cell) ? 'plain' : display; // its call could not be read
      cell.node.dataset.tfkitDisplay = drawn;
      void cell.ready.then(() => {
        if (!cell.isDisposed && cell.node.dataset.tfkitDisplay === drawn) {
          this._addWidgets(cell, drawn, lines);
          const { widgets } = this._panel.content;
          if (cell === widgets[widgets.length - 1]) {
            this._addEnd(cell);
          }
        }
      });
    });
  }

  /** The end of the unit, below its last cell; the cell that was last before has none. */
  private _addEnd(cell: Cell): void {
    const unit = this._unit;
    if (!unit) {
      return;
    }
    if (this._end?.parent !== cell) {
      this._end?.dispose();
      this._end = null;
    }
    this._end ??= putInto(cell, 'bottom', () => new UnitEnd(unit, this._services, this._speech(unit.name)));
    this._end.draw(unit, unitsOf(this._services.course));
  }

  /** What lets a real model speak through the functions of a unit, in this notebook's kernel; null for a unit without such functions. */
  private _speech(unit: string): HTMLElement | null {
    const { trans, sanitizer } = this._services;
    const say = async (): Promise<string> => {
      await this._runSetup();
      const kernel = this._panel.sessionContext.session?.kernel;
      return kernel ? speech(kernel, unit, document.documentElement.lang) : Promise.reject(new Error());
    };
    return speaks(unit) ? speechPart(say, sanitizer, trans) : null;
  }

  private _addWidgets(cell: Cell, display: string, lines: number): void {
    const { trans } = this._services;
    if (display === 'cover' && this._unit) {
      const unit = this._unit;
      putInto(cell, 'top', () => new Cover(unit, trans));
    } else if (display === 'setup') {
      putInto(cell, 'top', () => {
        const open = (isOpen: boolean): void => {
          this._panel.content.toggleClass('tfkit-R-open', isOpen);
        };
        this._setup = new Setup(lines, trans, open);
        this._setup.state = this._setupState;
        return this._setup;
      });
    } else if (display === 'predict') {
      const asked = this._prediction(cell)!;
      putInto(
        cell,
        'top',
        () => new PredictionPart(asked, this._services.sanitizer, (answers, sure) => this._seal(asked, answers, sure))
      );
    } else if (display === 'exercise') {
      const check = (): void => this._at(cell, () => this._services.check());
      const keys = trans.__('Esc leaves the code, Tab goes on to this button.');
      const part = putInto(cell, 'below-input', () => new Action('check', trans.__('Check'), check, keys));
      part.note = this._stateOf(cell);
    } else if (display === 'compare') {
      const run = (): void => this._at(cell, () => void this._runWithAnswers(cell));
      putInto(cell, 'below-input', () => new Action('run', trans.__('Run'), run));
      hideScaffold(cell, this._on);
    }
  }

  /** Runs a cell, and before it the answers above, which Check does not run in this kernel. */
  private async _runWithAnswers(cell: Cell): Promise<void> {
    const cells = this._panel.content.widgets;
    const answers = cells.slice(0, cells.indexOf(cell)).filter(({ model }) => meta(model).role === 'exercise');
    await this._runSetup();
    await runEach(this._panel, [...answers, cell]);
  }

  private _prediction(cell: Cell): IPrediction | undefined {
    return this._lesson.predictions.find(one => one.cell === cell.model.id);
  }

  private async _seal(asked: IPrediction, answers: unknown, sure: unknown): Promise<string> {
    const card = await this._services.seal(this._panel.context.localPath, asked.name, answers, sure);
    void this._services.course.refresh();
    return card;
  }

  private _at(cell: Cell, act: () => void): void {
    this._panel.content.activeCellIndex = this._panel.content.widgets.indexOf(cell);
    act();
  }

  private _stateOf(cell: Cell): string {
    const { trans } = this._services;
    const found = this._unit?.exercises.find(({ id }) => id === meta(cell.model).exercise);
    const words = { not_started: '', passed: trans.__('passed'), failed: trans.__('not yet right'), not_graded: '' };
    return found ? words[found.state] : '';
  }

  /** Shows where the reader is. */
  private _showStages(): void {
    const { content } = this._panel;
    const unit = this._unit;
    const ids = content.widgets.map(({ model }) => model.id);
    const rounds = roundsOf(unit?.steps ?? [], unit?.exercises ?? []);
    const round = roundAt(rounds, ids, content.activeCellIndex);
    this._bar.showStages(round?.exercise ?? null, round ? stagesOf(round, ids, content.activeCellIndex) : []);
  }

  private _onCourse(): void {
    this._showStages();
    if (this._on) {
      this._decorate();
    }
  }

  private _onCells(): void {
    this._known = null;
    window.setTimeout(() => this._decorate());
  }

  /** Leads the active cell past what reading mode leaves out: on in the direction of the keys. */
  private _onActive(): void {
    const { content } = this._panel;
    const index = content.activeCellIndex;
    if (this._on && index !== this._last) {
      const step = index < this._last ? -1 : 1;
      let to = index;
      while (content.widgets[to] && this._isLeftOut(content.widgets[to])) {
        to += step;
      }
      this._last = content.widgets[to] ? to : index;
      if (this._last !== index) {
        content.activeCellIndex = this._last;
        return; // which calls this again
      }
      this._showStages();
    }
  }

  private _isLeftOut(cell: Cell): boolean {
    const display = cell.node.dataset.tfkitDisplay;
    return display === 'check' || (display === 'rest' && !this._panel.content.hasClass('tfkit-R-open'));
  }

  private _onStatus(status: string): void {
    if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
      this._runs.forget();
    }
  }

  private _onScheduled(_: unknown, { notebook, cell }: IRun): void {
    if (notebook === this._panel.content && this._on) {
      this._runs.scheduled(cell.model.id, this._panel.sessionContext.session?.kernel);
    }
  }

  private _onExecuted(_: unknown, { notebook, cell, success }: IRun & { success: boolean }): void {
    const { id } = cell.model;
    const kernel = this._panel.sessionContext.session?.kernel;
    if (notebook === this._panel.content && this._runs.has(id) && kernel) {
      this._runs.ran(id, success);
      if (success) {
        void succeeds(kernel, noteRun(id));
      }
    }
  }

  /** Runs the course's own set-up in a kernel that has not run it; the notebook stays as it is. */
  private async _runSetup(): Promise<void> {
    const { sessionContext } = this._panel;
    await sessionContext.ready;
    const kernel = sessionContext.session?.kernel;
    if (kernel) {
      await this._runs.run(kernel);
    }
  }

  /** Kept until the cells change: the reader goes from cell to cell often, and a lesson has many. */
  private get _cells(): ILessonCells {
    return (this._known ??= readCells(this._panel.content.widgets));
  }

  private _tell(state: ISetupState): void {
    this._setupState = state;
    if (this._setup) {
      this._setup.state = state;
    }
  }

  private _on = false;
  private _known: ILessonCells | null = null;
  private _last = 0;
  private _setup: Setup | null = null;
  private _end: UnitEnd | null = null;
  private _setupState: ISetupState | null = null; // it may be known before the line is drawn
  private readonly _runs: SetupRuns;
  private readonly _bar: StageBar;
}

interface ILessonCells {
  readonly displays: readonly CellDisplay[];
  readonly lines: number;
  readonly setup: readonly ISetupCell[];
}

/** How cells are shown, and what there is of set-up: its lines, and its cells, whose sources are read when they are run. */
function readCells(cells: readonly Cell[]): ILessonCells {
  const read = cells.map(describe);
  const displays = displayOf(read);
  const setup = cells.filter((_, i) => displays[i] === 'setup' || displays[i] === 'rest');
  return { displays, lines: setupLines(read, displays), setup: setup.map(inSetup) };
}

const describe = ({ model }: Cell): ILessonCell => ({
  id: model.id,
  type: model.type,
  role: meta(model).role,
  source: model.sharedModel.getSource(),
  compares: compares(model)
});

const inSetup = ({ model }: Cell): ISetupCell => ({
  id: model.id,
  get source() {
    return model.sharedModel.getSource();
  }
});
