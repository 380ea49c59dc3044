import path from 'node:path';
import { DomainError } from '#libs/kernel/domain-error.js';

export interface BundleInput {
  readonly code: string;
  /** Path of `code` among `files`. Its ending determines the language. Default `component.mjs`. */
  readonly fileName?: string;
  /** Texts of the component's other files, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Files of one component by normalized path, including `entry`. */
export interface ComponentFiles {
  readonly entry: string;
  readonly texts: ReadonlyMap<string, string>;
}

/** Longest part of a name that a message quotes. */
const QUOTED = 200;

export const quoted = (name: string): string => name.slice(0, QUOTED);

/** Normalizes the input's paths. Throws DomainError component.invalid for a path outside the component's folder. */
export const componentFilesOf = (input: BundleInput): ComponentFiles => {
  const texts = new Map<string, string>();
  for (const [name, text] of Object.entries(input.files ?? {})) texts.set(insideOf('', name), text);
  const entry = insideOf('', input.fileName ?? 'component.mjs');
  texts.set(entry, input.code);
  return { entry, texts };
};

/** Path of a component's file, without a leading slash. Throws DomainError component.invalid as above. */
export const insideOf = (folder: string, name: string): string => {
  const file = path.posix.normalize(path.posix.join(folder, name));
  if (/[\0\\]/.test(name) || path.posix.isAbsolute(name) || file === '.' || file === '..' || file.startsWith('../'))
    throw new DomainError(
      'component.invalid',
      `file "${quoted(name)}" lies outside of the component: use relative paths that stay within its folder`,
      { file: quoted(name) },
    );
  return file;
};
