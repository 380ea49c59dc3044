import { describe, expect, it } from '@jest/globals';
import { MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import { DomainError } from '#libs/kernel/domain-error.js';
import { RevisionConflict } from '#libs/kernel/event-store.js';
import { ENGINE_ERRORS, faultOfAny, FULL_ERRORS } from './testing/engine-errors.js';

describe('the state of an engine', () => {
  it.each(ENGINE_ERRORS)('is told by: %s', (_, error) => {
    expect(faultOfAny(error)).toMatchObject({ name: 'EngineUnavailable', full: false });
  });

  it.each(FULL_ERRORS)('is full: %s', (_, error) => {
    expect(faultOfAny(error)).toMatchObject({ name: 'EngineUnavailable', full: true });
  });

  it.each([
    ['a bug', new TypeError('x is not a function')],
    ['a bug that names a code', Object.assign(new RangeError('buffer'), { code: 'ERR_OUT_OF_RANGE' })],
    ['a refused request', new DomainError('source.not_found', 'no')],
    ['a conflict', new RevisionConflict('source-1', 1n, 2n)],
    ['a wrong argument of MongoDB', new MongoInvalidArgumentError('documents must be an array')],
    ['a document that exists', new MongoServerError({ code: 11_000, message: 'E11000 duplicate key' })],
    ['a wrong statement', Object.assign(new Error('no such column: x'), { code: 'ERR_SQLITE_ERROR', errcode: 1 })],
    ['a file that is not there', Object.assign(new Error('ENOENT'), { code: 'ENOENT', syscall: 'open' })],
    ['no error', undefined],
    ['a text', 'text'],
  ])('is not told by %s', (_, error) => {
    expect(faultOfAny(error)).toBeUndefined();
  });
});
