/** The page on which the lab opens: a tab, a launcher card and a command. */
import { ILabShell, ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher, Launcher } from '@jupyterlab/launcher';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import { pageArea } from '../../shared/area';
import { courseIcon } from '../../shared/icons';
import { ICourse } from '../../shared/tokens';
import { HomePage } from './page';

const HOME = 'tfkit:home';
const TOUR = 'tfkit:tour';
const OPEN = 'tfkit:open-exercise';
const NARROW_PX = 700;

const isLauncher = (widget: Widget): boolean => widget instanceof MainAreaWidget && widget.content instanceof Launcher;

/** Replaces the launcher by the home page, if the lab shows nothing else and its folder has course notebooks. */
async function openAtStart(
  shell: ILabShell,
  course: ICourse,
  isFirst: boolean,
  open: () => Promise<unknown>
): Promise<void> {
  if (!course.units.length) {
    await new Promise<void>(resolve => {
      const onChange = (): void => void (course.changed.disconnect(onChange), resolve());
      course.changed.connect(onChange);
    });
  }
  const shown = Array.from(shell.widgets('main'));
  if (course.units.length && shown.every(isLauncher)) {
    if (shell.node.clientWidth < NARROW_PX) {
      shell.collapseLeft(); // beside a panel there would be no room for the page
    } else if (
      isFirst &&
      Array.from(shell.widgets('left')).some(({ id, isVisible }) => id === 'filebrowser' && isVisible)
    ) {
      shell.activateById('tfkit-course'); // instead of the file list; a panel that the reader has chosen stays
    }
    await open();
    shown.forEach(launcher => launcher.dispose()); // not before, since an empty main area opens another
  }
}

export const homePlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:home',
  description: 'The page on which the lab opens: what is done, what is next, a search, and the units.',
  autoStart: true,
  requires: [ICourse],
  optional: [ITranslator, ICommandPalette, ILauncher, ILabShell, ILayoutRestorer, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    course: ICourse,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    shell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const settings = registry?.load(homePlugin.id) ?? Promise.resolve(null);
    const seen = (): Promise<void> => settings.then(kept => kept?.set('tour', false)); // for all browsers of this person
    const tracker = new WidgetTracker<MainAreaWidget<HomePage>>({ namespace: 'tfkit-home' });
    app.commands.addCommand(HOME, {
      label: trans.__('Course: Home'),
      caption: trans.__('What is done, what is next, and a search over the course'),
      icon: courseIcon,
      execute: async () => {
        let area = tracker.find(() => true);
        if (!area) {
          area = new MainAreaWidget({
            content: new HomePage(course, trans, to => void app.commands.execute(OPEN, to))
          });
          area.id = 'tfkit-home-area';
          area.toolbar.hide(); // it has no buttons
          app.shell.add(area, pageArea(app));
          await tracker.add(area);
          void settings.then(kept => kept?.composite.tour && area?.content.showTour(() => void seen()));
        }
        app.shell.activateById(area.id);
        void course.refresh(); // what kernels have stored since: answers of predictions, questions from before
      }
    });
    app.commands.addCommand(TOUR, {
      label: trans.__('Course: Tour'),
      caption: trans.__('A one-minute tour of the home page'),
      execute: async () => {
        await app.commands.execute(HOME);
        tracker.find(() => true)?.content.showTour(() => void seen());
      }
    });
    palette?.addItem({ command: TOUR, category: trans.__('Course') });
    palette?.addItem({ command: HOME, category: trans.__('Course') });
    launcher?.add({ command: HOME, category: trans.__('Course'), rank: 0 });
    void restorer?.restore(tracker, { command: HOME, name: () => 'home' });
    void Promise.all([settings, app.restored]).then(([kept]) => {
      if (kept?.composite.openAtStart !== false && shell) {
        return openAtStart(shell, course, kept?.composite.tour === true, () => app.commands.execute(HOME));
      }
    });
  }
};
