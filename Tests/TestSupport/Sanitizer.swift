// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// What these tests and the programs are built with, if it is a sanitizer: `thread` or `address`.
public let sanitizer = ProcessInfo.processInfo.environment["TWEAKS_SANITIZER"]
