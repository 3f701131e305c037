/** What another person marked meanwhile: their mark stays until one says otherwise, and one's own is not lost. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import { stateOf } from './answer';
import type { IMark } from './markform';

/** The mark that another person gave; `version` is what one has seen of it now. */
export interface ITheirMark {
  readonly by: string;
  readonly score: number | null;
  readonly comment: string;
  readonly version: number;
}

export type Meanwhile = Readonly<Record<string, ITheirMark>>;

export function conflictCard(
  meanwhile: Meanwhile,
  mine: IMark,
  of: { readonly max_score: number },
  called: (student: string) => string,
  trans: TranslationBundle,
  actions: { insist(): void; yield(): void }
): HTMLElement {
  const quoted = (text: string): string => (text ? `: “${text.replace(/\n/g, ' ')}”` : '');
  const items = Object.entries(meanwhile).map(([student, { by, score, comment }]) => {
    const state = stateOf({ score, waiting: false, by }, of, trans);
    return h('li', {}, h('strong', {}, called(student)), ` · ${state}${quoted(comment)}`);
  });
  const count = items.length;
  const own = trans.__('Your mark was not given to them: %1', `${mine.score} / ${of.max_score}${quoted(mine.own)}`);
  const insist = h('button', { type: 'button', onclick: () => actions.insist() }, trans.__('Give mine instead'));
  const keep = h('button', { type: 'button', onclick: () => actions.yield() }, trans.__('Leave theirs'));
  return h(
    'section',
    { className: 'tfkit-Conflict', role: 'alert' },
    h('p', {}, trans._n('%1 answer was marked meanwhile:', '%1 answers were marked meanwhile:', count)),
    h('ul', {}, ...items),
    h('p', {}, own),
    h('p', {}, insist, ' ', keep)
  );
}
