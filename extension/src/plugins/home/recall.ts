/** What is due of the questions on earlier units, on the home page. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { writtenIn } from '../../shared/language';
import type { IRecall, IUnit } from '../../shared/tokens';
import { h } from '../../widgets/dom';

type Go = (to: { path: string; cell?: string }) => void;

/** The unit whose opening asks the questions that are due: the one where the student is, or else the last that asks any. */
export function askingUnit(units: readonly IUnit[], here: IUnit | undefined): IUnit | undefined {
  return here?.recall_cell ? here : units.filter(unit => unit.recall_cell).pop();
}

/** The section; nothing before a question was answered, and where no unit asks any. */
export function recallPart(
  recall: IRecall | null | undefined,
  units: readonly IUnit[],
  here: IUnit | undefined,
  trans: TranslationBundle,
  go: Go
): HTMLElement[] {
  const unit = askingUnit(units, here);
  if (!recall || !unit) {
    return [];
  }
  const label = trans.__('From earlier units');
  const { due, next } = recall;
  const day = next && new Date(next).toLocaleDateString(writtenIn(), { day: 'numeric', month: 'long' });
  const words = due
    ? trans._n('%1 question is due again.', '%1 questions are due again.', due)
    : day
      ? trans.__('Nothing is due. The next question comes back on %1.', day)
      : trans.__('Nothing is due.');
  const button = h(
    'button',
    { type: 'button', className: 'tfkit-Recall-go' },
    trans.__('Answer them'),
    h('span', { 'aria-hidden': 'true' }, ' →')
  );
  button.dataset.key = 'recall';
  button.onclick = () => go({ path: unit.path, cell: unit.recall_cell! });
  const parts = [h('h2', {}, label), h('p', {}, words), ...(due ? [button] : [])];
  return [h('section', { className: 'tfkit-Recall', 'aria-label': label }, ...parts)];
}
