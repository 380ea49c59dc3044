import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { partsOf, type Parts } from './parts.js';

export type Kind = 'source' | 'action' | 'app';

/** Files of a new component, by their names in its folder. */
export type NewFiles = Readonly<Record<string, string>>;

/** Where the build puts apps/cli/templates, with the examples that are templates too. */
const FOLDER = new URL('../../templates/', import.meta.url);
const template = (name: string): string => readFileSync(fileURLToPath(new URL(name, FOLDER)), 'utf8');

/** Templates of sources. */
export const TEMPLATES: readonly string[] = ['hello', 'timer', 'feed', 'github-webhook', 'poll', 'relay'];

export interface Wanted {
  readonly kind: Kind;
  readonly name: string;
  /** Of a source. */
  readonly template: string;
  /** Of a source in place of a template. */
  readonly parts: Parts | undefined;
  readonly isTypeScript: boolean;
}

export const newFiles = (wanted: Wanted): NewFiles => {
  const { kind, name, isTypeScript } = wanted;
  const ending = isTypeScript ? 'ts' : 'mjs';
  const [code, test] = codeOf(wanted);
  const files: Record<string, string> = {
    [`${name}.${ending}`]: named(code, name, isTypeScript, kind),
    [`${name}.test.${ending}`]: test.replaceAll('./component.mjs', `./${name}.${ending}`),
  };
  if (kind === 'app') {
    const action = template('app/action.mjs').replace('./component.mjs', `./${name}.${ending}`);
    files[`action.${ending}`] = named(action, `${name}-get-item`, isTypeScript, 'action');
    files[`${name}.test.${ending}`] = test.replaceAll('./action.mjs', `./action.${ending}`);
  }
  return files;
};

const codeOf = ({ kind, template: chosen, parts }: Wanted): readonly [code: string, test: string] => {
  if (parts) return partsOf(parts);
  const name = kind === 'source' ? chosen : kind;
  return [template(`${name}/component.mjs`), template(`${name}/component.test.mjs`)];
};

const WRAPPERS: Readonly<Record<Kind, string>> = { source: 'defineSource', action: 'defineAction', app: 'defineApp' };

/** The code with the name in place of the template's, and with the wrapper that gives `this` its types. */
const named = (code: string, name: string, isTypeScript: boolean, kind: Kind): string => {
  const own = code
    .replace(/^ {2}name: '.*',$/m, `  name: '${name}',`)
    .replace(/^ {2}key: '.*',$/m, `  key: '${name}',`)
    .replace(/^ {2}app: '.*',$/m, `  app: '${name}',`);
  if (!isTypeScript) return own;
  const wrapper = WRAPPERS[kind];
  const wrapped = own.replace(/^export default \{$/m, `export default ${wrapper}({`).replace(/^\};$/m, '});');
  return `import { ${wrapper} } from 'sluice';\n\n${wrapped}`;
};
