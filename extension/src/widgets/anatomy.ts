/** The tree of a model's modules; for two models, with their differences. */
import { IAnatomy, IPart } from '../generated/anatomy';
import { validate } from '../generated/anatomy.valid';
import { h } from './dom';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { translated } from './words';

export type { IPart };

export interface IPair {
  one: IPart | null;
  other: IPart | null;
  children: IPair[];
}

/** Merges two trees by the names of their parts. */
export function paired(one: IPart | null, other: IPart | null): IPair {
  const names = [...new Set([...(one?.children ?? []), ...(other?.children ?? [])].map(child => child.name))];
  const find = (part: IPart | null, name: string): IPart | null =>
    part?.children.find(child => child.name === name) ?? null;
  return { one, other, children: names.map(name => paired(find(one, name), find(other, name))) };
}

const own = (part: IPart): string => JSON.stringify([part.class, part.alike, part.shapes]);

/** Whether two parts or any of their children differ. */
export function differs({ one, other, children }: IPair): boolean {
  return !one || !other || own(one) !== own(other) || children.some(differs);
}

const shapes = (part: IPart): string =>
  Object.entries(part.shapes)
    .map(([name, shape]) => `${name} [${shape.join(', ')}]`)
    .join('  ');

const count = (n: number): string => n.toLocaleString('en-US');

/** A part in words, and how it differs from its counterpart: with a sign, not only a colour. */
function words(pair: IPair, two: boolean): [string, string, string] {
  const part = (pair.other ?? pair.one) as IPart;
  const line = `${part.class}  ${shapes(part)}`;
  if (!two) {
    return ['', line, count(part.parameters)];
  }
  if (!pair.one || !pair.other) {
    return [pair.one ? translated('− removed') : translated('+ added'), line, count(part.parameters)];
  }
  const changed = own(pair.one) !== own(pair.other);
  const was = changed ? `${pair.one.class}  ${shapes(pair.one)} → ${line}` : line;
  const sizes =
    pair.one.parameters === part.parameters
      ? count(part.parameters)
      : `${count(pair.one.parameters)} → ${count(part.parameters)}`;
  return [changed ? translated('≠ changed') : differs(pair) ? translated('≠ inside it') : '', was, sizes];
}

function row(pair: IPair, two: boolean, whole: number): HTMLElement[] {
  const part = (pair.other ?? pair.one) as IPart;
  const [mark, line, size] = words(pair, two);
  const bar = h('span', { className: 'tfk-p', 'aria-hidden': 'true' });
  bar.style.width = `${Math.round((90 * part.parameters * part.alike) / (whole || 1))}px`;
  const many = part.alike > 1 ? ` × ${part.alike}` : '';
  return [
    h('strong', {}, part.name + many),
    h('span', { className: 'tfk-note' }, ` ${line}`),
    h('span', { className: 'tfk-size' }, bar, ` ${size}`),
    ...(mark ? [h('em', {}, ` ${mark}`)] : [])
  ];
}

function branch(pair: IPair, two: boolean, whole: number, depth: number): HTMLElement {
  const line = row(pair, two, whole);
  const kind = !two ? '' : !pair.one ? 'tfk-new-part' : !pair.other ? 'tfk-gone' : '';
  if (!pair.children.length) {
    return h('div', { className: `tfk-part ${kind}` }, ...line);
  }
  const open = depth < 2 || (two && !!pair.one && !!pair.other && differs(pair));
  return h(
    'details',
    { className: kind, open },
    h('summary', {}, ...line),
    ...pair.children.map(child => branch(child, two, whole, depth + 1))
  );
}

function build({ trace, root, announce }: ICanvas<IAnatomy>): () => void {
  const [one, other] = trace.trees;
  const two = trace.trees.length > 1;
  const pair = paired(one, two ? other : null);
  const tree = branch(two ? pair : { ...pair, other: one }, two, (two ? other : one).parameters, 0);
  const fold = (open: boolean): void => tree.querySelectorAll('details').forEach(node => (node.open = open));
  const buttons = [
    h('button', { type: 'button', onclick: () => fold(true) }, translated('Open all')),
    h('button', { type: 'button', onclick: () => fold(false) }, translated('Close all'))
  ];
  root.append(h('div', { className: 'tfk-bar' }, ...buttons), h('div', { className: 'tfk-anatomy' }, tree));
  return () =>
    announce(`${trace.title}: ${trace.trees.map(t => translated('%1 parameters', count(t.parameters))).join(', ')}`);
}

export const mount = picture<IAnatomy>(() => translated('Anatomy'), validate, build);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
