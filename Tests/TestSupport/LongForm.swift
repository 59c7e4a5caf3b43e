// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// Whether tests run in their long form, as `tools/test --long` asks.
public let isLong = ProcessInfo.processInfo.environment["TWEAKS_LONG"] != nil
