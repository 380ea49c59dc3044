import { type HttpAdapterHost } from '@nestjs/core';
import { type NestExpressApplication } from '@nestjs/platform-express';

interface RouteLayer {
  readonly route: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): unknown;
}

const isRouteLayer = (layer: unknown): layer is RouteLayer =>
  typeof layer === 'object' &&
  layer !== null &&
  'route' in layer &&
  typeof layer.route === 'object' &&
  layer.route !== null &&
  'methods' in layer.route &&
  'path' in layer.route &&
  'match' in layer &&
  typeof layer.match === 'function';

/** Sorted methods of the registered routes that match a path; empty when there is no such route. */
export const methodsOf = (host: HttpAdapterHost, path: string): readonly string[] => {
  const instance: unknown = host.httpAdapter.getInstance();
  const methods = new Set<string>();
  for (const layer of stackOf(instance)) {
    if (!isRouteLayer(layer) || layer.match(path) === false) continue;
    for (const [method, served] of Object.entries(layer.route.methods)) {
      if (served && method !== '_all') methods.add(method.toUpperCase());
    }
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
};

/** Paths of the registered routes, with parameters as `:name`. */
export const pathsOf = (host: HttpAdapterHost): readonly string[] =>
  stackOf(host.httpAdapter.getInstance()).flatMap((layer) =>
    isRouteLayer(layer) && typeof layer.route.path === 'string' ? [layer.route.path] : [],
  );

/**
 * Makes routes distinguish upper and lower case, so that a text that is compared with a path means what the router means.
 * Call it before the first route is registered. The setting of Express alone has no effect, because Nest makes the router
 * before the application can be configured.
 */
export const routeByCase = (app: NestExpressApplication): void => {
  app.set('case sensitive routing', true);
  const instance: unknown = app.getHttpAdapter().getInstance();
  if (typeof instance !== 'function' || !('router' in instance)) throw new Error('the application has no router');
  const { router } = instance;
  if (typeof router !== 'function' || !('caseSensitive' in router)) throw new Error('the router is not of Express 5');
  router.caseSensitive = true;
};

const stackOf = (instance: unknown): readonly unknown[] => {
  // An express application is a function with properties.
  if (typeof instance !== 'function' || !('router' in instance)) return [];
  const { router } = instance;
  return typeof router === 'function' && 'stack' in router && Array.isArray(router.stack) ? router.stack : [];
};
