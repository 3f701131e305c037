import { expect, it } from 'vitest';
import { hiddenSpans } from './scaffold';

/** The source as reading mode shows it. */
const shown = (source: string): string =>
  hiddenSpans(source).reduceRight((text, [from, to]) => text.slice(0, from) + text.slice(to), source);

it('hides what surrounds the two lines that teach', () => {
  const source = [
    'from tfkit_lab.predict import predicted',
    'guess = predicted("02.causal")',
    'try:',
    '    print(causal_mask(4).int())',
    '    for n in (4,',
    '              5):',
    '        print(n)',
    '    guess.compare(causal_mask(4),',
    '                  formulas[count])',
    'except NotImplementedError:',
    '    print("Build causal_mask first, then run this cell again.")'
  ].join('\n');
  expect(shown(source)).toBe('print(causal_mask(4).int())\nfor n in (4,\n          5):\n    print(n)');
});

it('keeps what stands before and behind, and another try', () => {
  const source =
    'def f():\n    return 1\n\n\nguess = predicted("02.x")\ntry:\n    f()\nexcept NotImplementedError:\n    pass\nprint(2)';
  expect(shown(source)).toBe('def f():\n    return 1\n\n\nf()\nprint(2)');
  const other = 'try:\n    f()\nexcept RuntimeError as error:\n    print(error)';
  expect(shown(other)).toBe(other);
});

it('hides nothing of other code, and never a whole cell', () => {
  for (const source of ['x = 1\n\ny = 2', 'guess = predicted("02.x")', '']) {
    expect(shown(source)).toBe(source);
  }
});
