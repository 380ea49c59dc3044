import { EventEmitter } from 'node:events';
import { type QueryBus } from '@nestjs/cqrs';
import { type Response } from 'express';
import { describe, expect, it } from '@jest/globals';
import { type Caller } from '#libs/http/callers.js';
import { ListWorkspaceAuditController } from './list-workspace-audit.controller.js';

/** A response whose client reads nothing. */
class UnreadResponse extends EventEmitter {
  status(): this {
    return this;
  }
  type(): this {
    return this;
  }
  write(): boolean {
    return false;
  }
}

describe('exports of the audit log', () => {
  const setUp = () => {
    const endless = { execute: () => new Promise(() => undefined) } as unknown as QueryBus;
    const controller = new ListWorkspaceAuditController(endless);
    const workspaceIds = Array.from({ length: 9 }, (_, n) => `o_${n}`);
    const caller: Caller = { userId: 'u_1', apiKeyId: 'key_1', workspaceIds, isWorkspace: () => true };
    return (workspaceId: string): UnreadResponse => {
      const response = new UnreadResponse();
      void controller.export(workspaceId, {}, caller, response as unknown as Response);
      return response;
    };
  };

  it('are two at once for a workspace, and the next begins when one has ended', () => {
    const start = setUp();
    const first = start('o_1');
    start('o_1');
    expect(() => start('o_1')).toThrow(expect.objectContaining({ code: 'audit.too_many_exports' }));
    start('o_2');
    first.emit('close');
    start('o_1');
    expect(() => start('o_1')).toThrow(/wait until one has ended/);
  });

  it('are eight at once in all', () => {
    const start = setUp();
    for (let n = 0; n < 8; n++) start(`o_${n}`);
    expect(() => start('o_8')).toThrow(expect.objectContaining({ code: 'audit.too_many_exports' }));
  });
});
