/** Conflicts: another person marked the same answers meanwhile. Their mark stays unless it is replaced, and the new mark is not lost. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import { stateOf } from './answer';
import type { IMark, Meanwhile } from './protocol';

export function conflictCard(
  meanwhile: Meanwhile,
  mark: IMark,
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
  const own = trans.__('Your mark was not saved for them: %1', `${mark.score} / ${of.max_score}${quoted(mark.own)}`);
  const insist = h('button', { type: 'button', onclick: () => actions.insist() }, trans.__('Replace with my mark'));
  const keep = h('button', { type: 'button', onclick: () => actions.yield() }, trans.__('Keep the other mark'));
  return h(
    'section',
    { className: 'tfkit-Conflict', role: 'alert' },
    h(
      'p',
      {},
      trans._n(
        '%1 answer was marked by someone else meanwhile:',
        '%1 answers were marked by someone else meanwhile:',
        count
      )
    ),
    h('ul', {}, ...items),
    h('p', {}, own),
    h('p', {}, insist, ' ', keep)
  );
}
