import Module, { createRequire } from 'node:module';
import { type ChangedRequest } from '../shim/http-request.js';

interface RequestClient {
  send(request: ChangedRequest, isForm: boolean): Promise<unknown>;
}

export type SendRequest = RequestClient['send'];

/** Loads the code that sends configured requests when the first one is sent, because most runs send none. */
export const requestSender = (code: string | null): SendRequest | undefined => {
  if (code === null) return undefined;
  let client: RequestClient | undefined;
  return (request, isForm) => {
    client ??= loaded(code);
    return client.send(request, isForm);
  };
};

const loaded = (code: string): RequestClient => {
  const file = `${process.cwd()}/http-request.js`;
  const module = new Module(file) as Module & { _compile(code: string, file: string): void };
  module.filename = file;
  module.paths = [];
  module.require = createRequire(file);
  module._compile(code, file);
  return module.exports as RequestClient;
};
