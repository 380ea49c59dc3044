#!/bin/sh
# Prints the base image of the Dockerfile with the digest that its tag has now, for the build of a release.
set -eu
tag=$(sed -n 's/^ARG NODE_IMAGE=//p' "$(dirname "$0")/../Dockerfile")
digest=$(docker buildx imagetools inspect "$tag" --format '{{.Manifest.Digest}}')
echo "$tag@$digest"
