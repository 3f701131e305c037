import { expect, it } from 'vitest';
import { drawExample, drawMap } from './example';

const example = {
  call: 'f',
  inputs: { q: [[[0.123456, -2]]], wide: Array.from({ length: 12 }, (_, i) => i), flag: true },
  expected_shape: [1, 2],
  off_by: 0.07327330112457275,
  first_wrong_step: null
};

it('draws a small matrix for each input and nothing for what is not known', () => {
  const node = drawExample(example, 'The smallest');
  expect(node.querySelector('summary')!.textContent).toBe('The smallest');
  const heads = [...node.querySelectorAll('.tfkit-Example > tbody > tr > th')].map(th => th.textContent);
  expect(heads).toEqual(['call', 'inputs', 'expected shape', 'off by']);
  const matrices = [...node.querySelectorAll('.tfkit-Matrix')].map(m => [...m.querySelectorAll('td')].map(td => td.textContent));
  expect(matrices).toEqual([['0.1235', '-2'], ['0', '1', '2', '3', '4', '5', '6', '7', '…'], ['1', '2']]);
  expect(node.textContent).toContain('flag = true');
  expect(node.textContent).toContain('0.07327');
});

it('never reads text as markup', () => {
  const node = drawExample({ call: '<img src=x onerror=alert(1)>' }, 't');
  expect(node.querySelector('img')).toBeNull();
});

it('draws who sees whom with a sign in each place', () => {
  const node = drawMap(['●·', '▲○'], 'key');
  const signs = [...node.querySelectorAll('td')].map(td => td.dataset.sign);
  expect(signs).toEqual(['●', '·', '▲', '○']);
  expect(node.querySelector('table')!.getAttribute('aria-label')).toBe('key');
});
