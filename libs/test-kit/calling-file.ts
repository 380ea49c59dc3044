import { fileURLToPath } from 'node:url';

/** File of the code that called a function of the kit. */
export const callingFile = (called: (...args: never[]) => unknown): string => {
  const former = Reflect.get(Error, 'prepareStackTrace');
  const holder: { stack?: unknown } = {};
  try {
    Error.prepareStackTrace = (_, sites) => sites;
    Error.captureStackTrace(holder, called);
    const [site] = holder.stack as NodeJS.CallSite[];
    const name = site?.getFileName() ?? site?.getEvalOrigin();
    if (name === null || name === undefined) throw new Error('the file of the test cannot be told: give a URL');
    return name.startsWith('file:') ? fileURLToPath(name) : name;
  } finally {
    Error.prepareStackTrace = former;
  }
};
