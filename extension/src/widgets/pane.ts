/** One run at one step: tokens, candidates, attention, hypotheses, cache. */
import { cacheView } from './cache';
import { candidateTable, draftTable, SelectToken } from './candidates';
import { h, visibleToken } from './dom';
import { heatmap, IHeatmap } from './heatmap';
import {
  chosenFrom,
  clamp,
  focus,
  tokenIdsTo,
  INode,
  ITrace,
  queryRow,
  rowLabels,
  countSteps,
  tokensSoFar
} from './trace';
import { markToken } from './highlight';
import { hypotheses, TreeView } from './tree';
import { translated } from './words';

export interface IPaneState {
  step: number; // of the whole, tokens chosen by hand included
  layer: number;
  head: number;
  pinned: number;
  divergence: number;
}

/** Updates the items of a list, and changes only those that differ, because texts may be long. */
function relabel(list: HTMLElement, wanted: { text: string; kind: string; now: boolean }[]): void {
  wanted.forEach(({ text, kind, now }, i) => {
    const item = list.children[i] ?? list.appendChild(h('li'));
    if (item.textContent !== text) {
      markToken(item, (item.textContent = text));
    }
    if (item.className !== kind) {
      item.className = kind;
      if (now) {
        item.setAttribute('aria-current', 'step');
      } else {
        item.removeAttribute('aria-current');
      }
    }
  });
  while (list.childElementCount > wanted.length) {
    list.lastElementChild!.remove();
  }
}

export class Pane {
  readonly node = h('div', { className: 'tfk-pane' });
  wanted = -1;

  /** `take` gets the ids that lead to the step, followed by the wanted token; `room`: pixels for a map, if not as usual. */
  constructor(
    readonly trace: ITrace,
    private readonly _take: ((ids: number[], name: string) => void) | null,
    private readonly _room?: number
  ) {
    const row = h('div', { className: 'tfk-row' }, this._candidates, this._pinned, this._draft);
    this._heatmaps = this._addMaps(row);
    const source = (trace.source ?? []).map(token =>
      markToken(h('li', { className: 'tfk-source' }, visibleToken(token)), visibleToken(token))
    );
    if (source.length) {
      this.node.append(h('ol', { className: 'tfk-toks', 'aria-label': translated('Source') }, ...source));
    }
    this._tree.append(h('h4', {}, translated('Beam')), this._beam.node, this._list);
    this.node.append(this._tokens, row, this._tree, this._cache);
  }

  get maps(): [number, number] {
    const { self, cross } = this.trace.attention ?? {};
    return [(self ?? cross)?.layers ?? 0, (self ?? cross)?.heads ?? 0];
  }

  /** The hypotheses alive at a step; empty where the tokens were chosen by hand or the run has ended. */
  live(step: number): number[] {
    return this.trace.steps[step - (this.trace.offset ?? 0)]?.live ?? [];
  }

  /** Draws a step; returns its description in words. */
  draw(shownNow: IPaneState): string {
    const { trace } = this;
    const step = shownNow.step - (trace.offset ?? 0);
    const inside = step >= 0 && step < trace.steps.length;
    const at = clamp(step, 0, Math.max(0, trace.steps.length - 1));
    const node = focus(trace, at, this.wanted);
    const taken = inside ? chosenFrom(trace, step, node) : null;
    this._drawTokens(shownNow, inside ? node : -1, taken);
    this._drawStep(inside ? step : -1, node, shownNow);
    for (const part of this.node.querySelectorAll<HTMLElement>('.tfk-map')) {
      part.hidden = !inside;
    }
    if (!inside) {
      return step < 0 ? translated('chosen by hand') : translated('this run has ended');
    }
    return taken ? translated('chose %1', visibleToken(taken.token)) : translated('this hypothesis was dropped');
  }

  private _drawStep(step: number, node: number, state: IPaneState): void {
    const { trace } = this;
    const some = step >= 0;
    const take: SelectToken = this._take && ((token, name) => this._take?.([...tokenIdsTo(trace, node), token], name));
    const before = [...this._candidates.querySelectorAll<HTMLElement>('.tfk-p')].map(bar => bar.style.width);
    const place = some ? chosenFrom(trace, step, node)?.place : undefined;
    const title = place === undefined ? translated('Next token') : translated('Token at position %1', place);
    this._candidates.setAttribute('aria-label', title);
    this._candidates.replaceChildren(...(some ? [h('h4', {}, title), candidateTable(trace, step, node, take)] : []));
    this._candidates.querySelectorAll<HTMLElement>('.tfk-p').forEach((bar, i) => {
      bar.style.setProperty('--tfk-from', before[i] ?? '0'); // from where the bar of this rank was
    });
    const draft = some ? draftTable(trace, step) : null;
    this._draft.replaceChildren(...(draft ? [draft] : []));
    const cache = some ? cacheView(trace.steps[step].cache) : null;
    this._cache.replaceChildren(...(cache ? [cache] : []));
    this._drawTree(step);
    this._drawPinned(state);
    if (some) {
      this._drawMaps(step, node, state);
    }
  }

  private _drawPinned({ step, pinned }: IPaneState): void {
    const { trace } = this;
    const at = pinned - (trace.offset ?? 0);
    const there = pinned >= 0 && pinned !== step && trace.steps[at];
    const title = h('h4', {}, translated('Pinned: step %1', pinned + 1));
    this._pinned.hidden = !there;
    this._pinned.replaceChildren(...(there ? [title, candidateTable(trace, at, focus(trace, at), null)] : []));
  }

  private _drawTokens({ step, divergence }: IPaneState, node: number, taken: INode | null): void {
    const { trace } = this;
    const forced = trace.offset ?? 0;
    const whole = node < 0 && step >= countSteps(trace);
    const words =
      node >= 0
        ? tokensSoFar(trace, node)
        : whole
          ? rowLabels(trace)
          : trace.prompt.slice(0, trace.prompt.length - forced + step + 1);
    const start = Math.max(1, trace.prompt.length) - forced;
    const items = words.map((token, i) => ({
      text: visibleToken(token),
      kind: this._kind(i - start, divergence),
      now: false
    }));
    if (taken) {
      const now = { text: visibleToken(taken.token), kind: `tfk-now ${this._kind(step, divergence)}`, now: true };
      items[taken.place ?? items.length] = now;
    }
    relabel(this._tokens, items);
    this._tokens.scrollTop = this._tokens.scrollHeight; // a long text shows its end, where the step is
  }

  private _kind(step: number, parting: number): string {
    const forced = step >= 0 && step < (this.trace.offset ?? 0) ? 'tfk-forced' : '';
    return step >= 0 && step === parting ? `${forced} tfk-parting` : forced;
  }

  private _drawMaps(step: number, node: number, { layer, head }: IPaneState): void {
    const rows = rowLabels(this.trace);
    const query = queryRow(this.trace, step);
    const aside = !this.trace.path.includes(node);
    const [layers, heads] = this.maps;
    const at = { layer: clamp(layer, 0, layers - 1), head: clamp(head, 0, heads - 1) };
    for (const [map, columns] of this._heatmaps) {
      map.draw({ rows, columns, query, ...at, aside });
    }
  }

  private _drawTree(step: number): void {
    const branches = step >= 0 && this.trace.steps.some(s => s.live.length > 1);
    this._tree.hidden = !branches;
    if (branches) {
      this._beam.draw(this.trace, step);
      this._list.replaceChildren(hypotheses(this.trace, step));
    }
  }

  private _addMaps(row: HTMLElement): [IHeatmap, string[]][] {
    const { self, cross } = this.trace.attention ?? {};
    const found: [IHeatmap, string[]][] = [];
    if (self) {
      found.push([heatmap(translated('Self-attention'), self, this._room), rowLabels(this.trace)]);
    }
    if (cross) {
      found.push([heatmap(translated('Attention to the source'), cross, this._room), this.trace.source ?? []]);
    }
    row.append(...found.map(([map]) => map.node));
    return found;
  }

  private readonly _tokens = h('ol', { className: 'tfk-toks', 'aria-label': translated('Tokens so far') });
  private readonly _candidates = h('section', { role: 'group' });
  private readonly _pinned = h('section', { role: 'group', 'aria-label': translated('Pinned step'), hidden: true });
  private readonly _draft = h('div');
  private readonly _tree = h('section', { role: 'group', 'aria-label': translated('Beam') });
  private readonly _list = h('div', {
    className: 'tfk-scroll',
    tabIndex: 0,
    role: 'group',
    'aria-label': translated('Hypotheses after this step')
  });
  private readonly _beam = new TreeView();
  private readonly _cache = h('div');
  private readonly _heatmaps: [IHeatmap, string[]][] = [];
}
