# One image, every app: `command: ["runner"]` says which (deploy/start-role.sh), standalone when nothing is said.
#
#   docker build -t sluice .
#   docker run -p 3000:3000 -v sluice:/var/lib/sluice sluice
#
# Jails. The strongest level (bubblewrap, without root) makes user namespaces and mounts, which Docker's own seccomp and
# AppArmor profiles refuse. Processes that run components (standalone, runner, command-api) therefore want
#   --security-opt seccomp=deploy/seccomp.json --security-opt apparmor=unconfined --security-opt no-new-privileges
# Without that they start all the same, at the level `process`, and say so. docs/how-to/scale-out.md says what each
# choice protects from.

FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install script of a dependency is needed: native parts come prebuilt within the packages.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf dist/test

FROM node:20-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 sluice \
 && useradd --uid 10001 --gid sluice --home-dir /var/lib/sluice --no-create-home --shell /usr/sbin/nologin sluice \
 && install -d -o sluice -g sluice -m 0700 /var/lib/sluice
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY deploy/start-role.sh deploy/health-check.mjs deploy/
ENV NODE_ENV=production SLUICE_HOST=0.0.0.0 SLUICE_DATA_DIR=/var/lib/sluice
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "/app/deploy/health-check.mjs", "/healthz"]
ENTRYPOINT ["tini", "--", "/app/deploy/start-role.sh"]
CMD ["standalone"]
