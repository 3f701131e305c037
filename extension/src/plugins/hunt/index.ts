/** The hunt button: opens another bug hunt in the exercise or unit at hand, as a notebook of its own. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry, Notification } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandToolbarButton } from '@jupyterlab/ui-components';
import { meta } from '../../shared/cells';
import { huntIcon } from '../../shared/icons';
import { runEach } from '../../shared/run';
import { request } from '../../shared/server';
import { inTab } from '../../shared/tab';
import { Subject, subjectOf } from './subject';

const HUNT = 'tfkit:hunt';

export const huntPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:hunt',
  description: 'Opens bug hunts for practice.',
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
    const subject = (): Subject | null =>
      inTab() ? null : subjectOf(notebooks.currentWidget?.model, notebooks.activeCell?.model);
    const open = async (from: Subject): Promise<void> => {
      const route = `hunt?language=${encodeURIComponent(translator?.languageCode ?? 'en')}`;
      const body = JSON.stringify(from);
      const { path } = await request<{ path: string }>(app.serviceManager.serverSettings, route, {
        method: 'POST',
        body
      });
      const panel = (await app.commands.execute('docmanager:open', { path })) as NotebookPanel;
      await panel.context.ready;
      await panel.sessionContext.ready;
      const shown = panel.content.widgets.filter(({ model }) => model.type === 'code' && meta(model).role === 'hunt');
      await runEach(panel, shown);
    };
    app.commands.addCommand(HUNT, {
      label: trans.__('Bug hunt'),
      caption: trans.__('Open another bug hunt in this exercise or unit: code with a fault, to practise on'),
      icon: huntIcon,
      isEnabled: () => subject() !== null,
      isVisible: () => subject() !== null,
      execute: async () => {
        const from = subject();
        if (from) {
          await open(from).catch((error: unknown) =>
            Notification.error(error instanceof Error ? error.message : String(error), { autoClose: false })
          );
        }
      }
    });
    const changed = (): void => app.commands.notifyCommandChanged(HUNT);
    notebooks.activeCellChanged.connect(changed);
    notebooks.currentChanged.connect((_, panel) => {
      changed();
      void panel?.context.ready.then(changed); // the metadata arrive after the panel
    });
    toolbars?.addFactory(
      'Notebook',
      'tfkit-hunt',
      () => new CommandToolbarButton({ commands: app.commands, id: HUNT, label: trans.__('Bug hunt') })
    );
    palette?.addItem({ command: HUNT, category: trans.__('Course') });
  }
};
