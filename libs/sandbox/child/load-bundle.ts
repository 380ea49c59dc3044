import Module, { createRequire } from 'node:module';

/** Path of the bundle, as stacks name it. */
export const bundleFile = (): string => `${process.cwd()}/component.js`;

/** Evaluates a bundle as a CommonJS module named component.js, which may require Node's built-in modules. */
export const loadBundle = (code: string): unknown => {
  const file = bundleFile();
  const module = new Module(file) as Module & { _compile(code: string, file: string): void };
  module.filename = file;
  module.paths = [];
  module.require = createRequire(file);
  module._compile(code, file);
  return module.exports;
};
