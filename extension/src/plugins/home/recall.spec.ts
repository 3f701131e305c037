// @vitest-environment happy-dom
import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import type { IUnit } from '../../shared/tokens';
import { askingUnit, recallPart } from './recall';

const trans = nullTranslator.load('tfkit_lab');
const unit = (name: string, cell: string | null): IUnit =>
  ({ name, path: `${name}.ipynb`, recall_cell: cell }) as IUnit;
const units = [unit('01', null), unit('02', 'recall'), unit('03', 'recall')];

describe('what is due of the questions on earlier units', () => {
  it('opens the unit where the student is, or else the last that asks', () => {
    expect(askingUnit(units, units[1])).toBe(units[1]);
    expect(askingUnit(units, units[0])).toBe(units[2]);
    expect(askingUnit([units[0]], units[0])).toBeUndefined();
  });

  it('says how many are due, with a button that goes to the cell', () => {
    const went: unknown[] = [];
    const [section] = recallPart({ due: 2, next: null }, units, units[1], trans, to => went.push(to));
    expect(section.textContent).toContain('2 questions are due again.');
    section.querySelector('button')!.click();
    expect(went).toEqual([{ path: '02.ipynb', cell: 'recall' }]);
  });

  it('says when the next one comes back, and nothing before any was answered', () => {
    const [section] = recallPart(
      { due: 0, next: '2026-12-03T09:00:00+00:00' },
      units,
      units[1],
      trans,
      () => undefined
    );
    expect(section.textContent).toContain('The next question comes back on');
    expect(section.querySelector('button')).toBeNull();
    document.documentElement.lang = 'fr';
    const [french] = recallPart({ due: 0, next: '2026-12-03T09:00:00+00:00' }, units, units[1], trans, () => undefined);
    expect(french.textContent).toContain('3 décembre');
    expect(recallPart(null, units, units[1], trans, () => undefined)).toEqual([]);
  });
});
