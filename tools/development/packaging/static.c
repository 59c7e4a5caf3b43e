// SPDX-License-Identifier: BSD-3-Clause
#include <nss.h>

// Other services are shared libraries of the system, for its own C library.
__attribute__((constructor)) static void choose_services(void) {
  __nss_configure_lookup("passwd", "files");
  __nss_configure_lookup("hosts", "files dns");
  __nss_configure_lookup("services", "files");
}
