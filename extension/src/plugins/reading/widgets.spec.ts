import { nullTranslator } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { IStage } from './outline';
import { PredictionPart, StageBar } from './widgets';

const trans = nullTranslator.load('tfkit_lab');
const stage = (name: IStage['name'], done: boolean, current: boolean, cell: string): IStage => ({
  name,
  done,
  current,
  cell
});

let shown: Widget | null = null;
function attach<T extends Widget>(widget: T): T {
  document.body.append(widget.node);
  shown = widget;
  return widget;
}
afterEach(() => shown?.node.remove());

describe('the stages', () => {
  const draw = (keys = '') => {
    const go = vi.fn();
    return { go, bar: attach(new StageBar(trans, go, vi.fn(), () => keys)) };
  };

  it('change under a button without taking its focus', () => {
    const { go, bar } = draw();
    bar.showStages(null, [stage('read', true, false, 'a'), stage('predict', false, true, 'b')]);
    const button = bar.node.querySelectorAll('li button')[1] as HTMLButtonElement;
    button.focus();
    bar.showStages(null, [
      stage('read', true, false, 'a'),
      stage('predict', true, false, 'b'),
      stage('build', false, true, 'c')
    ]);
    expect(document.activeElement).toBe(button);
    expect(button.textContent).toBe('✓ predict');
    expect(button.hasAttribute('aria-current')).toBe(false);
    expect(bar.node.querySelectorAll('[aria-current="step"]').length).toBe(1);
    bar.showStages(null, [stage('read', false, true, 'z')]);
    expect([...bar.node.querySelectorAll('li')].map(({ textContent }) => textContent)).toEqual(['read']);
    bar.node.querySelector<HTMLButtonElement>('li button')!.click();
    expect(go.mock.calls).toEqual([['z']]);
  });

  it('name the keys of this system, if there are any', () => {
    const title = (keys: string): string => {
      const { bar } = draw(keys);
      bar.showStages(null, []);
      return bar.node.querySelector<HTMLElement>('.tfkit-Stages-leave')!.title;
    };
    expect(title('⌘ ⌥ R')).toBe('Leave reading mode: show every cell (⌘ ⌥ R)');
    expect(title('')).toBe('Leave reading mode: show every cell');
  });
});

it('a sealed prediction has the focus that its button had', async () => {
  const asked = {
    cell: 'a',
    name: '02.a',
    questions: [{ kind: 'choice', label: 'Which?', options: ['x', 'y'] }],
    card: null
  };
  const seal = vi.fn(() => Promise.resolve('<style>b{}</style><b>sealed</b>'));
  const { node } = attach(new PredictionPart(asked, { sanitize: (html: string) => html }, seal));
  node.querySelector<HTMLInputElement>('input')!.click();
  const button = [...node.querySelectorAll('button')].find(({ textContent }) => textContent?.startsWith('Seal'))!;
  button.focus();
  button.click();
  await vi.waitFor(() => expect(node.textContent).toBe('sealed'));
  expect(seal.mock.calls).toEqual([[[['x']], null]]);
  expect(document.activeElement).toBe(node.firstElementChild);
  const before = attach(
    new PredictionPart({ ...asked, card: '<b>sealed</b>' }, { sanitize: (html: string) => html }, seal)
  );
  expect(document.activeElement).not.toBe(before.node.firstElementChild); // on opening nobody's focus is taken
});
