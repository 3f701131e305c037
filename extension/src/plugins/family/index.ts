/** The family tree of the architectures; a click compares a child with its parent module by module. */
import { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget } from '@jupyterlab/apputils';
import { ServerConnection } from '@jupyterlab/services';
import { ITranslator, nullTranslator, TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { pageArea } from '../../shared/area';
import { courseIcon } from '../../shared/icons';
import { request } from '../../shared/server';
import { ITraceViews } from '../../shared/tokens';
import { h } from '../../widgets/dom';
import { RecordedModel } from '../../widgets/model';

const SHOW = 'tfkit:family';

export interface IRelative {
  readonly name: string;
  readonly parent: string | null;
  readonly differs: string;
}

/** The children of a model, or those without a parent among the others. */
export function childrenOf(all: readonly IRelative[], parent: string | null): IRelative[] {
  const names = new Set(all.map(relative => relative.name));
  return all.filter(relative => (relative.parent && names.has(relative.parent) ? relative.parent : null) === parent);
}

type Trace = Record<string, unknown> & { kind: string };

class FamilyWidget extends Widget {
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    private readonly _views: ITraceViews,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('tfkit-Family');
    this.id = 'tfkit-family';
    this.title.label = _trans.__('Family of Models');
    this.title.icon = courseIcon;
    this.title.closable = true;
    this.node.append(this._tree, this._detail);
    void this._load();
  }

  dispose(): void {
    this._cleanup?.();
    super.dispose();
  }

  private async _load(): Promise<void> {
    try {
      this._all = (await request<{ models: IRelative[] }>(this._settings, 'family')).models;
      this._tree.replaceChildren(h('h2', {}, this._trans.__('Family of Models')), this._branch(null));
    } catch (error) {
      this._tree.replaceChildren(h('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  private _branch(parent: string | null): HTMLElement {
    const items = childrenOf(this._all, parent).map(relative => {
      const button = h('button', { type: 'button', 'aria-pressed': 'false' }, relative.name);
      button.onclick = () => void this._choose(relative, button);
      return h(
        'li',
        {},
        button,
        h('small', {}, ` ${relative.differs}`),
        ...(childrenOf(this._all, relative.name).length ? [this._branch(relative.name)] : [])
      );
    });
    return h('ul', {}, ...items);
  }

  private async _choose(relative: IRelative, button: HTMLElement): Promise<void> {
    this._tree
      .querySelectorAll('button')
      .forEach(other => other.setAttribute('aria-pressed', String(other === button)));
    const known = this._all.some(other => other.name === relative.parent);
    const query = known ? `${relative.parent}/${relative.name}` : relative.name;
    this._cleanup?.();
    this._cleanup = undefined;
    this._detail.replaceChildren(h('p', {}, this._trans.__('Building %1 …', relative.name)));
    this._detail.scrollIntoView({ block: 'nearest' }); // in a narrow window it stands below the tree
    try {
      const trace = await request<Trace>(this._settings, `anatomy/${query}`);
      const view = this._views.find(trace.kind);
      this._detail.replaceChildren();
      this._cleanup = view?.mount(new RecordedModel({ trace }), this._detail);
      this._detail.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      this._detail.replaceChildren(h('p', { role: 'alert' }, error instanceof Error ? error.message : String(error)));
    }
  }

  private _all: IRelative[] = [];
  private readonly _tree = h('nav', { 'aria-label': 'Family of models' });
  private readonly _detail = h('div', {
    className: 'tfkit-Family-detail',
    role: 'region',
    'aria-label': 'What differs',
    'aria-live': 'polite'
  });
  private _cleanup?: () => void;
}

export const familyPlugin: JupyterFrontEndPlugin<void> = {
  id: '@tfkit/lab:family',
  description: 'The family tree of the architectures, with what each child changes.',
  autoStart: true,
  requires: [ITraceViews],
  optional: [ITranslator, ICommandPalette],
  activate: (
    app: JupyterFrontEnd,
    views: ITraceViews,
    translator: ITranslator | null,
    palette: ICommandPalette | null
  ) => {
    const trans = (translator ?? nullTranslator).load('tfkit_lab');
    let open: MainAreaWidget<FamilyWidget> | null = null;
    app.commands.addCommand(SHOW, {
      label: trans.__('Family of Models'),
      caption: trans.__('The tree of the architectures, and what each changes in its parent'),
      icon: courseIcon,
      execute: () => {
        if (!open || open.isDisposed) {
          open = new MainAreaWidget({ content: new FamilyWidget(app.serviceManager.serverSettings, views, trans) });
          open.id = 'tfkit-family-area';
          app.shell.add(open, pageArea(app));
        }
        app.shell.activateById(open.id);
      }
    });
    palette?.addItem({ command: SHOW, category: trans.__('Course') });
  }
};
