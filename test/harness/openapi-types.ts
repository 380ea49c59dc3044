// Written by `npm run docs:reference` from docs/reference/openapi.json.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process answers */
        get: operations["getHealthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in Prometheus text format */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process can do its work; shows the operator its checks */
        get: operations["getReadyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Accounts that the user connected, newest first */
        get: operations["getAccounts"];
        put?: never;
        /** Connect an account of an app */
        post: operations["postAccounts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An account */
        get: operations["getAccountsById"];
        /** Rename an account or replace its credentials */
        put: operations["putAccountsById"];
        post?: never;
        /** Disconnect an account and remove its credentials */
        delete: operations["deleteAccountsById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actions/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run an action once */
        post: operations["postActionsRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** API keys of the user that are in force */
        get: operations["getApiKeys"];
        put?: never;
        /** Issue a further API key; the reply alone shows it */
        post: operations["postApiKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api_keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["deleteApiKeysById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Apps that components name, by slug */
        get: operations["getApps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{idOrSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An app, by id or by slug */
        get: operations["getAppsByIdOrSlug"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{slug}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send an event of an app to the sources that take it */
        post: operations["postAppsBySlugEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The events of a resource, oldest first; with `at`, the resource as it was then */
        get: operations["getAuditById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auto_subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Subscribe a listener to a channel of every source made from now on */
        post: operations["postAutoSubscriptions"];
        /** Delete an auto-subscription */
        delete: operations["deleteAutoSubscriptions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Components of a workspace that use an npm package, the newest first */
        get: operations["getComponents"];
        put?: never;
        /** Save component code, given or at a URL */
        post: operations["postComponents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/configure": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Options of a prop, from its options method */
        post: operations["postComponentsConfigure"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/props": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Props of a component with those that additionalProps adds */
        post: operations["postComponentsProps"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/registry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The registry needs a key */
        get: operations["getComponentsRegistry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/registry/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A component of the registry, by key */
        get: operations["getComponentsRegistryByKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Keys of the registry that match words */
        get: operations["getComponentsSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/{keyOrId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A component, by id or by key */
        get: operations["getComponentsByKeyOrId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/components/{keyOrId}/packages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The npm packages of a component, as its lock pins them */
        get: operations["getComponentsByKeyOrIdPackages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/data_stores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Data stores of a workspace, newest first */
        get: operations["getDataStores"];
        put?: never;
        /** Create a data store */
        post: operations["postDataStores"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/data_stores/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A data store */
        get: operations["getDataStoresById"];
        /** Give a data store another name */
        put: operations["putDataStoresById"];
        post?: never;
        /** Delete a data store with its records */
        delete: operations["deleteDataStoresById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/data_stores/{id}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Records of a data store, by key */
        get: operations["getDataStoresByIdRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/data_stores/{id}/records/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A record of a data store */
        get: operations["getDataStoresByIdRecordsByKey"];
        /** Set a record of a data store */
        put: operations["putDataStoresByIdRecordsByKey"];
        post?: never;
        /** Delete a record of a data store */
        delete: operations["deleteDataStoresByIdRecordsByKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Limits of this server that its operator can set */
        get: operations["getLimits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One workspace, with usage */
        get: operations["getOrgsById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/$platform/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the platform did to resources of a workspace, newest first */
        get: operations["getOrgsByIdPlatformEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Accounts of a workspace, newest first */
        get: operations["getOrgsByIdAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to the resources of a workspace, newest first */
        get: operations["getOrgsByIdAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same as a file of lines of JSON */
        get: operations["getOrgsByIdAuditExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Members of a workspace with their roles */
        get: operations["getOrgsByIdMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The one project of a workspace */
        get: operations["getOrgsByIdProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{id}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sources of a workspace, newest first */
        get: operations["getOrgsByIdSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orgs/{workspaceId}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subscriptions of a workspace */
        get: operations["getOrgsByWorkspaceIdSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deploy a source */
        post: operations["postSources"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{idOrSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A source, by id or by name slug */
        get: operations["getSourcesByIdOrSlug"];
        /** Change a source: code, props, name, or active */
        put: operations["putSourcesByIdOrSlug"];
        post?: never;
        /** Delete a source with its events */
        delete: operations["deleteSourcesByIdOrSlug"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{idOrSlug}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a source by hand */
        post: operations["postSourcesByIdOrSlugRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{idOrSlug}/sample_emit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Emit the sample event of the source's component */
        post: operations["postSourcesByIdOrSlugSampleEmit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/$errors/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Errors of a source, newest first */
        get: operations["getSourcesByIdErrorsEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/$logs/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Log lines of a source, newest first */
        get: operations["getSourcesByIdLogsEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/error_emails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether errors of a source are sent by email */
        get: operations["getSourcesByIdErrorEmails"];
        /** Switch emails about errors of a source on or off */
        put: operations["putSourcesByIdErrorEmails"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of a source, newest first */
        get: operations["getSourcesByIdEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Former address of event_summaries, with the whole event of each as e; a page of large events ends early */
        get: operations["getSourcesByIdEvents"];
        put?: never;
        post?: never;
        /** Delete events of a source: all, or a range of ids */
        delete: operations["deleteSourcesByIdEvents"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources/{id}/sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of a source as they happen (server-sent events) */
        get: operations["getSourcesByIdSse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Subscribe a listener to an emitter */
        post: operations["postSubscriptions"];
        /** Delete a subscription */
        delete: operations["deleteSubscriptions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What of a replay is still to be sent */
        get: operations["getSubscriptionsByIdReplay"];
        put?: never;
        /** Pass kept events on to the listener of a subscription again */
        post: operations["postSubscriptionsByIdReplay"];
        /** Cancel a replay */
        delete: operations["deleteSubscriptionsByIdReplay"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The user of this API key, with usage and workspaces */
        get: operations["getUsersMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/auto_subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Auto-subscriptions of the user */
        get: operations["getUsersMeAutoSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sources of the user, newest first */
        get: operations["getUsersMeSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subscriptions of the user */
        get: operations["getUsersMeSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Webhooks of the user, newest first */
        get: operations["getUsersMeWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/me/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workspaces of the user */
        get: operations["getUsersMeWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a webhook; the reply alone shows its signing key */
        post: operations["postWebhooks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A webhook */
        get: operations["getWebhooksById"];
        /** Change a webhook */
        put: operations["putWebhooksById"];
        post?: never;
        /** Delete a webhook with its subscriptions */
        delete: operations["deleteWebhooksById"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The last attempts of a webhook, newest first */
        get: operations["getWebhooksByIdDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send the deliveries that failed again */
        post: operations["postWebhooksByIdDeliveriesRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a delivery again */
        post: operations["postWebhooksByIdDeliveriesByDeliveryIdRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/regenerate_signing_key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a new signing key; the former stays valid for a while */
        post: operations["postWebhooksByIdRegenerateSigningKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{id}/$errors/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Errors of a workflow, newest first */
        get: operations["getWorkflowsByIdErrorsEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{id}/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events that a workflow emitted, newest first */
        get: operations["getWorkflowsByIdEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workflows/{id}/sse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a workflow sends, as it happens (server-sent events) */
        get: operations["getWorkflowsByIdSse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One workspace, with usage */
        get: operations["getWorkspacesById"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/$platform/event_summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the platform did to resources of a workspace, newest first */
        get: operations["getWorkspacesByIdPlatformEventSummaries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Accounts of a workspace, newest first */
        get: operations["getWorkspacesByIdAccounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happened to the resources of a workspace, newest first */
        get: operations["getWorkspacesByIdAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same as a file of lines of JSON */
        get: operations["getWorkspacesByIdAuditExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Members of a workspace with their roles */
        get: operations["getWorkspacesByIdMembers"];
        put?: never;
        /** Add a user to a workspace */
        post: operations["postWorkspacesByIdMembers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/members/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Give a member another role */
        put: operations["putWorkspacesByIdMembersByUserId"];
        post?: never;
        /** Remove a member from a workspace, or leave it */
        delete: operations["deleteWorkspacesByIdMembersByUserId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The one project of a workspace */
        get: operations["getWorkspacesByIdProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{id}/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sources of a workspace, newest first */
        get: operations["getWorkspacesByIdSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces/{workspaceId}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subscriptions of a workspace */
        get: operations["getWorkspacesByWorkspaceIdSubscriptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            /** @description `apn_…` */
            id: string;
            /** @description Name for people */
            name: string | null;
            /** @description The app whose credentials these are */
            app: {
                /** @description Slug of the app */
                name_slug: string;
            };
            /** @description Epoch seconds */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /** @description False while a refresh of the token has failed */
            healthy: boolean;
            /** @description True when only new credentials help */
            dead: boolean;
            /** @description Reason of the last failed refresh */
            error: string | null;
            /** @description Expiry of the access token; null for credentials that are never refreshed */
            expires_at: number | null;
            /** @description Epoch seconds */
            last_refreshed_at: number | null;
            /** @description Earliest next attempt; it is made when the account is used */
            next_refresh_at: number | null;
            /** @description Only with `include_credentials=true` */
            credentials?: {
                [key: string]: unknown;
            };
        };
        ActionObservation: {
            /** @description `console.log`, `warning`, `flow.exit`, `send.http`, … or `error` */
            k: string;
            /** @description Epoch milliseconds */
            ts: number;
            /** @description The line that was logged */
            msg?: string;
            /** @description With k `error`: what was thrown */
            err?: {
                /** @description Name of the error */
                name: string;
                /** @description Its message */
                message: string;
                /** @description Its stack, in lines of the author */
                stack: string;
            };
        };
        ActionRun: {
            /** @description Named exports of the action */
            exports: {
                [key: string]: unknown;
            };
            /** @description What the run logged and asked for */
            os: components["schemas"]["ActionObservation"][];
            /** @description What `run` returned, null when it returned nothing */
            ret: unknown;
        };
        ApiKey: {
            /** @description `key_…` */
            id: string;
            /** @description As given */
            name: string;
            /** @description Whether the key may not change anything */
            read_only: boolean;
            /** @description Epoch seconds from which the key is refused; null without end */
            expires_at: number | null;
            /** @description Epoch seconds */
            created_at: number;
        };
        App: {
            /** @description `app_…` */
            id: string;
            /** @description Slug of the app, as components name it */
            name_slug: string;
            /** @description The slug, because components name nothing else */
            name: string;
        };
        AuditEntry: {
            /** @description 0 for the first */
            revision: number;
            /** @description Such as `SourceDeployed` */
            type: string;
            /** @description ISO 8601 in UTC */
            at: string;
            /** @description Who caused the event */
            actor: {
                /** @description `u_…`, or `system` for the server itself */
                user_id: string;
                /** @description Null for the server itself */
                api_key_id: string | null;
            };
            /** @description Data of the event; secrets are masked */
            data: unknown;
            /** @description Position in the event log */
            position: string;
            /** @description `X-Request-Id` of the request that caused it */
            request_id: string;
        };
        AutoSubscription: {
            /** @description `asub_…` */
            id: string;
            /**
             * @description Channel of each new source
             * @enum {string}
             */
            event_name: "$errors" | "$logs";
            /** @description What receives: `dc_…` or `wh_…` */
            listener_id: string;
        };
        CallObservation: {
            /** @description Kind of the line, such as `console.log` */
            k: string;
            /** @description Epoch milliseconds */
            ts: number;
            /** @description The line */
            msg: string;
        };
        ChangedSource: {
            /** @description `dc_…` */
            id: string;
            /** @description The workspace */
            owner_id: string;
            /** @description `sc_…` */
            component_id: string;
            /** @description Key that the component declares */
            component_key: string | null;
            /** @description Values by prop; secrets are masked; endpoints, timers and events of apps shown */
            configured_props: {
                [key: string]: unknown;
            };
            /** @description Whether it runs */
            active: boolean;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /** @description Epoch seconds of the end of the deployment */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
            /** @description Name for people */
            name: string;
            /** @description Unique in the workspace */
            name_slug: string;
            /** @description `u_…`, the user who deployed it */
            user_id: string;
            packages?: components["schemas"]["PackageChanges"];
        };
        Component: {
            /** @description `sc_…` */
            id: string;
            /** @description The exact code */
            code: string;
            /** @description SHA-256 of the code, in hexadecimal */
            code_hash: string;
            /** @description Name that the component declares */
            name: string;
            /** @description Empty when the code has none */
            version: string;
            /** @description Key that the component declares */
            key: string | null;
            /**
             * @description Kind of component
             * @enum {string}
             */
            type: "source" | "action";
            /** @description Text for people that the component declares */
            description: string | null;
            /** @description As declared */
            annotations: {
                [key: string]: unknown;
            } | null;
            /** @description `component_url` as it was given last */
            url: string | null;
            /** @description In the order of declaration */
            configurable_props: components["schemas"]["ConfigurableProp"][];
            packages?: components["schemas"]["ComponentPackages"];
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /** @description Epoch seconds */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
        };
        ComponentPackage: {
            /** @description Name of the npm package */
            name: string;
            /** @description Exact version */
            version: string;
            /** @description Subresource integrity of its tarball */
            integrity: string;
            /** @description Epoch seconds; null when the registry does not tell */
            published_at: number | null;
            /** @description Licence that its package.json states, or `none stated` */
            license: string;
            /** @description Folder below the root of the packages */
            place: string;
        };
        ComponentPackages: {
            /** @description Number of packages */
            count: number;
            /** @description Unpacked size */
            bytes: number;
            /** @description Time that the installation took when the code was built */
            install_ms: number;
            /** @description True when no registry was asked for files */
            cached: boolean;
            /** @description Those that the code imports, and what a package imports without declaring it; 100 at most */
            imported: {
                /** @description Name of the npm package */
                name: string;
                /** @description Exact version */
                version: string;
                /** @description Licence that its package.json states, or `none stated` */
                license: string;
            }[];
            /** @description Only after `refresh_packages` */
            added?: {
                /** @description Name of the npm package */
                name: string;
                /** @description Exact version */
                version: string;
            }[];
            /** @description Only after `refresh_packages` */
            removed?: {
                /** @description Name of the npm package */
                name: string;
                /** @description Exact version */
                version: string;
            }[];
            /** @description Only after `refresh_packages` */
            changed?: {
                /** @description Name of the npm package */
                name: string;
                /** @description Version before */
                from: string;
                /** @description Version now */
                to: string;
            }[];
        };
        ConfigurableProp: {
            /** @description Name of the prop */
            name: string;
            /** @description `string`, `string[]`, `app`, `$.interface.http`, … */
            type: string;
            /** @description Name for people */
            label?: string;
            /** @description Text for people */
            description?: string;
            /** @description Whether it may be left out; false when absent */
            optional?: boolean;
            /** @description Any JSON */
            default?: unknown;
            /** @description Values to choose from */
            options?: (string | number | boolean | {
                /** @description What people see */
                label: string;
                /** @description What the component gets */
                value: unknown;
            })[];
            /** @description Least value */
            min?: number;
            /** @description Greatest value */
            max?: number;
            /** @description Whether the value is encrypted and never shown */
            secret?: boolean;
            /** @description Whether forms show it without letting it be changed */
            disabled?: boolean;
            /** @description Whether forms leave it out */
            hidden?: boolean;
            /** @description Whether its value cannot be set */
            readOnly?: boolean;
            /** @description True when `options` is a function */
            remoteOptions?: boolean;
            /** @description Whether its options depend on a text that the user types */
            useQuery?: boolean;
            /** @description Whether a change of its value may change the other props */
            reloadProps?: boolean;
            /** @description Whether the component gets the label with the value */
            withLabel?: boolean;
            /** @description Fixed value of a timer */
            static?: unknown;
            /** @description Whether the component answers requests to its endpoint */
            customResponse?: boolean;
            /** @description Name slug of the app of an account */
            app?: string;
            /** @description Prop with the account whose events it takes */
            appProp?: string;
            /** @description Events of the app that it takes */
            eventNames?: string[];
            /** @description As the component declares it for an apphook */
            remote?: boolean;
            /** @description Kind of an alert: `info`, `warning`, … */
            alertType?: string;
            /** @description Text of an alert */
            content?: string;
            /** @description How a folder is used */
            accessMode?: string;
            /** @description As the component declares it for a folder */
            sync?: boolean;
        };
        ConfiguredOptions: {
            /** @description Null when every option is a text, and after an error */
            options: {
                /** @description What people see */
                label: string;
                /** @description What the component gets */
                value: unknown;
            }[] | null;
            /** @description Null when an option has a label, and after an error */
            string_options: string[] | null;
            /** @description For `prev_context` of the next page; null when there is none */
            context: unknown;
            /** @description What the method logged */
            observations: components["schemas"]["CallObservation"][];
            /** @description What the method threw */
            errors: string[];
        };
        CreatedWebhook: {
            /** @description `wh_…` */
            id: string;
            /** @description Name for people */
            name: string | null;
            /** @description Text for people */
            description: string | null;
            /** @description Address that gets the events */
            url: string;
            /** @description Whether events are delivered */
            active: boolean;
            /** @description Seconds that the endpoint has to answer; null for the server's setting */
            timeout_s: number | null;
            /** @description Attempts of a delivery; null for the server's setting */
            max_attempts: number | null;
            /** @description Whether an event waits until those before it have ended, retries included */
            ordered: boolean;
            /** @description Why the server stopped delivering */
            disabled_reason: string | null;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /**
             * @description Every webhook has a signing key
             * @enum {boolean}
             */
            signing_key_set: true;
            /** @description Epoch seconds */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
            /** @description `u_…` */
            user_id: string;
            /** @description `whsec_…`, shown in this reply only; absent from the reply to a repeat */
            signing_key?: string;
        };
        DataStore: {
            /** @description `ds_…` */
            id: string;
            /** @description The workspace */
            owner_id: string;
            /** @description Unique in the workspace */
            name: string;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /** @description Epoch seconds */
            created_at: number;
            /** @description Epoch seconds of the last change of the name */
            updated_at: number;
        };
        DataStoreRecord: {
            /** @description Unique in the data store */
            key: string;
            /** @description Any JSON */
            value: unknown;
            /** @description Epoch seconds from which the record is gone; null for never */
            expires_at: number | null;
        };
        Delivery: {
            /** @description `dlv_…` */
            id: string;
            /** @description Epoch milliseconds of the start of the attempt */
            ts: number;
            /** @description 1 for the first */
            attempt: number;
            /** @description `success`, `retry` when another attempt follows, or `final` */
            outcome: string;
            /** @description Status of the answer, null without one */
            status: number | null;
            /** @description Milliseconds that the attempt took */
            ms: number;
            /** @description What went wrong; null for a success */
            error: string | null;
            /** @description Epoch milliseconds */
            next_attempt_at: number | null;
            /** @description Start of the answer's body */
            response: string;
            /** @description Of the event: 27 characters, stable across retries */
            emit_id: string;
            /** @description `<epoch milliseconds>-<sequence>` */
            event_id: string;
            /** @description The source */
            emitter_id: string;
            /** @description Channel, empty for the default one */
            event_name: string;
        };
        DynamicProps: {
            /** @description The props and the id that names them */
            dynamic_props: {
                /** @description `dyp_…`, for `dynamic_props_id` */
                id: string;
                /** @description Every prop: those of the component first */
                configurable_props: components["schemas"]["ConfigurableProp"][];
            };
            /** @description What the method logged */
            observations: components["schemas"]["CallObservation"][];
            /** @description Always empty: an error is a reply of its own */
            errors: string[];
        };
        EmittedSample: {
            /** @description `dc_…`, the source */
            emitter_id: string;
            /**
             * @description The default channel
             * @enum {string}
             */
            event_name: "";
            /**
             * @description The event is marked as a test in its `metadata`
             * @enum {boolean}
             */
            test: true;
        };
        Error: {
            /** @description For people */
            error: string;
            /** @description A stable word for programs */
            code: string;
            /** @description What the error is about, such as `field`, `limit` and `actual` */
            details?: {
                [key: string]: unknown;
            };
            /** @description With code `hook_failed`: what the hooks did */
            observations?: {
                [key: string]: unknown;
            }[];
            /** @description With code `action_failed`: what the run logged, and its error last */
            os?: {
                [key: string]: unknown;
            }[];
            /** @description With code `hook_failed`: always null */
            err?: {
                [key: string]: unknown;
            } | null;
        };
        ErrorEmails: {
            /** @description `dc_…` */
            source_id: string;
            /** @description Whether errors of the source are sent by email */
            enabled: boolean;
            /** @description `u_…`, the user who gets them; null when they are off */
            user_id: string | null;
        };
        EventRecord: {
            /** @description `<epoch milliseconds>-<sequence>` */
            id: string;
            /** @description Epoch milliseconds, those of the id */
            indexed_at_ms: number;
            /** @description The payload, any JSON; shortened unless `expand=event` */
            event: unknown;
            /** @description What is known of the event beside its payload */
            metadata: {
                /** @description 27 characters, sortable by time */
                emit_id: string;
                /** @description Channel, empty for the default one */
                name: string;
                /** @description The source or workflow; the workspace for an event of the platform */
                emitter_id: string;
                /** @description As given to `$emit` */
                id?: unknown;
                /** @description As given to `$emit` */
                summary?: string;
                /** @description As given to `$emit` */
                ts?: number;
                /** @description Only for an event that waits: when it goes out */
                delivery_ts?: number;
                /**
                 * @description Only for a sample event
                 * @enum {boolean}
                 */
                test?: true;
            };
            /**
             * @description Only when `event` is shortened
             * @enum {boolean}
             */
            truncated?: true;
            /** @description The payload, whole */
            e: unknown;
        };
        EventSummary: {
            /** @description `<epoch milliseconds>-<sequence>` */
            id: string;
            /** @description Epoch milliseconds, those of the id */
            indexed_at_ms: number;
            /** @description The payload, any JSON; shortened unless `expand=event` */
            event: unknown;
            /** @description What is known of the event beside its payload */
            metadata: {
                /** @description 27 characters, sortable by time */
                emit_id: string;
                /** @description Channel, empty for the default one */
                name: string;
                /** @description The source or workflow; the workspace for an event of the platform */
                emitter_id: string;
                /** @description As given to `$emit` */
                id?: unknown;
                /** @description As given to `$emit` */
                summary?: string;
                /** @description As given to `$emit` */
                ts?: number;
                /** @description Only for an event that waits: when it goes out */
                delivery_ts?: number;
                /**
                 * @description Only for a sample event
                 * @enum {boolean}
                 */
                test?: true;
            };
            /**
             * @description Only when `event` is shortened
             * @enum {boolean}
             */
            truncated?: true;
        };
        FoundComponents: {
            /** @description Keys of sources, the best match first */
            sources: string[];
            /** @description Keys of actions, the best match first */
            actions: string[];
        };
        Invocation: {
            /** @description `inv_…` */
            id: string;
        };
        IssuedApiKey: {
            /** @description `key_…` */
            id: string;
            /** @description As given */
            name: string;
            /** @description Whether the key may not change anything */
            read_only: boolean;
            /** @description Epoch seconds from which the key is refused; null without end */
            expires_at: number | null;
            /** @description Epoch seconds */
            created_at: number;
            /** @description Shown in this reply only; absent from the reply to a repeat */
            key?: string;
        };
        Limit: {
            /** @description Variable that the operator sets */
            setting: string;
            /** @description Value in force; null where the server chooses it */
            value: number | null;
            /** @description Allowed values, with their unit */
            allowed: string;
            /** @description What is limited */
            meaning: string;
        };
        Member: {
            /** @description `u_…` */
            user_id: string;
            /** @description Name of the user */
            username: string;
            /** @description Address of the user */
            email: string;
            /**
             * @description What the user may do in the workspace
             * @enum {string}
             */
            role: "owner" | "member" | "read_only";
        };
        Observation: {
            /** @description `hook`, `error`, `console.log`, … */
            k: string;
            /** @description Epoch milliseconds */
            ts: number;
            /**
             * @description With k `hook`: its name
             * @enum {string}
             */
            h?: "deploy" | "activate" | "deactivate";
            /** @description The line that was logged */
            msg?: string;
            /** @description With k `error`: what was thrown */
            err?: {
                /** @description Name of the error */
                name: string;
                /** @description Its message */
                message: string;
                /** @description Its stack, in lines of the author */
                stack: string;
            };
        };
        PackageChanges: {
            /** @description Packages that were not there before */
            added: {
                /** @description Name of the npm package */
                name: string;
                /** @description Exact version */
                version: string;
            }[];
            /** @description Packages that are not there any more */
            removed: {
                /** @description Name of the npm package */
                name: string;
                /** @description Exact version */
                version: string;
            }[];
            /** @description Packages with another version */
            changed: {
                /** @description Name of the npm package */
                name: string;
                /** @description Version before */
                from: string;
                /** @description Version now */
                to: string;
            }[];
        };
        PackageUser: {
            /** @description `sc_…`, the component */
            id: string;
            /** @description Name that the component declares */
            name: string;
            /** @description Key that the component declares */
            key: string | null;
            /**
             * @description Kind of component
             * @enum {string}
             */
            type: "source" | "action";
            /** @description The package that it uses */
            package: {
                /** @description Name of the npm package */
                name: string;
                /** @description Exact version */
                version: string;
            };
        };
        PageInfo: {
            /** @description Number of items of the whole list */
            total_count: number;
            /** @description Number of items on this page */
            count: number;
            /** @description Cursor of the first item, null on an empty page */
            start_cursor: string | null;
            /** @description Cursor of the last item, null on an empty page */
            end_cursor: string | null;
        };
        Project: {
            /** @description `proj_…` */
            id: string;
            /** @description Name of the project */
            name: string;
            /** @description `o_…` */
            workspace_id: string;
        };
        Readiness: {
            /**
             * @description Whether the process takes work
             * @enum {string}
             */
            status: "ready" | "not_ready";
            /** @description By name; shown to the operator only */
            checks?: {
                [key: string]: string;
            };
        };
        Redeliveries: {
            /** @description Deliveries that are on their way again, oldest first */
            queued: string[];
            /** @description Deliveries that cannot be sent again, because their event is no longer kept */
            gone: string[];
        };
        Redelivery: {
            /** @description `dlv_…` */
            id: string;
            /**
             * @description It is on its way again
             * @enum {boolean}
             */
            queued: true;
        };
        RekeyedWebhook: {
            /** @description `wh_…` */
            id: string;
            /** @description Name for people */
            name: string | null;
            /** @description Text for people */
            description: string | null;
            /** @description Address that gets the events */
            url: string;
            /** @description Whether events are delivered */
            active: boolean;
            /** @description Seconds that the endpoint has to answer; null for the server's setting */
            timeout_s: number | null;
            /** @description Attempts of a delivery; null for the server's setting */
            max_attempts: number | null;
            /** @description Whether an event waits until those before it have ended, retries included */
            ordered: boolean;
            /** @description Why the server stopped delivering */
            disabled_reason: string | null;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /**
             * @description Every webhook has a signing key
             * @enum {boolean}
             */
            signing_key_set: true;
            /** @description Epoch seconds */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
            /** @description `whsec_…`, shown in this reply only; absent from the reply to a repeat */
            signing_key?: string;
            /** @description Epoch seconds until which the former key signs too */
            former_key_valid_until: number;
        };
        Replay: {
            /** @description `rpl_…`; a webhook gets it as `x-pd-replay` */
            id: string;
            /** @description `sub_…` */
            subscription_id: string;
            /** @description What emitted the events: `dc_…` */
            emitter_id: string;
            /** @description Id of the first event of the range */
            start_id: string;
            /** @description Id of the last event of the range */
            end_id: string;
            /** @description Kept events of the range; the filter of the subscription may leave some out */
            events: number;
            /** @description Events a second */
            rate: number;
            /** @description Epoch milliseconds */
            started_at: number;
            /** @description Epoch milliseconds at which the last event is due */
            ends_at: number;
        };
        ReplayProgress: {
            /** @description `sub_…` */
            subscription_id: string;
            /** @description Events of the replay that are still to be sent; 0 when none runs */
            waiting: number;
        };
        ResourceAt: {
            /** @description The resource as it was then; secrets are masked */
            data: unknown;
            /** @description The moment that is shown */
            as_of: {
                /** @description Of the newest event that counts */
                revision: number;
                /** @description ISO 8601 in UTC */
                at: string;
            };
        };
        Run: {
            /** @description `inv_…` */
            id: string;
            /** @description False when the run had not ended in time; it runs all the same */
            ended: boolean;
            /** @description What the run logged, and its error last; empty when `ended` is false */
            observations: components["schemas"]["Observation"][];
        };
        SentAppEvent: {
            /** @description One for each source that has the event */
            invocations: {
                /** @description `inv_…` */
                id: string;
                /** @description `dc_…`, the source that runs */
                source_id: string;
            }[];
            /** @description Sources that the event is for and that do not have it */
            refused: {
                /** @description `dc_…` */
                source_id: string;
                /** @description A stable word for programs */
                code: string;
                /** @description For people: why the source does not have the event */
                message: string;
            }[];
        };
        Source: {
            /** @description `dc_…` */
            id: string;
            /** @description The workspace */
            owner_id: string;
            /** @description `sc_…` */
            component_id: string;
            /** @description Key that the component declares */
            component_key: string | null;
            /** @description Values by prop; secrets are masked; endpoints, timers and events of apps shown */
            configured_props: {
                [key: string]: unknown;
            };
            /** @description Whether it runs */
            active: boolean;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /** @description Epoch seconds of the end of the deployment */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
            /** @description Name for people */
            name: string;
            /** @description Unique in the workspace */
            name_slug: string;
        };
        Subscription: {
            /** @description `sub_…` */
            id: string;
            /** @description What emits: `dc_…`, `dc_*`, `o_…`, `u_…` or `p_*` */
            emitter_id: string;
            /** @description What receives: `dc_…` or `wh_…` */
            listener_id: string;
            /** @description Channel, empty for the default one */
            event_name: string;
            /** @description Only when the subscription has one */
            filter?: {
                [key: string]: unknown;
            };
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
        };
        User: {
            /** @description `u_…` */
            id: string;
            /** @description Unique name */
            username: string;
            /** @description Address */
            email: string;
            /** @description Milliseconds of runs that a UTC day allows; 2,147,483,647 stands for unlimited */
            daily_compute_time_quota: number;
            /** @description Milliseconds of runs since 00:00 UTC */
            daily_compute_time_used: number;
            /** @description Runs that a UTC day allows; 2,147,483,647 stands for unlimited */
            daily_invocations_quota: number;
            /** @description Runs since 00:00 UTC */
            daily_invocations_used: number;
            /** @description Workspaces of the user */
            orgs: components["schemas"]["Workspace"][];
        };
        Warning: {
            /** @description A stable word for programs */
            code: string;
            /** @description For people: the word found, the word meant and what is allowed */
            message: string;
            /** @description Place in the component or in the request, such as `props.url.optinal` */
            path: string;
        };
        Webhook: {
            /** @description `wh_…` */
            id: string;
            /** @description Name for people */
            name: string | null;
            /** @description Text for people */
            description: string | null;
            /** @description Address that gets the events */
            url: string;
            /** @description Whether events are delivered */
            active: boolean;
            /** @description Seconds that the endpoint has to answer; null for the server's setting */
            timeout_s: number | null;
            /** @description Attempts of a delivery; null for the server's setting */
            max_attempts: number | null;
            /** @description Whether an event waits until those before it have ended, retries included */
            ordered: boolean;
            /** @description Why the server stopped delivering */
            disabled_reason: string | null;
            /** @description Rises with each change; the ETag of the resource */
            revision: number;
            /**
             * @description Every webhook has a signing key
             * @enum {boolean}
             */
            signing_key_set: true;
            /** @description Epoch seconds */
            created_at: number;
            /** @description Epoch seconds */
            updated_at: number;
        };
        Workspace: {
            /** @description `o_…` */
            id: string;
            /** @description Unique name */
            orgname: string;
            /** @description Name for people */
            name: string;
            /** @description Address */
            email: string;
            /** @description Credits that a UTC day allows; 2,147,483,647 stands for unlimited */
            daily_credits_quota: number;
            /** @description One for each begun 30 s of a run, since 00:00 UTC */
            daily_credits_used: number;
            /** @description Milliseconds of runs that a UTC day allows; 2,147,483,647 stands for unlimited */
            daily_compute_time_quota: number;
            /** @description Milliseconds of runs since 00:00 UTC */
            daily_compute_time_used: number;
            /** @description Runs that a UTC day allows; 2,147,483,647 stands for unlimited */
            daily_invocations_quota: number;
            /** @description Runs since 00:00 UTC */
            daily_invocations_used: number;
        };
        WorkspaceAuditEntry: {
            /** @description Position in the event log */
            id: string;
            /** @description Id of the resource */
            resource_id: string;
            /** @description Such as `source` */
            kind: string;
            /** @description Such as `SourceDeployed` */
            type: string;
            /** @description Number of the event of its resource, from 0 */
            revision: number;
            /** @description ISO 8601 in UTC */
            at: string;
            /** @description Who caused the event */
            actor: {
                /** @description `system` for the server itself, `operator` for the command line */
                user_id: string;
                /** @description Null without a key */
                api_key_id: string | null;
            };
            /** @description Request that caused it */
            request_id: string;
            /** @description What is different afterwards; null from revision 500 on */
            changes: {
                /** @description Names with dots between */
                path: string;
                /** @description Absent for a new field */
                before?: unknown;
                /** @description Absent for a removed field */
                after?: unknown;
            }[] | null;
            /** @description Data of the event; secrets are masked */
            data: unknown;
        };
    };
    responses: {
        /** @description A parameter is wrong or missing */
        BadRequest: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no API key, or it is not in force */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The caller may not do this: the key or the member only reads, or the workspace is of others */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description There is no such resource in the caller's workspaces */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The state of the resource does not allow it now, or a request with the same Idempotency-Key runs */
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource has another revision than `If-Match` names */
        PreconditionFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body, or what it would add, is too large */
        TooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The body is neither JSON nor a form */
        UnsupportedMediaType: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The request is understood and cannot be carried out: a hook failed, or the Idempotency-Key came with another request */
        Unprocessable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests, or too much work that waits; `Retry-After` tells when to come again */
        TooManyRequests: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The server cannot do it now; `Retry-After` tells when to come again */
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Refused or failed */
        Failed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description The process answers
                         * @enum {string}
                         */
                        status: "ok";
                    };
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description Not the operator */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description Not ready */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    getAccounts: {
        parameters: {
            query?: {
                /** @description Slug of an app: only its accounts */
                app?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Account"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postAccounts: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Name slug of the app */
                    app: string;
                    /** @description Credentials of the app, such as `{"api_key": "…"}`; they are encrypted */
                    credentials: {
                        [key: string]: unknown;
                    };
                    /** @description How a token is refreshed; absent for credentials that do not expire */
                    oauth?: {
                        [key: string]: unknown;
                    };
                    /** @description Name for people */
                    name?: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Account"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getAccountsById: {
        parameters: {
            query?: {
                /** @description `true` adds the credentials, for the user who connected the account */
                include_credentials?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description An `ETag` that the caller has; the answer is 304 while it is the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description `apn_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Account"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description Not modified; no body */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putAccountsById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `apn_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Name for people */
                    name?: string;
                    /** @description Credentials of the app, such as `{"api_key": "…"}`; they are encrypted */
                    credentials?: {
                        [key: string]: unknown;
                    };
                    /** @description How a token is refreshed; null for credentials that do not expire */
                    oauth?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Account"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteAccountsById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `apn_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postActionsRun: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Component id (`sc_…`) or key */
                    id: string;
                    /** @description `dyp_…`, from `POST /v1/components/props` */
                    dynamic_props_id?: string;
                    /** @description Values for the props of the action */
                    configured_props?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActionRun"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getApiKeys: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["ApiKey"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postApiKeys: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Name of the key, for people */
                    name?: string;
                    /** @description Whether the key may change nothing; false by default */
                    read_only?: boolean;
                    /** @description Epoch seconds from which the key is refused; absent or null for no end */
                    expires_at?: number;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["IssuedApiKey"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteApiKeysById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `key_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getApps: {
        parameters: {
            query?: {
                /** @description Part of the slug: only apps with it */
                q?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["App"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getAppsByIdOrSlug: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description Id or name slug of an app */
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["App"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postAppsBySlugEvents: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name slug of an app */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Name of the event, as sources ask for it */
                    event_name: string;
                    /** @description `apn_…`: only sources that use this account get the event */
                    account_id?: string;
                    /** @description What run receives, any JSON */
                    payload?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["SentAppEvent"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getAuditById: {
        parameters: {
            query?: {
                /** @description A revision, a time in epoch seconds or milliseconds, or an ISO 8601 time */
                at?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description Id of the resource, of any kind */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["AuditEntry"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    } | components["schemas"]["ResourceAt"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postAutoSubscriptions: {
        parameters: {
            query: {
                /** @description Channel; empty for the default one */
                event_name?: string;
                /** @description What receives: a source (`dc_…`) or a webhook (`wh_…`) */
                listener_id: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["AutoSubscription"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteAutoSubscriptions: {
        parameters: {
            query: {
                /** @description Channel; empty for the default one */
                event_name?: string;
                /** @description What receives: a source (`dc_…`) or a webhook (`wh_…`) */
                listener_id: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getComponents: {
        parameters: {
            query: {
                /** @description Name of an npm package, alone or with a version: `name@1.2.3` */
                package: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["PackageUser"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postComponents: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Code of the component */
                    component_code?: string;
                    /** @description Address from which the code is fetched */
                    component_url?: string;
                    /** @description Path of `component_code` among `files` */
                    file_name?: string;
                    /** @description Whether npm packages are resolved anew; false by default */
                    refresh_packages?: boolean;
                    /** @description Further files: path to text */
                    files?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Component"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postComponentsConfigure: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Prop whose options are asked for */
                    prop_name: string;
                    /** @description Page of options, from 0 */
                    page?: number;
                    /** @description Text that the user typed */
                    query?: string;
                    /** @description Component id (`sc_…`) or key */
                    id: string;
                    /** @description `dyp_…`, from `POST /v1/components/props` */
                    dynamic_props_id?: string;
                    /** @description Values of the props so far */
                    configured_props?: {
                        [key: string]: unknown;
                    };
                    /** @description `context` of the previous page */
                    prev_context?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfiguredOptions"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postComponentsProps: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Component id (`sc_…`) or key */
                    id: string;
                    /** @description `dyp_…`, from `POST /v1/components/props` */
                    dynamic_props_id?: string;
                    /** @description Values of the props so far */
                    configured_props?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DynamicProps"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getComponentsRegistry: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description A key is missing */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getComponentsRegistryByKey: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description Key of the component, with `@version` for another than the newest */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Component"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            /** @description The registry has no such key */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getComponentsSearch: {
        parameters: {
            query?: {
                /** @description Words to look for */
                query?: string;
                /** @description Only components of this app */
                app?: string;
                /** @description Least similarity of a match, 0 to 1 */
                similarity_threshold?: number;
                /** @description Whether the answer tells the similarities; false by default */
                debug?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundComponents"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getComponentsByKeyOrId: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description An `ETag` that the caller has; the answer is 304 while it is the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Component id (`sc_…`) or key */
                keyOrId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Component"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description Not modified; no body */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getComponentsByKeyOrIdPackages: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description Component id (`sc_…`) or key */
                keyOrId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["ComponentPackage"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getDataStores: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["DataStore"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postDataStores: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Name for people */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DataStore"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getDataStoresById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description An `ETag` that the caller has; the answer is 304 while it is the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description `ds_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DataStore"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description Not modified; no body */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putDataStoresById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `ds_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Name for people */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DataStore"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteDataStoresById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `ds_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getDataStoresByIdRecords: {
        parameters: {
            query?: {
                /** @description Records on the page, from 1 to 100; 10 by default. A page of large values has fewer */
                limit?: number;
                /** @description Cursor of the record after which the page begins */
                after?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `ds_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["DataStoreRecord"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getDataStoresByIdRecordsByKey: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `ds_…` */
                id: string;
                /** @description Key of the record */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DataStoreRecord"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putDataStoresByIdRecordsByKey: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `ds_…` */
                id: string;
                /** @description Key of the record */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["DataStoreRecord"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteDataStoresByIdRecordsByKey: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `ds_…` */
                id: string;
                /** @description Key of the record */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getLimits: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Limit"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Workspace"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdPlatformEventSummaries: {
        parameters: {
            query?: {
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdAccounts: {
        parameters: {
            query?: {
                /** @description Slug of an app: only its accounts */
                app?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Account"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdAudit: {
        parameters: {
            query?: {
                /** @description Id of a resource */
                resource_id?: string;
                /** @description Such as source */
                kind?: string;
                /** @description Type of event */
                type?: string;
                /** @description User id, system, or operator */
                actor?: string;
                /** @description Time of the oldest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                since?: string;
                /** @description Time of the newest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                until?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["WorkspaceAuditEntry"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdAuditExport: {
        parameters: {
            query?: {
                /** @description Id of a resource */
                resource_id?: string;
                /** @description Such as source */
                kind?: string;
                /** @description Type of event */
                type?: string;
                /** @description User id, system, or operator */
                actor?: string;
                /** @description Time of the oldest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                since?: string;
                /** @description Time of the newest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                until?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A line of JSON for each entry, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdMembers: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Member"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdProjects: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Project"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByIdSources: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Source"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getOrgsByWorkspaceIdSubscriptions: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…`, a workspace */
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Subscription"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postSources: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description `sc_…`, a saved component */
                    component_id?: string;
                    /** @description Code of the component */
                    component_code?: string;
                    /** @description Address from which the code is fetched */
                    component_url?: string;
                    /** @description Path of `component_code` among `files` */
                    file_name?: string;
                    /** @description Key of a saved component or of one in the registry */
                    key?: string;
                    /** @description Another name of `key` */
                    component_key?: string;
                    /** @description `dyp_…`, from `POST /v1/components/props` */
                    dynamic_props_id?: string;
                    /** @description Name for people */
                    name?: string;
                    /** @description Whether the source runs; true for a new one unless given */
                    active?: boolean;
                    /** @description Whether events of the deploy hook count; true for a new source unless given */
                    emit_on_deploy?: boolean;
                    /** @description Whether npm packages are resolved anew; false by default */
                    refresh_packages?: boolean;
                    /** @description Whether a failing hook does not keep the change; false by default */
                    ignore_hook_errors?: boolean;
                    /** @description Epoch seconds of `updated_at` as read; another value is 409 */
                    if_updated_at?: number;
                    /** @description Values for the props of the component */
                    configured_props?: {
                        [key: string]: unknown;
                    };
                    /** @description Further files of the component: path to text */
                    files?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ChangedSource"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdOrSlug: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description An `ETag` that the caller has; the answer is 304 while it is the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description `dc_…` or name slug */
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Source"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description Not modified; no body */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putSourcesByIdOrSlug: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `dc_…` or name slug */
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description `sc_…`, a saved component */
                    component_id?: string;
                    /** @description Code of the component */
                    component_code?: string;
                    /** @description Address from which the code is fetched */
                    component_url?: string;
                    /** @description Path of `component_code` among `files` */
                    file_name?: string;
                    /** @description Key of a saved component or of one in the registry */
                    key?: string;
                    /** @description Another name of `key` */
                    component_key?: string;
                    /** @description `dyp_…`, from `POST /v1/components/props` */
                    dynamic_props_id?: string;
                    /** @description Name for people */
                    name?: string;
                    /** @description Whether the source runs; true for a new one unless given */
                    active?: boolean;
                    /** @description Whether events of the deploy hook count; true for a new source unless given */
                    emit_on_deploy?: boolean;
                    /** @description Whether npm packages are resolved anew; false by default */
                    refresh_packages?: boolean;
                    /** @description Whether a failing hook does not keep the change; false by default */
                    ignore_hook_errors?: boolean;
                    /** @description Epoch seconds of `updated_at` as read; another value is 409 */
                    if_updated_at?: number;
                    /** @description Values for the props of the component */
                    configured_props?: {
                        [key: string]: unknown;
                    };
                    /** @description Further files of the component: path to text */
                    files?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ChangedSource"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteSourcesByIdOrSlug: {
        parameters: {
            query?: {
                /** @description true: delete it also when its deactivate hook fails */
                ignore_hook_errors?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `dc_…` or name slug */
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postSourcesByIdOrSlugRun: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `dc_…` or name slug */
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Whether the answer waits for the run to end; false by default */
                    wait?: boolean;
                    /** @description What run receives */
                    event?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description With `wait=true` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Run"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Invocation"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postSourcesByIdOrSlugSampleEmit: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `dc_…` or name slug */
                idOrSlug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["EmittedSample"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdErrorsEventSummaries: {
        parameters: {
            query?: {
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdLogsEventSummaries: {
        parameters: {
            query?: {
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdErrorEmails: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ErrorEmails"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putSourcesByIdErrorEmails: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Whether errors of the source are mailed to the caller */
                    enabled: boolean;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ErrorEmails"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdEventSummaries: {
        parameters: {
            query?: {
                /** @description Channel */
                event_name?: string;
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdEvents: {
        parameters: {
            query?: {
                /** @description Page size */
                n?: string;
                /** @description Channel */
                event_name?: string;
                /** @description event: event is whole too */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventRecord"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteSourcesByIdEvents: {
        parameters: {
            query?: {
                /** @description Event id from which events are deleted, included; the oldest by default */
                start_id?: string;
                /** @description Event id up to which events are deleted, included; the newest by default */
                end_id?: string;
                /** @description Channel; by default all but the platform's */
                event_name?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSourcesByIdSse: {
        parameters: {
            query?: {
                /** @description logs: the log lines, errors: the errors */
                stream?: string;
                /** @description Channel */
                event_name?: string;
                /** @description 1: event summaries instead of the emitted values, as by default at addresses of the hosted service */
                envelope?: string;
                /** @description Id of the last event that the reader has, as in the header Last-Event-ID */
                last_event_id?: string;
                /** @description API key, for programs that cannot send headers */
                access_token?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `dc_…` or name slug */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events, until one of both sides ends the connection */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postSubscriptions: {
        parameters: {
            query: {
                /** @description What emits: a source (`dc_…`), `dc_*`, a workspace (`o_…`), a user (`u_…`) or `p_*` */
                emitter_id: string;
                /** @description What receives: a source (`dc_…`) or a webhook (`wh_…`) */
                listener_id: string;
                /** @description Channel; empty for the default one */
                event_name?: string;
                /** @description Which events are passed on, as JSON; the body may hold it as an object */
                filter?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Subscription"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteSubscriptions: {
        parameters: {
            query: {
                /** @description What emits: a source (`dc_…`), `dc_*`, a workspace (`o_…`), a user (`u_…`) or `p_*` */
                emitter_id: string;
                /** @description What receives: a source (`dc_…`) or a webhook (`wh_…`) */
                listener_id: string;
                /** @description Channel; empty for the default one */
                event_name?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getSubscriptionsByIdReplay: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `sub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["ReplayProgress"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postSubscriptionsByIdReplay: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `sub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Event id from which the range begins, included; the oldest by default */
                    start_id?: string;
                    /** @description Event id at which the range ends, included; the newest by default */
                    end_id?: string;
                    /** @description The source whose events are sent (`dc_…`); needed for a subscription to many emitters */
                    emitter_id?: string;
                    /** @description Events a second; 10 by default */
                    rate?: number;
                };
            };
        };
        responses: {
            /** @description Done */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Replay"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteSubscriptionsByIdReplay: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `sub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getUsersMe: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["User"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getUsersMeAutoSubscriptions: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["AutoSubscription"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getUsersMeSources: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Source"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getUsersMeSubscriptions: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Subscription"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getUsersMeWebhooks: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Webhook"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getUsersMeWorkspaces: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Workspace"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postWebhooks: {
        parameters: {
            query: {
                /** @description Address that gets the events, http or https */
                url: string;
                /** @description Name for people */
                name?: string;
                /** @description Text for people */
                description?: string;
                /** @description Seconds in which the endpoint must answer; null for the setting of the server */
                timeout_s?: number;
                /** @description Attempts at one delivery; null for the setting of the server */
                max_attempts?: number;
                /** @description Whether an event waits until those before it have ended; false by default */
                ordered?: boolean;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["CreatedWebhook"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWebhooksById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description An `ETag` that the caller has; the answer is 304 while it is the same */
                "If-None-Match"?: string;
            };
            path: {
                /** @description `wh_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            /** @description Not modified; no body */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putWebhooksById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `wh_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Address that gets the events, http or https */
                    url?: string;
                    /** @description Name for people */
                    name?: string;
                    /** @description Text for people */
                    description?: string;
                    /** @description Whether events are delivered; while false they are dropped */
                    active?: boolean;
                    /** @description Seconds in which the endpoint must answer; null for the setting of the server */
                    timeout_s?: number;
                    /** @description Attempts at one delivery; null for the setting of the server */
                    max_attempts?: number;
                    /** @description Whether an event waits until those before it have ended; false by default */
                    ordered?: boolean;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    /** @description The revision */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Webhook"];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteWebhooksById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: {
                /** @description The `ETag` that the change is based on; the answer is 412 when it is another now */
                "If-Match"?: string;
            };
            path: {
                /** @description `wh_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWebhooksByIdDeliveries: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `wh_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Delivery"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postWebhooksByIdDeliveriesRedeliver: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `wh_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description Which deliveries are sent again: `final` (failed), `success` or `any`; `final` by default
                     * @enum {unknown}
                     */
                    outcome?: "final" | "success" | "any";
                    /** @description Epoch milliseconds of the last attempt, from here on */
                    since?: number;
                    /** @description Epoch milliseconds of the last attempt, up to here */
                    until?: number;
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Redeliveries"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postWebhooksByIdDeliveriesByDeliveryIdRedeliver: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `wh_…` */
                id: string;
                /** @description `dlv_…` */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Redelivery"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postWebhooksByIdRegenerateSigningKey: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `wh_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["RekeyedWebhook"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkflowsByIdErrorsEventSummaries: {
        parameters: {
            query?: {
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `p_…`; there are none yet */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkflowsByIdEventSummaries: {
        parameters: {
            query?: {
                /** @description Channel */
                event_name?: string;
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `p_…`; there are none yet */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkflowsByIdSse: {
        parameters: {
            query?: {
                /** @description Id of the last event that the reader has, as in the header Last-Event-ID */
                last_event_id?: string;
                /** @description API key, for programs that cannot send headers */
                access_token?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `p_…`; there are none yet */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events, until one of both sides ends the connection */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesById: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Workspace"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdPlatformEventSummaries: {
        parameters: {
            query?: {
                /** @description event: without truncation; a page of large events ends early, count tells */
                expand?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["EventSummary"][];
                        /** @description Absent when there are none */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdAccounts: {
        parameters: {
            query?: {
                /** @description Slug of an app: only its accounts */
                app?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Account"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdAudit: {
        parameters: {
            query?: {
                /** @description Id of a resource */
                resource_id?: string;
                /** @description Such as source */
                kind?: string;
                /** @description Type of event */
                type?: string;
                /** @description User id, system, or operator */
                actor?: string;
                /** @description Time of the oldest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                since?: string;
                /** @description Time of the newest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                until?: string;
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["WorkspaceAuditEntry"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdAuditExport: {
        parameters: {
            query?: {
                /** @description Id of a resource */
                resource_id?: string;
                /** @description Such as source */
                kind?: string;
                /** @description Type of event */
                type?: string;
                /** @description User id, system, or operator */
                actor?: string;
                /** @description Time of the oldest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                since?: string;
                /** @description Time of the newest entry: epoch seconds or milliseconds, or an ISO 8601 time */
                until?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A line of JSON for each entry, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdMembers: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Member"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    postWorkspacesByIdMembers: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: {
                /** @description Unique to the request: a repeat within 24 hours gets the first answer */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description `u_…`, a user that exists */
                    user_id: string;
                    /**
                     * @description What the user may do: each role includes the next
                     * @enum {unknown}
                     */
                    role?: "owner" | "member" | "read_only";
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Member"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["Unprocessable"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    putWorkspacesByIdMembersByUserId: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
                /** @description `u_…` */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /**
                     * @description What the user may do: each role includes the next
                     * @enum {unknown}
                     */
                    role: "owner" | "member" | "read_only";
                };
            };
        };
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        data: components["schemas"]["Member"];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    deleteWorkspacesByIdMembersByUserId: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
                /** @description `u_…` */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdProjects: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Project"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByIdSources: {
        parameters: {
            query?: {
                /** @description Page size, 1 to 100 */
                limit?: number;
                /** @description Cursor: what follows this item */
                after?: string;
                /** @description Cursor: what precedes this item */
                before?: string;
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        page_info: components["schemas"]["PageInfo"];
                        /** @description The items of the page */
                        data: components["schemas"]["Source"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
    getWorkspacesByWorkspaceIdSubscriptions: {
        parameters: {
            query?: {
                /** @description The workspace in which the operation takes effect, one of the caller; what is outside of it is not found */
                workspace_id?: string;
                /** @description Another name of workspace_id */
                org_id?: string;
                /** @description Comma-separated fields of `data` to answer with; default all */
                include?: string;
                /** @description Comma-separated fields of `data` to leave out */
                exclude?: string;
            };
            header?: never;
            path: {
                /** @description `o_…` */
                workspaceId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The whole list */
                        data: components["schemas"]["Subscription"][];
                        /** @description What was accepted but is probably not meant; absent when there is nothing */
                        warnings?: components["schemas"]["Warning"][];
                    };
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            429: components["responses"]["TooManyRequests"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Failed"];
        };
    };
}
