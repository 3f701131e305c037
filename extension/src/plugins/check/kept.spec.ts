import { expect, it } from 'vitest';
import { digest, IKept, isStale, keep, keptIn } from './kept';

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

const card: IKept = { html: '<p>x</p>', status: 'failed', asked: 'button', at: 5, code: digest('def f(): ...') };

it('is out of date as soon as the code is another, and no longer when it is the same again', () => {
  expect(isStale(card, 'def f(): ...')).toBe(false);
  expect(isStale(card, 'def f(): ... # x')).toBe(true);
  expect(isStale(card, 'def g(): ...')).toBe(true);
  expect(isStale(card, 'def f(): ...\n')).toBe(false);
  expect(isStale({ ...card, code: null }, 'anything')).toBe(false);
});

it('is restored as it was kept, and replaced by a later one', () => {
  const model = new Model();
  expect(keptIn(model)).toBeNull();
  keep(model, card);
  expect(keptIn(model)).toEqual(card);
  keep(model, { ...card, status: 'passed', asked: 'kernel' });
  expect(keptIn(model)).toMatchObject({ status: 'passed', asked: 'kernel' });
});

it('keeps no card that is too long, nor the one before it', () => {
  const model = new Model();
  keep(model, card);
  keep(model, { ...card, html: 'x'.repeat(40_001) });
  expect(keptIn(model)).toBeNull();
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
    expect(keptIn(model)).toBeNull();
  }
});
