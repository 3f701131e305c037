/** Documents, and what each contributes to an answer: p(d), p(token | d), and the sums over documents. */
import { IRetrieval } from '../generated/retrieval';
import { validate } from '../generated/retrieval.valid';
import { h, visibleToken } from './dom';
import { HEAT_CSS } from './heatstyle';
import { listen, markToken } from './highlight';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';
import { cellClass } from './scales';
import { short } from './walknumbers';
import { translated } from './words';

const CSS = `${HEAT_CSS}
.tfk .tfk-notes :is(thead,tbody) :is(th,td){position:static}
.tfk .tfk-notes tbody th{white-space:normal;text-align:left;min-width:12em;max-width:26em;color:var(--ink);font-family:inherit}
.tfk .tfk-notes tbody td:not([class]){cursor:default;text-align:left;background:none;box-shadow:none}
@container (max-width:520px){.tfk .tfk-notes tbody th{min-width:6em;max-width:8em}.tfk .tfk-notes .tfk-p{display:none}}
.tfk .tfk-notes thead .tfk-over{border-bottom:1px solid var(--line)}
.tfk .tfk-notes thead button{font-family:var(--jp-code-font-family,monospace)}
`;

const share = (p: number): HTMLElement => {
  const bar = h('span', { className: 'tfk-p', 'aria-hidden': 'true' });
  bar.style.width = `${Math.round(p * 60)}px`;
  return h('td', {}, `${p.toFixed(2)} `, bar);
};

/** RAG-token's p(document | token): how much each document contributes to a token. */
export function documentShares(trace: Pick<IRetrieval, 'documents' | 'by_token'>, token: number): number[] {
  return trace.documents.map(d => (d.p * d.tokens[token]) / trace.by_token[token]);
}

/** A row for each document, with its weight, a cell for each token of the answer, and its share in the chosen one and in the whole. */
function documents(trace: IRetrieval, chosen: number, pick: (token: number) => void): HTMLElement {
  const whose = documentShares(trace, chosen);
  const cell = (p: number, i: number): HTMLElement => {
    const title = `p(${visibleToken(trace.answer[i])} | d) = ${short(p)}`;
    return h('td', { className: cellClass(p, 1, true), title, onclick: () => pick(i) }, short(p));
  };
  const rows = trace.documents.map((d, i) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, d.text),
      h('td', {}, d.score.toFixed(2)),
      share(d.p),
      ...d.tokens.map(cell),
      share(whose[i]),
      share(d.posterior)
    )
  );
  const sums = h('tr', {}, h('th', { scope: 'row' }, translated('summed over documents')), h('td'), h('td'));
  sums.append(...trace.by_token.map(cell), h('td'), h('td'));
  return h('table', {}, heading(trace, chosen, pick), h('tbody', {}, ...rows, sums));
}

/** The two header rows; the tokens in the second are buttons. */
function heading(trace: IRetrieval, chosen: number, pick: (token: number) => void): HTMLElement {
  const column = (name: string): HTMLElement => h('th', { scope: 'col' }, name);
  const tokens = trace.answer.map((token, i) => {
    const pressed = { type: 'button', 'aria-pressed': String(i === chosen), onclick: () => pick(i) };
    return h('th', { scope: 'col' }, markToken(h('button', pressed, visibleToken(token)), visibleToken(token)));
  });
  const over = h(
    'th',
    { colSpan: tokens.length, scope: 'colgroup', className: 'tfk-over' },
    translated('p(token | document)')
  );
  const columns = [
    ...[translated('document'), translated('score'), 'p(d)'].map(column),
    ...tokens,
    ...[`p(d | ${visibleToken(trace.answer[chosen])})`, translated('p(d | answer)')].map(column)
  ];
  return h('thead', {}, h('tr', {}, h('td', { colSpan: 3 }), over, h('td', { colSpan: 2 })), h('tr', {}, ...columns));
}

function build({ trace, root, place, announce }: ICanvas<IRetrieval>): () => void {
  listen(root.ownerDocument);
  const region = { className: 'tfk-heat tfk-notes', tabIndex: 0, role: 'group', 'aria-label': translated('Documents') };
  const body = h('div', region);
  const sums = translated(
    'RAG-token: log p = %1 (documents are summed over at each token); RAG-sequence: log p = %2 (once, at the end).',
    trace.log_token.toFixed(3),
    trace.log_sequence.toFixed(3)
  );
  root.append(
    h('style', {}, CSS),
    h('p', {}, h('strong', {}, trace.question)),
    body,
    h('p', { className: 'tfk-note' }, sums)
  );
  return () => {
    const token = place.at('token', trace.answer.length - 1);
    const focused = body.querySelector(':focus') !== null;
    body.replaceChildren(documents(trace, token, picked => place.set({ token: picked })));
    if (focused) {
      body.querySelectorAll('button')[token].focus();
    }
    announce(`${visibleToken(trace.answer[token])}: ${trace.by_token[token].toFixed(3)}`);
  };
}

export const mount = picture<IRetrieval>(
  () => translated('Retrieval'),
  validate,
  build,
  trace => {
    const odd = trace.documents.findIndex(d => d.tokens.length !== trace.answer.length);
    return odd < 0 && trace.by_token.length === trace.answer.length
      ? null
      : `the answer has ${trace.answer.length} tokens, and not so many probabilities`;
  }
);

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
