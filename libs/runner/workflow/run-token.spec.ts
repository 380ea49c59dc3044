import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { executionNamedBy, runToken } from './run-token.js';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const NAMED = { workflowId: `p_${'0w'.repeat(9)}`, runId: `run_${'0r'.repeat(9)}`, execution: 12_345 };
const token = runToken(privateKey, NAMED);
const [payload = '', signature = ''] = token.split('.');

describe('the token of run URLs', () => {
  it('names its execution, and is the same when a crash repeats that', () => {
    expect(executionNamedBy(publicKey, token)).toEqual(NAMED);
    expect(runToken(privateKey, NAMED)).toBe(token);
    expect(token).toMatch(/^[\w.-]{1,140}$/);
  });

  it.each([
    ['of another key', runToken(generateKeyPairSync('ed25519').privateKey, NAMED)],
    ['with another execution', `${payload.slice(0, -1)}a.${signature}`],
    ['with another run', `${payload.slice(0, 18)}1${payload.slice(19)}.${signature}`],
    ['with another workflow', `1${payload.slice(1)}.${signature}`],
    ['with another signature', `${payload}.${'A'.repeat(86)}`],
    ['with a shorter signature', `${payload}.${signature.slice(1)}`],
    ['without a signature', payload],
    ['with more behind it', `${token}=`],
    ['that is empty', ''],
  ])('%s names nothing', (_, forged) => expect(executionNamedBy(publicKey, forged)).toBeUndefined());
});
