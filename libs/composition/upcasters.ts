import { Upcasters } from '#libs/kernel/upcasting.js';

/** Contexts register their upcasters here. No event has a second version yet. */
export const makeUpcasters = (): Upcasters => new Upcasters();
