/** One item of the rubric in a form: chosen by click or digit, edited or removed in place. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { h } from '../../widgets/dom';
import type { IRubricItem } from './protocol';

export interface IRubricActions {
  /** Changes the text or points of an item, in every mark that uses it. */
  change(id: number, text: string, points: number | null): Promise<void>;
  drop(id: number): Promise<void>;
}

const signed = (points: number): string => (points > 0 ? `+${points}` : String(points));

/** The line; `digit` is the key that chooses it, or 0. `actions` is null where the rubric cannot be changed. */
export function rubricLine(
  one: IRubricItem,
  box: HTMLInputElement,
  digit: number,
  actions: IRubricActions | null,
  trans: TranslationBundle
): HTMLElement {
  const worth = one.points === null ? [] : [h('b', {}, signed(one.points)), ' '];
  const key = digit ? [h('kbd', { 'aria-hidden': 'true' }, String(digit)), ' '] : [];
  if (digit) {
    box.setAttribute('aria-keyshortcuts', String(digit));
  }
  const used = one.used ? [' ', h('small', {}, trans.__('used %1×', one.used))] : [];
  const label = h('label', {}, box, ' ', ...key, ...worth, one.text, ...used);
  const line = h('div', { className: 'tfkit-RubricItem' }, label);
  if (actions) {
    const button = (sign: string, title: string, run: () => void): HTMLElement => {
      const made = h('button', { type: 'button', className: 'tfkit-Drop', title, onclick: run }, sign);
      made.setAttribute('aria-label', `${title}: ${one.text}`);
      return made;
    };
    const edit = (): void => {
      line.replaceChildren(editor(one, actions, trans, () => line.replaceChildren(label, ...buttons)));
      line.querySelector('input')!.focus();
    };
    const buttons = [
      button('✎', trans.__('Change this item'), edit),
      button('×', trans.__('Remove this item from the rubric'), () => void actions.drop(one.id))
    ];
    line.append(...buttons);
  }
  return line;
}

function editor(one: IRubricItem, actions: IRubricActions, trans: TranslationBundle, close: () => void): HTMLElement {
  const points = h('input', { type: 'number', step: '0.25', value: one.points === null ? '' : String(one.points) });
  points.setAttribute('aria-label', trans.__('Points of the item'));
  const text = h('textarea', { rows: 2, value: one.text });
  text.setAttribute('aria-label', trans.__('Text of the item'));
  const status = h('p', { role: 'status' });
  const save = h('button', { type: 'button' });
  save.textContent = one.used
    ? trans._n('Change, with %1 mark', 'Change, with %1 marks', one.used)
    : trans.__('Change');
  save.onclick = async () => {
    try {
      await actions.change(one.id, text.value, points.value === '' ? null : Number(points.value));
    } catch (error) {
      status.textContent = error instanceof Error ? error.message : String(error);
    }
  };
  const cancel = h('button', { type: 'button', onclick: close }, trans.__('Cancel'));
  const node = h('div', { className: 'tfkit-RubricEditor' }, points, text, h('p', {}, save, ' ', cancel), status);
  node.onkeydown = event => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
  };
  return node;
}
