/** Provides the course as the server sees it: units, exercises, and the state of each. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import type { Cell, ICodeCellModel } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import { Notebook, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { notRunIn, outcomesOf, PendingChecks, showCell, showExercise } from '../../shared/cells';
import { sayLanguage } from '../../shared/language';
import { neededAbove } from '../../shared/needed';
import { runEach } from '../../shared/run';
import { ICourse } from '../../shared/tokens';
import { Course } from './course';
import { missingName, someNotRun } from './names';
import { placeOf, showsResult } from './experiments';

/** Opens the notebook `path`, at the cell of an `exercise` or at the one whose id is `cell`, if either is given. */
const OPEN = 'tfkit:open-exercise';

/** Offers to run cells above one in its kernel, and then that one; an offer takes the place of the one before. */
class Offers {
  constructor(private readonly _trans: TranslationBundle) {}

  make(message: string, run: () => Promise<unknown>): void {
    Notification.dismiss(this._shown);
    const action = { label: this._trans.__('Run them and this cell'), callback: () => void run() };
    this._shown = Notification.info(message, { autoClose: false, actions: [action] });
  }

  private _shown = '';
}

/** Offers it for a cell of a course notebook that stopped at a name which its kernel does not know. */
function offerAfterNameErrors(app: JupyterFrontEnd, trans: TranslationBundle, offers: Offers): void {
  NotebookActions.executed.connect((_, { notebook, cell, success, error }) => {
    const name = success ? null : missingName(error);
    const at = notebook.widgets.indexOf(cell);
    const count = (cell.model as ICodeCellModel).executionCount;
    const above = notebook.widgets.slice(0, at).map(({ model }) => model);
    if (!name || !notebook.model?.getMetadata('tfkit') || !someNotRun(above, count)) {
      return;
    }
    const words = trans.__(
      '%1 is not defined in this kernel: cells above have not been run since it was started.',
      name
    );
    offers.make(words, async () => {
      notebook.activeCellIndex = notebook.widgets.indexOf(cell);
      await app.commands.execute('notebook:run-all-above');
      await app.commands.execute('notebook:run-cell');
    });
  });
}

/** Offers it for a check that needs cells which its kernel has not run. */
function offerAfterCheck(notebook: Notebook, cell: Cell, reason: string, offers: Offers): void {
  const panel = notebook.parent;
  if (panel instanceof NotebookPanel) {
    offers.make(reason, () => runEach(panel, [...neededAbove(notebook.widgets, cell), cell]));
  }
}

/** Keeps the course up to date with experiments that are run, and predictions that are compared. */
function noteResults(course: Course): void {
  NotebookActions.executed.connect((_, { notebook, cell, success }) => {
    if (success && showsResult(cell.model) && notebook.parent instanceof NotebookPanel) {
      void course.noteRun(placeOf(notebook.parent.context.localPath, cell.model.id));
    }
  });
}

/** The message about an exercise whose cell was deleted or has lost its metadata. */
const missingCell = (trans: TranslationBundle, exercise: string, path: string): string =>
  trans.__(
    'The cell of %1 is missing from %2. Fetch the notebook again, and copy your answers into it.',
    exercise,
    PathExt.basename(path) // a notification has room for 140 characters
  );

/** Lets links to a unit's section (tfkit_lab.recall) open its notebook in the lab, wherever on this server it is. */
function openLinks(app: JupyterFrontEnd, course: Course): void {
  document.addEventListener('click', event => {
    const link = (event.target as Element).closest?.<HTMLElement>('a[data-tfkit-unit]');
    const unit = course.units.find(({ name }) => name === link?.dataset.tfkitUnit);
    if (link && unit) {
      event.preventDefault();
      void app.commands.execute(OPEN, { path: unit.path, cell: link.dataset.tfkitCell });
    }
  });
}

export const coursePlugin: JupyterFrontEndPlugin<ICourse> = {
  id: '@tfkit/lab:course',
  description: 'Provides the units and exercises on this server.',
  autoStart: true,
  provides: ICourse,
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): ICourse => {
    sayLanguage(translator);
    const course = new Course(app.serviceManager.serverSettings);
    void app.restored.then(() => course.refresh());
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const [pending, offers] = [new PendingChecks(), new Offers(trans)];
    NotebookActions.executed.connect((_, { notebook, cell }) => {
      const { model } = cell; // the cell itself may be gone when its check has ended
      if (!model.sharedModel.getSource().includes('check(')) {
        return; // outputs are large: only these are read
      }
      pending.ended(model, () => {
        for (const reason of cell.isDisposed ? [] : notRunIn(model)) {
          offerAfterCheck(notebook, cell, reason, offers);
        }
        for (const outcome of outcomesOf(model)) {
          void course.record(outcome).catch((error: unknown) => console.warn('tfkit: a result was not kept', error));
        }
      });
    });
    offerAfterNameErrors(app, trans, offers);
    noteResults(course);
    openLinks(app, course);
    app.commands.addCommand(OPEN, {
      label: trans.__('Open an Exercise'),
      execute: async args => {
        const { path, exercise, cell } = args as { path: string; exercise?: string; cell?: string };
        const opened: unknown = await app.commands.execute('docmanager:open', { path });
        if (!(opened instanceof NotebookPanel) || !(exercise || cell)) {
          return opened instanceof NotebookPanel;
        }
        if (!exercise) {
          return showCell(opened, model => model.id === cell);
        }
        const found = await showExercise(opened, exercise);
        if (!found) {
          Notification.warning(missingCell(trans, exercise, path), { autoClose: false });
        }
        return found;
      }
    });
    return course;
  }
};
