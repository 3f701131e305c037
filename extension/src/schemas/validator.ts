/** Validates a value against a JSON schema, for the keywords that the trace schemas use; code compiled by ajv is ten times as long. */
import { ISchemaError, IParams, IValidate } from './errors';

/** A schema or a part of one; `$defs` is in the root. */
export interface ISchema {
  $ref?: string;
  $defs?: Record<string, ISchema>;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  oneOf?: ISchema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  maxItems?: number;
  prefixItems?: ISchema[];
  items?: ISchema;
  required?: string[];
  propertyNames?: { pattern: string };
  properties?: Record<string, ISchema>;
  additionalProperties?: boolean | ISchema;
}

type Check = (schema: ISchema, value: unknown) => ISchemaError | null;

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** Works for a list of types and for a single name, as no type's name contains another's. */
const isOf = (value: unknown, types: string | string[]): boolean => {
  const found = typeOf(value);
  return types.includes(found) || (found === 'integer' && types.includes('number'));
};

const schemaError = (keyword: string, params: IParams): ISchemaError => ({ instancePath: '', keyword, params });

/** The error of a part, with the path from the whole. */
const inside = (key: string | number, found: ISchemaError | null): ISchemaError | null =>
  found && {
    ...found,
    instancePath: `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}${found.instancePath}`
  };

/** The first error of the keywords that need only the value itself. */
function valueError(schema: ISchema, value: unknown): ISchemaError | null {
  const { type, minimum, maximum, minLength, minItems, maxItems } = schema;
  if (type && !isOf(value, type)) {
    return schemaError('type', { type });
  }
  if ('const' in schema && value !== schema.const) {
    return schemaError('const', { allowedValue: schema.const });
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return schemaError('enum', { allowedValues: schema.enum });
  }
  const limited = (of: unknown, least: number | undefined, most: number | undefined, names: string[]) =>
    (of as number) < least!
      ? schemaError(names[0], { limit: least })
      : (of as number) > most!
        ? schemaError(names[1], { limit: most })
        : null;
  return typeof value === 'number'
    ? limited(value, minimum, maximum, ['minimum', 'maximum'])
    : typeof value === 'string'
      ? limited(value.length, minLength, undefined, ['minLength'])
      : Array.isArray(value)
        ? limited(value.length, minItems, maxItems, ['minItems', 'maxItems'])
        : null;
}

function inList({ prefixItems = [], items }: ISchema, value: unknown[], check: Check): ISchemaError | null {
  for (let i = 0; i < value.length; i++) {
    const schema = prefixItems[i] ?? items;
    const found = schema && check(schema, value[i]);
    if (found) {
      return inside(i, found);
    }
  }
  return null;
}

function inObject(schema: ISchema, value: Record<string, unknown>, check: Check): ISchemaError | null {
  const { required = [], properties = {}, propertyNames, additionalProperties: others = true } = schema;
  const missingProperty = required.find(key => value[key] === undefined);
  if (missingProperty !== undefined) {
    return schemaError('required', { missingProperty });
  }
  const pattern = propertyNames && new RegExp(propertyNames.pattern, 'u');
  for (const key of Object.keys(value)) {
    const known = Object.prototype.hasOwnProperty.call(properties, key) ? properties[key] : others;
    const found =
      pattern && !pattern.test(key)
        ? schemaError('propertyNames', { propertyName: key })
        : known === false
          ? schemaError('additionalProperties', { additionalProperty: key })
          : known === true || value[key] === undefined
            ? null
            : inside(key, check(known, value[key]));
    if (found) {
      return found;
    }
  }
  return null;
}

/** A function that returns whether a value matches a schema, and stores the first error in `errors`. */
export function validator(root: ISchema): IValidate {
  const check: Check = (schema, value) => {
    if (schema.$ref) {
      return check(root.$defs![schema.$ref.slice('#/$defs/'.length)], value);
    }
    const found = valueError(schema, value);
    if (found) {
      return found;
    }
    if (schema.oneOf && schema.oneOf.filter(one => !check(one, value)).length !== 1) {
      return schemaError('oneOf', {});
    }
    return Array.isArray(value)
      ? inList(schema, value, check)
      : value !== null && typeof value === 'object'
        ? inObject(schema, value as Record<string, unknown>, check)
        : null;
  };
  const validate: IValidate = value => {
    const found = check(root, value);
    validate.errors = found && [found];
    return !found;
  };
  return validate;
}
