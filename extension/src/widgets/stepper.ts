/** The decoding stepper: `mount(model, el)` draws a recorded run and lets one walk it in both directions. */
import { h, icon, shown } from './dom';
import { heatmap, IHeatmap } from './heatmap';
import { IModel } from './model';
import { CSS } from './style';
import { Candidate, chosenFrom, clamp, focus, ITrace, problem, queryRow, rowLabels, tokensSoFar } from './trace';
import { drawTree, hypotheses } from './tree';

const KEPT = ['step', 'layer', 'head'] as const;
const WATCHED = ['trace', ...KEPT];

class Stepper {
  readonly root = h('div', { className: 'tfk', tabIndex: 0, role: 'group', 'aria-label': 'Decoding stepper' });

  constructor(
    private _model: IModel,
    private _trace: ITrace
  ) {
    this._build();
    this.root.addEventListener('keydown', event => this._key(event));
    this.draw();
  }

  get step(): number {
    return clamp(Number(this._model.get('step')) || 0, 0, this._last);
  }

  /** Redraws only when something shown has changed: a set here comes back as an event of the model. */
  draw(): void {
    const state = [this.step, this._layer, this._head, this._wanted].join();
    if (state !== this._drawn) {
      this._drawn = state;
      this._draw();
    }
  }

  private get _last(): number {
    return Math.max(0, this._trace.steps.length - 1);
  }

  private get _maps(): [number, number] {
    const { self, cross } = this._trace.attention ?? {};
    return [(self ?? cross)?.layers ?? 0, (self ?? cross)?.heads ?? 0];
  }

  private get _layer(): number {
    return clamp(Number(this._model.get('layer')) || 0, 0, Math.max(0, this._maps[0] - 1));
  }

  private get _head(): number {
    return clamp(Number(this._model.get('head')) || 0, 0, Math.max(0, this._maps[1] - 1));
  }

  private _set(key: (typeof KEPT)[number], value: number): void {
    this._model.set(key, value);
    this._model.save_changes();
    this.draw();
    const detail = { step: this.step, layer: this._layer, head: this._head };
    this.root.dispatchEvent(new CustomEvent('tfkit:state', { bubbles: true, detail }));
  }

  private _go(step: number): void {
    const to = clamp(step, 0, this._last);
    if (to !== this.step) {
      this._set('step', to);
    }
  }

  private _key(event: KeyboardEvent): void {
    if ((event.target as HTMLElement).matches('select,input') || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const keys: Record<string, number> = { ArrowRight: this.step + 1, ArrowLeft: this.step - 1, Home: 0, End: this._last };
    const to = keys[event.key];
    if (to !== undefined) {
      event.preventDefault();
      event.stopPropagation(); // the notebook has uses of its own for these keys
      this._go(to);
    }
  }

  private _button(name: Parameters<typeof icon>[0], label: string, key: string, to: () => number): HTMLButtonElement {
    const title = `${label} (${key})`;
    return h('button', { type: 'button', title, 'aria-label': label, onclick: () => this._go(to()) }, icon(name));
  }

  private _choice(label: string, count: number, pick: (value: number) => void): HTMLSelectElement {
    const options = Array.from({ length: count }, (_, i) => h('option', { value: String(i) }, String(i + 1)));
    const select = h('select', { 'aria-label': label }, ...options);
    select.onchange = () => pick(Number(select.value));
    return select;
  }

  private _build(): void {
    const bar = h('div', { className: 'tfk-bar', role: 'toolbar', 'aria-label': 'Steps' });
    bar.append(this._first, this._back, this._forward, this._end, this._slider, this._place);
    this._slider.max = String(this._last);
    this._slider.oninput = () => this._go(Number(this._slider.value));
    if (this._maps[0]) {
      bar.append(h('label', {}, 'Layer', this._layers), h('label', {}, 'Head', this._heads));
    }
    if (this._trace.steps.some(s => s.live.length > 1)) {
      this._beam.onchange = () => {
        this._wanted = Number(this._beam.value);
        this.draw();
      };
      bar.append(h('label', {}, 'Hypothesis', this._beam));
    }
    const heading = h('h3', {}, this._trace.title || `Decoding: ${this._trace.strategy}`);
    this.root.append(h('style', {}, CSS), heading, bar, this._tokens);
    const row = h('div', { className: 'tfk-row' }, this._candidates);
    this._heatmaps = this._addMaps(row);
    this.root.append(row, this._tree, this._live);
  }

  private _addMaps(row: HTMLElement): [IHeatmap, string[]][] {
    const { self, cross } = this._trace.attention ?? {};
    const found: [IHeatmap, string[]][] = [];
    if (self) {
      found.push([heatmap('Self-attention', self), rowLabels(this._trace)]);
    }
    if (cross) {
      found.push([heatmap('Attention to the source', cross), this._trace.source ?? []]);
    }
    row.append(...found.map(([map]) => map.node));
    return found;
  }

  private _draw(): void {
    const { step } = this;
    const node = focus(this._trace, step, this._wanted);
    const taken = chosenFrom(this._trace, step, node);
    const count = this._trace.steps.length;
    this._slider.value = String(step);
    this._slider.setAttribute('aria-valuetext', `step ${step + 1} of ${count}`);
    this._place.textContent = `step ${Math.min(count, step + 1)} of ${count}`;
    this._first.disabled = this._back.disabled = step <= 0;
    this._forward.disabled = this._end.disabled = step >= this._last;
    this._layers.value = String(this._layer);
    this._heads.value = String(this._head);
    this._drawTokens(node, taken?.token);
    this._drawCandidates(node, taken?.token_id);
    this._drawMaps(!this._trace.path.includes(node));
    this._drawBeam(node);
    this._live.textContent = taken
      ? `Step ${step + 1} of ${count}: chose ${shown(taken.token)}`
      : `Step ${step + 1} of ${count}: this hypothesis was dropped`;
  }

  private _drawTokens(node: number, next: string | undefined): void {
    const items = tokensSoFar(this._trace, node).map(token => h('li', {}, shown(token)));
    if (next !== undefined) {
      items.push(h('li', { className: 'tfk-now', 'aria-current': 'step' }, shown(next)));
    }
    const source = (this._trace.source ?? []).map(token => h('li', { className: 'tfk-source' }, shown(token)));
    this._tokens.replaceChildren(
      ...(source.length ? [h('ol', { className: 'tfk-toks', 'aria-label': 'Source' }, ...source)] : []),
      h('ol', { className: 'tfk-toks', 'aria-label': 'Tokens so far' }, ...items)
    );
  }

  private _drawCandidates(node: number, taken: number | undefined): void {
    const now = this._trace.steps[this.step];
    const entropy = now?.entropy[String(node)];
    const body = h('tbody', {}, ...(now?.topk[String(node)] ?? []).map(candidate => candidateRow(candidate, taken)));
    const head = h('tr', {}, ...['token', 'p'].map(t => h('th', { scope: 'col' }, t)), h('td', { 'aria-hidden': 'true' }));
    this._candidates.replaceChildren(
      h('h4', {}, 'Next token'),
      h('table', { 'aria-label': 'Most probable next tokens' }, h('thead', {}, head), body),
      h('p', { className: 'tfk-note' }, entropy === undefined ? '' : `Entropy ${entropy.toFixed(2)} nats`)
    );
  }

  private _drawMaps(aside: boolean): void {
    const rows = rowLabels(this._trace);
    const query = queryRow(this._trace, this.step);
    for (const [map, columns] of this._heatmaps) {
      map.draw({ rows, columns, query, layer: this._layer, head: this._head, aside });
    }
  }

  private _drawBeam(node: number): void {
    const live = this._trace.steps[this.step]?.live ?? [];
    if (!this._beam.isConnected && !this._beam.parentElement) {
      return; // one hypothesis only: the tokens already show it
    }
    this._beam.replaceChildren(
      ...live.map((id, i) => h('option', { value: String(id) }, `${i + 1}: ${shown(this._trace.nodes[id].token)}`))
    );
    this._beam.value = String(node);
    this._tree.replaceChildren(
      h('h4', {}, 'Beam'),
      h('div', { className: 'tfk-tree', tabIndex: 0, role: 'region', 'aria-label': 'Beam tree' }, drawTree(this._trace, this.step)),
      hypotheses(this._trace, this.step)
    );
  }

  private _first = this._button('first', 'First step', 'Home', () => 0);
  private _back = this._button('back', 'Step back', 'Left arrow', () => this.step - 1);
  private _forward = this._button('forward', 'Step forward', 'Right arrow', () => this.step + 1);
  private _end = this._button('last', 'Last step', 'End', () => this._last);
  private _slider = h('input', { type: 'range', min: '0', 'aria-label': 'Step' });
  private _place = h('span', { 'aria-hidden': 'true' });
  private _layers = this._choice('Layer', this._maps[0], value => this._set('layer', value));
  private _heads = this._choice('Head', this._maps[1], value => this._set('head', value));
  private _beam = h('select', { 'aria-label': 'Hypothesis' });
  private _tokens = h('div');
  private _candidates = h('section', { 'aria-label': 'Next token' });
  private _tree = h('section', { 'aria-label': 'Beam' });
  private _live = h('div', { className: 'tfk-sr', role: 'status', 'aria-live': 'polite' });
  private _heatmaps: [IHeatmap, string[]][] = [];
  private _wanted = -1;
  private _drawn = '';
}

function candidateRow([token, id, p]: Candidate, taken: number | undefined): HTMLElement {
  const bar = h('span', { className: 'tfk-p', 'aria-hidden': 'true' });
  bar.style.width = `${Math.round(p * 140)}px`;
  const mark = id === taken ? ' (chosen)' : '';
  const row = h('tr', { className: mark ? 'tfk-chosen' : '' });
  row.append(h('th', { scope: 'row' }, shown(token) + mark), h('td', {}, p.toFixed(3)), h('td', {}, bar));
  return row;
}

/** Draw the model's trace in `el`; returns what takes it away again, listeners and all. A broken trace is told in words. */
export function mount(model: IModel, el: HTMLElement): () => void {
  let view: Stepper | null = null;
  let node: HTMLElement | null = null;
  const rebuild = (): void => {
    node?.remove();
    const trace = model.get('trace');
    const wrong = problem(trace);
    view = wrong ? null : new Stepper(model, trace as ITrace);
    node = view?.root ?? h('div', { className: 'tfk tfk-error', role: 'alert' }, `This trace cannot be shown: ${wrong}.`);
    el.append(node);
  };
  const change = (): void => view?.draw();
  rebuild();
  for (const key of WATCHED) {
    model.on(`change:${key}`, key === 'trace' ? rebuild : change);
  }
  return () => {
    for (const key of WATCHED) {
      model.off(`change:${key}`, key === 'trace' ? rebuild : change);
    }
    node?.remove();
  };
}
