/** Draws recorded traces without a kernel, and shows the live widget instead while the kernel has its model. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PageConfig } from '@jupyterlab/coreutils';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { ITranslator } from '@jupyterlab/translation';
import { JSONObject } from '@lumino/coreutils';
import { Panel, Widget } from '@lumino/widgets';
import { request } from '../../shared/server';
import { ITraceViews } from '../../shared/tokens';
import { h } from '../../widgets/dom';
import { RecordedModel } from '../../widgets/model';
import { shareBy } from '../../widgets/share';
import { DebouncedChanges } from './gather';
import { IViewLink, linkHash, readLink } from './link';

export const MIME = 'application/vnd.tfkit.trace.v1+json';
const WIDGET_VIEW = 'application/vnd.jupyter.widget-view+json';
const RANK = -20; // ipywidgets registers its renderer at -10
const PAUSE_MS = 300; // delay before the state is saved, which avoids rewriting the document at each step
const RESTORE_MS = 30000; // how long a kernel may take to restore its widgets

interface IPayload {
  trace?: { kind?: string };
  model_id?: string;
  [state: string]: unknown; // the shown part of the trace
}

let linked: IViewLink | null = readLink(location); // before JupyterLab's router changes the address

/** The cell that contains a node, and the index of its view in that cell. */
function placeOf(node: HTMLElement, panel: NotebookPanel): { cell: string; place: number } | null {
  const cell = panel.content.widgets.find(one => one.node.contains(node));
  const views = cell ? [...cell.node.querySelectorAll('.tfkit-Trace')] : [];
  return cell ? { cell: cell.model.id, place: views.findIndex(view => view.contains(node)) } : null;
}

class TraceRenderer extends Panel implements IRenderMime.IRenderer {
  constructor(
    private readonly _views: ITraceViews,
    private readonly _panel: NotebookPanel
  ) {
    super();
    this.addClass('tfkit-Trace');
    this.addWidget(new Widget({ node: this._recorded }));
    this.node.addEventListener('tfkit:state', event => this._changes.add((event as CustomEvent<JSONObject>).detail));
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const payload = (model.data[MIME] ?? {}) as IPayload;
    this._model = model;
    if (this._shown && this._shown === payload.model_id) {
      return Promise.resolve(); // this event comes from setData below
    }
    this._shown = payload.model_id ?? 'recorded';
    this._showRecorded();
    if (payload.model_id) {
      void this._tryLive(payload.model_id);
    }
    return Promise.resolve();
  }

  /** Shows what a link to this view asks for. */
  protected onAfterAttach(): void {
    const here = linked && linked.path === this._panel.context.path ? placeOf(this.node, this._panel) : null;
    if (linked && here && here.cell === linked.cell && here.place === linked.place) {
      const { state } = linked;
      linked = null;
      this._showRecorded(state);
      this._keep(state as JSONObject);
      const cell = this._panel.content.widgets.find(one => one.model.id === here.cell)!;
      void this._panel.content.scrollToCell(cell, 'start');
    }
  }

  dispose(): void {
    this._changes.dispose();
    this._watch?.disconnect();
    this._cleanup?.();
    super.dispose();
  }

  private _showRecorded(state: Record<string, unknown> = {}): void {
    const payload = (this._model?.data[MIME] ?? {}) as IPayload;
    const view = this._views.find(payload.trace?.kind ?? '');
    this._cleanup?.();
    if (!view) {
      const why = `no view draws traces of kind “${payload.trace?.kind}”`;
      this._recorded.replaceChildren(h('p', { role: 'alert' }, `This trace cannot be shown: ${why}.`));
      return;
    }
    this._cleanup = view.mount(new RecordedModel({ ...payload, ...state }), this._recorded);
  }

  /** Draws the live widget hidden, and replaces the recording by it when it is ready. */
  private async _tryLive(modelId: string): Promise<void> {
    const { rendermime } = this._panel.content;
    if (!rendermime.mimeTypes.includes(WIDGET_VIEW)) {
      return; // no widget manager on this page
    }
    const live = rendermime.createRenderer(WIDGET_VIEW);
    live.hide();
    this.addWidget(live);
    const data = { [WIDGET_VIEW]: { version_major: 2, version_minor: 0, model_id: modelId } };
    const drawn = appearance(live.node, RESTORE_MS);
    void live.renderModel(
      rendermime.createModel ? rendermime.createModel({ data }) : ({ data, metadata: {}, trusted: true } as never)
    );
    if ((await drawn) && !this.isDisposed) {
      this._cleanup?.();
      this._cleanup = undefined;
      live.show();
      this._watchLive(live);
    } else {
      live.dispose();
    }
  }

  /** When the kernel is gone, replaces its widget by the recording, at the last step. */
  private _watchLive(live: Widget): void {
    this._watch = new MutationObserver(() => {
      if (!live.node.querySelector('.tfk')) {
        this._watch?.disconnect();
        live.dispose();
        this._showRecorded();
      }
    });
    this._watch.observe(live.node, { childList: true, subtree: true });
  }

  /** Writes the shown state into the notebook, so that a saved file reopens in the same state. */
  private _keep(changes: JSONObject): void {
    if (this._model && !this.isDisposed) {
      const payload = this._model.data[MIME] as JSONObject;
      this._model.setData({ data: { ...this._model.data, [MIME]: { ...payload, ...changes } } });
    }
  }

  private readonly _recorded = h('div');
  private _model?: IRenderMime.IMimeModel;
  private _cleanup?: () => void;
  private _watch?: MutationObserver;
  private _shown = '';
  private readonly _changes = new DebouncedChanges(changes => this._keep(changes), PAUSE_MS);
}

/** Whether a stepper appears under a node within a time. */
function appearance(node: HTMLElement, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const done = (found: boolean): void => {
      observer.disconnect();
      window.clearTimeout(timer);
      resolve(found);
    };
    const observer = new MutationObserver(() => node.querySelector('.tfk') && done(true));
    const timer = window.setTimeout(() => done(!!node.querySelector('.tfk')), ms);
    observer.observe(node, { childList: true, subtree: true });
  });
}

export const mimePlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:mime',
  description: 'Renders recorded traces, with or without a kernel.',
  autoStart: true,
  requires: [ITraceViews, INotebookTracker],
  optional: [ITranslator],
  activate: (app: JupyterFrontEnd, views: ITraceViews, notebooks: INotebookTracker, translator: ITranslator | null) => {
    shareBy({
      load: () => import('../../widgets/sharing'),
      page: async (title, state) => {
        const body = JSON.stringify({ title, state, language: translator?.languageCode ?? 'en' });
        const { html } = await request<{ html: string }>(app.serviceManager.serverSettings, 'page', {
          method: 'POST',
          body
        });
        return html;
      },
      link: (root, state) => {
        const panel = notebooks.find(one => one.node.contains(root));
        const at = panel && placeOf(root, panel);
        const alone = location.pathname.includes('/notebooks/'); // Notebook 7
        const address = alone ? location.href.split('#')[0] : PageConfig.getUrl({ treePath: panel?.context.path });
        return at ? address + linkHash(at.cell, at.place, state) : null;
      }
    });
    notebooks.widgetAdded.connect((_, panel) => {
      const createRenderer = (): IRenderMime.IRenderer => new TraceRenderer(views, panel);
      panel.content.rendermime.addFactory({ safe: true, mimeTypes: [MIME], createRenderer }, RANK);
    });
  }
};
