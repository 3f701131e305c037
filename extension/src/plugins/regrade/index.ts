/** A student asks the instructor to look at a question again; the request goes through nbgrader's exchange. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, ICommandPalette, Notification, showDialog } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { request } from '../../shared/server';
import { inTab } from '../../shared/tab';
import { h } from '../../widgets/dom';
import { questionOf } from './question';

const ASK = 'tfkit:ask-regrade';

/** The dialog's body: why the question should be looked at again. */
class Reason extends Widget {
  constructor(trans: TranslationBundle) {
    super();
    const words = trans.__(
      'Say in a sentence or two what was judged wrongly. Your instructor reads it beside your answer as it was handed in; the reply is in your feedback.'
    );
    this.addClass('tfkit-Reason');
    this.node.append(h('label', {}, words, this._text));
  }

  getValue(): string {
    return this._text.value.trim();
  }

  private readonly _text = h('textarea', { rows: 4, maxLength: 2000 });
}

export const regradePlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:regrade',
  description: 'Lets a student ask for a regrade of a question.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    const question = (): string | null => (inTab() ? null : questionOf(notebooks.activeCell?.model));
    app.commands.addCommand(ASK, {
      label: trans.__('Ask for a Regrade…'),
      caption: trans.__('Ask your instructor to look at the question of this cell again'),
      isEnabled: () => question() !== null,
      isVisible: () => question() !== null,
      execute: async () => {
        const [panel, cellQuestion] = [notebooks.currentWidget, question()];
        if (!panel || !cellQuestion) {
          return;
        }
        const body = new Reason(trans);
        const buttons = [Dialog.cancelButton(), Dialog.okButton({ label: trans.__('Send') })];
        const title = trans.__('Ask for a regrade: %1', cellQuestion);
        const { button, value } = await showDialog<string>({ title, body, buttons, focusNodeSelector: 'textarea' });
        if (!button.accept || !value) {
          return;
        }
        try {
          const sent = JSON.stringify({ path: panel.context.localPath, question: cellQuestion, reason: value });
          await request(app.serviceManager.serverSettings, 'regrade', { method: 'POST', body: sent });
          Notification.success(trans.__('Your request was sent. The reply will be in your feedback.'));
        } catch (error) {
          Notification.error(error instanceof Error ? error.message : String(error), { autoClose: false });
        }
      }
    });
    notebooks.activeCellChanged.connect(() => app.commands.notifyCommandChanged(ASK));
    palette?.addItem({ command: ASK, category: trans.__('Course') });
  }
};
