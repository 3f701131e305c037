/** Schemas are read by the bundlers; the relative path is the same from `src` and from `lib`. */
declare module '*.json' {
  const value: { readonly [keyword: string]: unknown };
  export default value;
}
