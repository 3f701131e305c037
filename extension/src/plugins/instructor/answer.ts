/** One answer on the marking page: what was written, and the mark that it has. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { IAnswer, IQuestion } from './marking';

/** What is said of an answer's mark: how much, and who gave it. */
export function stateOf(
  { score, waiting, by }: IAnswer,
  { max_score }: Pick<IQuestion, 'max_score'>,
  trans: TranslationBundle
): string {
  if (waiting || score === null) {
    return trans.__('to mark');
  }
  const points = trans.__('%1 of %2', score, max_score);
  return by ? trans.__('%1, by %2', points, by) : points;
}

export function answerCard(
  one: IAnswer,
  question: IQuestion,
  called: string,
  trans: TranslationBundle,
  picked: (chosen: boolean) => void
): HTMLElement {
  const box = h('input', { type: 'checkbox', checked: true });
  box.onchange = () => picked(box.checked);
  const state = h('span', { className: one.waiting ? 'tfkit-MarkState tfkit-mod-waiting' : 'tfkit-MarkState' });
  state.textContent = stateOf(one, question, trans);
  const head = h('header', {}, h('label', {}, box, ' ', called), state);
  const empty = h('p', { className: 'tfkit-Facts' }, trans.__('Nothing was written.'));
  const body = question.kind === 'code' ? h('pre', {}, one.text) : h('div', { className: 'tfkit-Prose' }, one.text);
  const said = one.comment ? [h('p', { className: 'tfkit-Said' }, one.comment)] : [];
  return h('article', { className: 'tfkit-Answer' }, head, one.text ? body : empty, ...said);
}
