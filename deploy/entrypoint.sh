#!/bin/sh
# The kernels that were compiled with the image go into the cache, which may be a volume with those of an older image.
# Where the cache cannot be written, they are read where they are.
set -eu
# The next container may have another user; what they share is their group.
umask 002
compiled=/opt/streamlearn/kernels
cp -ru "$compiled/." "$NUMBA_CACHE_DIR" 2>/dev/null || export NUMBA_CACHE_DIR="$compiled"
exec streamlearn "$@"
