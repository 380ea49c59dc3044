import { Controller, Delete, Get, HttpCode, Inject, Param, Put } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type ListReply, pageLimit } from '#libs/http/pages.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { one, paged } from '#libs/http/replies.js';
import { anyJson, named, nullable, seconds, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { CLOCK, READ_MODELS } from '#libs/kernel/tokens.js';
import { expiryOf } from '../data-store-access.js';
import { type DataStoreRecords } from '../data-store-records.js';
import { findDataStore } from '../find-data-store.js';
import { DATA_STORE_RECORDS } from '../ports.js';
import { checkedKey, checkedRecord, cursorOf, keyAfter, recordReply } from './record-values.js';

/** Record as in docs/reference/rest-api.md#data-store-records. */
const RecordSchema = named('DataStoreRecord', {
  key: text('Unique in the data store'),
  value: anyJson('Any JSON'),
  expires_at: nullable(seconds('Epoch seconds from which the record is gone; null for never')),
});
type RecordReply = TypeOf<typeof RecordSchema>;

/** Records of a data store. They are no events, so replies carry no position. */
@Controller('v1/data_stores/:id/records')
export class RecordsController {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(DATA_STORE_RECORDS) private readonly records: DataStoreRecords,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation({
    summary: 'Records of a data store, by key',
    also: {
      limit: 'Records on the page, from 1 to 100; 10 by default. A page of large values has fewer',
      after: 'Cursor of the record after which the page begins',
    },
    reply: paged(RecordSchema),
  })
  async list(
    @Param('id') id: string,
    @Params('query_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<ListReply<RecordReply>> {
    await findDataStore(this.readModels, caller.workspaceIds, id);
    const now = this.clock.now();
    const page = { after: keyAfter(params['after']), limit: pageLimit(params), keysOnly: false };
    const { records } = await this.records.page(id, page, now);
    const first = records[0];
    const last = records.at(-1);
    return {
      page_info: {
        total_count: await this.records.size(id, now),
        count: records.length,
        start_cursor: first ? cursorOf(first.key) : null,
        end_cursor: last ? cursorOf(last.key) : null,
      },
      data: records.map(recordReply),
    };
  }

  @Get(':key')
  @Operation({ summary: 'A record of a data store', reply: one(RecordSchema) })
  async get(
    @Param('id') id: string,
    @Param('key') givenKey: string,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: RecordReply }> {
    await findDataStore(this.readModels, caller.workspaceIds, id);
    const key = checkedKey(givenKey);
    const record = await this.records.get(id, key, this.clock.now());
    if (!record) throw recordNotFound(id, key);
    return { data: recordReply(record) };
  }

  @Put(':key')
  @Operation({
    summary: 'Set a record of a data store',
    objects: { value: 'Any JSON', ttl: 'Seconds after which the record is gone; absent or null for never' },
    reply: one(RecordSchema),
  })
  @HttpCode(200)
  async set(
    @Param('id') id: string,
    @Param('key') givenKey: string,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<{ data: RecordReply }> {
    const { workspaceId } = await findDataStore(this.readModels, caller.workspaceIds, id);
    const key = checkedKey(givenKey);
    const { value, ttl } = checkedRecord(params);
    const now = this.clock.now();
    const record = { storeId: id, workspaceId, key, value, expiresAt: expiryOf(ttl, now) };
    await this.records.set(record, now);
    return { data: recordReply(record) };
  }

  @Delete(':key')
  @Operation({ summary: 'Delete a record of a data store' })
  @HttpCode(204)
  async remove(
    @Param('id') id: string,
    @Param('key') givenKey: string,
    @CurrentCaller() caller: Caller,
  ): Promise<void> {
    await findDataStore(this.readModels, caller.workspaceIds, id);
    const key = checkedKey(givenKey);
    if (!(await this.records.delete(id, key, this.clock.now()))) throw recordNotFound(id, key);
  }
}

const recordNotFound = (storeId: string, key: string): DomainError => {
  const shown = JSON.stringify(key.slice(0, 200));
  return new DomainError('data_store.record_not_found', `data store ${storeId} has no record with the key ${shown}`, {
    id: storeId,
    key: key.slice(0, 200),
  });
};
