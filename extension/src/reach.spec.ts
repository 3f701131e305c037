import { beforeAll, expect, it } from 'vitest';

beforeAll(async () => {
  document.body.innerHTML =
    '<pre id="wide">\nmake setup\nmore</pre><pre id="narrow">short</pre>' +
    '<div class="table-wrapper"><table><thead><tr><th></th><th>size</th><th>speed</th></tr></thead></table></div>';
  document.querySelectorAll('#wide, .table-wrapper').forEach(box => {
    Object.defineProperty(box, 'scrollWidth', { value: 900 });
    Object.defineProperty(box, 'clientWidth', { value: 300 });
  });
  // @ts-expect-error: a script of the site, which has no types
  await import('../../docs/site/reach.js');
  window.dispatchEvent(new Event('load'));
});

it('makes boxes that are wider than their place regions with a name, which Tab reaches', () => {
  const found = [...document.querySelectorAll<HTMLElement>('[role=region]')];
  expect(found.map(box => [box.tabIndex, box.getAttribute('aria-label')])).toEqual([
    [0, 'Code: make setup'],
    [0, 'Table: size, speed']
  ]);
});
