import { beforeStart } from '#libs/hosting/before-start.js';
import { endWithParent, ENDS_WITH_PARENT } from '#libs/hosting/end-with-parent.js';

beforeStart('sluice');
if (process.argv.includes(ENDS_WITH_PARENT)) endWithParent();
// Imported after the check, because an older Node could not even load it.
await import('./app.js');
