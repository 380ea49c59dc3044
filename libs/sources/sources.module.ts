import { Module } from '@nestjs/common';
import { DeleteSourceController } from './delete-source/delete-source.controller.js';
import { DeleteSourceHandler } from './delete-source/delete-source.handler.js';
import { DeploySourceController } from './deploy-source/deploy-source.controller.js';
import { DeploySourceHandler } from './deploy-source/deploy-source.handler.js';
import { GetSourceController } from './get-source/get-source.controller.js';
import { GetSourceHandler } from './get-source/get-source.query.js';
import { ListSourcesController } from './list-sources/list-sources.controller.js';
import { ListSourcesHandler } from './list-sources/list-sources.query.js';
import { LocateSource } from './locate-source.js';
import { NameSlugs } from './name-slugs.js';
import { RunSourceController } from './run-source/run-source.controller.js';
import { RunSourceHandler } from './run-source/run-source.handler.js';
import { SourceOperations } from './source-operations.js';
import { UpdateSourceController } from './update-source/update-source.controller.js';
import { UpdateSourceHandler } from './update-source/update-source.handler.js';

/** Needs the tokens of libs/kernel/tokens.ts and ports.ts, ComponentsModule, HttpModule and CqrsModule.forRoot(). */
@Module({
  controllers: [
    DeploySourceController,
    GetSourceController,
    ListSourcesController,
    UpdateSourceController,
    DeleteSourceController,
    RunSourceController,
  ],
  providers: [
    SourceOperations,
    NameSlugs,
    LocateSource,
    DeploySourceHandler,
    UpdateSourceHandler,
    DeleteSourceHandler,
    RunSourceHandler,
    GetSourceHandler,
    ListSourcesHandler,
  ],
  exports: [SourceOperations, NameSlugs],
})
export class SourcesModule {}
