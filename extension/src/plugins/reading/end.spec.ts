import { nullTranslator } from '@jupyterlab/translation';
import { expect, it, vi } from 'vitest';
import type { ExerciseState, IUnit } from '../../shared/tokens';
import { isFinished, UnitEnd } from './end';

vi.mock('@jupyterlab/cells', () => ({})); // it needs a browser

const trans = nullTranslator.load('tfkit_lab');
const unit = (name: string, ...states: ExerciseState[]): IUnit =>
  ({
    path: `${name}.ipynb`,
    name,
    title: name === '02-masks' ? 'Masks' : 'Many heads',
    about: 'Several looks at once.',
    due: null,
    exercises: states.map((state, i) => ({ id: `${name}.${i}`, title: `Part ${i}`, state, at: null })),
    terms: []
  }) as unknown as IUnit;

it('appears once every exercise is passed, with what was built and one way on', () => {
  const open = vi.fn();
  const load = vi.fn();
  const [early, done, next] = [
    unit('02-masks', 'passed', 'failed'),
    unit('02-masks', 'passed', 'passed'),
    unit('03-heads', 'not_started')
  ];
  const widget = new UnitEnd(done, { trans, open, load });
  widget.draw(early, [early, next]);
  expect(widget.node.hidden).toBe(true);
  widget.draw(done, [done, next]);
  expect(widget.node.hidden).toBe(false);
  expect(widget.node.querySelector('h2')!.textContent).toBe('Masks: done');
  expect(widget.node.textContent).toContain('a softmax that survives a row with nothing to see');
  expect([...widget.node.querySelectorAll('li')].map(item => item.textContent)).toEqual(['✓ Part 0', '✓ Part 1']);
  widget.node.querySelector<HTMLElement>('.tfkit-mod-strong')!.click();
  expect(open.mock.calls[0][0].unit.name).toBe('03-heads');
});

it('has no name on its picture unless one is typed, which a redrawing keeps', async () => {
  const savePng = vi.fn(() => Promise.resolve('Saved'));
  const done = unit('02-masks', 'passed');
  const widget = new UnitEnd(done, { trans, open: vi.fn(), load: () => Promise.resolve({ savePng } as never) });
  widget.draw(done, [done]);
  const card = widget.node.querySelector('.tfkit-End-card')!;
  const hatched = [...card.querySelectorAll('svg [fill^=url]')].map(one => one.getAttribute('fill'));
  expect(new Set(hatched)).toEqual(new Set([`url(#${card.querySelector('pattern')!.id})`])); // the drawing stands alone
  expect(card.querySelector('p')!.textContent).toBe('built by hand');
  const typed = widget.node.querySelector('input')!;
  typed.value = 'Ada';
  typed.dispatchEvent(new Event('input'));
  widget.draw(done, [done]);
  expect(card.isConnected || widget.node.contains(card)).toBe(true);
  expect(card.querySelector('p')!.textContent).toBe('Ada · built by hand');
  [...widget.node.querySelectorAll('button')].find(one => one.textContent === 'Save the picture')!.click();
  await vi.waitFor(() => expect(widget.node.querySelector('[role=status]')!.textContent).toBe('Saved'));
  expect(savePng).toHaveBeenCalledWith(card, '02-masks');
  expect(widget.node.textContent).toContain('Nothing of the course is left to do.');
});

it('is not there for a unit without exercises', () => {
  expect(isFinished(unit('17-capstone'))).toBe(false);
});
