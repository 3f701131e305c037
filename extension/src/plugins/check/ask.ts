/**
 * The question of a card (autograder/feedback/html.py), with a field: a prediction is held against what the student's code gives, and
 * what a right answer has, which the fold of the card holds as far as the course's settings allow.
 */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';

const CLOSE = 0.005; // of a number that is shown with three digits

/** The numbers in what somebody typed, or in a shape such as `2 × 3`; null where there is anything else. */
export function numbersIn(text: string): number[] | null {
  const parts = text
    .replace(/[[\](),;×x*]/g, ' ')
    .trim()
    .split(/\s+/);
  const numbers = parts.map(Number);
  return parts[0] && numbers.every(Number.isFinite) ? numbers : null;
}

const same = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && one.every((value, i) => Math.abs(value - other[i]) <= CLOSE);

/** Puts a field under the question of a card, if it has one. */
export function bindQuestion(card: Element, trans: TranslationBundle): void {
  const fold = card.querySelector<HTMLDetailsElement>('details.tfkit-v-ask');
  const valueOf = (whose: string): number[] | null =>
    numbersIn(fold?.querySelector(`.tfkit-v-${whose}`)?.textContent ?? '');
  const yours = valueOf('yours');
  if (!fold || !yours) {
    return;
  }
  const label = fold.querySelector('summary')?.textContent ?? '';
  const field = h('input', { type: 'text', size: 10, 'aria-label': label });
  const said = h('output', { className: 'tfkit-Ask-said' });
  const answer = (event: Event): void => {
    event.preventDefault();
    const given = numbersIn(yours.length === 1 ? field.value.replace(/(\d),(\d)/, '$1.$2') : field.value);
    said.textContent = given
      ? reply(given, yours, valueOf('right'), trans)
      : trans.__('Type numbers, such as 3 or 2 × 3.');
  };
  const form = h('form', { className: 'tfkit-Ask' }, field, h('button', { type: 'submit' }, trans.__('Try it')), said);
  form.dataset.lmSuppressShortcuts = 'true'; // the lab's own keys would go to the notebook
  form.addEventListener('submit', answer);
  fold.after(form);
}

function reply(
  given: readonly number[],
  yours: readonly number[],
  right: readonly number[] | null,
  trans: TranslationBundle
): string {
  const gives = yours.join(' × ');
  if (same(given, yours)) {
    return trans.__('That is what your code gives, but not what must hold. What would change it?');
  }
  if (!right) {
    return trans.__('Your code gives %1. Which of the two is right, and why?', gives);
  }
  return same(given, right)
    ? trans.__('Yes. Your code gives %1: where does it go another way?', gives)
    : trans.__(
        'Neither your code, which gives %1, nor a right answer has that. Work it out by hand, or open the question.',
        gives
      );
}
