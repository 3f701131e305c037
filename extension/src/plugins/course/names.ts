/** What to do about a name that a kernel does not know because cells above have not been run in it. */

interface ICodeCell {
  readonly type: string;
  readonly executionCount?: number | null;
}

/** The name of a NameError, or null for another error. */
export function missingName(error: { errorName?: string; errorValue?: string } | null | undefined): string | null {
  return error?.errorName === 'NameError'
    ? (/^name '(\w+)' is not defined/.exec(error.errorValue ?? '')?.[1] ?? null)
    : null;
}

/**
 * Whether cells above one have not been run in its kernel: it counts executions from 1, so if all had been run, the number that it gave the cell would be
 * larger than the number of code cells above it. The execution counts of the cells above are not used, as they may come from an earlier kernel.
 */
export function someNotRun(above: readonly ICodeCell[], count: number | null | undefined): boolean {
  return !!count && count <= above.filter(({ type }) => type === 'code').length;
}
