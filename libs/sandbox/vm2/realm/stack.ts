/** Frame of a stack, as vm2 shows it. A frame of the host returns null from every method. */
interface Site {
  getTypeName(): string | null;
  getFunctionName(): string | null;
  getMethodName(): string | null;
  getFileName(): string | null | undefined;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
  isToplevel(): boolean | null;
  isConstructor(): boolean | null;
  isAsync(): boolean | null;
}

/** Taken before the component can replace it. */
const toString = Reflect.get(Error.prototype, 'toString') as (this: unknown) => string;

const headOf = (error: unknown): string => {
  try {
    return toString.call(error);
  } catch {
    return 'Error';
  }
};

const calledOf = (site: Site): string => {
  const name = site.getFunctionName();
  if (site.isConstructor() === true) return `new ${name ?? '<anonymous>'}`;
  const type = site.getTypeName();
  if (site.isToplevel() === true || type === null || name === null || name.includes('.')) return name ?? '';
  const method = site.getMethodName();
  return `${type}.${name}${method === null || method === name ? '' : ` [as ${method}]`}`;
};

const frameOf = (site: Site): string => {
  const called = `${site.isAsync() === true ? 'async ' : ''}${calledOf(site)}`;
  const file = site.getFileName();
  const where =
    typeof file === 'string' ? `${file}:${site.getLineNumber() ?? 0}:${site.getColumnNumber() ?? 0}` : '<anonymous>';
  return called === '' ? `    at ${where}` : `    at ${called} (${where})`;
};

/** Formats stacks like V8. The formatter of vm2 names no function, file or line. A component may set its own. */
export const formatStacks = (): void => {
  const format = (error: unknown, sites: readonly Site[]): string => {
    const shown = sites.filter((site) => site.getFileName() !== null || site.getFunctionName() !== null);
    return [headOf(error), ...shown.map(frameOf)].join('\n');
  };
  Reflect.set(Error, 'prepareStackTrace', format);
};
