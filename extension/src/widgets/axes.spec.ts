import { describe, expect, it } from 'vitest';
import { framed } from './axes';

const drawn = (names: string[] | number, step: number): HTMLElement => {
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

  it('are round numbers where nobody gave any, which are no tokens', () => {
    const frame = drawn(12, 3);
    expect(words(frame, 'rows')).toEqual(['0', '5', '10']);
    expect(words(frame, 'cols')).toEqual(['0', '10']);
    expect(frame.querySelectorAll('[data-tok]')).toHaveLength(0);
  });

  it('stand upright where they are Chinese, and lie on their side in Latin letters', () => {
    const frame = drawn(['猫', 'cat'], 20);
    const upright = [...frame.querySelectorAll('.tfk-upright')].map(node => node.textContent);
    expect(upright).toEqual(['猫', '猫']);
  });
});
