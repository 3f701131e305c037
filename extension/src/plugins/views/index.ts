/** Provides the registry of trace views, with the decoding stepper in it. Needs nothing, so it loads on every page. */
import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITraceView, ITraceViews } from '../../shared/tokens';
import { mount } from '../../widgets/stepper';

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
  provides: ITraceViews,
  activate: () => {
    const views = new TraceViews();
    views.add({ name: 'stepper', accepts: kind => kind === 'decoding', mount });
    return views;
  }
};
