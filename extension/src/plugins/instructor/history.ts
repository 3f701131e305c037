/** The history of a question: who changed its marks and its rubric. Loaded when it is opened. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { writtenIn } from '../../shared/language';
import { h } from '../../widgets/dom';
import type { IEvent } from './protocol';

/** What happened, in words. */
export function eventWords(
  { kind, text, student, score, marks }: IEvent,
  called: (student: string) => string,
  trans: TranslationBundle
): string {
  const who = student ? called(student) : '';
  switch (kind) {
    case 'mark':
      return score === null ? trans.__('mark of %1 withdrawn', who) : trans.__('%1 for %2', score ?? '', who);
    case 'added':
      return trans.__('added to the rubric: %1', text);
    case 'changed':
      return `${trans.__('changed in the rubric: %1', text)} (${trans._n('%1 mark', '%1 marks', marks ?? 0)})`;
    case 'dropped':
      return trans.__('removed from the rubric: %1', text);
    case 'applied':
      return `${trans.__('rubric applied')} (${trans._n('%1 mark', '%1 marks', marks ?? 0)})`;
    case 'asked':
      return trans.__('%1 asked for a regrade: %2', who, text);
    case 'accepted':
      return trans.__('request of %1 accepted', who);
    case 'declined':
      return trans.__('request of %1 declined: %2', who, text);
  }
}

export function historyList(
  events: readonly IEvent[],
  called: (student: string) => string,
  trans: TranslationBundle
): HTMLElement {
  const items = events.map(one => {
    const at = new Date(one.at).toLocaleString(writtenIn(), { dateStyle: 'medium', timeStyle: 'short' });
    const by = one.kind === 'asked' ? '' : ` · ${one.by}`;
    return h('li', {}, h('small', {}, `${at}${by}`), ' ', eventWords(one, called, trans));
  });
  return items.length ? h('ol', { className: 'tfkit-History' }, ...items) : h('p', {}, trans.__('Nothing yet.'));
}
