import { LosslessNumber, parse, stringify } from 'lossless-json';
import { harmlessJson } from './text.js';

/** Reads JSON, and keeps the digits of each number that a double would change. Throws for what is no JSON. */
export const exactly = (text: string): unknown =>
  parse(text, undefined, (digits) => (String(Number(digits)) === digits ? Number(digits) : new LosslessNumber(digits)));

/** JSON for a request, with the digits that `exactly` kept. */
export const exactLine = (value: unknown): string => stringify(value) ?? 'null';

/** One line of JSON to print, with the digits that `exactly` kept. */
export const jsonLine = (value: unknown): string => harmlessJson(stringify(value) ?? 'null');

/** A value as a text for people. */
export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : (stringify(value) ?? '');
};

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber);

/** The objects of a list. None where it is no list. */
export const objectsIn = (list: unknown): readonly Fields[] => (Array.isArray(list) ? list.filter(isFields) : []);

/** A field that must be a text, for names and ids. Empty where it is none. */
export const fieldText = (value: unknown, key: string): string => {
  const field = isFields(value) ? value[key] : undefined;
  return typeof field === 'string' ? field : '';
};
