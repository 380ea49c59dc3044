import { describe, expect, it } from '@jest/globals';
import {
  defineAction,
  defineApp,
  defineSource,
  type DataStore,
  type Db,
  type HttpEvent,
  type TimerEvent,
} from './index.js';

/** Compiles only where both types are the same. */
const same = <A, B>(
  ..._equal: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [never]
): void => undefined;

/** What `this` of the component has, by its type: the tests are that this file compiles. */
describe('the types of authors', () => {
  it('give a source its props, methods and $emit', () => {
    const source = defineSource({
      name: 'Orders',
      version: '0.0.1',
      props: {
        http: { type: '$.interface.http', customResponse: true },
        db: '$.service.db',
        store: { type: 'data_store' },
        smallest: { type: 'integer', label: 'Smallest amount to emit' },
        currencies: { type: 'string[]', optional: true },
        region: { type: 'string', optional: true, default: 'eu' },
        shop: { type: 'string', withLabel: true },
      },
      methods: {
        isLarge(amount: number): boolean {
          return amount >= this.smallest;
        },
      },
      hooks: {
        async deploy() {
          await this.$emit({ at: this.http.endpoint }, { id: 1, summary: this.region.toUpperCase() });
        },
      },
      async run(event) {
        same<typeof event, HttpEvent>();
        void event;
        same<typeof this.smallest, number>();
        same<typeof this.currencies, string[] | undefined>();
        same<typeof this.region, string>();
        same<typeof this.db, Db>();
        same<typeof this.store, DataStore>();
        same<typeof this.shop, { label: string; value: string }>();
        same<ReturnType<typeof this.isLarge>, boolean>();
        await this.http.respond({ status: 202, body: this.smallest.toFixed() });
        // @ts-expect-error a prop is misspelt
        void this.smalest;
        // @ts-expect-error a method is misspelt
        void this.isLarg;
      },
    });
    expect(source.name).toBe('Orders');
  });

  it('give run the event of the interfaces', () => {
    defineSource({
      props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 60 } } },
      run(event) {
        same<typeof event, TimerEvent>();
        void event;
      },
    });
    defineSource({
      props: { http: '$.interface.http', timer: '$.interface.timer' },
      run(event) {
        same<typeof event, HttpEvent | TimerEvent>();
        void event;
      },
    });
    defineSource({
      // What another source emits has any form, which an author may name.
      run(event: { readonly amount: number }) {
        void this.$emit(event.amount);
        // @ts-expect-error there are no props
        void this.amount;
      },
    });
    const source = defineSource({ run: () => undefined });
    expect(source).toMatchObject({ run: expect.any(Function) });
  });

  const app = defineApp({
    type: 'app',
    app: 'ledger',
    propDefinitions: {
      account: { type: 'string', label: 'Account', options: ['a', 'b'] },
      limit: { type: 'integer', optional: true },
    },
    methods: {
      headers(): Record<string, string> {
        return { authorization: `Bearer ${this.$auth['token']}` };
      },
      all(): string[] {
        return Object.keys(this.headers());
      },
    },
  });

  it('give a prop of an app its methods and $auth, and inherited props their types', () => {
    const action = defineAction({
      type: 'action',
      name: 'Read',
      props: {
        app,
        account: { propDefinition: [app, 'account'] },
        limit: { propDefinition: [app, 'limit'] },
        most: { propDefinition: [app, 'limit'], optional: false, default: 3 },
        other: { type: 'app', app: 'other' },
      },
      async run({ $, steps }) {
        same<typeof this.account, string>();
        same<typeof this.limit, number | undefined>();
        same<typeof this.most, number>();
        same<ReturnType<typeof this.app.headers>, Record<string, string>>();
        $.export('$summary', `${this.app.all().length} of ${this.other.$auth['user']}`);
        $.flow.exit(steps['trigger']);
        // @ts-expect-error the app has no such method
        void this.app.header;
        // @ts-expect-error an action emits nothing
        void this.$emit;
        return this.account;
      },
    });
    expect(action.props?.app).toBe(app);
  });

  it('refuse what the platform does not know', () => {
    // @ts-expect-error no strategy
    defineSource({ dedupe: 'uniqe' });
    // @ts-expect-error no type of a prop
    defineSource({ props: { a: { type: 'strng' } } });
    // @ts-expect-error an action has its type
    defineAction({ run: () => 1 });
    expect(defineSource({ type: 'source' })).toEqual({ type: 'source' });
  });

  it('allow options and further props that are found at work', () => {
    const source = defineSource({
      props: {
        site: {
          type: 'string',
          async options({ page, query }: { page: number; query?: string }) {
            return [`${page}${query ?? ''}`];
          },
          reloadProps: true,
        },
      },
      async additionalProps() {
        return { days: { type: 'integer' as const, label: this.site } };
      },
    });
    expect(source.props).toBeDefined();
  });
});
