/** The hypotheses as a tree in SVG, windowed by step, and the same as a table. */
import { clipped, h, shown, svg, tableHead } from './dom';
import { IPlaced, ITrace, layout, summed, tokensSoFar, visibleNodes } from './trace';
import { translated } from './words';

const COLUMN = 112;
const ROW = 20;

const xOf = (p: IPlaced): number => 10 + p.x * COLUMN;
const yOf = (p: IPlaced): number => 12 + p.y * ROW;

function edge(from: IPlaced, to: IPlaced, best: boolean): SVGElement {
  const start = Math.min(xOf(from) + 70, xOf(to) - 12); // after the parent's words
  const ends = { x1: start, y1: yOf(from), x2: xOf(to) - 5, y2: yOf(to) };
  return svg('line', best ? { ...ends, class: 'tfk-best' } : ends);
}

function spot(p: IPlaced, best: boolean): SVGElement {
  const { node } = p;
  const words = `${clipped(node.token, 7)} ${node.score.toFixed(2)}`;
  const told = svg(
    'title',
    {},
    `${shown(node.token)}: score ${node.score.toFixed(3)}, log p ${node.logp.toFixed(3)}, ${node.state}`
  );
  return svg(
    'g',
    { class: `tfk-${node.state}${best ? ' tfk-best' : ''}` },
    told,
    svg('circle', { cx: xOf(p), cy: yOf(p), r: 4 }),
    svg('text', { x: xOf(p) + 8, y: yOf(p) + 4 }, words)
  );
}

/** The tree up to and including what a step tried. */
export function drawTree(trace: ITrace, step: number): SVGElement {
  const placed = layout(visibleNodes(trace, step));
  const byId = new Map(placed.map(p => [p.node.id, p]));
  const best = new Set(trace.path);
  const width = Math.max(...placed.map(xOf)) + COLUMN;
  const height = Math.max(...placed.map(yOf)) + ROW;
  const label = translated('Hypotheses up to step %1; the table below lists them', step + 1);
  const root = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  for (const p of placed) {
    const parent = byId.get(p.node.parent);
    if (parent) {
      root.append(edge(parent, p, best.has(p.node.id) && best.has(parent.node.id)));
    }
  }
  root.append(...placed.map(p => spot(p, best.has(p.node.id))));
  return root;
}

/** How a score comes from a sum and a length. */
function formula(trace: ITrace): string {
  const penalty = trace.settings?.length_penalty;
  return typeof penalty === 'number' ? `; score = Σ log p / tokens^${penalty}` : '';
}

/** The hypotheses a step kept and finished, with their scores. */
export function hypotheses(trace: ITrace, step: number): HTMLElement {
  const now = trace.steps[step];
  const body = h('tbody');
  for (const id of new Set([...now.chosen, ...now.finished])) {
    const node = trace.nodes[id];
    const text = tokensSoFar(trace, id).slice(-12).map(shown).join(' ');
    const [total, length] = summed(trace, id);
    const cells = [
      total.toFixed(3),
      String(length),
      node.score.toFixed(3),
      now.finished.includes(id) ? translated('finished') : translated('kept')
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
