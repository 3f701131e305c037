/** Reading mode: a lesson as a page to read and work in, until the reader wants the whole notebook; and what "Run All" passed over. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, ISanitizer, Sanitizer } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { languageOf } from '../../shared/language';
import { IPlace, targetOf } from '../../shared/nextStep';
import { request } from '../../shared/server';
import { inTab } from '../../shared/tab';
import { ICourse } from '../../shared/tokens';
import { ILesson, LessonReader } from './lesson';
import { watchPassedOver } from './passedover';

const READING = 'tfkit:reading';
const CHECK = 'tfkit:check';
const OPEN = 'tfkit:open-exercise';
const SOURCE = /(^|\/)source\//; // nbgrader's folder of notebooks with solutions

/** Whether a notebook is a lesson that a student reads, and not an instructor's source of it. */
function isLesson({ content, context }: NotebookPanel): boolean {
  const mark = content.model?.getMetadata('tfkit') as { unit?: unknown } | undefined;
  return typeof mark?.unit === 'string' && !SOURCE.test(context.localPath) && !inTab();
}

/** The keys of a command, as this system writes them: ⌃ or Ctrl. */
function keysOf(commands: CommandRegistry, command: string): string {
  const binding = commands.keyBindings.find(one => one.command === command);
  return binding ? CommandRegistry.formatKeystroke(binding.keys) : '';
}

export const readingPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:reading',
  description: 'Shows lessons as pages to read and work in.',
  autoStart: true,
  requires: [ICourse, INotebookTracker],
  optional: [ISettingRegistry, ITranslator, ISanitizer, ICommandPalette],
  activate: async (
    app: JupyterFrontEnd,
    course: ICourse,
    notebooks: INotebookTracker,
    registry: ISettingRegistry | null,
    translator: ITranslator | null,
    sanitizer: ISanitizer | null,
    palette: ICommandPalette | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const { serverSettings } = app.serviceManager;
    const readers = new Map<NotebookPanel, LessonReader>();
    let isOn = true;
    app.commands.addCommand(READING, {
      label: trans.__('Reading Mode of Lessons'),
      isToggled: () => isOn,
      execute: () => set(!isOn)
    });
    palette?.addItem({ command: READING, category: trans.__('Course') });
    watchPassedOver(notebooks, course, trans);
    const services = {
      course,
      trans,
      sanitizer: sanitizer ?? new Sanitizer(),
      check: () => void app.commands.execute(CHECK),
      leave: () => void set(false),
      open: (place: IPlace) => void app.commands.execute(OPEN, targetOf(place)),
      load: () => import('../../widgets/sharing'),
      keys: () => keysOf(app.commands, READING),
      seal: async (path: string, name: string, answers: unknown, sure: unknown) => {
        const body = JSON.stringify({ path, name, answers, sure });
        return (await request<{ card: string }>(serverSettings, 'lesson', { method: 'POST', body })).card;
      }
    };
    const open = async (panel: NotebookPanel): Promise<void> => {
      await panel.context.ready;
      const spoken = languageOf(panel.content.model?.getMetadata('tfkit'));
      if (spoken) {
        panel.content.node.lang = spoken;
      }
      if (!isLesson(panel)) {
        return;
      }
      const route = `lesson?path=${encodeURIComponent(panel.context.localPath)}`;
      const lesson = await request<ILesson>(serverSettings, route);
      if (!panel.isDisposed) {
        const reader = new LessonReader(panel, lesson, services);
        readers.set(panel, reader);
        panel.disposed.connect(() => readers.delete(panel));
        reader.on = isOn;
      }
    };
    const settings = await registry?.load(readingPlugin.id).catch(() => null);
    const follow = (): void => {
      isOn = settings?.composite.on !== false;
      readers.forEach(reader => (reader.on = isOn));
      app.commands.notifyCommandChanged(READING);
    };
    async function set(on: boolean): Promise<void> {
      await settings?.set('on', on);
    }
    settings?.changed.connect(follow);
    follow();
    const start = (panel: NotebookPanel): void =>
      void open(panel).catch((error: unknown) => console.warn('tfkit: reading mode is off for this notebook', error));
    notebooks.forEach(start);
    notebooks.widgetAdded.connect((_, panel) => start(panel));
  }
};
