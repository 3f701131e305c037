import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RecordedModel } from './model';
import { mount } from './stepper';
import { ITrace } from './trace';

const golden = (name: string): ITrace => JSON.parse(readFileSync(`../tests/extension/golden/${name}.json`, 'utf-8'));

class Counting extends RecordedModel {
  listeners = 0;
  on(event: string, callback: () => void): void {
    this.listeners++;
    super.on(event, callback);
  }
  off(event: string, callback: () => void): void {
    this.listeners--;
    super.off(event, callback);
  }
}

function shownIn(trace: ITrace, step = 0): { model: Counting; el: HTMLElement; root: HTMLElement; off: () => void } {
  const model = new Counting({ trace, step, layer: 0, head: 0 });
  const el = document.createElement('div');
  document.body.append(el);
  const off = mount(model, el);
  return { model, el, off, root: el.querySelector('.tfk') as HTMLElement };
}

const key = (root: HTMLElement, name: string): boolean =>
  root.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const said = (root: HTMLElement): string => root.querySelector('[role=status]')!.textContent!;

afterEach(() => document.body.replaceChildren());

describe('the stepper', () => {
  it('goes both ways by keyboard and stops at the ends', () => {
    const trace = golden('greedy');
    const { model, root } = shownIn(trace);
    key(root, 'ArrowLeft');
    expect(model.get('step')).toBe(0);
    key(root, 'ArrowRight');
    key(root, 'ArrowRight');
    key(root, 'ArrowLeft');
    expect(said(root)).toBe(`Step 2 of ${trace.steps.length}: chose ${trace.nodes[2].token}`);
    key(root, 'End');
    key(root, 'ArrowRight');
    expect(model.get('step')).toBe(trace.steps.length - 1);
    key(root, 'Home');
    expect(model.get('step')).toBe(0);
  });

  it('goes both ways by button, and disables what leads nowhere', () => {
    const { model, root } = shownIn(golden('beam'));
    const button = (name: string): HTMLButtonElement => root.querySelector(`button[aria-label="${name}"]`)!;
    expect(button('Step back').disabled).toBe(true);
    button('Step forward').click();
    button('Step forward').click();
    button('Step back').click();
    expect(model.get('step')).toBe(1);
    button('Last step').click();
    expect(button('Step forward').disabled).toBe(true);
  });

  it('shows the candidates of the step, as the trace has them', () => {
    const trace = golden('greedy');
    const { root } = shownIn(trace, 1);
    const rows = [...root.querySelectorAll('[aria-label="Next token"] tbody tr')].map(row => row.textContent);
    expect(rows).toHaveLength(trace.steps[1].topk['1'].length);
    expect(rows[0]).toContain(trace.steps[1].topk['1'][0][2].toFixed(3));
    expect(root.textContent).toContain(`Entropy ${trace.steps[1].entropy['1'].toFixed(2)}`);
  });

  it('leaves keys with modifiers, and those of its selects, alone', () => {
    const { model, root } = shownIn(golden('greedy'));
    root.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', ctrlKey: true, bubbles: true }));
    key(root.querySelector('select') as unknown as HTMLElement, 'ArrowRight');
    expect(model.get('step')).toBe(0);
  });

  it('tells whoever holds the document where it was left', () => {
    const { el, root } = shownIn(golden('greedy'));
    const heard = vi.fn();
    el.addEventListener('tfkit:state', event => heard((event as CustomEvent).detail));
    key(root, 'ArrowRight');
    expect(heard.mock.calls).toEqual([[{ step: 1, layer: 0, head: 0 }]]);
  });

  it('follows its model', () => {
    const { model, root } = shownIn(golden('greedy'));
    model.set('step', 3);
    expect(said(root)).toContain('Step 4');
  });

  it('writes tokens as text', () => {
    const trace = golden('greedy');
    trace.nodes[1].token = '<img src=x onerror=alert(1)>';
    const { root } = shownIn(trace);
    expect(root.querySelector('img')).toBeNull();
    expect(root.textContent).toContain('<img');
  });

  it('says what is wrong with a broken trace', () => {
    const { root } = shownIn({ ...golden('greedy'), schema: 'x' });
    expect(root.getAttribute('role')).toBe('alert');
  });

  it('draws the beam with a table beside it', () => {
    const { root } = shownIn(golden('beam'), 1);
    expect(root.querySelectorAll('svg circle').length).toBe(golden('beam').nodes.filter(n => n.step <= 2).length);
    expect(root.textContent).toContain('Hypotheses after this step');
  });

  it('leaves nothing behind', () => {
    const { model, el, off } = shownIn(golden('beam'));
    off();
    expect([model.listeners, el.childElementCount]).toEqual([0, 0]);
  });
});
