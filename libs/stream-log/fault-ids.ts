import { hash } from 'node:crypto';

/** Identifies an error by its name and message, so that repeats are known without reading their records. */
export const faultId = (name: string, message: string): string => hash('sha256', `${name}\n${message}`).slice(0, 16);
