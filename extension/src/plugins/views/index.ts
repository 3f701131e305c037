/** Provides the registry of trace views, with ours in it. Needs nothing, so it loads on every page; and lends the views the lab's language. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { ITraceView, ITraceViews } from '../../shared/tokens';
import { mount as anatomy } from '../../widgets/anatomy';
import { mount as attention } from '../../widgets/attention';
import { mount as corruption } from '../../widgets/corruption';
import { mount as matrices } from '../../widgets/matrices';
import { Mount } from '../../widgets/picture';
import { mount as retrieval } from '../../widgets/retrieval';
import { mount as decoding } from '../../widgets/stepper';
import { mount as training } from '../../widgets/training';
import { translateBy } from '../../widgets/words';

/** Ours: kind of trace -> how it is drawn. */
export const OURS: Record<string, Mount> = { anatomy, attention, corruption, decoding, matrices, retrieval, training };

export class TraceViews implements ITraceViews {
  add(view: ITraceView): void {
    this._views.unshift(view);
  }

  find(kind: string): ITraceView | null {
    return this._views.find(view => view.accepts(kind)) ?? null;
  }

  private _views: ITraceView[] = [];
}

export const viewsPlugin: JupyterFrontEndPlugin<ITraceViews> = {
  id: '@tfkit/lab:views',
  description: 'Provides the registry of views that draw recorded traces.',
  autoStart: true,
  optional: [ITranslator],
  provides: ITraceViews,
  activate: (_: JupyterFrontEnd, translator: ITranslator | null) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    translateBy((english, ...values) => trans.gettext(english, ...values.map(String)));
    const views = new TraceViews();
    for (const [name, mount] of Object.entries(OURS)) {
      views.add({ name, accepts: kind => kind === name, mount });
    }
    return views;
  }
};
