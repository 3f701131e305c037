/** Says above a notebook which predictions "Run All" has passed over, as long as they are not sealed. */
import type { ICellModel } from '@jupyterlab/cells';
import { INotebookTracker, NotebookActions, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { showCell, unsealedIn } from '../../shared/cells';
import type { ICourse, IStep } from '../../shared/tokens';
import { PassedOver } from './widgets';

/** A cell, and the predictions that it was passed over for. */
export interface IWaiting {
  readonly cell: string;
  readonly names: readonly string[];
}

/** The predictions that cells were passed over for and that are not sealed since, and the first such cell. */
export function stillWaiting(cells: readonly IWaiting[], steps: readonly IStep[]): { names: string[]; first: string } {
  const made = new Set(
    steps.filter(({ kind, done }) => kind === 'predict' && done).map(({ prediction }) => prediction)
  );
  const open = cells.map(({ cell, names }) => ({ cell, names: names.filter(name => !made.has(name)) }));
  const names = [...new Set(open.flatMap(one => one.names))];
  return { names, first: open.find(one => one.names.length)?.cell ?? '' };
}

/** The line above one notebook. */
class Watch {
  constructor(
    private readonly _panel: NotebookPanel,
    private readonly _course: ICourse,
    private readonly _trans: TranslationBundle
  ) {
    _panel.content.widgets.forEach(({ model }) => this._read(model));
    _course.changed.connect(this._show, this);
    NotebookActions.executed.connect(this._onExecuted, this);
    _panel.disposed.connect(() => Signal.clearData(this));
    this._show();
  }

  private _onExecuted(
    _: unknown,
    { notebook, cell }: { notebook: NotebookPanel['content']; cell: { model: ICellModel } }
  ): void {
    if (notebook === this._panel.content) {
      this._read(cell.model);
      this._show();
    }
  }

  /** Outputs are large: only those of a cell that was run are read again. */
  private _read(model: ICellModel): void {
    this._found.set(model.id, unsealedIn(model));
  }

  private _show(): void {
    const { content, context, contentHeader } = this._panel;
    const cells = content.widgets.map(({ model: { id } }) => ({ cell: id, names: this._found.get(id) ?? [] }));
    const steps = this._course.units.find(({ path }) => path === context.localPath)?.steps ?? [];
    const { names, first } = stillWaiting(cells, steps);
    if (!this._line && names.length) {
      this._line = new PassedOver(this._trans, id => void showCell(this._panel, model => model.id === id));
      contentHeader.addWidget(this._line);
    }
    this._line?.showNames(names, first);
  }

  private readonly _found = new Map<string, readonly string[]>();
  private _line: PassedOver | null = null;
}

export function watchPassedOver(notebooks: INotebookTracker, course: ICourse, trans: TranslationBundle): void {
  const watch = async (panel: NotebookPanel): Promise<void> => {
    await panel.context.ready;
    if (!panel.isDisposed && panel.content.model?.getMetadata('tfkit')) {
      new Watch(panel, course, trans);
    }
  };
  notebooks.forEach(panel => void watch(panel));
  notebooks.widgetAdded.connect((_, panel) => void watch(panel));
}
