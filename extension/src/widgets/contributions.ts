/** What each attention and feed-forward layer adds to the logit of a chosen token, as bars above and below zero. */
import { IContributions } from '../generated/contributions';
import { validate } from '../generated/contributions.valid';
import { h, visibleToken, svg, tableHead } from './dom';
import { HEAT_CSS } from './heatstyle';
import { listen, markToken } from './highlight';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { short } from './walknumbers';
import { translated } from './words';

type IPart = IContributions['parts'][number];

const HEIGHT = 170;
const TOP = 10;
const LEFT = 44;
const WIDE = 12; // of a bar
const GAP = 8; // between layers

export interface IBar {
  part: IPart;
  place: number;
  x: number;
  value: number;
}

/** The position of each bar: those of one layer side by side, with a gap between layers. */
export function layOut(trace: IContributions, target: number, wide = WIDE): { bars: IBar[]; width: number } {
  let x = LEFT;
  const bars = trace.parts.map((part, place) => {
    const before = trace.parts[place - 1];
    x += place === 0 ? 0 : before.group === part.group && part.group ? wide + 1 : wide + GAP;
    return { part, place, x, value: trace.values[place][target] };
  });
  return { bars, width: x + wide + GAP };
}

const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);

/** The groups with the first and the last of their bars. */
function groups(bars: IBar[]): [string, IBar, IBar][] {
  const found: [string, IBar, IBar][] = [];
  for (const one of bars) {
    const last = found[found.length - 1];
    if (last && last[0] === one.part.group && one.part.group) {
      last[2] = one;
    } else {
      found.push([one.part.group, one, one]);
    }
  }
  return found;
}

/** The name of a layer under its bars: its number, or a word for what belongs to none. */
const groupLabel = (group: string, { name }: IPart): string => /\d+$/.exec(group)?.[0] ?? name.slice(0, 5);

function chart(trace: IContributions, target: number, at: number): SVGElement {
  const wide = trace.parts.length > 24 ? WIDE : 2 * WIDE;
  const { bars, width } = layOut(trace, target, wide);
  const [low, high] = [Math.min(0, ...bars.map(b => b.value)), Math.max(0, ...bars.map(b => b.value))];
  const y = (value: number): number => TOP + ((high - value) / (high - low || 1)) * (HEIGHT - 2 * TOP);
  const root = svg('svg', { width, height: HEIGHT + 18, 'aria-hidden': 'true', focusable: 'false' });
  for (const [group, first, last] of groups(bars)) {
    const span = last.x + wide - first.x;
    root.append(svg('rect', { x: first.x - 2, y: 0, width: span + 4, height: HEIGHT, rx: 3, class: 'tfk-band' }));
    const middle = { x: first.x + span / 2, y: HEIGHT + 13, 'text-anchor': 'middle' };
    root.append(svg('text', middle, groupLabel(group, first.part)));
  }
  for (const { part, place, x, value } of bars) {
    const box = { x, y: Math.min(y(value), y(0)), width: wide, height: Math.max(1, Math.abs(y(value) - y(0))) };
    root.append(svg('rect', { ...box, class: `tfk-t-${part.type}`, 'data-part': place }));
    root.append(svg('rect', { x, y: 0, width: wide, height: HEIGHT, fill: 'transparent', 'data-part': place }));
  }
  root.append(svg('line', { x1: LEFT - 4, x2: width, y1: y(0), y2: y(0), class: 'tfk-zero' }));
  for (const value of new Set([low, 0, high])) {
    root.append(svg('text', { x: LEFT - 8, y: y(value) + 4, 'text-anchor': 'end' }, short(value)));
  }
  const here = bars[at];
  root.append(svg('rect', { x: here.x - 2, y: 1, width: wide + 4, height: HEIGHT - 2, rx: 3, class: 'tfk-cursor' }));
  return root;
}

const TYPES: Record<IPart['type'], () => string> = {
  attention: () => translated('attention'),
  'feed-forward': () => translated('feed-forward'),
  block: () => translated('whole layer'),
  input: () => translated('input'),
  rest: () => translated('rest')
};

function legend(trace: IContributions): HTMLElement {
  const types = [...new Set(trace.parts.map(part => part.type))];
  const keys = types.map(type =>
    h('span', {}, h('i', { className: `tfk-t-${type}`, 'aria-hidden': 'true' }), TYPES[type]())
  );
  return h('p', { className: 'tfk-heat-key' }, ...keys);
}

/** A part in words. */
export function describePart(trace: IContributions, target: number, place: number): string {
  const values = trace.values.map(row => row[target]);
  const sofar = short(sum(values.slice(0, place + 1)));
  const { name } = trace.parts[place];
  return `${name}: ${short(values[place])}; ${translated('so far %1 of %2', sofar, short(sum(values)))}`;
}

/** Every part with what it adds, and the sum so far. */
function asTable(trace: IContributions, target: number): HTMLElement {
  let whole = 0;
  const rows = trace.parts.map((part, place) => {
    const value = trace.values[place][target];
    whole += value;
    const cells = [TYPES[part.type](), short(value), short(whole)].map(text => h('td', {}, text));
    return h('tr', {}, h('th', { scope: 'row' }, part.name), ...cells);
  });
  const names = [translated('part'), translated('type'), translated('adds'), translated('so far')];
  return h('table', {}, tableHead(names), h('tbody', {}, ...rows));
}

function build({ trace, root, place, announce }: ICanvas<IContributions>): () => void {
  listen(root.ownerDocument);
  const chips = trace.targets.map(({ token, p }, i) => {
    const words = visibleToken(token) + (p === null ? '' : ` ${short(p)}`);
    const button = h('button', { type: 'button', onclick: () => place.set({ target: i }) }, words);
    return markToken(button, visibleToken(token));
  });
  const bar = h(
    'div',
    { className: 'tfk-bar', role: 'group', 'aria-label': translated('Token') },
    translated('%1 of', trace.measure),
    ...chips
  );
  bar.hidden = chips.length < 2;
  const description = h('p', { className: 'tfk-note' });
  const bars = h('div', { className: 'tfk-bars', tabIndex: 0, role: 'application' });
  bars.setAttribute('aria-label', translated('%1 parts; arrow keys move', trace.parts.length));
  const details = h('details', {}, h('summary', {}, translated('All parts as a table')));
  root.append(h('style', {}, HEAT_CSS), bar, bars, description, legend(trace), details);
  const target = (): number => place.at('target', trace.targets.length - 1);
  const at = (): number => place.at('part', trace.parts.length - 1, strongest(trace, target()));
  const over = (event: Event): number => {
    const part = (event.target as Element).closest('[data-part]')?.getAttribute('data-part');
    return part === null || part === undefined ? -1 : Number(part);
  };
  bars.addEventListener('pointerover', event => {
    description.textContent = describePart(trace, target(), over(event) < 0 ? at() : over(event));
  });
  bars.addEventListener('click', event => over(event) >= 0 && place.set({ part: over(event) }));
  bars.addEventListener('keydown', event => {
    const last = trace.parts.length - 1;
    const to = { ArrowRight: at() + 1, ArrowLeft: at() - 1, Home: 0, End: last }[event.key];
    if (to !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation(); // the notebook has uses of its own for these keys
      place.set({ part: Math.max(0, Math.min(last, to)) });
    }
  });
  return () => {
    chips.forEach((chip, i) => chip.setAttribute('aria-pressed', String(i === target())));
    const left = bars.scrollLeft;
    const drawing = chart(trace, target(), at());
    bars.replaceChildren(drawing);
    const x = Number(drawing.querySelector('.tfk-cursor')!.getAttribute('x'));
    const seen = x > left && x < left + bars.clientWidth - 2 * WIDE;
    bars.scrollLeft = seen ? left : x - bars.clientWidth / 2;
    details.replaceChildren(details.firstChild as Node, asTable(trace, target()));
    description.textContent = describePart(trace, target(), at());
    announce(describePart(trace, target(), at()));
  };
}

/** The part with the largest absolute contribution. */
function strongest({ values }: IContributions, target: number): number {
  const sizes = values.map(row => Math.abs(row[target]));
  return sizes.indexOf(Math.max(...sizes));
}

/** Checks what the schema cannot: that the counts of names and numbers agree. */
function problem({ values, parts, targets }: IContributions): string | null {
  return values.length === parts.length && values.every(row => row.length === targets.length)
    ? null
    : `there are ${parts.length} parts and ${targets.length} targets, and not so many values`;
}

export const mount = picture<IContributions>(() => translated('Contributions'), validate, build, problem);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
