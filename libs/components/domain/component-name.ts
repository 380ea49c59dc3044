import { DomainError } from '#libs/kernel/domain-error.js';
import { type ComponentMetadata } from '#libs/component-model/component-metadata.js';

/**
 * Names a component without name and key after its file (docs/reference/component-model.md#component-name). Throws
 * component.invalid for code that came without a file name.
 */
export const named = (metadata: ComponentMetadata, fileName: string | undefined): ComponentMetadata => {
  if (metadata.name !== '') return metadata;
  const name = fileName === undefined ? '' : nameOfFile(fileName);
  if (name !== '') return { ...metadata, name };
  throw new DomainError(
    'component.invalid',
    `name is missing: a ${metadata.kind} needs a name, a text that is not empty, or a key`,
    { name: 'UserError', field: 'name' },
  );
};

const nameOfFile = (path: string): string =>
  path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.[cm]?[jt]s$/, '')
    .slice(0, 200);
