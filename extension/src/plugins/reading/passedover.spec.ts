import { nullTranslator } from '@jupyterlab/translation';
import { expect, it, vi } from 'vitest';
import type { IStep } from '../../shared/tokens';
import { stillWaiting } from './passedover';
import { PassedOver } from './widgets';

vi.mock('@jupyterlab/notebook', () => ({})); // it needs a browser

const CELLS = [
  { cell: 'a', names: [] },
  { cell: 'b', names: ['02.x'] },
  { cell: 'c', names: ['02.y', '02.x'] }
];
const step = (kind: IStep['kind'], prediction: string, done: boolean): IStep => ({
  kind,
  cell: '',
  title: '',
  done,
  prediction
});

it('cells wait until their predictions are sealed, whether they are run again or not', () => {
  expect(stillWaiting(CELLS, [])).toEqual({ names: ['02.x', '02.y'], first: 'b' });
  expect(stillWaiting(CELLS, [step('predict', '02.x', true), step('predict', '02.y', false)])).toEqual({
    names: ['02.y'],
    first: 'c'
  });
  expect(stillWaiting(CELLS, [step('compare', '02.x', true)]).names).toEqual(['02.x', '02.y']);
  expect(
    stillWaiting(
      CELLS,
      ['02.x', '02.y'].map(name => step('predict', name, true))
    )
  ).toEqual({ names: [], first: '' });
});

it('the line is written again only where the names have changed, since it is read aloud', () => {
  const shown: string[] = [];
  const line = new PassedOver(nullTranslator.load('tfkit_lab'), cell => shown.push(cell));
  line.showNames(['02.x', '02.y'], 'b');
  const button = line.node.querySelector('button')!;
  line.showNames(['02.x', '02.y'], 'c');
  expect(line.node.querySelector('button')).toBe(button);
  button.click();
  expect(shown).toEqual(['c']);
  line.showNames(['02.y'], 'c');
  expect(line.node.textContent).toContain('1 prediction is not');
  line.showNames([], '');
  expect(line.isHidden).toBe(true);
});
