import {
  type FilesOfComponent,
  filesOfComponent as read,
  FilesRefused,
} from '#libs/component-files/files-of-component.js';
import { wrongUsage } from './failure.js';

export { type FilesOfComponent } from '#libs/component-files/files-of-component.js';

/** Reads the files of a component. Rejects with CommandFailure. */
export const filesOfComponent = async (file: string, root: string | undefined): Promise<FilesOfComponent> => {
  try {
    return await read(file, root);
  } catch (error) {
    throw error instanceof FilesRefused ? wrongUsage(error.message) : error;
  }
};
