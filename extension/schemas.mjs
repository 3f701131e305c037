/**
 * Makes src/generated from the schemas in tfkit_lab/schemas, which Python reads too: for each kind of trace the types of what
 * it holds and a validator, in views.ts the list of all views, and in tokens.ts the style sheet of tokens, which views bring along
 * to where there is no lab. `jlpm build` runs it first.
 */
import Ajv from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { transform } from 'esbuild';
import { compile } from 'json-schema-to-typescript';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const SCHEMAS = join(HERE, 'tfkit_lab/schemas');
const TARGET = join(HERE, 'src/generated');
const COMPILED = join(HERE, 'lib/generated');
const BANNER = '/** Made by schemas.mjs; change the schema instead. */';

export const kinds = readdirSync(SCHEMAS)
  .filter(file => file.endsWith('.json'))
  .map(file => basename(file, '.json'))
  .sort();

const named = name => `I${name[0].toUpperCase()}${name.slice(1)}`;

const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));

/** The schema in draft 7's words, in which tuples are `items`: types are made from those alone, and shorter validators. */
function draft7(schema) {
  if (typeof schema !== 'object' || schema === null) {
    return schema;
  }
  const { $schema: _, prefixItems, properties, $defs, ...rest } = schema;
  return {
    ...mapped(rest, value => (Array.isArray(value) ? value.map(draft7) : draft7(value))),
    ...(properties && { properties: mapped(properties, draft7) }),
    ...($defs && { $defs: mapped($defs, draft7) }),
    ...(prefixItems && { items: prefixItems.map(draft7), additionalItems: false })
  };
}

/** Interfaces are called by the keys of their parts, and titles in the schema are for people. */
function types(kind, schema) {
  const $defs = mapped(schema.$defs ?? {}, (part, key) => ({ ...part, title: named(key) }));
  const options = { additionalProperties: false, bannerComment: BANNER, style: { singleQuote: true, printWidth: 120 } };
  return compile(withoutLengths({ ...schema, title: named(kind), $defs }), named(kind), options);
}

/** The types of lists need not say how long they are; those of tuples do. */
function withoutLengths(value) {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(withoutLengths);
  }
  const { minItems, maxItems, ...rest } = mapped(value, withoutLengths);
  return Array.isArray(value.items) || minItems === maxItems ? mapped(value, withoutLengths) : rest;
}

// what custom keywords and other readers of errors would want to know: nobody here does, and it is a fifth of the code
const UNREAD = [
  /schemaPath:"[^"]*",/g,
  /, ?parentData(, ?|: ?[^,]+, ?)parentDataProperty(, ?|: ?[^,]+, ?)rootData(?=\})/g
];

// how a function gives up, a hundred times in a validator: said once
const GIVES_UP =
  /(validate\d+)\.errors = \[\{instancePath(?::([^{}]*?))?,keyword:("\w+"),params:(\{[^{}]*\})\}\];return false;/g;
const INTEGER = /\(\(typeof (\w+) == "number"\) && \(!\(\1 % 1\) && !isNaN\(\1\)\)\)/g;
const CALLED_BY = /, ?parentData, ?parentDataProperty, ?rootData=data(?=\})/g;
const RANGE =
  /if\(typeof (\w+(?:\[\w+\]|\.\w+)*) == "number"\)\{if\(\1 < (-?\d+) \|\| isNaN\(\1\)\)(\{return wrong\([^;]*;\})\}(?!\s*else)/g; // with an `else` it is a test of the type
const JOIN = /vErrors === null \? (validate\d+)\.errors : vErrors\.concat\(\1\.errors\)/g;
const POINTED = /(\w+)\.replace\(\/~\/g, "~0"\)\.replace\(\/\\\/\/g, "~1"\)/g;
const REQUIRED = /let (missing\d+);if\(([^{]*?)\)\{return wrong/g;
const OPTIONS = /(schema\d+)((?:\.\w+)+\.enum)/g;

// what the shortened code calls
const HELPERS = [
  'const wrong = (of, instancePath, keyword, params) => {of.errors = [{instancePath,keyword,params}];return false};',
  'const mistyped = (of, path, type) => wrong(of, path, "type", {type});',
  'const integer = value => typeof value == "number" && !(value % 1) && !isNaN(value);',
  'const below = (value, least) => typeof value == "number" && (value < least || isNaN(value));',
  'const lacking = (object, keys) => keys.find(key => object[key] === undefined);',
  'const pointer = key => key.replace(/~/g, "~0").replace(/\\//g, "~1");',
  'const joined = (errors, of) => errors === null ? of.errors : errors.concat(of.errors);'
].join('');

/** The first key that is missing, found by a list of them. */
function required(_, missing, condition) {
  const keys = [...condition.matchAll(/(\w+)\.(\w+) === undefined/g)];
  return `const ${missing} = lacking(${keys[0][1]},${JSON.stringify(keys.map(([, , key]) => key))});if(${missing}){return wrong`;
}

/** The options of an enum, in the place of a path into the whole schema. */
function options(code) {
  const schemaOf = name => JSON.parse(new RegExp(`const ${name} = (\\{.*?\\});(?:const|function)`).exec(code)[1]);
  return code.replace(OPTIONS, (_, name, path) =>
    JSON.stringify(
      path
        .slice(1)
        .split('.')
        .reduce((part, key) => part[key], schemaOf(name))
    )
  );
}

const WENT_WELL = /var (valid\d+) = (_errs\d+) === errors;\}else \{var \1 = true;\}if\(\1\)\{/g;

const WENT_ON = /var (valid\d+) = (_errs\d+) === errors;if\(!\1\)\{break;\}/g; // of each part of a list

/** Leaves out the question whether a part was right where each error in it returns at once. */
function unasked(code) {
  const returns = (before, at) =>
    !code.slice(code.lastIndexOf(`const ${before} = errors;`, at), at).includes('vErrors');
  const asked = [
    [WENT_WELL, '}{'],
    [WENT_ON, '']
  ];
  for (const [question, instead] of asked) {
    code = code.replace(question, (whole, _, before, at) => (returns(before, at) ? instead : whole));
  }
  return code;
}

const COUNTED = /const (_errs\d+) = errors;/g;

/** Leaves out counts of errors that no question compares any more; their names begin anew in each function. */
const uncounted = code =>
  code
    .split(/(?=function validate)/)
    .map(one =>
      one.replace(COUNTED, (whole, name) => (one.match(new RegExp(`${name}\\b`, 'g')).length > 1 ? whole : ''))
    )
    .join('');

const shorter = code =>
  uncounted(unasked(options(code)))
    .replace(INTEGER, 'integer($1)')
    .replace(/comparison: "[<>=]+", /g, '')
    .replace(GIVES_UP, (_, of, path = 'instancePath', keyword, params) => {
      const [, type] = /^\{type: ("\w+")\}$/.exec(params) ?? [];
      return type ? `return mistyped(${of},${path},${type});` : `return wrong(${of},${path},${keyword},${params});`;
    })
    .replace(CALLED_BY, '')
    .replace(RANGE, 'if(below($1,$2))$3')
    .replace(JOIN, 'joined(vErrors,$1)')
    .replace(POINTED, 'pointer($1)')
    .replace(/let errors = 0;if\(errors === 0\)\{/g, 'let errors = 0;{')
    .replace(REQUIRED, required) + HELPERS;

/** The validator as code of its own: pages forbid `eval`, by which ajv compiles schemas otherwise. */
function validator(schema) {
  const code = { source: true, esm: true, optimize: 2 };
  const ajv = new Ajv({
    code,
    allowUnionTypes: true,
    strictTuples: false,
    unicode: false,
    inlineRefs: false,
    messages: false,
    strictNumbers: false,
    logger: false
  });
  const bare = JSON.parse(
    JSON.stringify(schema, (key, value) => (key === 'description' && typeof value === 'string' ? undefined : value))
  );
  const text = shorter(UNREAD.reduce((code, part) => code.replace(part, ''), standalone(ajv, ajv.compile(bare))));
  if (text.includes('require(')) {
    throw new Error('the validator needs code of ajv that is not in the bundle: see the options in schemas.mjs');
  }
  return `${BANNER}\n${text}\n`;
}

/** What lies in src/generated, file by file. */
export async function generated() {
  const files = {};
  for (const kind of kinds) {
    const schema = draft7(JSON.parse(readFileSync(join(SCHEMAS, `${kind}.json`), 'utf-8')));
    files[`${kind}.ts`] = await types(kind, schema);
    files[`${kind}.valid.js`] = validator(schema);
    files[`${kind}.valid.d.ts`] =
      `${BANNER}\nimport { IValidate } from '../widgets/schema';\n\nexport const validate: IValidate;\n`;
  }
  const imports = kinds.map(kind => `import { mount as ${kind} } from '../widgets/${kind}';`).join('\n');
  const sheet = readFileSync(join(HERE, '../autograder/report/tokens.css'), 'utf-8');
  const names =
    /--tfk-(ink(-soft)?|card|sunk|page|(on-)?accent|line(-strong)?|(on-)?lit|font-ui|t[124]|s[1-4]|r2|quick|seq-\w+|void|hatch|c[12]):/;
  const framing = line => names.test(line); // what a stepper needs
  const parts = { FRAME: line => framing(line), SCALES: line => !framing(line) };
  files['tokens.ts'] = `${BANNER.replace('the schema', 'autograder/report/tokens.css')}\n`;
  for (const [name, wanted] of Object.entries(parts)) {
    const lines = sheet.split('\n').filter(line => !line.trim().startsWith('--') || wanted(line));
    const { code } = await transform(lines.join('\n'), { loader: 'css', minify: true });
    files['tokens.ts'] += `export const ${name} = ${JSON.stringify(code.trim().replace(/(--[\w-]+:|,) /g, '$1'))};\n`;
  }
  files['views.ts'] =
    `${BANNER}\nimport { Mount } from '../widgets/picture';\n${imports}\n\nexport const VIEWS: Record<string, Mount> = { ${kinds.join(', ')} };\n`;
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = Object.entries(await generated());
  const scripts = files.filter(([name]) => name.endsWith('.js')); // which the compiler does not carry from src to lib
  rmSync(TARGET, { recursive: true, force: true });
  for (const [folder, inside] of [
    [TARGET, files],
    [COMPILED, scripts]
  ]) {
    mkdirSync(folder, { recursive: true });
    inside.forEach(([name, text]) => writeFileSync(join(folder, name), text));
  }
}
