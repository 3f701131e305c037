import { expect, it } from 'vitest';
import { digest, IStoredVerdict, isStale, storeVerdict, storedVerdict } from './storedVerdict';

class Model {
  getMetadata(key: string): unknown {
    return this._data.get(key);
  }
  setMetadata(key: string, value: unknown): void {
    this._data.set(key, JSON.parse(JSON.stringify(value)));
  }
  deleteMetadata(key: string): void {
    this._data.delete(key);
  }
  private readonly _data = new Map<string, unknown>();
}

const card: IStoredVerdict = {
  html: '<p>x</p>',
  status: 'failed',
  asked: 'button',
  at: 5,
  code: digest('def f(): ...')
};

it('is out of date as soon as the code is another, and no longer when it is the same again', () => {
  expect(isStale(card, 'def f(): ...')).toBe(false);
  expect(isStale(card, 'def f(): ... # x')).toBe(true);
  expect(isStale(card, 'def g(): ...')).toBe(true);
  expect(isStale(card, 'def f(): ...\n')).toBe(false);
  expect(isStale({ ...card, code: null }, 'anything')).toBe(false);
});

it('is restored as it was kept, and replaced by a later one', () => {
  const model = new Model();
  expect(storedVerdict(model)).toBeNull();
  storeVerdict(model, card);
  expect(storedVerdict(model)).toEqual(card);
  storeVerdict(model, { ...card, status: 'passed', asked: 'kernel' });
  expect(storedVerdict(model)).toMatchObject({ status: 'passed', asked: 'kernel' });
});

it('keeps no card that is too long, nor the one before it', () => {
  const model = new Model();
  storeVerdict(model, card);
  storeVerdict(model, { ...card, html: 'x'.repeat(40_001) });
  expect(storedVerdict(model)).toBeNull();
});

it('reads nothing that is no card', () => {
  for (const wrong of [
    3,
    'x',
    [],
    {},
    { ...card, html: 3 },
    { ...card, status: 'won' },
    { ...card, at: null },
    { ...card, code: 3 },
    { ...card, asked: 'me' }
  ]) {
    const model = new Model();
    model.setMetadata('tfkit_verdict', wrong);
    expect(storedVerdict(model)).toBeNull();
  }
});
