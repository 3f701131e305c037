/** Provides the registry of trace views with the built-in ones, and translations for them. It requires no other plugin. */
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
