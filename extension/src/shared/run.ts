import { Cell } from '@jupyterlab/cells';
import { NotebookActions, NotebookPanel } from '@jupyterlab/notebook';

/** Runs cells one after the other; an error in one does not keep the next from being run. Whether all went well. */
export async function runEach({ content, sessionContext }: NotebookPanel, cells: readonly Cell[]): Promise<boolean> {
  let succeeded = true;
  for (const cell of cells) {
    succeeded = (await NotebookActions.runCells(content, [cell], sessionContext)) && succeeded;
  }
  return succeeded;
}
