/** The next token's candidates, as a table: probabilities, the stages of sampling, other scores of the strategy; and the tokens of a draft model. */
import { h, visibleToken, tableHead } from './dom';
import { markToken } from './highlight';
import { candidates, chosenFrom, ICandidate, IDraftToken, ITrace } from './trace';
import { translated } from './words';

/** Requests a run with this token instead; null without a kernel. */
export type SelectToken = ((token: number, name: string) => void) | null;

const bar = (p: number): HTMLElement => {
  const node = h('span', { className: 'tfk-p', 'aria-hidden': 'true' });
  node.style.width = `${Math.round(p * 110)}px`;
  return node;
};

/** A probability above zero is never shown as zero. */
const number = (p: number | null): string => (p === null ? '–' : p > 0 && p < 5e-4 ? p.toExponential(0) : p.toFixed(3));
const mark = (state: ICandidate['state']): string =>
  state === 'chosen' ? translated(' (chosen)') : state === 'kept' ? translated(' (kept)') : '';

function row(candidate: ICandidate, told: string[], take: SelectToken): HTMLElement {
  const { token, p, stages, state } = candidate;
  const cells = [h('td', {}, number(p)), h('td', {}, bar(p ?? 0))];
  for (const after of stages) {
    cells.push(h('td', after === 0 ? { className: 'tfk-cut' } : {}, after === 0 ? translated('cut') : number(after)));
  }
  cells.push(...told.map(name => h('td', {}, name in candidate.told ? candidate.told[name].toFixed(3) : '–')));
  if (take) {
    const label = translated('Take %1 instead', visibleToken(token));
    const button = h(
      'button',
      { type: 'button', title: label, 'aria-label': label, onclick: () => take(candidate.id, token) },
      translated('take')
    );
    cells.push(h('td', {}, state === 'chosen' ? '' : button));
  }
  return h(
    'tr',
    { className: state === 'chosen' ? 'tfk-chosen' : '' },
    markToken(h('th', { scope: 'row' }, visibleToken(token) + mark(state)), visibleToken(token)),
    ...cells
  );
}

/** The table of one step. */
export function candidateTable(trace: ITrace, step: number, node: number, take: SelectToken): HTMLElement {
  const rows = candidates(trace, step, node);
  const told = [...new Set(rows.flatMap(r => Object.keys(r.told)))].filter(name => name !== 'group');
  const stages = trace.steps[step]?.stages?.[String(node)] ?? [];
  const names = [translated('token'), 'p', '', ...stages.map(s => s.name), ...told, ...(take ? [''] : [])];
  const body = h('tbody', {}, ...rows.map(r => row(r, told, take)));
  const isNext = chosenFrom(trace, step, node)?.place === undefined; // else a mask is filled in
  const label = isNext ? translated('Most probable next tokens') : translated('Most probable tokens');
  const table = h('table', { className: 'tfk-next', 'aria-label': label }, tableHead(names), body);
  const left = stages.map(s => translated('%1 leaves %2', s.name, s.left)).join(', ');
  const entropy = trace.steps[step]?.entropy[String(node)];
  const words = [entropy === undefined ? '' : translated('Entropy %1 nats', entropy.toFixed(2)), left]
    .filter(Boolean)
    .join('; ');
  const scroll = h('div', { className: 'tfk-scroll', tabIndex: 0, role: 'group', 'aria-label': label }, table);
  return h('div', {}, scroll, h('p', { className: 'tfk-note' }, words));
}

const FATE: Record<IDraftToken['state'], () => string> = {
  kept: () => translated('✓ accepted'),
  refused: () => translated('✗ rejected'),
  unread: () => translated('· not read')
};

function draftRow(token: IDraftToken, now: boolean): HTMLElement {
  const chance = Math.min(1, token.p / token.q);
  const cells = [token.p.toFixed(3), token.q.toFixed(3), chance.toFixed(2), FATE[token.state]()].map(text =>
    h('td', {}, text)
  );
  return h(
    'tr',
    { className: now ? 'tfk-chosen' : token.state === 'kept' ? '' : 'tfk-cut' },
    h('th', { scope: 'row' }, visibleToken(token.token)),
    ...cells
  );
}

/** The draft tokens of the round that a step belongs to. */
export function draftTable(trace: ITrace, step: number): HTMLElement | null {
  const draft = trace.steps[step]?.draft;
  if (!draft) {
    return null;
  }
  const body = h('tbody', {}, ...draft.draft_tokens.map((token, i) => draftRow(token, i === draft.place)));
  const head = tableHead([
    translated('draft token'),
    translated('model p'),
    translated('draft q'),
    translated('chance'),
    ''
  ]);
  const words = [translated('Token %1 of this round.', draft.place + 1)];
  if (draft.place >= draft.draft_tokens.length) {
    words.push(translated('All draft tokens were accepted: this token comes from the model itself.'));
  } else if (draft.draft_tokens[draft.place].state === 'refused') {
    words.push(translated('This token comes from the model and replaces the rejected draft token.'));
  }
  return h(
    'section',
    { role: 'group', 'aria-label': translated('Draft') },
    h('h4', {}, translated('Draft')),
    h('table', {}, head, body),
    h('p', { className: 'tfk-note' }, words.join(' '))
  );
}
