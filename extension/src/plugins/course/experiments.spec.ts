import { expect, it } from 'vitest';
import type { IStep, IUnit } from '../../shared/tokens';
import { placeOf, showsResult, withRuns } from './experiments';

it('takes an experiment as done that was run, and no comparison, which the predictions tell', () => {
  const step = (kind: IStep['kind'], cell: string): IStep => ({ kind, cell, title: '', done: false });
  const unit = { path: 'a.ipynb', steps: [step('experiment', 'x'), step('experiment', 'y'), step('compare', 'z')] };
  const ran = new Set([placeOf('a.ipynb', 'x'), placeOf('b.ipynb', 'y'), placeOf('a.ipynb', 'z')]);
  const done = (one: Partial<IUnit>): unknown => withRuns(one as IUnit, ran).steps?.map(({ done: is }) => is);
  expect(done(unit)).toEqual([true, false, false]);
  expect(done({ path: 'a.ipynb' })).toBeUndefined(); // of a tab
});

it('takes no cell as run that was passed over', () => {
  const cell = (role: string, source: string, data: Record<string, unknown>) => ({
    type: 'code',
    sharedModel: { getSource: () => source },
    getMetadata: () => ({ role }),
    toJSON: () => ({ outputs: [{ data }] })
  });
  const passedOver = { 'application/vnd.tfkit.unsealed+json': { prediction: '02.a' } };
  expect(showsResult(cell('experiment', 'x', {}))).toBe(true);
  expect(showsResult(cell('experiment', 'x', passedOver))).toBe(false);
  expect(showsResult(cell('demo', 'predicted("02.a")', {}))).toBe(true);
  expect(showsResult(cell('demo', 'predicted("02.a")', passedOver))).toBe(false);
  expect(showsResult(cell('demo', 'x', {}))).toBe(false);
});
