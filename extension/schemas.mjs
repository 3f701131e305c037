/**
 * Makes src/generated from the schemas in tfkit_lab/schemas, which Python reads too: for each kind of trace the types of what
 * it holds and a validator, in views.ts the list of all views, and in tokens.ts the style sheet of tokens, which views bring along
 * to where there is no lab. From those in protocol/ it makes the types of what the server answers, as NAME.protocol.ts.
 * `jlpm build` runs it first.
 */
import { transform } from 'esbuild';
import { compile } from 'json-schema-to-typescript';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const SCHEMAS = join(HERE, 'tfkit_lab/schemas');
const PROTOCOLS = join(HERE, 'protocol');
const TARGET = join(HERE, 'src/generated');
const BANNER = '/** Made by schemas.mjs; change the schema instead. */';

export const kinds = readdirSync(SCHEMAS)
  .filter(file => file.endsWith('.json'))
  .map(file => basename(file, '.json'))
  .sort();

const named = name => `I${name[0].toUpperCase()}${name.slice(1)}`;

const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));

/** The schema in draft 7's words, in which tuples are `items`: types are made from those alone. */
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

const FOR_PEOPLE = ['$schema', 'title', 'description', 'contentEncoding'];
const NAMES = ['properties', '$defs']; // whose keys are no keywords

/** A schema without what is for people alone. */
function bare(schema) {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    return Array.isArray(schema) ? schema.map(bare) : schema;
  }
  const kept = Object.entries(schema).filter(([key]) => !FOR_PEOPLE.includes(key));
  return mapped(Object.fromEntries(kept), (value, key) => (NAMES.includes(key) ? mapped(value, bare) : bare(value)));
}

/** The validator: an interpreter with the schema. Pages forbid `eval`, by which ajv compiles schemas. */
const validator = schema =>
  `${BANNER}\nimport { validator } from '../schemas/validator';\n\nexport const validate = validator(${JSON.stringify(bare(schema))});\n`;

/** What lies in src/generated, file by file. */
export async function generated() {
  const files = {};
  for (const kind of kinds) {
    const schema = JSON.parse(readFileSync(join(SCHEMAS, `${kind}.json`), 'utf-8'));
    files[`${kind}.ts`] = await types(kind, draft7(schema));
    files[`${kind}.valid.ts`] = validator(schema);
  }
  for (const file of readdirSync(PROTOCOLS).sort()) {
    const name = basename(file, '.json');
    const schema = JSON.parse(readFileSync(join(PROTOCOLS, file), 'utf-8'));
    files[`${name}.protocol.ts`] = await types(name, draft7(schema));
  }
  const imports = kinds.map(kind => `import { mount as ${kind} } from '../widgets/${kind}';`).join('\n');
  const sheet = readFileSync(join(HERE, '../autograder/feedback/tokens.css'), 'utf-8');
  const names =
    /--tfk-(ink(-soft)?|card|sunk|page|(on-)?accent|line(-strong)?|(on-)?lit|font-ui|t[124]|s[1-4]|r2|quick|seq-\w+|void|hatch|grid|bar|c[12]):/;
  const framing = line => names.test(line); // what a stepper needs
  const parts = { FRAME: line => framing(line), SCALES: line => !framing(line) };
  files['tokens.ts'] = `${BANNER.replace('the schema', 'autograder/feedback/tokens.css')}\n`;
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
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  files.forEach(([name, text]) => writeFileSync(join(TARGET, name), text));
}
