import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const sources = readdirSync('src/plugins', { recursive: true, encoding: 'utf-8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map(file => readFileSync(`src/plugins/${file}`, 'utf-8'));

describe.each(readdirSync('tfkit_lab/locale'))('the catalogue of %s', locale => {
  const catalogue = JSON.parse(readFileSync(`tfkit_lab/locale/${locale}/LC_MESSAGES/tfkit_lab.json`, 'utf-8'));
  const said = sources.flatMap(text => [...text.matchAll(/\.(?:__|_n)\(\s*'([^']+)'/g)].map(match => match[1]));

  it('has every text of the plugins, and no other', () => {
    const counted = ['Result', 'What was seen']; // headings that are translated from a list
    expect(Object.keys(catalogue).filter(Boolean).sort()).toEqual([...new Set([...said, ...counted])].sort());
  });

  it('keeps the places for what is filled in', () => {
    const places = (text: string): string[] => (text.match(/%\d/g) ?? []).sort();
    for (const [key, forms] of Object.entries<string[]>(catalogue).filter(([name]) => name)) {
      forms.forEach(form => expect(places(form)).toEqual(places(key)));
    }
  });
});
