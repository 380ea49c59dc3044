import {
  type AxiosError,
  type AxiosInstance,
  type AxiosRequestConfig,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios';
import { LateInterceptors } from './late-interceptors.js';

/** Request of axios, with the additions of the platform (docs/reference/component-model.md#shim-axios-config). */
export interface RequestConfig extends AxiosRequestConfig {
  returnFullResponse?: boolean;
  debug?: boolean;
  body?: unknown;
}

export type HttpResponse = AxiosResponse<unknown>;

export const isAxiosError = (value: unknown): value is AxiosError<unknown> =>
  typeof value === 'object' && value !== null && (value as { isAxiosError?: unknown }).isAxiosError === true;

/**
 * Instance of axios that is created with its first request. Loading the library takes longer than starting a small
 * component, and most runs of a source send no request.
 */
export class HttpClient {
  readonly interceptors = {
    request: new LateInterceptors<InternalAxiosRequestConfig>(),
    response: new LateInterceptors<AxiosResponse>(),
  };
  private instance: Promise<AxiosInstance> | undefined;

  constructor(private readonly defaults: RequestConfig) {}

  async request(config: RequestConfig): Promise<HttpResponse> {
    this.instance ??= this.open();
    const instance = await this.instance;
    // Only the adapter for fetch knows blobs.
    return instance.request(config.responseType === 'blob' ? { adapter: 'fetch', ...config } : config);
  }

  private async open(): Promise<AxiosInstance> {
    const { library } = await import('./axios-library.js');
    // The egress guard has to see the target of a request, not the proxy that HTTP_PROXY and the like name.
    const instance = library.create({ proxy: false, ...this.defaults });
    this.interceptors.request.moveTo(instance.interceptors.request);
    this.interceptors.response.moveTo(instance.interceptors.response);
    return instance;
  }
}
