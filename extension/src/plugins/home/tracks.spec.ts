import { nullTranslator } from '@jupyterlab/translation';
import { expect, test, vi } from 'vitest';
import type { IUnit } from '../../shared/tokens';
import { hoursOf, trackChoice } from './tracks';

const trans = nullTranslator.load('');
const unit = (name: string, minutes: number | null, ...tracks: string[]): IUnit => ({
  path: `${name}/${name}.ipynb`,
  name,
  title: name,
  about: '',
  minutes,
  due: null,
  exercises: [],
  predictions: { asked: 0, made: 0 },
  terms: [],
  tracks: tracks.map(track => [track, track.toUpperCase(), 2])
});
const units = [unit('01', 105, 'zoo', 'core'), unit('04', 120, 'zoo'), unit('05', 180, 'core')];

test('hours are added up and rounded, and unknown where one unit states none', () => {
  expect(hoursOf(units)).toBe(7);
  expect(hoursOf([...units, unit('06', null)])).toBeNull();
});

test('each track is a button that tells how long it takes, and the chosen one is pressed', () => {
  const choose = vi.fn();
  const [group] = trackChoice(units, 'core', trans, choose);
  const buttons = Array.from(group.querySelectorAll('button'));
  expect(buttons.map(button => button.textContent)).toEqual([
    'All units 3 units, about 7 h',
    'ZOO 2 units, about 4 h',
    'CORE 2 units, about 5 h'
  ]);
  expect(buttons.map(button => button.getAttribute('aria-pressed'))).toEqual(['false', 'false', 'true']);
  buttons[1].click();
  expect(choose).toHaveBeenCalledWith('zoo');
});

test('a course that is one track names it, and a course without tracks shows nothing', () => {
  const [only] = trackChoice(
    [units[0], units[2]].map(one => ({ ...one, tracks: [['core', 'Core', 2] as const] })),
    '',
    trans,
    vi.fn()
  );
  expect(only.textContent).toBe('Core · 2 units, about 5 h');
  expect(only.querySelector('button')).toBeNull();
  expect(trackChoice([unit('01', 60)], '', trans, vi.fn())).toEqual([]);
  const both = [['core', 'Core', 1] as const, ['zoo', 'Zoo', 1] as const];
  expect(trackChoice([{ ...unit('01', 60), tracks: both }], '', trans, vi.fn())).toEqual([]);
  expect(trackChoice([unit('01', 60, 'core')], '', trans, vi.fn())).toEqual([]); // another unit of it is not here
});
