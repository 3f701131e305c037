import { expect, it } from 'vitest';
import { missingName, someNotRun } from './names';

it('finds the name that is not defined', () => {
  expect(missingName({ errorName: 'NameError', errorValue: "name 'torch' is not defined" })).toBe('torch');
  expect(missingName({ errorName: 'NameError', errorValue: "name 'x' is not defined. Did you mean: 'ax'?" })).toBe('x');
  expect(missingName({ errorName: 'TypeError', errorValue: "name 'x' is not defined" })).toBeNull();
  expect(missingName(undefined)).toBeNull();
});

it('knows by the kernel’s count whether all cells above have been run', () => {
  const [text, code] = [{ type: 'markdown' }, { type: 'code', executionCount: 7 }]; // 7 is from an earlier kernel
  expect(someNotRun([text, code, code], 2)).toBe(true);
  expect(someNotRun([text, code, code], 3)).toBe(false);
  expect(someNotRun([text], 1)).toBe(false);
  expect(someNotRun([code], null)).toBe(false);
});
