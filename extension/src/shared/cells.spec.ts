import { expect, it, vi } from 'vitest';
import { cardsOf, compares, FETCHES, holdInView, notRunIn, outcomesOf, PendingChecks } from './cells';

it('finds what a check in the kernel has found, and nothing else', () => {
  const outcome = { exercise: 'masks.causal', status: 'passed', score: 1, max_score: 1 };
  const cell = (outputs?: unknown[]): { toJSON(): unknown } => ({ toJSON: () => ({ outputs }) });
  const verdict = {
    output_type: 'display_data',
    data: { 'text/html': '', 'application/vnd.tfkit.verdict+json': outcome }
  };
  expect(outcomesOf(cell([{ output_type: 'stream', text: 'x' }, { data: { 'text/plain': '3' } }, verdict]))).toEqual([
    outcome
  ]);
  expect(outcomesOf(cell([]))).toEqual([]);
  expect(outcomesOf(cell())).toEqual([]); // a text cell
});

it('finds the cards of a check cell, without their style sheet', () => {
  const data = {
    'text/html': ['<style>p { color: red }</style>', '<p>x</p>'],
    'application/vnd.tfkit.verdict+json': { exercise: 'masks.causal', status: 'passed' }
  };
  const cell = (role: string) => ({
    getMetadata: () => ({ role }),
    toJSON: () => ({ outputs: [{ data }, { data: { 'text/html': 'y' } }] })
  });
  expect(cardsOf(cell('check'))).toEqual([{ exercise: 'masks.causal', status: 'passed', html: '<p>x</p>' }]);
  expect(cardsOf(cell('exercise'))).toEqual([]);
});

it('tells a cell that shows what was predicted from one that does not', () => {
  const cell = (source: string, role = 'demo') => ({
    ...{ getMetadata: () => ({ role }), sharedModel: { getSource: () => source } }
  });
  expect(compares(cell('x', 'experiment'))).toBe(true);
  expect(compares(cell('predicted("08.a").compare(1)'))).toBe(true);
  expect(compares(cell('guess = predicted("02.a")'))).toBe(true);
  expect(compares(cell('unpredicted(1)'))).toBe(false);
  expect(FETCHES.exec('guess = predicted("02.a")')?.[1]).toBe('guess');
  expect(FETCHES.test('    guess = predicted("02.a")')).toBe(false); // the scaffolding stands at the margin
});

it('tells a check that its kernel could not make from one that failed', () => {
  const data = {
    'text/html': 'x',
    'application/vnd.tfkit.not-run+json': { exercise: 'masks.causal', reason: 'It is.' }
  };
  const toJSON = (): unknown => ({ outputs: [{ output_type: 'stream', text: 'x' }, { data }] });
  const model = { toJSON, getMetadata: () => ({ role: 'check' }) };
  expect(notRunIn(model)).toEqual(['It is.']);
  expect(outcomesOf(model)).toEqual([]); // nothing is recorded
  expect(cardsOf(model)).toEqual([]); // and an earlier card stays
  expect(notRunIn({ toJSON: () => ({}) })).toEqual([]);
});

it('waits for a check that goes on, once for each run of its cell', () => {
  const heard = new Set<() => void>();
  const changed = {
    connect: (slot: () => void) => heard.add(slot),
    disconnect: (slot: () => void) => heard.delete(slot)
  };
  let kind = 'pending';
  const toJSON = (): unknown => ({
    outputs: [{ data: { [`application/vnd.tfkit.${kind}+json`]: { exercise: 'masks.causal' } } }]
  });
  const model = { outputs: { changed }, toJSON } as unknown as Parameters<PendingChecks['ended']>[0];
  const pending = new PendingChecks();
  let ended = 0;
  pending.ended(model, () => ended++);
  pending.ended(model, () => ended++); // run again
  expect([heard.size, ended]).toEqual([1, 0]);
  heard.forEach(slot => slot()); // another second
  kind = 'verdict';
  heard.forEach(slot => slot());
  expect([heard.size, ended]).toEqual([0, 1]);
  pending.ended(model, () => ended++);
  expect(ended).toBe(2);
});

it('holds a cell in view while what is above it grows, until the reader scrolls', () => {
  const grow: (() => void)[] = [];
  const disconnect = vi.fn();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(called: () => void) {
        grow.push(called);
      }
      observe = vi.fn();
      disconnect = disconnect;
    }
  );
  const outer = document.body.appendChild(document.createElement('div'));
  const cell = outer.appendChild(document.createElement('div'));
  Object.defineProperty(outer, 'clientHeight', { value: 500 });
  let above = 900;
  cell.getBoundingClientRect = () => ({ top: above - outer.scrollTop }) as DOMRect;
  holdInView(outer, cell);
  expect(outer.scrollTop).toBe(800); // a fifth of the height stays above it
  above = 1900;
  grow.forEach(called => called());
  expect(outer.scrollTop).toBe(1800);
  expect(disconnect).not.toHaveBeenCalled();
  outer.dispatchEvent(new Event('wheel', { bubbles: true }));
  expect(disconnect).toHaveBeenCalledOnce();
  vi.unstubAllGlobals();
});

it('shows a cell below the heading of its section, and the cell’s first lines where the section is long', () => {
  const outer = document.body.appendChild(document.createElement('div'));
  const [heading, cell] = [0, 1].map(() => outer.appendChild(document.createElement('div')));
  Object.defineProperty(outer, 'clientHeight', { value: 500 });
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe = vi.fn();
      disconnect = vi.fn();
    }
  );
  const placed = (sectionTop: number, cellTop: number): number => {
    outer.scrollTop = 0;
    heading.getBoundingClientRect = () => ({ top: sectionTop - outer.scrollTop }) as DOMRect;
    cell.getBoundingClientRect = () => ({ top: cellTop - outer.scrollTop }) as DOMRect;
    holdInView(outer, cell, () => heading);
    return outer.scrollTop;
  };
  expect(placed(700, 900)).toBe(688); // the heading and a little over it
  expect(placed(860, 900)).toBe(800); // a fifth of the height at least
  expect(placed(100, 900)).toBe(600); // two fifths of the height are left to the cell
  vi.unstubAllGlobals();
});
