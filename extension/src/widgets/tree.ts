/** The hypotheses as a tree in SVG, windowed by step, and the same as a table. */
import { clipped, h, visibleToken, svg, tableHead } from './dom';
import { markToken } from './highlight';
import { INode, IPlaced, ITrace, layout, newestOfResult, sumLogProbs, tokensSoFar, visibleNodes } from './trace';
import { translated } from './words';

const LETTER = 6.7; // width of a letter in pixels
const MAX_LETTERS = 12; // of a token
const ROW = 20;
const GAP = 34; // for edges, between two columns

interface INodePosition extends IPlaced {
  left: number;
  top: number;
  label: string;
}

/** The position of each node's dot, so that no label is cut off or crossed by an edge: columns are as wide as their longest label. */
export function nodePositions(placed: IPlaced[]): INodePosition[] {
  const labels = placed.map(({ node }) => `${clipped(node.token, MAX_LETTERS)} ${node.score.toFixed(2)}`);
  const widths: number[] = [];
  placed.forEach((p, i) => (widths[p.x] = Math.max(widths[p.x] ?? 0, Array.from(labels[i]).length * LETTER)));
  const starts = widths.map((_, x) => 10 + widths.slice(0, x).reduce((sum, width) => sum + width + GAP, 0));
  return placed.map((p, i) => ({ ...p, label: labels[i], left: starts[p.x], top: 12 + p.y * ROW }));
}

const STATES: Record<INode['state'], () => string> = {
  live: () => translated('kept'),
  dropped: () => translated('dropped'),
  finished: () => translated('finished')
};

const endOf = (p: INodePosition): number => p.left + 12 + Array.from(p.label).length * LETTER;

function edge(from: INodePosition, to: INodePosition, best: boolean): SVGElement {
  const [x1, x2] = [endOf(from), to.left - 5];
  const middle = to.left - GAP / 2;
  return svg('path', {
    d: `M${x1} ${from.top}H${middle - GAP / 4}C${middle} ${from.top} ${middle} ${to.top} ${x2} ${to.top}`,
    ...(best ? { class: 'tfk-best' } : {})
  });
}

function dot(p: INodePosition, best: boolean, arrived: boolean): SVGElement {
  const { node } = p;
  const tooltip = svg(
    'title',
    {},
    translated(
      '%1: score %2, log p %3, %4',
      visibleToken(node.token),
      node.score.toFixed(3),
      node.logp.toFixed(3),
      STATES[node.state]()
    )
  );
  return svg(
    'g',
    { class: `tfk-${node.state}${best ? ' tfk-best' : ''}${arrived ? ' tfk-arrived' : ''}` },
    tooltip,
    svg('circle', { cx: p.left, cy: p.top, r: 4 }),
    markToken(svg('text', { x: p.left + 8, y: p.top + 4 }, p.label), visibleToken(node.token))
  );
}

/** The tree up to the candidates of a step. */
export function drawTree(trace: ITrace, step: number): SVGElement {
  const placed = nodePositions(layout(visibleNodes(trace, step)));
  const byId = new Map(placed.map(p => [p.node.id, p]));
  const best = new Set(trace.path);
  const width = Math.ceil(Math.max(...placed.map(endOf))) + 8;
  const height = Math.max(...placed.map(p => p.top)) + ROW;
  const label = translated('Hypotheses up to step %1; the table below lists them', step + 1);
  const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  for (const p of placed) {
    const parent = byId.get(p.node.parent);
    if (parent) {
      root.append(edge(parent, p, best.has(p.node.id) && best.has(parent.node.id)));
    }
  }
  root.append(...placed.map(p => dot(p, best.has(p.node.id), p.node.step === step + 1)));
  const newest = placed.filter(p => best.has(p.node.id)).sort((a, b) => b.x - a.x)[0];
  root.setAttribute('data-newest', String((newest?.top ?? 0) / height));
  return root;
}

const ZOOM = [0.5, 0.7, 1, 1.4, 2];
const PADDING = 4; // pixels, as in style.ts
const NEARLY = 0.9; // smaller than this share, a tree scrolls: its words would be hard to read

/** A tree in a region of its own, zoomed by buttons and the keys + and −; the zoom is kept from step to step. */
export class TreeView {
  readonly node = h('div', {
    className: 'tfk-tree',
    tabIndex: 0,
    role: 'group',
    'aria-label': translated('Beam tree')
  });

  constructor() {
    const button = (sign: string, label: string, by: number): HTMLElement =>
      h('button', { type: 'button', title: label, 'aria-label': label, onclick: () => this._zoom(by) }, sign);
    const bar = h('div', { className: 'tfk-zoom' });
    bar.append(button('−', translated('Smaller'), -1), button('+', translated('Larger'), 1));
    this.node.append(bar, h('span'));
    this.node.addEventListener('keydown', event => {
      const by = { '+': 1, '=': 1, '-': -1 }[event.key];
      if (by && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        event.stopPropagation();
        this._zoom(by);
      }
    });
  }

  draw(trace: ITrace, step: number): void {
    this._tree = drawTree(trace, step);
    this._natural = Number(this._tree.getAttribute('width'));
    this.node.lastElementChild!.replaceWith(this._tree);
    this._scale();
    if (this.node.isConnected) {
      this._show();
    } else {
      // the first time: nothing has a size before it is in the page
      requestAnimationFrame(() => {
        this._scale();
        this._show();
      });
    }
  }

  /** Scrolls the best hypothesis of the step into view. */
  private _show(): void {
    this.node.scrollLeft = this.node.scrollWidth;
    const [box, tree] = [this.node.getBoundingClientRect(), this._tree!.getBoundingClientRect()];
    const newest = Number(this._tree!.getAttribute('data-newest')) * tree.height; // a share of the drawing's height
    this.node.scrollTop += tree.top - box.top + newest - this.node.clientHeight / 2;
  }

  private _zoom(by: number): void {
    this._zoomLevel = Math.max(0, Math.min(ZOOM.length - 1, this._zoomLevel + by));
    this._scale();
  }

  /** As large as the reader asked for; a tree that is a little too wide for its box is made to fit instead. */
  private _scale(): void {
    const asked = this._natural * ZOOM[this._zoomLevel];
    const room = this.node.clientWidth - 2 * PADDING;
    const width = asked > room && asked * NEARLY <= room ? room : asked;
    this._tree?.setAttribute('width', String(width));
    this._tree?.removeAttribute('height'); // it follows the width by the drawing's own proportions
  }

  private _tree?: SVGElement;
  private _natural = 0;
  private _zoomLevel = ZOOM.indexOf(1);
}

/** How a score comes from a sum and a length. */
function formula(trace: ITrace): string {
  const penalty = trace.settings?.length_penalty;
  return typeof penalty === 'number' ? `; score = Σ log p / tokens^${penalty}` : '';
}

/** The hypothesis of the result, and those that a step kept and finished, with their scores. */
export function hypotheses(trace: ITrace, step: number): HTMLElement {
  const now = trace.steps[step];
  const body = h('tbody');
  const result = newestOfResult(trace, step);
  const first = result === undefined ? [] : [result];
  for (const id of new Set([...first, ...now.chosen, ...now.finished])) {
    const node = trace.nodes[id];
    const text = tokensSoFar(trace, id).slice(-12).map(visibleToken).join(' ');
    const [total, length] = sumLogProbs(trace, id);
    const cells = [
      total.toFixed(3),
      String(length),
      node.score.toFixed(3),
      (now.finished.includes(id) || node.state === 'finished' ? translated('finished') : translated('kept')) +
        (id === result ? ` · ${translated('the result')}` : '')
    ];
    const group = node.told?.group;
    body.append(
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, text),
        ...[...cells, ...(group ? [String(group)] : [])].map(t => h('td', {}, t))
      )
    );
  }
  const groups = trace.nodes.some(n => n.told?.group) ? [translated('group')] : [];
  const head = tableHead([
    translated('hypothesis'),
    'Σ log p',
    translated('tokens'),
    translated('score'),
    translated('state'),
    ...groups
  ]);
  return h('table', {}, h('caption', {}, translated('Hypotheses after this step') + formula(trace)), head, body);
}
