/** One answer on the marking page, with its mark. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { IAnswer, IQuestion } from './protocol';

/** A question's name for people: `task-too-good-a-loss` is "too good a loss". */
export const titleOf = ({ cell }: Pick<IQuestion, 'cell'>): string =>
  cell.replace(/^(task|check)-/, '').replace(/-/g, ' ');

/** An answer's mark in words: the points, and who gave them. */
export function stateOf(
  { score, waiting, by }: Pick<IAnswer, 'score' | 'waiting' | 'by'>,
  { max_score }: Pick<IQuestion, 'max_score'>,
  trans: TranslationBundle
): string {
  if (waiting || score === null) {
    return trans.__('to mark');
  }
  const points = trans.__('%1 of %2', score, max_score);
  return by ? trans.__('%1, by %2', points, by) : points;
}

/** Markdown of a student or marker. The server has rendered and sanitized it, as it does for feedback pages (autograder/marking/prose.py). */
export function prose(html: string, className = ''): HTMLElement {
  const node = h('div', { className: `tfkit-Prose ${className}`.trim() });
  node.innerHTML = html;
  return node;
}

/** The text of an answer: rendered prose, or code. */
export function written({ text, html }: Pick<IAnswer, 'text' | 'html'>, trans: TranslationBundle): HTMLElement {
  if (!text) {
    return h('p', { className: 'tfkit-Facts' }, trans.__('Nothing was written.'));
  }
  const label = trans.__('Code of the answer'); // it scrolls, so the keyboard must reach it
  return html ? prose(html) : h('pre', { tabIndex: 0, role: 'group', 'aria-label': label }, text);
}

export function answerCard(
  one: IAnswer,
  question: IQuestion,
  called: string,
  trans: TranslationBundle,
  checked: boolean,
  picked: (chosen: boolean) => void
): HTMLElement {
  const box = h('input', { type: 'checkbox', checked });
  box.onchange = () => picked(box.checked);
  const state = h('span', { className: one.waiting ? 'tfkit-MarkState tfkit-mod-waiting' : 'tfkit-MarkState' });
  state.textContent = stateOf(one, question, trans);
  const share = one.marker ? [h('small', {}, trans.__('for %1', one.marker))] : [];
  const head = h('header', {}, h('label', {}, box, ' ', called), ...share, state);
  const said = one.comment ? [h('p', { className: 'tfkit-Said' }, one.comment)] : [];
  return h('article', { className: 'tfkit-Answer' }, head, written(one, trans), ...said);
}
