import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** The sheets that a file names, as paths from its folder. */
const sheets = (file: string, naming: RegExp): string[] =>
  [...readFileSync(file, 'utf-8').matchAll(naming)].map(([, path]) => path.replace(/^\.\//, ''));

it('has the same sheets, in the same order, for JupyterLab, which reads index.js, and for those who read index.css', () => {
  const listed = sheets('style/index.css', /@import url\('(.+)'\)/g);
  expect(sheets('style/index.js', /^import '(.+)'/gm)).toEqual(listed);
  expect(listed.length).toBeGreaterThan(5);
});
