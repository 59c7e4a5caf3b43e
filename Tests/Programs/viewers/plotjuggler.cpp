/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the points that PlotJuggler's UDP server makes of JSON: name, time and value. As there,
 * a datagram that is not JSON is the end, and stamps count only while every message has one.
 */
#include <arpa/inet.h>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/socket.h>

static void flatten(const std::string &name, const nlohmann::json &value, double time) {
  if (value.is_object()) {
    for (const auto &member : value.items())
      flatten(name + "/" + member.key(), member.value(), time);
  } else if (value.is_array()) {
    for (std::size_t index = 0; index < value.size(); index++)
      flatten(name + "[" + std::to_string(index) + "]", value[index], time);
  } else if (value.is_boolean()) {
    std::printf("%s\t%.6f\t%d\n", name.c_str(), time, value.get<bool>());
  } else if (value.is_number()) {
    std::printf("%s\t%.6f\t%.17g\n", name.c_str(), time, value.get<double>());
  }
}

int main() {
  int receiver = socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(receiver, reinterpret_cast<sockaddr *>(&address), size) != 0 ||
      getsockname(receiver, reinterpret_cast<sockaddr *>(&address), &size) != 0)
    return 1;
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  static char bytes[1 << 16];
  for (bool hasStamps = true;;) {
    const ssize_t count = recv(receiver, bytes, sizeof(bytes), 0);
    const nlohmann::json message = nlohmann::json::parse(bytes, bytes + count);
    const auto stamp = message.find("timestamp");
    hasStamps = hasStamps && stamp != message.end() && stamp->is_number();
    flatten("", message, hasStamps ? stamp->get<double>() : 0);
    std::fflush(stdout);
  }
}
