export {
  configReference,
  describeConfig,
  loadConfig,
  maxApiBodyBytes,
  publicUrlOf,
  unknownSettings,
  WrongSettings,
  type DescribedSetting,
  type Environment,
} from './config.js';
export { keepFilesPrivate } from './private-files.js';
export { secretKeyFrom, secretKeyOf } from './secret-key.js';
export { SETTINGS, type Config } from './settings.js';
