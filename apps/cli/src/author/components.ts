import { wrongUsage } from './failure.js';
import { type FilesOfComponent, filesOfComponent } from './files-of-component.js';
import { type Fields, fieldText, isFields, objectsIn } from './json.js';
import { type Session, withQuery } from './session.js';

export interface Component {
  readonly id: string;
  readonly name: string;
  readonly isAction: boolean;
  /** Entries of `configurable_props`. */
  readonly props: readonly Fields[];
  readonly fields: Fields;
  readonly warnings: readonly unknown[];
}

const componentIn = ({ data, warnings }: Fields): Component => ({
  id: fieldText(data, 'id'),
  name: fieldText(data, 'name'),
  isAction: fieldText(data, 'type') === 'action',
  props: propsIn(data),
  fields: isFields(data) ? data : {},
  warnings: Array.isArray(warnings) ? warnings : [],
});

/** Entries of `configurable_props` of an answer. */
export const propsIn = (value: unknown): readonly Fields[] => {
  return objectsIn(isFields(value) ? value['configurable_props'] : undefined);
};

/** Parameters of a request with the code. */
export const codeOfFiles = ({ code, fileName, files }: FilesOfComponent): Fields => ({
  component_code: code,
  file_name: fileName,
  files,
});

/** Saves code with its files. The server builds it, unless it knows it. */
export const saveFiles = async (session: Session, files: FilesOfComponent): Promise<Component> =>
  componentIn(await session.request({ method: 'POST', path: SAVE, body: codeOfFiles(files) }));

/** The code is known here, so it need not come back. */
const SAVE = '/v1/components?exclude=code';

/** The component that a command names: by file, address, id or key. What is no id and no key is saved. */
export const componentNamed = async (session: Session, what: string, root: string | undefined): Promise<Component> => {
  if (/^https?:\/\//i.test(what))
    return componentIn(await session.request({ method: 'POST', path: SAVE, body: { component_url: what } }));
  if (isFileName(what)) return saveFiles(session, await filesOfComponent(what, root));
  const path = withQuery(`/v1/components/${encodeURIComponent(what)}`, { exclude: 'code' });
  return componentIn(await session.request({ method: 'GET', path }));
};

/** Keys have no such endings, and no slash. */
const isFileName = (what: string): boolean => /\.[mc]?[jt]s$|[/\\]/.test(what);

/** Throws CommandFailure for an action. */
export const checkIsSource = ({ isAction, name, id }: Component): void => {
  if (isAction) throw wrongUsage(`${name} (${id}) is an action, and only sources can be deployed`);
};
