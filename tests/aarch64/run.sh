#!/usr/bin/env bash
# The engine on Linux aarch64: cross-compiles it, records every launch of the virtual GPU's tests on this machine,
# and runs them again under qemu. Memory, faults and counts must be equal, bit for bit.
# Needs: g++-aarch64-linux-gnu, qemu-user, and an environment that runs the tests (make test sets it up).
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
for tool in aarch64-linux-gnu-g++ qemu-aarch64 cmake; do
  command -v "$tool" >/dev/null || { echo "There is no $tool: install g++-aarch64-linux-gnu, qemu-user and cmake."; exit 2; }
done
build=build/aarch64
cmake -S src/flashpath/vgpu/engine -B $build -DFLASHPATH_PYTHON=OFF -DFLASHPATH_REPLAY=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
cmake --build $build --parallel 2 --target flashpath_replay
FLASHPATH_RECORD=$build/launches.bin PYTHONPATH=src:tests/aarch64 "$python" -m pytest -q -p recorder tests/vgpu "$@"
qemu-aarch64 -L /usr/aarch64-linux-gnu $build/flashpath_replay $build/launches.bin
