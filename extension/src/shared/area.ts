/** The area in which pages of this extension open. */
import { JupyterFrontEnd, LabShell } from '@jupyterlab/application';

/** The area for a page: Notebook 7 shows one widget in its main area and ignores others, so a page opens beside it. */
export function pageArea({ shell }: JupyterFrontEnd): 'main' | 'right' {
  return shell instanceof LabShell ? 'main' : 'right';
}
