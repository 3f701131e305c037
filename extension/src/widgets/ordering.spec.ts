import { afterEach, describe, expect, it } from 'vitest';
import { RecordedModel } from './model';
import { mount } from './ordering';

const TASK = {
  exercise: 'a.b',
  title: 'A title',
  intro: 'One of them belongs to a known mistake.',
  before: 'import torch\n\n\ndef f(x):',
  after: '',
  level: 1,
  lines: ['return x', 'if x < 0:', 'x = -x', 'x = x + 1']
};

class Model extends RecordedModel {
  sent: unknown[] = [];
  send(message: Record<string, unknown>): void {
    this.sent.push(message);
  }
}

interface IShown {
  model: Model;
  el: HTMLElement;
  close: () => void;
}

function show(answer: [number, number][] = []): IShown {
  const model = new Model({ task: TASK, answer, result: null, problem: '', busy: false });
  const el = document.createElement('div');
  document.body.append(el);
  return { model, el, close: mount(model, el) };
}

const line = (el: HTMLElement, n: number): HTMLButtonElement => el.querySelector(`[data-line="${n}"]`)!;
const texts = (el: HTMLElement, list: string): (string | null)[] =>
  [...el.querySelectorAll(`${list} code`)].map(code => code.textContent);

function press(el: HTMLElement, key: string, more: KeyboardEventInit = {}): boolean {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  return (document.activeElement ?? el).dispatchEvent(event);
}

afterEach(() => document.body.replaceChildren());

describe('lines to put in order', () => {
  it('shows what is given, and no line in the answer', () => {
    const { el } = show();
    expect(texts(el, '.tfkit-o-pool')).toEqual(TASK.lines);
    expect(el.querySelector('.tfkit-o-given')!.textContent).toBe('import torch\ndef f(x):');
    expect(el.querySelector<HTMLButtonElement>('.tfkit-o-check')!.disabled).toBe(true);
    expect(el.querySelectorAll('.tfkit-o-line[tabindex="0"]')).toHaveLength(1);
  });

  it('is put in order and indented by keys alone, and every move is announced', () => {
    const { model, el } = show();
    line(el, 2).focus();
    press(el, 'Enter');
    expect(document.activeElement).toBe(line(el, 2)); // the focus goes with the line
    line(el, 3).focus();
    press(el, ' ');
    expect(model.get('answer')).toEqual([
      [2, 0],
      [3, 1]
    ]); // below what ends with a colon, one step deeper
    expect(el.querySelector('[role=status]')!.textContent).toBe('Line 2 of 2, indentation 1: x = -x');
    line(el, 1).focus();
    press(el, 'Enter');
    press(el, 'ArrowLeft');
    expect(model.get('answer')).toEqual([
      [2, 0],
      [3, 1],
      [1, 0]
    ]);
    press(el, 'ArrowUp', { altKey: true });
    expect(model.get('answer')).toEqual([
      [2, 0],
      [1, 0],
      [3, 1]
    ]);
    expect(line(el, 1).getAttribute('aria-label')).toBe('Line 2 of 3, indentation 0: return x');
    press(el, 'ArrowUp');
    expect(document.activeElement).toBe(line(el, 2));
    press(el, 'Delete');
    expect(model.get('answer')).toEqual([
      [1, 0],
      [3, 1]
    ]);
    expect(texts(el, '.tfkit-o-pool')).toContain('if x < 0:');
  });

  it('keeps indentation from 0 to 8, and lines inside the answer', () => {
    const { model, el } = show([
      [1, 0],
      [2, 8]
    ]);
    line(el, 1).focus();
    expect(press(el, 'ArrowLeft')).toBe(false); // nothing is left to the page
    press(el, 'ArrowUp', { altKey: true });
    line(el, 2).focus();
    press(el, 'ArrowRight');
    press(el, 'ArrowDown', { altKey: true });
    expect(model.get('answer')).toEqual([
      [1, 0],
      [2, 8]
    ]);
  });

  it('is moved by the buttons for the chosen line', () => {
    const { model, el } = show([
      [1, 0],
      [2, 0]
    ]);
    const tools = el.querySelector<HTMLElement>('.tfkit-o-tools')!;
    expect(tools.hidden).toBe(true);
    line(el, 1).focus();
    expect(tools.hidden).toBe(false);
    const tool = (name: string): void => el.querySelector<HTMLButtonElement>(`[aria-label="${name}"]`)!.click();
    tool('Move down');
    tool('More indentation');
    expect(model.get('answer')).toEqual([
      [2, 0],
      [1, 1]
    ]);
    tool('Put back');
    expect(model.get('answer')).toEqual([[2, 0]]);
  });

  it('sends the order, waits, and shows the verdict until the order is another one', () => {
    const { model, el } = show([
      [2, 0],
      [1, 0]
    ]);
    const check = el.querySelector<HTMLButtonElement>('.tfkit-o-check')!;
    check.click();
    expect(model.sent).toEqual([
      {
        do: 'check',
        order: [
          [2, 0],
          [1, 0]
        ]
      }
    ]);
    model.set('busy', true);
    expect(check.disabled).toBe(true);
    model.set('busy', false);
    model.set('result', { status: 'failed', sentences: ['Line 2 is <out of place>.', 'More.'], line: 2 });
    expect(el.querySelector('[role=alert]')!.textContent).toBe('✗ Line 2 is <out of place>.More.');
    expect(line(el, 1).classList.contains('tfkit-o-wrong')).toBe(true);
    line(el, 1).focus();
    press(el, 'ArrowRight');
    expect(el.querySelector('[role=alert]')!.textContent).toBe('');
    expect(el.querySelector('.tfkit-o-wrong')).toBeNull();
    model.set('problem', 'no answer after 300 s');
    expect(el.querySelector('[role=alert]')!.textContent).toBe('no answer after 300 s');
  });

  it('shows an order that the kernel holds, and closes', () => {
    const { model, el, close } = show([[4, 2]]);
    expect(texts(el, '.tfkit-o-answer')).toEqual(['x = x + 1']);
    close();
    model.set('answer', []);
    expect(el.childNodes).toHaveLength(0);
  });
});
