import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { beam, motif, schedule, sinusoid, softmax } from './motifs';

const fills = (name: string): (string | null)[] =>
  [...motif(name).querySelectorAll('rect')].map(rect => rect.getAttribute('fill'));

it('draws every unit of the course, each in its own way, and a unit of another package', () => {
  const names = readdirSync('../course/units').filter(name => /^\d\d-/.test(name));
  expect(names).toHaveLength(18);
  const drawn = [...names, 'my-own', 'my-other', 'constructor'].map(name => motif(name).innerHTML);
  expect(new Set(drawn).size).toBe(drawn.length);
  drawn.forEach(text => expect(text).not.toMatch(/NaN|undefined|Infinity/));
  expect(motif('02-masks').outerHTML).toBe(motif('02-masks').outerHTML);
});

it('hatches what a causal mask hides: the 36 of 81 above the diagonal', () => {
  const hidden = fills('02-masks').map(fill => fill === 'url(#tfkit-hatch)');
  expect(hidden).toHaveLength(81);
  expect(hidden.flatMap((is, i) => (is ? [i % 9 > Math.floor(i / 9)] : []))).toEqual(Array(36).fill(true));
});

it('draws the numbers that the units teach', () => {
  expect(softmax([1, 1, -Infinity])).toEqual([0.5, 0.5, 0]);
  expect([sinusoid(0, 0, 8), sinusoid(0, 1, 8), sinusoid(3, 0, 8)]).toEqual([0, 1, Math.sin(3)]);
  expect(schedule(4, 4)).toBeCloseTo(0.5);
  expect(schedule(2, 4)).toBeLessThan(schedule(4, 4));
  expect(schedule(9, 4)).toBeLessThan(schedule(4, 4));
});

it('keeps the best hypotheses of every step of the beam', () => {
  const all = beam(4, 2, 11);
  for (const step of [1, 2, 3, 4]) {
    const here = all.filter(one => one.step === step);
    const [kept, dropped] = [true, false].map(is => here.filter(one => one.kept === is).map(({ score }) => score));
    expect(kept).toHaveLength(2);
    expect(Math.min(...kept)).toBeGreaterThanOrEqual(Math.max(...dropped));
    expect(here.every(one => one.parent!.kept && one.score < one.parent!.score)).toBe(true);
  }
});
