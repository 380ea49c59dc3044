import { type NestExpressApplication } from '@nestjs/platform-express';
import { afterEach } from '@jest/globals';
import request from 'supertest';
import { type Caller } from '#libs/http/callers.js';
import { httpTestApp } from '#libs/http/testing/http-test-app.js';
import { ControlPlane } from '#libs/kernel/testing/control-plane.js';
import { AutoSubscribeReactor } from '../auto-subscribe/auto-subscribe.reactor.js';
import { DeletedResourceSubscriptionsReactor, subscriptionsContext, SubscriptionsModule } from '../index.js';
import { TriggerSubscriptionsReactor } from '../trigger-subscriptions/trigger-subscriptions.reactor.js';

const caller = (userId: string, ...workspaceIds: string[]): Caller => ({
  userId,
  apiKeyId: `key_${userId}`,
  workspaceIds,
  isWorkspace: (id) => ['o_1', 'o_2', 'o_3'].includes(id),
});

const KEPT = { count: 3, oldest: '1-0', newest: '9-0' };
/** The API of subscriptions over sources, webhooks and a workflow. Each world is closed after its test. */
export const subscriptionsWorlds = () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  return () => world(closing);
};

const world = async (closing: (() => Promise<void>)[]) => {
  const active = true;
  const resources = new Map(
    ['dc_a', 'dc_b', 'wh_1', 'wh_2', 'p_1'].map((id) => [id, { workspaceId: 'o_1', active }]),
  ).set('dc_other', { workspaceId: 'o_2', active });
  const plane = await ControlPlane.start({
    projections: subscriptionsContext.projections,
    reactors: ({ events, handleCommand, readModels, projectors, clock }) => [
      new DeletedResourceSubscriptionsReactor({ events, handleCommand, readModels, readYourWrites: projectors, clock }),
      new AutoSubscribeReactor({ handleCommand, readModels, readYourWrites: projectors, clock }),
      new TriggerSubscriptionsReactor({ events, handleCommand, clock }),
    ],
  });
  const app: NestExpressApplication = await httpTestApp({
    imports: [
      SubscriptionsModule.forRoot({
        ...plane.ports(),
        resources: { find: (id: string) => resources.get(id) },
        replays: { keptIn: async () => KEPT, waiting: async () => 2 },
      }),
    ],
    http: plane.ports(),
    callers: {
      one: caller('u_1', 'o_1'),
      both: caller('u_2', 'o_1', 'o_2'),
      stranger: caller('u_3', 'o_3'),
    },
  });
  closing.push(
    () => app.close(),
    () => plane.stop(),
  );
  const call = (method: 'get' | 'post' | 'delete', path: string, key = 'one') =>
    request(app.getHttpServer())[method](path).set('Authorization', `Bearer ${key}`);
  return { plane, resources, call };
};
