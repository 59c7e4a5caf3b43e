// SPDX-License-Identifier: BSD-3-Clause
// What this machine's static C++ library expects of glibc, and an older one does not have.

// False: also a process of one thread counts references with atomic instructions.
__attribute__((visibility("hidden"))) char __libc_single_threaded;
