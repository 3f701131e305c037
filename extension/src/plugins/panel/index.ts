/** The course panel: units, their exercises, the state of each; a click opens the notebook at the exercise. */
import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { exerciseOf } from '../../shared/cells';
import { courseIcon } from '../../shared/icons';
import { ICourse } from '../../shared/tokens';
import { CoursePanel, IShown, Open } from './panel';

const SHOW = 'tfkit:show-course';
const OPEN = 'tfkit:open-exercise';
const HOME = 'tfkit:home';

export const panelPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:panel',
  description: 'A side panel with the units of the course and the state of each exercise.',
  autoStart: true,
  requires: [ICourse],
  optional: [ITranslator, ICommandPalette, ILayoutRestorer, ISettingRegistry, INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    course: ICourse,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null,
    notebooks: INotebookTracker | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const open: Open = to => void app.commands.execute(OPEN, to);
    const panel = new CoursePanel(course, trans, open, () => void app.commands.execute(HOME));
    notebooks?.activeCellChanged.connect((_, cell) => {
      panel.here = exerciseOf(cell?.model);
    });
    app.commands.addCommand(SHOW, {
      label: trans.__('Show the Course'),
      icon: courseIcon,
      execute: () => app.shell.activateById(panel.id)
    });
    palette?.addItem({ command: SHOW, category: trans.__('Course') });
    app.shell.add(panel, 'left', { rank: 90 });
    restorer?.add(panel, panel.id);
    void registry?.load(panelPlugin.id).then(settings => {
      const follow = (): void => {
        panel.shown = settings.composite as unknown as IShown;
      };
      settings.changed.connect(follow);
      follow();
    });
  }
};
