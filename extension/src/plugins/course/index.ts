/** Provides the course as the server sees it: units, exercises, and the state of each. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ServerConnection } from '@jupyterlab/services';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { ISignal, Signal } from '@lumino/signaling';
import { outcomesOf, PendingChecks, showCell, showExercise } from '../../shared/cells';
import { request } from '../../shared/server';
import { ICourse, IUnit } from '../../shared/tokens';

/** Opens the notebook `path`, at the cell of an `exercise` or at the one whose id is `cell`, if either is given. */
const OPEN = 'tfkit:open-exercise';

class Course implements ICourse {
  constructor(private readonly _settings: ServerConnection.ISettings) {}

  get units(): readonly IUnit[] {
    return this._units;
  }

  get error(): string | null {
    return this._error;
  }

  get changed(): ISignal<ICourse, void> {
    return this._changed;
  }

  async refresh(): Promise<void> {
    try {
      this._units = (await request<{ units: IUnit[] }>(this._settings, 'course')).units;
      this._error = null;
    } catch (error) {
      this._error = error instanceof Error ? error.message : String(error);
    }
    this._changed.emit();
  }

  async record(outcome: unknown): Promise<void> {
    await request(this._settings, 'progress', { method: 'POST', body: JSON.stringify(outcome) });
    await this.refresh();
  }

  private _units: IUnit[] = [];
  private _error: string | null = null;
  private readonly _changed = new Signal<ICourse, void>(this);
}

export const coursePlugin: JupyterFrontEndPlugin<ICourse> = {
  id: '@tfkit/lab:course',
  description: 'Provides the units and exercises on this server.',
  autoStart: true,
  provides: ICourse,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): ICourse => {
    const course = new Course(app.serviceManager.serverSettings);
    void app.restored.then(() => course.refresh());
    const pending = new PendingChecks();
    NotebookActions.executed.connect((_, { cell }) => {
      const { model } = cell; // the cell itself may be gone when its check has ended
      if (!model.sharedModel.getSource().includes('check(')) {
        return; // outputs are large: only these are read
      }
      pending.ended(model, () => {
        for (const outcome of outcomesOf(model)) {
          void course.record(outcome).catch((error: unknown) => console.warn('tfkit: a result was not kept', error));
        }
      });
    });
    app.commands.addCommand(OPEN, {
      label: (translator ?? nullTranslator).load('tfkit_lab').__('Open an Exercise'),
      execute: async args => {
        const { path, exercise, cell } = args as { path: string; exercise?: string; cell?: string };
        const opened: unknown = await app.commands.execute('docmanager:open', { path });
        if (!(opened instanceof NotebookPanel) || !(exercise || cell)) {
          return opened instanceof NotebookPanel;
        }
        return exercise ? showExercise(opened, exercise) : showCell(opened, model => model.id === cell);
      }
    });
    return course;
  }
};
