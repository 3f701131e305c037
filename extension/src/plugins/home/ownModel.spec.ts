import { nullTranslator } from '@jupyterlab/translation';
import { expect, it, vi } from 'vitest';
import type { ExerciseState, IModelLine, IUnit } from '../../shared/tokens';
import { nextUnit, ownModel } from './ownModel';

const trans = nullTranslator.load('tfkit_lab');
const line = (unit: number, bits: number, more: Partial<IModelLine> = {}): IModelLine => ({
  ...{ unit, own: 1, of: 2, steps: 100, bits_per_byte: bits, bytes_per_second: 5000, writes: '' },
  ...more
});
const unit = (
  name: string,
  title: string,
  state: ExerciseState = 'not_started',
  cell: string | null = 'demo-9'
): IUnit => ({
  path: `${name}/${name}.ipynb`,
  name,
  title,
  about: '',
  minutes: 60,
  due: null,
  exercises: [{ id: name, title: name, state, score: 0, max_score: 1, points: 1, at: null }],
  predictions: { asked: 0, made: 0 },
  terms: [],
  model_cell: cell
});
const units = [
  unit('01-rnn', '01 · Recurrence', 'passed'),
  unit('02-masks', '02 · Masks', 'passed'),
  unit('08-encoders', '08 · Encoders', 'passed', null),
  unit('13-today', '13 · Today')
];
const draw = (lines: IModelLine[], go = vi.fn(), damaged = false): HTMLElement =>
  ownModel({ lines, damaged }, units, units, trans, go)[0];

it('names what comes next: behind the last line, and then what was left out', () => {
  expect(nextUnit([], units)?.name).toBe('01-rnn');
  expect(nextUnit([line(1, 4)], units)?.name).toBe('02-masks');
  expect(nextUnit([line(2, 4)], units)?.name).toBe('13-today');
  expect(nextUnit([line(2, 4), line(13, 3)], units)?.name).toBe('01-rnn');
  expect(nextUnit([line(1, 4), line(2, 4), line(13, 3)], units)).toBeNull();
});

it('draws a row for each line, with bars as long as their numbers', () => {
  const section = draw([line(1, 4), line(2, 3, { own: 2 }), line(7, 2, { bytes_per_second: 2500 })]);
  const rows = [...section.querySelectorAll('tbody tr')].map(row => [...row.children].map(one => one.textContent));
  expect(rows).toEqual([
    ['01 Recurrence', '4.00', (5000).toLocaleString(), '1 of 2'],
    ['02 Masks', '3.00', (5000).toLocaleString(), '2 of 2'],
    ['07 ', '2.00', (2500).toLocaleString(), '1 of 2'] // the notebook of that unit is not here
  ]);
  const widths = [...section.querySelectorAll('.tfkit-Bar-bits')].map(one => Number(one.getAttribute('width')));
  expect(widths.map(one => one / widths[0])).toEqual([1, 0.75, 0.5]);
  expect(section.textContent).toContain(
    '2.00 bits per byte on text that it has not seen, 2.00 fewer than with unit 01'
  );
});

it('tells the steps where lines differ in them, and what the model wrote as text', () => {
  const section = draw([line(1, 4), line(2, 4.5, { steps: 300, writes: '<b>Fichier</b>' })]);
  expect(section.querySelector('tbody tr:last-child td:last-child')!.textContent).toBe('300');
  expect(section.textContent).not.toContain('fewer');
  expect([section.querySelector('q')!.textContent, section.querySelector('b')]).toEqual(['<b>Fichier</b>', null]);
});

it('opens the cell that puts the parts in once the unit is done, and the unit before', () => {
  const go = vi.fn();
  const press = (lines: IModelLine[]): void => draw(lines, go).querySelector('button')!.click();
  press([line(1, 4)]);
  expect(go).toHaveBeenLastCalledWith({ path: '02-masks/02-masks.ipynb', cell: 'demo-9' });
  press([line(1, 4), line(2, 4)]);
  expect(go).toHaveBeenLastCalledWith({ path: '13-today/13-today.ipynb' });
  expect(draw([line(1, 4), line(2, 4), line(13, 4)]).textContent).toContain('Every unit has been put in.');
});

it('says what will be there while there is no line, and what to do about a damaged table', () => {
  expect(draw([]).textContent).toContain('grows out of the parts');
  expect(draw([], vi.fn(), true).querySelector('[role=alert]')!.textContent).toContain('Delete it');
  expect(ownModel(null, units, units, trans, vi.fn())).toEqual([]);
});
