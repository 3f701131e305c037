import { expect, it } from 'vitest';
import { RecordedModel } from '../../widgets/model';
import { VIEWS } from '../../generated/views';
import { mapsOf, matricesIn, traceOf } from './picture';

it('finds the matrices in nested lists, and names their places', () => {
  expect(
    matricesIn('q', [
      [
        [1, 2],
        [3, 4]
      ],
      [
        [5, 6],
        [7, 8]
      ]
    ])
  ).toEqual([
    {
      name: 'q[0]',
      matrix: [
        [1, 2],
        [3, 4]
      ]
    },
    {
      name: 'q[1]',
      matrix: [
        [5, 6],
        [7, 8]
      ]
    }
  ]);
  expect(matricesIn('mask', [[[[false, true]]]])).toEqual([{ name: 'mask', matrix: [[false, true]] }]);
  for (const none of [3, 'x', [1, 2], [[1, 2], [3]], [[1, 'nan']], [[]], null]) {
    expect(matricesIn('x', none)).toEqual([]);
  }
});

it('draws who sees whom, and what went in, with the view of matrices', async () => {
  const checks = [{ name: 'information flow', status: 'failed', message: '', map: ['●▲', '○·'] }];
  const maps = mapsOf({ checks, counterexample: { call: 'f', inputs: { x: [[-1, 2]], length: 3 } } });
  const trace = await traceOf('masks.causal', maps);
  const el = document.createElement('div');
  VIEWS.matrices(new RecordedModel({ trace, place: { row: 0, col: 1 } }), el);
  for (let i = 0; i < 200 && el.textContent.includes('Unpacking'); i++) {
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  expect(el.querySelector('[role=status]')!.textContent).toBe(
    'information flow: may be seen: row 0, column 1: no; information flow: is seen: row 0, column 1: yes; x: row 0, column 1: 2.00'
  );
});

it('has nothing to draw of a verdict that only has words', () => {
  expect(
    mapsOf({
      checks: [{ name: 'right values', status: 'failed', message: '' }],
      counterexample: { inputs: { length: 1 } }
    })
  ).toEqual([]);
});
