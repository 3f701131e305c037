/** Holds a value to a JSON schema, in the keywords that our schemas use. Code that ajv makes of them is ten times as long. */
import { IComplaint, IParams, IValidate } from './schema';

/** A schema, in part or whole; `$defs` stands in the whole one. */
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

type Check = (schema: ISchema, value: unknown) => IComplaint | null;

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

/** A list of types includes one, and a type's own name includes itself: none is a part of another's. */
const isOf = (value: unknown, types: string | string[]): boolean => {
  const found = typeOf(value);
  return types.includes(found) || (found === 'integer' && types.includes('number'));
};

const complaint = (keyword: string, params: IParams): IComplaint => ({ instancePath: '', keyword, params });

/** A complaint of a part, as one of the whole: its path is made only where there is something to complain of. */
const inside = (key: string | number, found: IComplaint | null): IComplaint | null =>
  found && {
    ...found,
    instancePath: `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}${found.instancePath}`
  };

/** What the keywords that look at the value alone complain of. */
function refused(schema: ISchema, value: unknown): IComplaint | null {
  const { type, minimum, maximum, minLength, minItems, maxItems } = schema;
  if (type && !isOf(value, type)) {
    return complaint('type', { type });
  }
  if ('const' in schema && value !== schema.const) {
    return complaint('const', { allowedValue: schema.const });
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return complaint('enum', { allowedValues: schema.enum });
  }
  const limited = (of: unknown, least: number | undefined, most: number | undefined, names: string[]) =>
    (of as number) < least!
      ? complaint(names[0], { limit: least })
      : (of as number) > most!
        ? complaint(names[1], { limit: most })
        : null;
  return typeof value === 'number'
    ? limited(value, minimum, maximum, ['minimum', 'maximum'])
    : typeof value === 'string'
      ? limited(value.length, minLength, undefined, ['minLength'])
      : Array.isArray(value)
        ? limited(value.length, minItems, maxItems, ['minItems', 'maxItems'])
        : null;
}

function inList({ prefixItems = [], items }: ISchema, value: unknown[], check: Check): IComplaint | null {
  for (let i = 0; i < value.length; i++) {
    const schema = prefixItems[i] ?? items;
    const found = schema && check(schema, value[i]);
    if (found) {
      return inside(i, found);
    }
  }
  return null;
}

function inObject(schema: ISchema, value: Record<string, unknown>, check: Check): IComplaint | null {
  const { required = [], properties = {}, propertyNames, additionalProperties: others = true } = schema;
  const missingProperty = required.find(key => value[key] === undefined);
  if (missingProperty !== undefined) {
    return complaint('required', { missingProperty });
  }
  const pattern = propertyNames && new RegExp(propertyNames.pattern, 'u');
  for (const key of Object.keys(value)) {
    const known = Object.prototype.hasOwnProperty.call(properties, key) ? properties[key] : others;
    const found =
      pattern && !pattern.test(key)
        ? complaint('propertyNames', { propertyName: key })
        : known === false
          ? complaint('additionalProperties', { additionalProperty: key })
          : known === true || value[key] === undefined
            ? null
            : inside(key, check(known, value[key]));
    if (found) {
      return found;
    }
  }
  return null;
}

/** A function that tells whether a value is as a schema wants it, and keeps the first complaint in `errors`. */
export function validator(root: ISchema): IValidate {
  const check: Check = (schema, value) => {
    if (schema.$ref) {
      return check(root.$defs![schema.$ref.slice('#/$defs/'.length)], value);
    }
    const found = refused(schema, value);
    if (found) {
      return found;
    }
    if (schema.oneOf && schema.oneOf.filter(one => !check(one, value)).length !== 1) {
      return complaint('oneOf', {});
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
