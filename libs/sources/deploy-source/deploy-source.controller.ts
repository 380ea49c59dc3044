import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { type Caller } from '#libs/http/callers.js';
import { type EndpointUrls } from '../domain/endpoint-urls.js';
import { ENDPOINT_URLS } from '../ports.js';
import { ChangedSource, changedSourceReply, type ChangedSourceReply } from '../source-reply.js';
import { configuredPropsOf, dynamicPropsIdOf, referenceOf, SourceBodyDto } from '../source-body.dto.js';
import { DeploySource } from './deploy-source.handler.js';

@Controller('v1/sources')
export class DeploySourceController {
  constructor(
    private readonly commands: CommandBus,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  @Post()
  @Operation({
    summary: 'Deploy a source',
    body: SourceBodyDto,
    objects: {
      configured_props: 'Values for the props of the component',
      files: 'Further files of the component: path to text',
    },
    reply: oneWarned(ChangedSource),
  })
  @HttpCode(200)
  async deploy(
    @Params('body_wins', SourceBodyDto) body: SourceBodyDto,
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<ChangedSourceReply>>> {
    const deployment = {
      reference: { ...referenceOf(body, params), refreshPackages: body.refresh_packages === true },
      configuredProps: configuredPropsOf(params) ?? {},
      emitOnDeploy: body.emit_on_deploy ?? true,
      ...dynamicPropsIdOf(body),
      ...(typeof body.name === 'string' ? { name: body.name } : {}),
    };
    const context = contextIn(workspaceOf(caller));
    const { source, revision, workspaceId, position, warnings, packageChanges } = await this.commands.execute(
      new DeploySource(deployment, context),
    );
    const reply = changedSourceReply(source, revision, workspaceId, this.urls, packageChanges);
    return new Changed(position, warned(reply, warnings));
  }
}
