import { Controller, HttpCode, Post } from '@nestjs/common';
import { CurrentCaller } from '#libs/http/caller.js';
import { type Caller } from '#libs/http/callers.js';
import { Operation } from '#libs/http/operation.js';
import { type Parameters, Params } from '#libs/http/parameters.js';
import { withWarnings } from '#libs/http/replies.js';
import { anyJson, listOf, milliseconds, named, nullable, object, text, type TypeOf } from '#libs/http/reply-schema.js';
import { type LogLine } from '#libs/component-model/run-output.js';
import { warningsIn } from '#libs/kernel/warning.js';
import { ConfigurablePropReply, Option } from '../component-reply.js';
import { ConfigureBodyDto, objectIn, PropsBodyDto } from './call-body.dto.js';
import { ComponentForms } from './call-component.handler.js';

const CallObservation = named('CallObservation', {
  k: text('Kind of the line, such as `console.log`'),
  ts: milliseconds(),
  msg: text('The line'),
});

const ConfiguredOptions = named('ConfiguredOptions', {
  options: nullable(listOf(Option, 'Null when every option is a text, and after an error')),
  string_options: nullable(listOf(text(), 'Null when an option has a label, and after an error')),
  context: anyJson('For `prev_context` of the next page; null when there is none'),
  observations: listOf(CallObservation, 'What the method logged'),
  errors: listOf(text(), 'What the method threw'),
  ...withWarnings,
});

const DynamicPropsReply = named('DynamicProps', {
  dynamic_props: object(
    {
      id: text('`dyp_…`, for `dynamic_props_id`'),
      configurable_props: listOf(ConfigurablePropReply, 'Every prop: those of the component first'),
    },
    'The props and the id that names them',
  ),
  observations: listOf(CallObservation, 'What the method logged'),
  errors: listOf(text(), 'Always empty: an error is a reply of its own'),
  ...withWarnings,
});

/** The forms of a component's props. The replies have no `data`, because clients expect these shapes. */
@Controller('v1/components')
export class CallComponentController {
  constructor(private readonly forms: ComponentForms) {}

  @Post('configure')
  @Operation({
    summary: 'Options of a prop, from its options method',
    body: ConfigureBodyDto,
    objects: {
      configured_props: 'Values of the props so far',
      prev_context: '`context` of the previous page',
    },
    reply: ConfiguredOptions,
  })
  @HttpCode(200)
  async configure(
    @Params('body_wins', ConfigureBodyDto) body: ConfigureBodyDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<TypeOf<typeof ConfiguredOptions>> {
    const { id, prop_name: prop, page, query } = body;
    const found = await this.forms.options({
      component: id,
      prop,
      page: page ?? 0,
      prevContext: params['prev_context'] ?? {},
      values: objectIn(params, 'configured_props'),
      caller,
      ...(typeof query === 'string' ? { query } : {}),
      ...dynamicPropsIdIn(body),
    });
    return {
      options: found.options,
      string_options: found.stringOptions,
      context: found.context,
      observations: found.logs.map(observation),
      errors: found.errors,
      ...warningsIn(found.warnings),
    };
  }

  @Post('props')
  @Operation({
    summary: 'Props of a component with those that additionalProps adds',
    body: PropsBodyDto,
    objects: { configured_props: 'Values of the props so far' },
    reply: DynamicPropsReply,
  })
  @HttpCode(200)
  async props(
    @Params('body_wins', PropsBodyDto) body: PropsBodyDto,
    @Params('body_wins') params: Parameters,
    @CurrentCaller() caller: Caller,
  ): Promise<TypeOf<typeof DynamicPropsReply>> {
    const { id, props, logs, warnings } = await this.forms.props({
      component: body.id,
      values: objectIn(params, 'configured_props'),
      caller,
      ...dynamicPropsIdIn(body),
    });
    return {
      dynamic_props: { id, configurable_props: props },
      observations: logs.map(observation),
      errors: [],
      ...warningsIn(warnings),
    };
  }
}

const observation = ({ k, ts, msg }: LogLine): TypeOf<typeof CallObservation> => ({ k, ts, msg });

const dynamicPropsIdIn = ({ dynamic_props_id: id }: PropsBodyDto): { dynamicPropsId?: string } =>
  typeof id === 'string' && id !== '' ? { dynamicPropsId: id } : {};
