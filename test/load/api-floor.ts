import { randomUUID } from 'node:crypto';
import { type AddressInfo } from 'node:net';
import { Controller, Get, Inject, Module, Post, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { secretKeyOf } from '#libs/config/index.js';
import { openEmbedded, type EmbeddedEngines } from '#libs/engines/embedded/index.js';
import { systemClock } from '#libs/kernel/clock.js';
import { DEFAULT_EVENT_SETTINGS, eventSummariesProjection } from '#libs/events/index.js';
import { sourcesProjection } from '#libs/sources/index.js';

/**
 * The floor of the API's benchmark: a bare Nest application over the same engines and data, each route with nothing but
 * the call of the store that the API's route makes.
 */
const [dataDir = '', userId = '', list = ''] = process.argv.slice(2);
const ENGINES = Symbol('engines');
const SOURCES = sourcesProjection.schema;
const SUMMARIES = eventSummariesProjection(DEFAULT_EVENT_SETTINGS).schema;

@Controller()
class FloorController {
  constructor(@Inject(ENGINES) private readonly engines: EmbeddedEngines) {}

  @Get('sources')
  sources(@Query('after') after?: string) {
    const where = { userId, listed: 'yes' };
    return this.engines.readModels.page(SOURCES, { where, limit: 100, ...(after === undefined ? {} : { after }) });
  }

  @Get('summaries')
  summaries() {
    return this.engines.readModels.page(SUMMARIES, { where: { list }, limit: 100 });
  }

  @Post('append')
  async append(): Promise<object> {
    const id = randomUUID();
    const metadata = {
      $correlationId: id,
      $causationId: id,
      commandId: id,
      workspaceId: 'o_bench',
      schemaVersion: 1,
      actor: { userId: 'u_bench', apiKeyId: null },
    };
    await this.engines.events.append(`bench-${id}`, [{ id, type: 'Measured', data: { id }, metadata }], 'no_stream');
    return {};
  }
}

const engines = await openEmbedded({
  dataDir,
  secretKey: secretKeyOf(dataDir, null),
  clock: systemClock,
  onFatal: (error) => {
    throw error;
  },
});
for (const schema of [SOURCES, SUMMARIES]) await engines.readModels.register(schema);

@Module({ controllers: [FloorController], providers: [{ provide: ENGINES, useValue: engines }] })
class FloorModule {}

const app = await NestFactory.create(FloorModule, { logger: false });
await app.listen(0, '127.0.0.1');
const server = app.getHttpServer() as { address(): AddressInfo };
process.stdout.write(`${server.address().port}\n`);
process.once('SIGTERM', () => {
  void app
    .close()
    .then(() => engines.close())
    .then(() => process.exit(0));
});
