/** Describes the errors of a validator in words. Errors have the form of ajv's. */

/** The parameters of an error, which depend on its keyword. */
export interface IParams {
  type?: string | string[];
  allowedValue?: unknown;
  allowedValues?: unknown[];
  missingProperty?: string;
  additionalProperty?: string;
  propertyName?: string;
  limit?: number;
}

/** One error. */
export interface ISchemaError {
  instancePath: string;
  keyword: string;
  params: IParams;
}

/** A validator, as in `src/generated/*.valid.ts` and as ajv compiles it. */
export interface IValidate {
  (value: unknown): boolean;
  errors?: ISchemaError[] | null;
}

const WORDS: Record<string, (params: IParams) => string> = {
  type: ({ type }) => `must be of type ${String(type)}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  enum: ({ allowedValues }) => `must be one of ${allowedValues?.join(', ')}`,
  required: ({ missingProperty }) => `lacks ${JSON.stringify(missingProperty)}`,
  additionalProperties: ({ additionalProperty }) => `must not have ${JSON.stringify(additionalProperty)}`,
  propertyNames: ({ propertyName }) => `must not have ${JSON.stringify(propertyName)}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  oneOf: () => 'matches none of the alternatives',
  minLength: () => 'must not be empty',
  minItems: ({ limit }) => `needs ${limit} items`,
  maxItems: ({ limit }) => `may have ${limit} items`
};

/** A JSON pointer in code notation: `/nodes/0/id` is `$.nodes[0].id`. */
const path = (pointer: string): string =>
  pointer
    .split('/')
    .slice(1)
    .map(part => part.replace(/~1/g, '/').replace(/~0/g, '~'))
    .reduce((whole, part) => whole + (/^\d+$/.test(part) ? `[${part}]` : `.${part}`), '$');

/** The first thing wrong with a value in words, or null. */
export function schemaProblem(validate: IValidate, value: unknown): string | null {
  if (validate(value)) {
    return null;
  }
  const { instancePath, keyword, params } = validate.errors![validate.errors!.length - 1]; // the last error, which for alternatives is that none fits
  return `${path(instancePath)} ${WORDS[keyword]?.(params) ?? `fails “${keyword}”`}`;
}
