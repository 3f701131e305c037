/** Checks values against the JSON schemas in `tfkit_lab/schemas`, which Python reads too: as much of the language as they use. */

export interface ISchema {
  readonly [keyword: string]: unknown;
}

type Rule = (limit: any, value: any, at: string, schema: ISchema, root: ISchema) => string | null;

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

const KINDS: Record<string, (x: unknown) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: x => typeof x === 'string',
  number: x => typeof x === 'number',
  integer: Number.isInteger,
  boolean: x => typeof x === 'boolean',
  null: x => x === null
};

const said = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 60);
const first = (found: (string | null)[]): string | null => found.find(Boolean) ?? null;

const members: Rule = (limit, value, at, schema, root) => {
  const known = (schema.properties ?? {}) as Record<string, ISchema>;
  const others = Object.keys(value).filter(key => !(key in known));
  if (limit === false) {
    return others.length ? `${at} must not have ${said(others[0])}` : null;
  }
  return first(others.map(key => schemaProblem(limit, value[key], `${at}.${key}`, root)));
};

/** Applies only to values of the kind that a keyword is about. */
const on = (kind: string, rule: Rule): Rule => (limit, value, ...more) => (KINDS[kind](value) ? rule(limit, value, ...more) : null);

/** The words are made only where they are needed: values may be large. */
const unless = (ok: boolean, words: () => string): string | null => (ok ? null : words());

const RULES: Record<string, Rule> = {
  $ref: (path, value, at, _, root) => schemaProblem((root.$defs as Record<string, ISchema>)[path.split('/').pop()], value, at, root),
  type: (kind, value, at) => unless([kind].flat().some((k: string) => KINDS[k](value)), () => `${at} must be of type ${kind}, is ${said(value)}`),
  const: (right, value, at) => unless(value === right, () => `${at} must be ${said(right)}, is ${said(value)}`),
  enum: (list, value, at) => unless(list.includes(value), () => `${at} must be one of ${list.join(', ')}, is ${said(value)}`),
  minimum: on('number', (least, value, at) => unless(value >= least, () => `${at} must be at least ${least}, is ${value}`)),
  maximum: on('number', (most, value, at) => unless(value <= most, () => `${at} must be at most ${most}, is ${value}`)),
  minLength: on('string', (least, value, at) => unless(value.length >= least, () => `${at} must not be empty`)),
  minItems: on('array', (least, value, at) => unless(value.length >= least, () => `${at} needs ${least} items, has ${value.length}`)),
  maxItems: on('array', (most, value, at) => unless(value.length <= most, () => `${at} has ${value.length} items, may have ${most}`)),
  required: on('object', (keys, value, at) => first(keys.map((key: string) => unless(key in value, () => `${at} lacks ${said(key)}`)))),
  properties: on('object', (known, value, at, _, root) =>
    first(Object.keys(known).map(key => (key in value ? schemaProblem(known[key], value[key], `${at}.${key}`, root) : null)))
  ),
  additionalProperties: on('object', members),
  propertyNames: on('object', ({ pattern }, value, at) =>
    first(Object.keys(value).map(key => unless(new RegExp(pattern).test(key), () => `${at} must not have ${said(key)}`)))
  ),
  prefixItems: on('array', (schemas, value, at, _, root) =>
    first(schemas.map((schema: ISchema, i: number) => (i < value.length ? schemaProblem(schema, value[i], `${at}[${i}]`, root) : null)))
  ),
  items: on('array', (schema, value, at, _, root) => {
    for (let i = 0; i < value.length; i++) {
      const wrong = schemaProblem(schema, value[i], `${at}[${i}]`, root);
      if (wrong) {
        return wrong;
      }
    }
    return null;
  }),
  oneOf: (choices, value, at, _, root) =>
    unless(choices.filter((one: ISchema) => !schemaProblem(one, value, at, root)).length === 1, () => `${at} is ${said(value)}, which fits none`)
};

const NOTES = new Set(['$schema', '$defs', 'title', 'description', 'contentEncoding']);

/** The first thing wrong with a value in words, or null. Throws for a schema that says more than is understood here. */
export function schemaProblem(schema: ISchema, value: unknown, at = '$', root = schema): string | null {
  for (const [keyword, limit] of Object.entries(schema)) {
    if (NOTES.has(keyword)) {
      continue;
    }
    const rule = RULES[keyword];
    if (!rule) {
      throw new Error(`the schema says “${keyword}”, which is not understood`);
    }
    const wrong = rule(limit, value, at, schema, root);
    if (wrong) {
      return wrong;
    }
  }
  return null;
}
