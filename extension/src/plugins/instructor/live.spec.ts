import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it, vi } from 'vitest';
import { ILive, LiveClass } from './live';

const trans = nullTranslator.load('tfkit_lab');
const FOUND: ILive = {
  shared: true,
  students: 4,
  active: 3,
  exercises: [
    {
      exercise: 'masks.causal',
      passed: 1,
      tried: 1,
      stuck: 2,
      commonest: [{ misconception: 'no_diagonal', students: 2 }]
    }
  ]
};

describe('the live part of the class panel', () => {
  it('counts who has passed, tried and is stuck, with the commonest misconception', () => {
    const live = new LiveClass(trans, () => undefined);
    live.show(FOUND);
    const cells = [...live.node.querySelectorAll('tbody tr:first-child td')].map(cell => cell.textContent);
    expect(cells).toEqual(['1', '1', '2']);
    expect(live.node.querySelector('.tfkit-Live-why')!.textContent).toBe('no diagonal: 2 students');
    const widths = [...live.node.querySelectorAll<HTMLElement>('.tfkit-Live-bar span')].map(part => part.style.width);
    expect(widths).toEqual(['25%', '25%', '50%']);
  });

  it('asks for names and another rule only where that was chosen', () => {
    const changed = vi.fn();
    const live = new LiveClass(trans, changed);
    live.show(FOUND);
    expect(live.query).toBe('live?checks=3&minutes=10');
    const names = live.node.querySelector<HTMLInputElement>('input[type=checkbox]')!;
    names.checked = true;
    names.dispatchEvent(new Event('change'));
    const [checks] = live.node.querySelectorAll<HTMLInputElement>('input[type=number]');
    checks.value = '5';
    expect(live.query).toBe('live?checks=5&minutes=10&names=1');
    expect(changed).toHaveBeenCalled();
    const who = [{ student: 'ben', failed: 5, minutes: 20, misconception: 'no_diagonal' }];
    live.show({ ...FOUND, exercises: [{ ...FOUND.exercises[0], who }] });
    expect(live.node.textContent).toContain('ben · 5 checks failed in 20 min · no diagonal');
  });

  it('is hidden where a class has no folder, and leaves what has not changed', () => {
    const live = new LiveClass(trans, () => undefined);
    live.show({ ...FOUND, shared: false });
    expect(live.node.hidden).toBe(true);
    live.show(FOUND);
    const row = live.node.querySelector('tbody tr');
    live.show({ ...FOUND, active: 2 });
    expect(live.node.querySelector('tbody tr')).toBe(row);
    expect(live.node.textContent).toContain('2 of 4 students');
  });
});
