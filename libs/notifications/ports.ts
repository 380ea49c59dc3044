/** Ports of this context, which the composition root implements. */

export const NOTIFIED_SOURCES = Symbol('KnownSources');

/** Whether this server sends email. */
export const SENDS_EMAIL = Symbol('SendsEmail');
