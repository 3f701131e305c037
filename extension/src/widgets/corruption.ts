/** Objectives applied to one sentence: the corrupted input and the target, for several random draws. */
import { ICorruption } from '../generated/corruption';
import { validate } from '../generated/corruption.valid';
import { h, icon, visibleToken, tableHead } from './dom';
import { listen, markToken } from './highlight';
import { IRenderProps } from './model';
import { choice, ICanvas, picture } from './picture';
import { translated } from './words';

export type IDraw = ICorruption['objectives'][number]['draws'][number];

/** A token, highlighted everywhere on the page at once. */
const item = (token: string, props = {}, ...more: (Node | string)[]): HTMLElement =>
  markToken(h('li', props, visibleToken(token), ...more), visibleToken(token));

const toks = (label: string, items: HTMLElement[]): HTMLElement =>
  h('section', {}, h('h4', {}, label), h('ol', { className: 'tfk-toks', 'aria-label': label }, ...items));

function inputs({ inputs: given, changed }: IDraw): HTMLElement[] {
  return given.map((token, i) =>
    item(
      token,
      changed[i] ? { className: 'tfk-now' } : {},
      changed[i] ? h('span', { className: 'tfk-sr' }, translated(' (changed)')) : ''
    )
  );
}

/** Text, input and target of an objective that keeps positions, as a table with a row per token. */
function aligned(tokens: string[], draw: IDraw): HTMLElement {
  const rows = tokens.map((token, i) => {
    const label = draw.labels[i];
    const cells = [
      h('td', draw.changed[i] ? { className: 'tfk-hot' } : {}, visibleToken(draw.inputs[i])),
      h('td', {}, label === null ? '' : visibleToken(label))
    ];
    return h(
      'tr',
      { className: label === null ? '' : 'tfk-chosen' },
      h('th', { scope: 'row' }, visibleToken(token)),
      ...cells
    );
  });
  return h(
    'table',
    {},
    tableHead([translated('text'), translated('input'), translated('target')]),
    h('tbody', {}, ...rows)
  );
}

function build({ trace, root, place, announce }: ICanvas<ICorruption>): () => void {
  listen(root.ownerDocument);
  const which = choice(
    translated('Objective'),
    trace.objectives.map(o => o.name),
    place,
    'objective'
  );
  const again = h('button', { type: 'button' }, translated('Draw again'));
  const back = h(
    'button',
    { type: 'button', title: translated('Previous draw'), 'aria-label': translated('Previous draw') },
    icon('back')
  );
  const count = h('span');
  const body = h('div');
  root.append(h('div', { className: 'tfk-bar' }, which.node, back, again, count));
  root.append(
    toks(
      translated('Text'),
      trace.tokens.map(token => item(token))
    ),
    body
  );
  const draw = (): void => {
    which.show();
    const { name, draws } = trace.objectives[place.at('objective', trace.objectives.length - 1)];
    const at = place.at('draw', 1e9) % draws.length;
    again.onclick = () => place.set({ draw: (at + 1) % draws.length });
    back.onclick = () => place.set({ draw: (at + draws.length - 1) % draws.length });
    count.textContent = translated('draw %1 of %2', at + 1, draws.length);
    const now = draws[at];
    const wanted = now.labels.filter((label): label is string => label !== null);
    const lists = [
      toks(translated('Input'), inputs(now)),
      toks(
        translated('Target'),
        wanted.map(label => item(label))
      )
    ];
    body.replaceChildren(
      ...lists,
      ...(now.aligned
        ? [h('details', {}, h('summary', {}, translated('Token by token')), aligned(trace.tokens, now))]
        : [])
    );
    announce(
      translated(
        '%1, draw %2: %3; target: %4',
        name,
        at + 1,
        now.inputs.map(visibleToken).join(' '),
        wanted.map(visibleToken).join(' ')
      )
    );
  };
  return draw;
}

export const mount = picture<ICorruption>(() => translated('Corruption'), validate, build);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
