import { describe, expect, it } from 'vitest';
import { framed } from './axes';

const drawn = (names: string[], step: number): HTMLElement => {
  const frame = document.createElement('div');
  framed(frame, document.createElement('canvas'), names, names, step);
  return frame;
};
const words = (frame: HTMLElement, side: string): string[] =>
  [...frame.querySelectorAll(`.tfk-axis-${side} span`)].map(node => node.textContent);

describe('the names along a map', () => {
  it('stand on both sides, and light up as tokens', () => {
    const frame = drawn(['the', 'cat'], 20);
    expect([words(frame, 'rows'), words(frame, 'cols')]).toEqual([
      ['the', 'cat'],
      ['the', 'cat']
    ]);
    expect(frame.querySelectorAll('[data-tok=cat]')).toHaveLength(2);
  });

  it('are left out where they would touch, however long the text', () => {
    const frame = drawn(
      Array.from({ length: 512 }, (_, i) => `w${i}`),
      1
    );
    expect(words(frame, 'rows').slice(0, 2)).toEqual(['w0', 'w11']);
    expect(frame.querySelectorAll('span').length).toBeLessThan(100);
  });

  it('are not there where nobody gave any', () => {
    expect(drawn([], 20).querySelectorAll('span')).toHaveLength(0);
  });
});
