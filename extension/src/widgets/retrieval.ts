/** Documents, and what each of them gives to an answer: p(d), p(token | d), and the sums over documents. */
import { IRetrieval } from '../generated/retrieval';
import { validate } from '../generated/retrieval.valid';
import { h, visibleToken, tableHead } from './dom';
import { IRenderProps } from './model';
import { ICanvas, picture } from './picture';

const bar = (p: number): HTMLElement => {
  const node = h('span', { className: 'tfk-p', 'aria-hidden': 'true' });
  node.style.width = `${Math.round(p * 80)}px`;
  return node;
};

const share = (p: number): HTMLElement => h('td', {}, `${p.toFixed(3)} `, bar(p));

/** RAG-token's p(document | token): how much each document contributes to a token. */
export function documentShares(trace: Pick<IRetrieval, 'documents' | 'by_token'>, token: number): number[] {
  return trace.documents.map(d => (d.p * d.tokens[token]) / trace.by_token[token]);
}

function documents(trace: IRetrieval, token: number): HTMLElement {
  const whose = documentShares(trace, token);
  const rows = trace.documents.map((d, i) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, d.text),
      h('td', {}, d.score.toFixed(2)),
      share(d.p),
      share(d.tokens[token]),
      share(whose[i]),
      share(d.posterior)
    )
  );
  const name = visibleToken(trace.answer[token]);
  return h(
    'table',
    {},
    tableHead(['document', 'score', 'p(d)', `p(${name} | d)`, `p(d | ${name})`, 'p(d | answer)']),
    h('tbody', {}, ...rows)
  );
}

function tokens(trace: IRetrieval, chosen: number, pick: (token: number) => void): HTMLElement {
  const items = trace.answer.map((token, i) => {
    const button = h(
      'button',
      { type: 'button', 'aria-pressed': String(i === chosen), onclick: () => pick(i) },
      `${visibleToken(token)} ${trace.by_token[i].toFixed(2)}`
    );
    return h('li', {}, button);
  });
  return h(
    'ol',
    { className: 'tfk-list', 'aria-label': 'Answer, each token with its probability, documents summed over' },
    ...items
  );
}

function build({ trace, root, place, announce }: ICanvas<IRetrieval>): () => void {
  const body = h('div');
  const sums = `RAG-token: log p = ${trace.log_token.toFixed(3)} (documents are summed over at each token); RAG-sequence: log p = ${trace.log_sequence.toFixed(3)} (once, at the end).`;
  root.append(h('p', {}, h('strong', {}, trace.question)), body, h('p', { className: 'tfk-note' }, sums));
  return () => {
    const token = place.at('token', trace.answer.length - 1);
    const focused = body.contains(document.activeElement);
    body.replaceChildren(
      tokens(trace, token, picked => place.set({ token: picked })),
      h(
        'div',
        { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': 'Documents' },
        documents(trace, token)
      )
    );
    if (focused) {
      body.querySelectorAll('button')[token].focus();
    }
    announce(`${visibleToken(trace.answer[token])}: ${trace.by_token[token].toFixed(3)}`);
  };
}

export const mount = picture<IRetrieval>('Retrieval', validate, build, trace => {
  const odd = trace.documents.findIndex(d => d.tokens.length !== trace.answer.length);
  return odd < 0 && trace.by_token.length === trace.answer.length
    ? null
    : `the answer has ${trace.answer.length} tokens, and not so many probabilities`;
});

export default { render: ({ model, el }: IRenderProps): (() => void) => mount(model, el) };
