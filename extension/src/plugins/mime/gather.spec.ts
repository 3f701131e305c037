import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DebouncedChanges } from './gather';

const taken = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  taken.mockReset();
});
afterEach(() => vi.useRealTimers());

it('hands over all changes of a moment, the last of each kind', () => {
  const gathered = new DebouncedChanges(taken, 300);
  gathered.add({ step: 1, head: 0 });
  vi.advanceTimersByTime(200);
  gathered.add({ other: {} });
  vi.advanceTimersByTime(200);
  gathered.add({ step: 2 });
  expect(taken).not.toHaveBeenCalled();
  vi.advanceTimersByTime(300);
  expect(taken.mock.calls).toEqual([[{ step: 2, head: 0, other: {} }]]);
});

it('hands over nothing twice, and nothing once it is disposed', () => {
  const gathered = new DebouncedChanges(taken, 300);
  gathered.add({ step: 1 });
  vi.advanceTimersByTime(300);
  gathered.add({ head: 1 });
  vi.advanceTimersByTime(300);
  gathered.add({ step: 3 });
  gathered.dispose();
  vi.advanceTimersByTime(300);
  expect(taken.mock.calls).toEqual([[{ step: 1 }], [{ head: 1 }]]);
});
