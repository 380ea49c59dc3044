import { type ApiClient, type Data } from './api-client.js';
import { type TokenServer } from './token-server.js';

/** Reply of the accounts' routes. */
export interface Account {
  readonly id: string;
  readonly healthy: boolean;
  readonly dead: boolean;
  readonly error: string | null;
  readonly credentials?: Readonly<Record<string, unknown>>;
}

/** Fields that connect an account whose first use asks for an access token. */
export const oauthBody = (tokens: TokenServer, refreshToken: string): object => ({
  credentials: {},
  oauth: { token_url: tokens.url, client_id: 'the-client', client_secret: 'its-secret', refresh_token: refreshToken },
});

export const connectAccount = async (api: ApiClient, tokens: TokenServer, refreshToken: string): Promise<string> => {
  const body = { app: 'slack', ...oauthBody(tokens, refreshToken) };
  return (await api.expect<Data<Account>>(200, 'POST', '/v1/accounts', { body })).data.id;
};

export const accountOf = async (api: ApiClient, id: string, query = ''): Promise<Account> =>
  (await api.expect<Data<Account>>(200, 'GET', `/v1/accounts/${id}${query}`)).data;
