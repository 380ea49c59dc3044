import { Controller, HttpCode, Inject, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { oneWarned } from '#libs/http/replies.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { type Caller } from '#libs/http/callers.js';
import { type EndpointUrls } from '../domain/endpoint-urls.js';
import { LocateSource } from '../locate-source.js';
import { ENDPOINT_URLS } from '../ports.js';
import { ChangedSource, changedSourceReply, type ChangedSourceReply } from '../source-reply.js';
import { configuredPropsOf, dynamicPropsIdOf, referenceOf, SourceBodyDto } from '../source-body.dto.js';
import { UpdateSource, type UpdateSourceRequest } from './update-source.handler.js';

@Controller('v1/sources')
export class UpdateSourceController {
  constructor(
    private readonly commands: CommandBus,
    private readonly sources: LocateSource,
    @Inject(ENDPOINT_URLS) private readonly urls: EndpointUrls,
  ) {}

  @Put(':idOrSlug')
  @Operation({
    summary: 'Change a source: code, props, name, or active',
    refusals: [422],
    body: SourceBodyDto,
    objects: {
      configured_props: 'Values for the props of the component',
      files: 'Further files of the component: path to text',
    },
    reply: oneWarned(ChangedSource),
  })
  @HttpCode(200)
  async update(
    @Param('idOrSlug') idOrSlug: string,
    @Params('body_wins', SourceBodyDto) body: SourceBodyDto,
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<ChangedSourceReply>>> {
    const changes = changesOf(body, params);
    const located = await this.sources.locate(idOrSlug, caller);
    const context = contextIn(located.workspaceId);
    const command = new UpdateSource(located.sourceId, changes, context);
    const { source, revision, workspaceId, position, warnings, packageChanges } = await this.commands.execute(command);
    const reply = changedSourceReply(source, revision, workspaceId, this.urls, packageChanges);
    return new Changed(position, warned(reply, warnings));
  }
}

/**
 * A missing `active` means true. See docs/reference/rest-api.md#source-update-active. The component reference may be
 * left out when the body gives anything else.
 */
const changesOf = (body: SourceBodyDto, params: Parameters): UpdateSourceRequest => {
  const reference = referenceOf(body, params);
  const configuredProps = configuredPropsOf(params);
  const dynamicPropsId = dynamicPropsIdOf(body);
  const refreshPackages = body.refresh_packages === true;
  const { name, active, emit_on_deploy: emitOnDeploy, if_updated_at: ifUpdatedAt } = body;
  const changes = reference ?? configuredProps ?? (refreshPackages || undefined);
  if (changes === undefined && !isGiven(name) && !isGiven(active) && !isGiven(emitOnDeploy)) {
    throw new DomainError(
      'component.reference_missing',
      'nothing to change: give component_id, component_code, component_url or key, or one of name, active, configured_props, emit_on_deploy and refresh_packages',
      { field: 'component_id' },
    );
  }
  return {
    active: active ?? true,
    ignoreHookErrors: body.ignore_hook_errors ?? false,
    ...(reference ? { reference } : {}),
    ...(refreshPackages ? { refreshPackages } : {}),
    ...(configuredProps ? { configuredProps } : {}),
    ...dynamicPropsId,
    ...(isGiven(name) ? { name } : {}),
    ...(isGiven(emitOnDeploy) ? { emitOnDeploy } : {}),
    ...(isGiven(ifUpdatedAt) ? { ifUpdatedAt } : {}),
  };
};

const isGiven = <T>(value: T | undefined | null): value is T => value !== undefined && value !== null;
