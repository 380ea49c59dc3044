# One image, every app: `command: ["runner"]` says which (deploy/start-role.sh), standalone when nothing is said.
#
#   docker build -t sluice .
#   docker run --rm --entrypoint cat sluice /app/deploy/seccomp.json > sluice-seccomp.json && docker run -p 127.0.0.1:3000:3000 -v sluice:/var/lib/sluice --security-opt seccomp=sluice-seccomp.json --security-opt apparmor=unconfined --security-opt no-new-privileges sluice
#
# Jails. Components run in bubblewrap without root, which makes user namespaces and mounts. Docker's own seccomp and AppArmor
# profiles refuse these, hence the options above: the profile is deploy/seccomp.json, which the image holds too. Processes that
# run components (standalone, runner, command-api) do not start without a jail, and say this command; SLUICE_ISOLATION=process
# runs code that you trust without one. SECURITY.md lists what each level promises.
#
# Base image: an exact tag, of the newest LTS of Node; CI runs the tests on it. A release pins its digest:
#   docker build --build-arg NODE_IMAGE="$(deploy/base-image.sh)" -t sluice .
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install script of a dependency is needed: native parts come prebuilt within the packages.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf dist/test

FROM ${NODE_IMAGE}
RUN apt-get update \
 && apt-get install -y --no-install-recommends mount util-linux bubblewrap tini \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 sluice \
 && useradd --uid 10001 --gid sluice --home-dir /var/lib/sluice --no-create-home --shell /usr/sbin/nologin sluice \
 && install -d -o sluice -g sluice -m 0700 /var/lib/sluice
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
COPY deploy/start-role.sh deploy/health-check.mjs deploy/seccomp.json deploy/
ENV NODE_ENV=production SLUICE_IN_IMAGE=true SLUICE_HOST=0.0.0.0 SLUICE_DATA_DIR=/var/lib/sluice
USER 10001:10001
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "/app/deploy/health-check.mjs", "/healthz"]
ENTRYPOINT ["tini", "--", "/app/deploy/start-role.sh"]
CMD ["standalone"]
