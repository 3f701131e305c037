import { afterEach, describe, expect, it } from 'vitest';
import { RecordedModel } from './model';
import { mount, numberOf, numbersOf } from './prediction';

class Model extends RecordedModel {
  sent: unknown[] = [];
  send(message: Record<string, unknown>): void {
    this.sent.push(message);
  }
}

function mountForm(...questions: Record<string, unknown>[]): { model: Model; el: HTMLElement } {
  const model = new Model({ form: { name: '01.x', questions }, sealed: null, problem: '' });
  const el = document.createElement('div');
  document.body.append(el);
  mount(model, el);
  return { model, el };
}

const submit = (el: HTMLElement): boolean =>
  el.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));

afterEach(() => document.body.replaceChildren());

describe('what is typed', () => {
  it.each([
    ['1,050,624', 1050624],
    ['1 050 624', 1050624],
    ['0,25', 0.25],
    ['0,125', 0.125],
    ['-0,500', -0.5],
    ['0,125/2', 0.0625],
    ['1,5', 1.5],
    ['1 050,624', 1050.624],
    ['12345,678', 12345.678],
    ['1.234,567', undefined],
    ['-1,050,624.5', -1050624.5],
    ['25 %', 0.25],
    ['3/4', 0.75],
    ['-1e-3', -0.001],
    ['four', undefined],
    ['1/0', undefined],
    ['', undefined]
  ])('%j is the number %j', (text, number) => expect(numberOf(text)).toBe(number));

  it.each([
    ['[2, 3]', [2, 3]],
    ['torch.Size([2, 3])', [2, 3]],
    ['2 x 3', [2, 3]],
    ['(5,)', [5]],
    ['[]', []],
    ['[2, -3]', undefined],
    ['[2, H]', undefined]
  ])('%j is the shape %j', (text, shape) => expect(numbersOf(text, true)).toEqual(shape));

  it.each([
    ['0.5, 0.25', [0.5, 0.25]],
    ['0.5,0.25', [0.5, 0.25]],
    ['0,5 0,25', [0.5, 0.25]],
    ['0,5; 0,250', [0.5, 0.25]],
    ['[0,500, 0,25]', [0.5, 0.25]],
    ['1,0', [1, 0]],
    ['0,5', [0, 5]], // two numbers were asked for, and the form shows how it reads them
    ['0,5 0,25 0', undefined],
    ['0.5', undefined]
  ])('%j is the two numbers %j', (text, numbers) => expect(numbersOf(text, false, 2)).toEqual(numbers));
});

describe('the form', () => {
  it('sends every answer, once all are there', () => {
    const { model, el } = mountForm(
      { kind: 'number', label: 'How many?' },
      { kind: 'choice', label: 'Which?', options: ['a', 'b'], several: false }
    );
    submit(el);
    expect(model.sent).toEqual([]);
    expect(el.querySelector('[role=alert]')!.textContent).toContain('How many?');
    el.querySelector<HTMLInputElement>('input[type=text]')!.value = '7';
    el.querySelectorAll<HTMLInputElement>('input[type=radio]')[1].checked = true;
    submit(el);
    expect(model.sent).toEqual([{ do: 'seal', answers: [7, ['b']] }]);
  });

  it('shows how it reads what can be read in several ways', () => {
    const { el } = mountForm(
      { kind: 'number', label: 'What share?' },
      { kind: 'numbers', label: 'Which weights?', count: 2 },
      { kind: 'shape', label: 'What shape?' }
    );
    const inputs = [...el.querySelectorAll<HTMLInputElement>('input[type=text]')];
    const shown = (texts: string[]): string[] => {
      inputs.forEach((input, i) => ((input.value = texts[i]), input.dispatchEvent(new Event('input'))));
      return [...el.querySelectorAll('.tfkit-p-read')].map(line => line.textContent);
    };
    expect(shown(['0,125', '0,5 0,25', '2 x 3'])).toEqual(['Read as 0.125', 'Read as 0.5, 0.25', 'Read as [2, 3]']);
    expect(shown(['1,050', '0,5', '4 x'])).toEqual(['Read as 1050', 'Read as 0, 5', 'Read as [4]']);
    expect(shown(['0.125', '0.5, 0.25', '[2, 3]'])).toEqual(['', '', '']);
    expect(shown(['a share', '', ''])).toEqual(['', '', '']);
  });

  it('takes none of several as an answer', () => {
    const { model, el } = mountForm({ kind: 'choice', label: 'Which?', options: ['a', 'b'], several: true });
    const boxes = el.querySelectorAll<HTMLInputElement>('input[type=checkbox]');
    boxes[2].checked = true;
    submit(el);
    expect(model.sent).toEqual([{ do: 'seal', answers: [[]] }]);
  });

  it('draws a mask by keys', () => {
    const { model, el } = mountForm({ kind: 'mask', label: 'Where?', rows: ['0', '1'], columns: ['0', '1'] });
    const cells = el.querySelectorAll<HTMLButtonElement>('td button');
    expect([...cells].map(cell => cell.tabIndex)).toEqual([0, -1, -1, -1]);
    cells[0].dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true, cancelable: true }));
    expect(document.activeElement).toBe(cells[2]);
    cells[2].dispatchEvent(new MouseEvent('click', { detail: 0 }));
    submit(el);
    expect(model.sent).toEqual([
      {
        do: 'seal',
        answers: [
          [
            [false, false],
            [true, false]
          ]
        ]
      }
    ]);
  });

  it('passes, says what the kernel says, and closes', () => {
    const { model, el } = mountForm({ kind: 'shape', label: 'What shape?' });
    el.querySelectorAll<HTMLButtonElement>('button')[1].click();
    expect(model.sent).toEqual([{ do: 'pass' }]);
    model.set('problem', 'the folder cannot be written');
    expect(el.querySelector('[role=alert]')!.textContent).toBe('the folder cannot be written');
    model.set('sealed', { answers: null });
    expect(el.querySelector('form')).toBeNull();
  });
});
