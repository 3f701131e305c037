/** Prose that points: a phrase of a lesson lights rows, columns and squares of the figures, predictions and cards of its section, and lines of its code. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { Phrases } from './phrases';

export const pointingPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:pointing',
  description: 'Lets phrases of a lesson light what they speak of.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_: JupyterFrontEnd, notebooks: INotebookTracker) => {
    notebooks.widgetAdded.connect((_, panel) => new Phrases(panel));
  }
};
