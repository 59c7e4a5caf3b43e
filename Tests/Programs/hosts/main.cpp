// SPDX-License-Identifier: BSD-3-Clause
/* A host with constructors, destructors and exceptions. */
#include <map>
#include <stdexcept>
#include <string>

#include "host.h"

namespace {

struct registry {
  std::map<std::string, std::string> names;
  registry() {
    for (int i = 0; i < 1000; i++)
      names["a name that is too long to be kept in place " + std::to_string(i)] = "value";
  }
  ~registry() { names.clear(); }
} registry;

} // namespace

int main() {
  try {
    throw std::runtime_error(registry.names.begin()->first);
  } catch (const std::exception &error) {
    if (error.what() != registry.names.begin()->first)
      return 1;
  }
  return host_run();
}
