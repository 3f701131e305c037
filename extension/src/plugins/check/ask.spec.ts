import { nullTranslator } from '@jupyterlab/translation';
import { expect, it } from 'vitest';
import { bindQuestion, numbersIn } from './ask';

const trans = nullTranslator.load('tfkit_lab');

it.each([
  ['2 × 3', [2, 3]],
  ['[2, 3]', [2, 3]],
  ['(2,3)', [2, 3]],
  ['2x3', [2, 3]],
  [' 0.5 ', [0.5]],
  ['', null],
  ['two', null]
])('%s is read as %j', (text, numbers) => {
  expect(numbersIn(text)).toEqual(numbers);
});

const RIGHT = ' A right answer has <b class="tfkit-v-right">2 × 3</b>.';
const card = (right: string): HTMLElement => {
  const node = document.createElement('div');
  node.innerHTML = `<details class="tfkit-v-ask"><summary>Which shape?</summary><p>Your code gives <b class="tfkit-v-yours">3 × 2</b>.${right}</p></details>`;
  bindQuestion(node, trans);
  return node;
};

it.each([
  [RIGHT, '3, 2', 'That is what your code gives'],
  [RIGHT, '2, 3', 'Yes. Your code gives 3 × 2'],
  [RIGHT, '6', 'Neither your code'],
  [RIGHT, 'six', 'Type numbers'],
  ['', '2, 3', 'Your code gives 3 × 2. Which of the two is right'],
  ['', '3, 2', 'That is what your code gives']
])('with "%s", %s is answered: %s', (right, typed, said) => {
  const node = card(right);
  node.querySelector('input')!.value = typed;
  node.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
  expect(node.querySelector('output')!.textContent).toContain(said);
});

it('has no field without a question', () => {
  const node = document.createElement('div');
  bindQuestion(node, trans);
  expect(node.childElementCount).toBe(0);
});

it('reads the comma of a decimal number where one number is asked for', () => {
  const node = document.createElement('div');
  node.innerHTML =
    '<details class="tfkit-v-ask"><summary>Sum?</summary><b class="tfkit-v-yours">2</b><b class="tfkit-v-right">0.5</b></details>';
  bindQuestion(node, trans);
  node.querySelector('input')!.value = '0,5';
  node.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
  expect(node.querySelector('output')!.textContent).toContain('Yes.');
});
