import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';
import { asTable, bars, IPrediction, Predictions, surprises } from './predictions';

const said = (student: string, ...answers: unknown[]) => ({
  student,
  at: `2026-01-01T00:00:0${student}`,
  answers: answers.length ? answers : null
});
const PREDICTION: IPrediction = {
  name: '03.parameters',
  questions: [
    { kind: 'number', label: 'How many?' },
    { kind: 'choice', label: 'Which?', options: ['the first', 'the second'] }
  ],
  observed: [16, ['the second']],
  by: [said('1', 16, ['the first']), said('2', 4, ['the second']), said('3'), said('4', 16, ['the second'])]
};

describe('the bars of a prediction', () => {
  it('stand in the order of their numbers, with what came out marked', () => {
    expect(bars(PREDICTION, 0)).toEqual([
      { answer: '4', students: ['2'], observed: false },
      { answer: '16', students: ['1', '4'], observed: true }
    ]);
  });

  it('have options that nobody chose', () => {
    expect(bars(PREDICTION, 1, 1).map(({ answer, students }) => [answer, students.length])).toEqual([
      ['the first', 1],
      ['the second', 0]
    ]);
  });

  it('gather the rarest answers of many', () => {
    const many = { ...PREDICTION, by: Array.from({ length: 30 }, (_, i) => said(String(i), i, ['the first'])) };
    const found = bars(many, 0);
    expect(found.length).toBe(13);
    expect(found[12]).toMatchObject({ answer: '…', observed: false });
    expect(found[12].students.length).toBe(18);
  });
});

describe('a prediction that was put to the class twice', () => {
  const again = (answer: IPrediction['by'][number], ...second: unknown[]) => ({ ...answer, again: second });
  const [first, second, third, fourth] = PREDICTION.by;
  const TWICE: IPrediction = {
    ...PREDICTION,
    by: [again(first, 16, ['the second']), again(second, 16, ['the second']), third, fourth]
  };

  it('has a histogram of each vote, side by side, and the change in words', () => {
    expect(bars(TWICE, 0, 4, 'again')).toEqual([{ answer: '16', students: ['1', '2'], observed: true }]);
    const section = new Predictions(nullTranslator.load('tfkit_lab'));
    section.show([TWICE], false);
    const votes = [...section.node.querySelectorAll('.tfkit-Votes')];
    const captions = votes.map(one => [...one.querySelectorAll('caption')].map(({ textContent }) => textContent));
    expect(captions).toEqual([
      ['Alone', 'After talking'],
      ['Alone', 'After talking']
    ]);
    expect([...votes[0].querySelectorAll('td')].map(({ textContent }) => textContent.trim())).toEqual(['1', '2', '2']);
    const text = section.node.textContent;
    expect(text).toContain('Other answer after talking: 1 of 2 · As it came out: first 1, then 2');
  });

  it('says nothing of a result that nobody knows yet', () => {
    const section = new Predictions(nullTranslator.load('tfkit_lab'));
    section.show([{ ...TWICE, observed: null }], false);
    expect(section.node.textContent).toContain('Other answer after talking: 1 of 2');
    expect(section.node.textContent).not.toContain('As it came out');
  });
});

describe('the section of the class panel', () => {
  it('replays from the first answer, and names nobody unless asked', () => {
    const section = new Predictions(nullTranslator.load('tfkit_lab'));
    section.show([PREDICTION], false);
    expect(section.node.textContent).toContain('4 of 4');
    expect(section.node.querySelectorAll('small').length).toBe(0);
    section.show([PREDICTION], true);
    expect(section.node.querySelector('small')!.textContent).toBe('2');
    section.show([PREDICTION], false);
    const range = section.node.querySelector<HTMLInputElement>('input[type=range]')!;
    range.value = '1';
    range.dispatchEvent(new Event('input'));
    expect(section.node.textContent).toContain('1 of 4');
    section.show([{ ...PREDICTION, by: [...PREDICTION.by, said('5', 8, ['the first'])] }], false);
    expect(section.node.textContent).toContain('1 of 5'); // what comes in does not disturb a replay
  });

  it('shows the others beside a prediction that cannot be drawn', () => {
    const section = new Predictions(nullTranslator.load('tfkit_lab'));
    const odd = { kind: 'choice', label: 'Odd', options: 5 } as unknown as IPrediction['questions'][number];
    section.show([{ ...PREDICTION, name: 'odd', questions: [odd], by: [{ ...said('9', ['a']), at: '9999' }] }], false);
    expect(section.node.textContent).toContain('cannot be drawn');
    section.show([{ ...PREDICTION, name: 'odd', questions: [odd] }, PREDICTION], false);
    const which = section.node.querySelector('select')!;
    which.value = PREDICTION.name;
    which.dispatchEvent(new Event('change'));
    expect(section.node.querySelectorAll('.tfkit-Bars').length).toBe(2);
  });

  it('is not there without a prediction', () => {
    const section = new Predictions(nullTranslator.load('tfkit_lab'));
    section.show([], false);
    expect(section.node.hidden).toBe(true);
  });
});

describe('how sure a class was', () => {
  const one = (name: string, sure: number, right: number): IPrediction => ({
    name,
    questions: [{ kind: 'choice', label: `=${name}?`, options: ['a', 'b'] }],
    observed: [['a']],
    by: [
      { student: '1', at: '1', answers: [['a']], again: [['b']], sure },
      { student: '2', at: '2', answers: [['b']], sure }
    ],
    calibration: { students: 2, sure, right }
  });

  it('names what surprised it, the greatest difference first', () => {
    const found = [
      one('02.a', 70, 50),
      one('02.b', 90, 0),
      one('02.c', 30, 50),
      { ...one('02.d', 90, 0), calibration: null }
    ];
    expect(surprises(found).map(({ name }) => name)).toEqual(['02.b', '02.a']);
  });

  it('saves a table with a row for each answer, and no formula in it', () => {
    expect(asTable([one('02.a', 70, 50)]).split('\r\n')).toEqual([
      '"prediction","question","answer","students","after_talking","came_out","mean_sure","mean_right"',
      `"02.a","'=02.a?","a","1","0","1","70","50"`,
      `"02.a","'=02.a?","b","1","1","0","70","50"`,
      ''
    ]);
  });

  it('lets no formula in after a carriage return', () => {
    const odd = { ...one('02.a', 70, 50), name: '\r=1+1' };
    expect(asTable([odd])).toContain(`"'\r=1+1",`);
  });
});

describe('the saved table of a class', () => {
  const columns = (one: IPrediction) =>
    asTable([one])
      .trim()
      .split('\r\n')
      .slice(1)
      .map(row => row.replace(/"/g, '').split(',').slice(2, 6));

  it('says of an answer that was only given after talking whether it came out', () => {
    const by = [
      { ...said('1', 4), again: [16] },
      { ...said('2', 4), again: [8] }
    ];
    expect(columns({ ...PREDICTION, questions: PREDICTION.questions.slice(0, 1), by })).toEqual([
      ['4', '2', '0', '0'],
      ['8', '0', '1', '0'],
      ['16', '0', '1', '1']
    ]);
  });

  it('has a row for every answer, however many there are, with both of its votes', () => {
    const by = Array.from({ length: 20 }, (_, i) => ({ ...said(String(i), i), again: [19 - i] }));
    expect(columns({ ...PREDICTION, questions: PREDICTION.questions.slice(0, 1), by })).toEqual(
      by.map((_, i) => [String(i), '1', '1', i === 16 ? '1' : '0'])
    );
  });
});
