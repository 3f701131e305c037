/** Provides the registry of trace views, with ours in it. Needs nothing, so it loads on every page; and lends the views the lab's language. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { ITraceView, ITraceViews } from '../../shared/tokens';
import { VIEWS } from '../../generated/views';
import { translateBy } from '../../widgets/words';

export class TraceViews implements ITraceViews {
  add(view: ITraceView): void {
    this._views.unshift(view);
  }

  find(kind: string): ITraceView | null {
    return this._views.find(view => view.accepts(kind)) ?? null;
  }

  private readonly _views: ITraceView[] = [];
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
    for (const [name, mount] of Object.entries(VIEWS)) {
      views.add({ name, accepts: kind => kind === name, mount });
    }
    return views;
  }
};
