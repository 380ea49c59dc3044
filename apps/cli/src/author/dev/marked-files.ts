import { type FilesOfComponent, filesOfComponent } from '../files-of-component.js';

const MARK = 'sluice-dev.txt';

/**
 * The files of a component with one more, which nothing imports. So what this command saves is never the component that
 * `sluice publish` or a deployment saved from the same code, and may be deleted once it is replaced. Rejects with
 * CommandFailure.
 */
export const markedFiles = async (file: string, root: string | undefined): Promise<FilesOfComponent> => {
  const found = await filesOfComponent(file, root);
  return { ...found, files: { [MARK]: '', ...found.files } };
};
