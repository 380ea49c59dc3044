import { beforeStart } from '#libs/hosting/before-start.js';

beforeStart('sluice');
// Imported after the check, because an older Node could not even load it.
await import('./app.js');
