export {
  configReference,
  describeConfig,
  loadConfig,
  publicUrlOf,
  unknownSettings,
  WrongSettings,
  type DescribedSetting,
  type Environment,
} from './config.js';
export { keepFilesPrivate } from './private-files.js';
export {
  adoptSecretKey,
  checkSecretKeyUnchanged,
  previousKeyOf,
  secretKeyFrom,
  secretKeyOf,
  storedSecretKeyOf,
} from './secret-key.js';
export { rotationOf, type KeyRotation } from './secret-key-rotation.js';
export { SETTINGS, type Config } from './settings.js';
export { weakApiKey } from './weak-api-key.js';
