import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { map, type Observable } from 'rxjs';
import { describe, parameters } from '#libs/http/parameters.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { yamlOf } from '../domain/yaml-of.js';
import { type WorkflowReply } from '../workflow-reply.js';

const FORMATS: readonly unknown[] = ['json', 'yaml'];

/** With `format=yaml` the reply is the definition alone, as a file that `PUT` takes. */
@Injectable()
export class DefinitionAsYaml implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<{ readonly data: WorkflowReply }>): Observable<unknown> {
    const http = context.switchToHttp();
    const { format = 'json' } = parameters(http.getRequest<Request>(), 'body_wins');
    if (!FORMATS.includes(format)) throw notAFormat(format);
    if (format === 'json') return next.handle();
    const response = http.getResponse<Response>();
    return next.handle().pipe(
      map(({ data: { definition, revision } }) => {
        response.type('text/yaml').setHeader('ETag', `"${revision}"`);
        return yamlOf(definition);
      }),
    );
  }
}

const notAFormat = (given: unknown): DomainError =>
  new DomainError('request.invalid_parameter', `parameter format must be json or yaml; got ${describe(given)}`, {
    field: 'format',
    actual: describe(given),
  });
