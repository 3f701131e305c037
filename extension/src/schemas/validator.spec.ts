import Ajv2020 from 'ajv/dist/2020';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { schemaProblem } from './errors';
import { ISchema, validator } from './validator';

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf-8'));
const GOLDEN = '../tests/extension/golden';
const SCHEMAS = 'tfkit_lab/schemas';
const goldens = ['.', 'pictures', 'patterns'].flatMap(folder =>
  readdirSync(join(GOLDEN, folder))
    .filter(file => file.endsWith('.json'))
    .map(file => join(GOLDEN, folder, file))
);
const kinds = readdirSync(SCHEMAS).map(file => file.replace('.json', ''));

/** What may stand in the place of a part of a trace. */
const OTHERS = [null, -1, 0, 1.5, 1e9, '', 'other', true, [], [0], {}, { other: 1 }, undefined];

/** The places of a value's parts, of long lists only the first and the last. */
function* places(value: unknown, path: string[] = []): Generator<string[]> {
  if (typeof value === 'object' && value !== null) {
    const keys = Object.keys(value);
    for (const key of Array.isArray(value) && keys.length > 2 ? [keys[0], keys[keys.length - 1]] : keys) {
      yield [...path, key];
      yield* places((value as Record<string, unknown>)[key], [...path, key]);
    }
  }
}

/** A copy with another value at a place; without the place, if that is undefined. */
function replaced(value: unknown, [key, ...rest]: string[], by: unknown): unknown {
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
  if (rest.length === 0 && by === undefined) {
    delete copy[key];
  } else {
    copy[key] = rest.length ? replaced(copy[key], rest, by) : by;
  }
  return JSON.parse(JSON.stringify(copy));
}

describe.each(kinds)('the schema of %s', kind => {
  const schema = read(join(SCHEMAS, `${kind}.json`)) as ISchema;
  const judge = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
  const validate = validator(schema);
  const mine = goldens.map(read).filter(trace => (trace as { kind: string }).kind === kind);

  it('judges right and spoilt traces as ajv does, and complains of what ajv complains of', () => {
    expect(mine.length).toBeGreaterThan(0);
    let refused = 0;
    for (const trace of mine) {
      expect(schemaProblem(validate, trace)).toBeNull();
      for (const place of places(trace)) {
        for (const other of OTHERS) {
          const spoilt = replaced(trace, place, other);
          const told = `${place.join('.')} = ${JSON.stringify(other)}`;
          expect(validate(spoilt), told).toBe(judge(spoilt));
          const first = validate.errors?.[0];
          if (first) {
            refused++;
            const wrong = judge.errors!.map(({ keyword, instancePath }) => [keyword, instancePath]);
            expect(wrong, told).toContainEqual([first.keyword, first.instancePath]);
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(50);
  }, 60000); // tens of thousands of traces
});

it('a part of a tuple, a name with slashes and a name of every object are found', () => {
  const pair = { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] };
  const closed = validator({ additionalProperties: false, properties: { 'a/b~': pair } });
  expect(schemaProblem(closed, { 'a/b~': ['x', 0.5] })).toBe('$.a/b~[1] must be of type integer');
  expect(schemaProblem(closed, { toString: 1 })).toBe('$ must not have "toString"');
  expect(schemaProblem(validator({ type: ['null', 'number'] }), 1)).toBeNull();
  expect(schemaProblem(validator({ type: ['null', 'number'] }), 'x')).toBe('$ must be of type null,number');
});
