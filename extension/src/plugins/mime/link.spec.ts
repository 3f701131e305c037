import { describe, expect, it } from 'vitest';
import { linkHash, readLink } from './link';

describe('a link to what a view shows', () => {
  const state = { trace: { kind: 'walk' }, other: null, place: { stage: 3 }, step: 2 };

  it('comes back as it was made, without the trace', () => {
    const hash = linkHash('a1-b2', 1, state);
    expect(hash).not.toContain('walk');
    const shown = { place: { stage: 3 }, step: 2 };
    const link = { path: 'my units/05 é.ipynb', cell: 'a1-b2', place: 1, state: shown };
    const lab = '/user/ada/lab/tree/my%20units/05%20%C3%A9.ipynb';
    expect(readLink({ pathname: lab, hash })).toEqual(link);
    expect(readLink({ pathname: lab.replace('lab/tree', 'notebooks'), hash })).toEqual(link);
  });

  it.each([
    ['/lab/tree/a.ipynb', ''],
    ['/lab/tree/a.ipynb', '#Masks'],
    ['/lab/tree/a.ipynb', '#tfkit-view=c.0=%7B%22step'],
    ['/lab/tree/a.ipynb', '#tfkit-view=c.0=[1]'],
    ['/lab/tree/a.ipynb', '#tfkit-view=c.0={"trace":{}}'],
    ['/lab', '#tfkit-view=c.0={}']
  ])('says nothing at %s%s', (pathname, hash) => {
    expect(readLink({ pathname, hash })).toBeNull();
  });
});
