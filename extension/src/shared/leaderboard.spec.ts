import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import { IRow, leaderboards, ranks } from './leaderboard';

const trans = nullTranslator.load('tfkit_lab');
const row = (called: string, excess: number): IRow => ({
  called,
  bits: 0.57 + excess,
  floor: 0.57,
  excess,
  seconds: 118
});
const BOARD = { course: 'my-course', assignment: '17-capstone', rows: [row('Ada', 0.1), row('', 0.25)], others: 3 };

describe('the leaderboard', () => {
  it('lists those who asked, best first, and names nobody who chose no name', () => {
    const [section] = leaderboards([BOARD], trans);
    const cells = [...section.querySelectorAll('tbody tr')].map(line => [...line.children].map(one => one.textContent));
    expect(cells).toEqual([
      ['1', 'Ada', '0.670', '0.100'],
      ['2', 'anonymous', '0.820', '0.250']
    ]);
    expect(section.textContent).toContain('3 others are not listed');
    expect(section.getAttribute('aria-label')).toBe('Leaderboard: 17-capstone');
  });

  it('says so where nobody asked', () => {
    const [section] = leaderboards([{ ...BOARD, rows: [], others: 1 }], trans);
    expect(section.querySelector('table')).toBeNull();
    expect(section.textContent).toContain('Nobody has asked to be listed.');
    expect(section.textContent).toContain('1 other is not listed');
  });

  it('gives one place to those with as many bits', () => {
    expect(ranks([row('a', 0.1001), row('b', 0.1004), row('c', 0.2)])).toEqual([1, 1, 3]);
  });

  it('takes a name as text', () => {
    const [section] = leaderboards([{ ...BOARD, rows: [row('<img src=x onerror=alert(1)>', 0.1)] }], trans);
    expect(section.querySelector('img')).toBeNull();
    expect(section.querySelector('tbody th')!.textContent).toBe('<img src=x onerror=alert(1)>');
  });
});
