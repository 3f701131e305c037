/** Hands a notebook in from a site without a server: downloads a file that nbgrader's zip_collect takes. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, InputDialog, IToolbarWidgetRegistry, showErrorMessage } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { CommandToolbarButton } from '@jupyterlab/ui-components';
import { inTab } from '../../shared/tab';
import { saveFile } from '../../widgets/file';
import { assignmentOf, INotebookContent, nameOf, STUDENT, withoutTab } from './file';

const HAND_IN = 'tfkit:hand-in';
const KEPT = 'tfkit:student';

/** Asks for the student's name and stores it; null where the dialog was cancelled or the name is not valid. */
async function askName(trans: TranslationBundle): Promise<string | null> {
  const { button, value } = await InputDialog.getText({
    title: trans.__('Hand in'),
    label: trans.__('Your name, as your course knows you. A file is downloaded: send it to your instructor.'),
    text: localStorage.getItem(KEPT) ?? '',
    okLabel: trans.__('Download')
  });
  const name = (value ?? '').trim();
  if (!button.accept) {
    return null;
  }
  if (!STUDENT.test(name)) {
    await showErrorMessage(trans.__('Hand in'), trans.__('Use letters and digits, and . @ - between them.'));
    return null;
  }
  localStorage.setItem(KEPT, name);
  return name;
}

function download(name: string, notebook: INotebookContent): void {
  saveFile(name, JSON.stringify(notebook, null, 1), 'application/x-ipynb+json');
}

export const handInPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:hand-in',
  description: 'Hands a notebook in where there is no server: as a file.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, ICommandPalette, IToolbarWidgetRegistry],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    toolbars: IToolbarWidgetRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const assignment = (): string | null => assignmentOf(notebooks.currentWidget?.model?.sharedModel.metadata ?? {});
    app.commands.addCommand(HAND_IN, {
      label: trans.__('Hand in'),
      caption: trans.__('Download this notebook as a file to hand in'),
      isVisible: inTab,
      isEnabled: () => inTab() && assignment() !== null,
      execute: async () => {
        const [model, unit] = [notebooks.currentWidget?.model, assignment()];
        const student = model && unit ? await askName(trans) : null;
        if (model && unit && student) {
          const notebook = model.toJSON() as unknown as INotebookContent;
          download(nameOf(unit, student, new Date()), withoutTab(notebook));
        }
      }
    });
    // the name of the assignment is in the notebook's metadata, which arrive after its panel
    notebooks.currentChanged.connect((_, panel) => {
      app.commands.notifyCommandChanged(HAND_IN);
      void panel?.context.ready.then(() => app.commands.notifyCommandChanged(HAND_IN));
    });
    toolbars?.addFactory(
      'Notebook',
      'tfkit-hand-in',
      () => new CommandToolbarButton({ commands: app.commands, id: HAND_IN, label: trans.__('Hand in') })
    );
    palette?.addItem({ command: HAND_IN, category: trans.__('Course') });
  }
};
