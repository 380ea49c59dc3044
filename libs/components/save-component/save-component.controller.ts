import { Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentCaller } from '#libs/http/caller.js';
import { Changed } from '#libs/http/changed.js';
import { Context, type ContextIn } from '#libs/http/command-context.js';
import { Operation } from '#libs/http/operation.js';
import { oneWarned } from '#libs/http/replies.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { warned, type Warned } from '#libs/kernel/warning.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { type Caller } from '#libs/http/callers.js';
import { Component, componentReply, type ComponentReply } from '../component-reply.js';
import { ComponentCodeDto, filesOf } from './component-code.dto.js';
import { SaveComponent } from './save-component.handler.js';

@Controller('v1/components')
export class SaveComponentController {
  constructor(private readonly commands: CommandBus) {}

  @Post()
  @Operation({
    summary: 'Save component code, given or at a URL',
    body: ComponentCodeDto,
    objects: { files: 'Further files: path to text' },
    reply: oneWarned(Component),
  })
  @HttpCode(200)
  async save(
    @Params('body_wins', ComponentCodeDto) body: ComponentCodeDto,
    @Params('body_wins') params: Parameters,
    @Context() contextIn: ContextIn,
    @CurrentCaller() caller: Caller,
  ): Promise<Changed<Warned<ComponentReply>>> {
    const { component_code: code, component_url: url, file_name: fileName } = body;
    const files = filesOf(params['files']);
    const given = {
      // An empty text is not code; a variable of the shell may not be set.
      ...(typeof code === 'string' && code !== '' ? { code } : {}),
      ...(typeof url === 'string' ? { url } : {}),
      ...(files ? { files } : {}),
      ...(typeof fileName === 'string' ? { fileName } : {}),
      refreshPackages: body.refresh_packages === true,
    };
    const context = contextIn(workspaceOf(caller));
    const saved = await this.commands.execute(new SaveComponent(given, context));
    return new Changed(saved.position, warned(componentReply(saved, saved.code), saved.component.warnings));
  }
}
