import { hash } from 'node:crypto';

/** Names an error by its name and message, so that its repeats are known without reading them. */
export const faultId = (name: string, message: string): string => hash('sha256', `${name}\n${message}`).slice(0, 16);
