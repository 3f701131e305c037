/** For instructors: the results of the class and its most common misconceptions; opens submissions and starts the grading. */
import { ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, ISanitizer, MainAreaWidget, Sanitizer } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { pageArea } from '../../shared/area';
import { courseIcon } from '../../shared/icons';
import { request } from '../../shared/server';
import { ClassPanel, COMMANDS } from './classPage';
import { MarkingPage } from './marking';
import type { Ask } from './protocol';

const SHOW = 'tfkit:show-class';
const { grade: GRADE, mark: MARK, page: WIDE } = COMMANDS;

/** The part of JupyterLab's terminal widget that is used here, so that its package is not a dependency. */
interface ITerminalWidget {
  readonly content: { readonly session: { send(message: { type: 'stdin'; content: string[] }): void } };
}

/** Quotes a word for a shell. */
const quoted = (word: string): string => `'${word.replace(/'/g, "'\\''")}'`;

export const instructorPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:instructor',
  description: 'The results of the class, for instructors. Disable or lock it where students share the settings.',
  autoStart: true,
  optional: [ITranslator, ICommandPalette, ILayoutRestorer, ISanitizer],
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    sanitizer: ISanitizer | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const { commands, shell, serviceManager } = app;
    const ask: Ask = (route, body) =>
      request(serviceManager.serverSettings, route, body ? { method: 'POST', body: JSON.stringify(body) } : {});
    const panel = new ClassPanel({
      ask,
      sanitizer: sanitizer ?? new Sanitizer(),
      trans,
      language: translator?.languageCode ?? 'en',
      run: (command, args) => void commands.execute(command, args)
    });
    commands.addCommand(SHOW, {
      label: trans.__('Show the Class'),
      execute: () => {
        if (!panel.isAttached) {
          panel.title.label = '';
          panel.asPage = false;
          shell.add(panel, 'left', { rank: 910 });
          restorer?.add(panel, panel.id);
        }
        shell.activateById(panel.id);
      }
    });
    commands.addCommand(WIDE, {
      label: trans.__('Show the Class as a Page'),
      caption: trans.__('Which students are stuck on which exercise, and their predictions: to watch during a class'),
      execute: () => {
        panel.title.label = trans.__('Class'); // a tab of the main area has a name
        panel.asPage = true;
        shell.add(panel, pageArea(app));
        shell.activateById(panel.id);
      }
    });
    commands.addCommand(GRADE, {
      label: trans.__('Grade an Assignment'),
      isVisible: () => commands.hasCommand('terminal:create-new'),
      execute: async args => {
        const { course, python, assignment } = args as { course: string; python: string; assignment: string };
        const terminal = (await commands.execute('terminal:create-new', { cwd: course })) as ITerminalWidget;
        const line = `${quoted(python)} -m autograder grade . ${quoted(assignment)}`;
        terminal.content.session.send({ type: 'stdin', content: [`${line}\r`] });
      }
    });
    let area: MainAreaWidget<MarkingPage> | null = null;
    commands.addCommand(MARK, {
      label: trans.__('Mark Answers'),
      caption: trans.__('The answers to each question in turn, in groups of similar answers'),
      execute: () => {
        if (!area || area.isDisposed) {
          area = new MainAreaWidget({ content: new MarkingPage(ask, trans) });
          area.id = 'tfkit-marking-area';
          area.title.icon = courseIcon;
          area.toolbar.hide(); // it has no buttons
          shell.add(area, pageArea(app));
        }
        shell.activateById(area.id);
      }
    });
    palette?.addItem({ command: MARK, category: trans.__('Course') });
    palette?.addItem({ command: WIDE, category: trans.__('Course') });
    palette?.addItem({ command: SHOW, category: trans.__('Course') });
  }
};
