import { expect, it } from 'vitest';
import type { IStep, IUnit } from '../../shared/tokens';
import { placeOf, withRuns } from './runs';

it('takes an experiment as done that was run, and no comparison, which the predictions tell', () => {
  const step = (kind: IStep['kind'], cell: string): IStep => ({ kind, cell, title: '', done: false });
  const unit = { path: 'a.ipynb', steps: [step('experiment', 'x'), step('experiment', 'y'), step('compare', 'z')] };
  const ran = new Set([placeOf('a.ipynb', 'x'), placeOf('b.ipynb', 'y'), placeOf('a.ipynb', 'z')]);
  const done = (one: Partial<IUnit>): unknown => withRuns(one as IUnit, ran).steps?.map(({ done: is }) => is);
  expect(done(unit)).toEqual([true, false, false]);
  expect(done({ path: 'a.ipynb' })).toBeUndefined(); // of a tab
});
