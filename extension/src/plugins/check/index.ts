/** The Check button: sends the notebook's cells to the server, which grades in processes of its own, and shows the verdict. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ServerConnection } from '@jupyterlab/services';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { PanelLayout } from '@lumino/widgets';
import { exerciseOf, meta } from '../../shared/cells';
import { checkIcon } from '../../shared/icons';
import { request } from '../../shared/server';
import { ICourse } from '../../shared/tokens';
import { IVerdict, VerdictWidget } from './verdict';

const CHECK = 'tfkit:check';

interface IRunning {
  abort: AbortController;
}

/** One check at a time per cell; asking again cancels the one that runs. */
class Checker {
  constructor(
    private _settings: ServerConnection.ISettings,
    private _course: ICourse,
    private _trans: TranslationBundle
  ) {}

  async check(panel: NotebookPanel, cell: Cell): Promise<IVerdict | null> {
    const exercise = exerciseOf(cell.model);
    if (!exercise) {
      return null;
    }
    this._running.get(cell)?.abort.abort();
    const mine: IRunning = { abort: new AbortController() };
    this._running.set(cell, mine);
    const shown = this._verdictUnder(cell);
    shown.showRunning(exercise, () => mine.abort.abort());
    try {
      const verdict = await this._ask(panel, exercise, mine.abort.signal);
      shown.showVerdict(verdict);
      void this._course.refresh();
      return verdict;
    } catch (error) {
      if (this._running.get(cell) === mine) {
        mine.abort.signal.aborted ? shown.showCancelled() : shown.showError(error instanceof Error ? error.message : String(error));
      }
      return null;
    }
  }

  private _ask(panel: NotebookPanel, exercise: string, signal: AbortSignal): Promise<IVerdict> {
    const cells = Array.from(panel.content.model?.cells ?? [])
      .filter(cell => cell.type === 'code')
      .map(cell => ({ id: cell.id, source: cell.sharedModel.getSource(), ...meta(cell) }));
    const body = JSON.stringify({ exercise, path: panel.context.localPath, cells });
    return request<IVerdict>(this._settings, 'check', { method: 'POST', body, signal });
  }

  private _verdictUnder(cell: Cell): VerdictWidget {
    const layout = cell.layout as PanelLayout;
    const known = layout.widgets.find((widget): widget is VerdictWidget => widget instanceof VerdictWidget);
    const widget = known ?? new VerdictWidget(this._trans);
    if (!known) {
      layout.addWidget(widget);
    }
    return widget;
  }

  private _running = new WeakMap<Cell, IRunning>();
}

export const checkPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:check',
  description: 'Checks the exercise of a cell and shows the verdict under it.',
  autoStart: true,
  requires: [ICourse, INotebookTracker],
  optional: [ITranslator, ICommandPalette, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    course: ICourse,
    notebooks: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const checker = new Checker(app.serviceManager.serverSettings, course, trans);
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
    notebooks.activeCellChanged.connect(() => app.commands.notifyCommandChanged(CHECK));
    palette?.addItem({ command: CHECK, category: trans.__('Course') });
  }
};
